"""A secret that the caller can wipe leaves no copy behind: the memory of a process is searched."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from sealstone import Passport
from sealstone.argon2.low_level import Type, hash_secret_raw
from sealstone.packages import sign

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")

# In the child, no object has the secret but a `bytearray`, which it fills byte by byte.
CHILD = """
import gc, sys
from sealstone import Passport, hashes, seal, open
from sealstone.argon2 import Pepper
from sealstone.argon2.low_level import Type, hash_secret_raw
from sealstone.packages import sign
LENGTH = {length}
secret = bytearray(LENGTH)
for at in range(LENGTH):
    secret[at] = (at * at * 31 + at * 7 + 11) % 251
alice = Passport.generate("Alice")
cheap = (7168, 5, 1)
def work():
    Passport.unlock(alice.lock(secret, profile=cheap).encode(), memoryview(secret))
    sealed = seal(b"text", passphrase=secret, profile=cheap)
    open(sealed, passphrase=secret, sender="unsigned")
    hash_secret_raw(secret, b"s" * 16, 1, 8, 1, 32, Type.ID, pepper=Pepper(secret))
    package = sign(alice, embed={{"a": b"x"}}, hmac_key=secret, secret=secret)
    package.report(hmac_key=secret, secret=secret)
    package.derived_key(secret, "label")
    hashes.Skein512(b"x", key=secret).digest()
work()
{planted}
for at in range(LENGTH):
    secret[at] = 0
gc.collect()
print("ready", flush=True)
sys.stdin.read()
"""
# A thread that has used the secret, and whose stack nothing overwrites before it ends.
THREAD = """
import threading
used, end = threading.Lock(), threading.Lock()
used.acquire()
end.acquire()
def body():
    keyed = hashes.Blake2b({data}, key=memoryview(secret)[:64])
    {call}
    del keyed
    used.release()
    end.acquire()
threading.Thread(target=body, daemon=True).start()
used.acquire()
"""
LENGTH = 200
# A key that is derived into a buffer, which is wiped then. Nothing overwrites what is freed.
DERIVED = """
import sys
from sealstone.argon2.low_level import Type, hash_secret_raw
from sealstone.packages import Package
room = bytearray(64)
package = Package.load(bytes.fromhex({package!r}))
{call}
for at in range(len(room)):
    room[at] = 0
print("ready", flush=True)
sys.stdin.read()
"""
PACKAGE = sign(Passport.generate("Alice"), embed={"a": b"x"}, secret=b"s" * 32)
HASHED = "hash_secret_raw(b'p', b's' * 16, 1, 8, 1, 64, Type.ID"
LABELLED = "package.derived_key(b's' * 32, 'label'"


def copies(planted: str = "") -> int:
    """Where the child's memory still has a part of the secret."""
    secret = bytes((at * at * 31 + at * 7 + 11) % 251 for at in range(LENGTH))
    # Allocators write their lists to the begin of what was freed.
    parts = [secret[32:64], secret[100:132]]
    return found(CHILD.format(length=LENGTH, planted=planted), parts)


def found(program: str, parts: list[bytes]) -> int:
    """How often the memory of a child has one of these parts, once it is ready."""
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin and child.stdout and child.stdout.readline() == b"ready\n"
        count = sum(memory.count(part) for memory in regions(child.pid) for part in parts)
        child.stdin.close()
    assert child.returncode == 0
    return count


def regions(process: int) -> list[bytes]:
    """Everything that the process can write."""
    regions = []
    with open(f"/proc/{process}/mem", "rb", buffering=0) as memory:
        for line in Path(f"/proc/{process}/maps").read_text().splitlines():
            place = re.match(r"([0-9a-f]+)-([0-9a-f]+) rw", line)
            if place:
                begin, end = (int(it, 16) for it in place.groups())
                try:
                    memory.seek(begin)
                    regions.append(memory.read(end - begin))
                except OSError:  # Pages of secrets, which nobody else reads.
                    continue
    return regions


def test_no_copy_stays() -> None:
    assert copies() == 0


@pytest.mark.parametrize("data", ["b''", "b'x' * 300"])
@pytest.mark.parametrize("call", ["pass", "keyed.digest()", "keyed.copy()", "keyed.hexdigest()", "keyed.verify(b'x')", "keyed.update(b'x')"])
def test_no_key_stays_on_the_stack_of_a_thread(data: str, call: str) -> None:
    assert copies(THREAD.format(data=data, call=call)) == 0


@pytest.mark.parametrize("call", [HASHED, LABELLED], ids=["hash_secret_raw", "derived_key"])
def test_no_copy_of_a_key_stays(call: str) -> None:
    """The same search finds the key where it was returned as `bytes`."""
    key: bytes = eval(call + ")", {"hash_secret_raw": hash_secret_raw, "Type": Type, "package": PACKAGE})
    stored = PACKAGE.to_bytes().hex()

    def left(call: str) -> int:
        return found(DERIVED.format(package=stored, call=call), [key[16:32], key[-16:]])

    assert left(call + ", into=room)") == 0
    assert left("kept = " + call + ")") > 0


def test_a_copy_is_found() -> None:
    assert copies("kept = bytes(secret)") >= 2
    assert copies("kept = memoryview(secret).tobytes()\ndel kept") > 0
