"""The system refuses memory or threads. Python goes on, with an exception or without.

Each program lowers a limit of its own process.
"""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts the pages of /proc/self/statm")

ALLOW = """
import resource

def allow(more):
    pages = int(open("/proc/self/statm").read().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + more, resource.RLIM_INFINITY))
"""

LONG_HASH = """
from sealstone import _native
from sealstone.argon2 import Memory
from sealstone.argon2.exceptions import HashingError, VerificationError
from sealstone.argon2.low_level import Type, hash_secret_raw

from sealstone.hashes import Skein512

memory, task = Memory(), (2, 19, 1, 8, 1, b"s" * 16, None, b"")
tag = bytes(64 << 20)
allow(8 << 20)
for call in (
    lambda: _native.argon2_hash(b"p", task, (1 << 32) - 1, memory),
    lambda: _native.argon2_hash(b"p", task, 64 << 20, memory),
    lambda: _native.argon2_verify(b"p", task, tag, memory, None),
    Skein512(digest_size=16 << 20).digest,
    Skein512(digest_size=16 << 20).hexdigest,
    lambda: Skein512(digest_size=16 << 20).verify(tag),
):
    try:
        call()
    except MemoryError as error:
        assert "no memory for a hash" in str(error), error
    else:
        raise AssertionError("there was memory")
try:
    hash_secret_raw(b"p", b"s" * 16, 1, 8, 1, (1 << 32) - 1, Type.ID)
except HashingError as error:
    assert "no memory" in str(error), error
assert len(_native.argon2_hash(b"p", task, 32, memory)) == 32
"""

LONG_CONTENT = """
import io
import sealstone

bob = sealstone.Passport.generate("Bob")

class Endless(io.RawIOBase):
    # Content of a length that nobody knows before.
    def read(self, size=-1):
        return bytes(size)

# Kept: Python may use the memory of freed content again.
content = bytes(64 << 20)
sealed = sealstone.seal(content, to=bob.public)
sealstone.open(io.BytesIO(sealstone.seal(b"text", to=bob.public)), keys=bob, sender="unsigned")
allow(32 << 20)
for call in (
    lambda: sealstone.open(io.BytesIO(sealed), keys=bob, sender="unsigned"),
    lambda: sealstone.open(sealed, keys=bob, sender="unsigned"),
    lambda: sealstone.seal(Endless(), to=bob.public),
):
    try:
        call()
    except MemoryError:
        continue
    raise AssertionError("there was memory")
assert sealstone.seal(b"text", to=bob.public)
"""

NO_THREAD = """
from sealstone.hashes import PIECE, SkeinTree

data = b"sealstone" * PIECE
data = data[: 8 * PIECE + 5]
serial = SkeinTree()
for at in range(0, len(data), PIECE // 2):
    serial.update(data[at : at + PIECE // 2])
    serial.digest()
# Less than the stack of a thread takes. There was no thread before, whose stack could be used.
allow(1 << 20)
import threading
try:
    threading.Thread(target=print).start()
except RuntimeError as error:
    assert "start new thread" in str(error)
else:
    raise AssertionError("there was a thread")
assert SkeinTree(data).digest() == serial.digest()
print(serial.hexdigest())
"""


def output(program: str) -> str:
    # Free-threaded Python reserves 1 GiB of addresses, which the limit would count as used.
    environment = os.environ | {"MIMALLOC_ARENA_RESERVE": "0"}
    command = [sys.executable, "-c", ALLOW + program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == 0, f"{done.returncode}: {done.stderr}"
    return done.stdout


# The parts that wait may need as many MiB as there are processors, 16 at most.
TREE_OF_PARTS = """
from sealstone import _native
from sealstone.hashes import PIECE, SkeinTree

tree, part = SkeinTree(), bytes(PIECE - 1)
tree.update(part)
digest = tree.digest()
allow(600 << 10)
for call in (lambda: tree.update(part), tree.copy, tree.digest, tree.hexdigest, lambda: tree.prove(0)):
    try:
        call()
    except MemoryError as error:
        assert "no memory" in str(error), error
    else:
        raise AssertionError("there was memory")
assert tree.length == PIECE - 1
import resource
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
assert tree.digest() == digest
"""


@pytest.mark.parametrize("program", [LONG_HASH, LONG_CONTENT, TREE_OF_PARTS])
def test_memory_that_is_missing(program: str) -> None:
    """It is a `MemoryError`. Before, a program ended."""
    output(program)


def test_threads_that_are_missing() -> None:
    """A tree is hashed on the thread of the call."""
    assert len(output(NO_THREAD)) == 129
