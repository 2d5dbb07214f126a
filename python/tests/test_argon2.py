"""Argon2: its results, its secrets, its memory."""

import array
import asyncio
import mmap
import os
import pickle
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from sealstone._types import Buffer
from sealstone.argon2 import MEMORY, Memory, Parameters, PasswordHasher, Pepper, calibrate, extract_parameters, profiles
from sealstone.argon2.exceptions import HashingError, InvalidHashError, VerificationError, VerifyMismatchError
from sealstone.argon2.low_level import Type, hash_secret, hash_secret_raw, verify_secret
from turns import the_loop_goes_on, threads_go_on

CHEAP = Parameters(Type.ID, 19, 16, 32, 1, 1024, 1)

# RFC 9106, section 5: the tags of Argon2d, Argon2i and Argon2id.
RFC_9106 = {
    Type.D: "512b391b6f1162975371d30919734294f868e3be3984f3c1a13a4db9fabe4acb",
    Type.I: "c814d9d1dc7f37aa13f0d77f2494bda1c8de6b016dd388d29952a4c4672b6ce8",
    Type.ID: "0d640df58d78766c08c037a34a8b53c9d01ef0452d75b65eb52520e96b01e659",
}


@pytest.mark.parametrize("type", RFC_9106)
def test_vectors_of_rfc_9106(type: Type) -> None:
    tag = hash_secret_raw(
        b"\x01" * 32, b"\x02" * 16, 3, 32, 4, 32, type, pepper=Pepper(b"\x03" * 8), associated_data=b"\x04" * 12
    )
    assert tag.hex() == RFC_9106[type]


def test_data_of_any_type_that_holds_bytes() -> None:
    expected = hash_secret_raw(b"password", b"some salt", 1, 8, 1, 32, Type.ID)
    for make in (bytearray, memoryview):
        tag = hash_secret_raw(make(b"password"), make(b"some salt"), 1, 8, 1, 32, Type.ID)  # type: ignore[call-overload]
        assert tag == expected
    with pytest.raises(TypeError, match="bytes-like object is required, not 'str'"):
        hash_secret_raw("password", b"some salt", 1, 8, 1, 32, Type.ID)  # type: ignore[call-overload]


def test_the_length_of_a_salt_is_in_bytes() -> None:
    """Its elements may be longer."""

    def hashed(salt: Any) -> bytes:
        return hash_secret_raw(b"password", salt, 1, 8, 1, 32, Type.ID)

    assert hashed(array.array("I", b"8 bytes.")) == hashed(memoryview(b"8 bytes.").cast("Q")) == hashed(b"8 bytes.")
    stored = hash_secret(b"password", memoryview(b"8 bytes.").cast("Q"), 1, 8, 1, 32, Type.ID)  # type: ignore[arg-type]
    assert stored == hash_secret(b"password", b"8 bytes.", 1, 8, 1, 32, Type.ID)
    for short in (b"7 bytes", array.array("I", bytes(4)), b""):
        with pytest.raises(HashingError, match="Salt is too short"):
            hashed(short)
    with pytest.raises(TypeError, match="bytes-like object is required, not 'str'"):
        hashed("some salt")


@pytest.mark.parametrize("length", [-1, 0, 7, 1 << 32])
def test_the_length_of_a_random_salt(length: int) -> None:
    with pytest.raises(HashingError, match="a salt has 8 to 4294967295 bytes"):
        PasswordHasher(1, 8, 1, salt_len=length).hash("password")
    assert PasswordHasher(1, 8, 1, salt_len=8).hash("password")


def test_a_hash_goes_into_a_buffer() -> None:
    """To its begin. Nobody can wipe `bytes`."""

    def hashed(into: Any, length: int = 32) -> Any:
        return hash_secret_raw(b"password", b"some salt", 1, 8, 1, length, Type.ID, into=into)

    expected = hash_secret_raw(b"password", b"some salt", 1, 8, 1, 32, Type.ID)
    room = bytearray(b"x" * 40)
    for target in (memoryview(room)[4:], mmap.mmap(-1, 32), array.array("I", bytes(32))):
        assert hashed(target) == 32 and bytes(memoryview(target).cast("B"))[:32] == expected
    assert room == b"xxxx" + expected + b"xxxx"
    long = bytearray(1 << 20)
    assert hashed(long, len(long)) == len(long)
    assert long == hash_secret_raw(b"password", b"some salt", 1, 8, 1, len(long), Type.ID)
    room[:] = b"x" * 40
    with pytest.raises(HashingError, match="32 bytes are needed, and the buffer has room for 31"):
        hashed(memoryview(room)[:31])
    with pytest.raises(HashingError):
        hash_secret_raw(b"password", b"some salt", 0, 8, 1, 32, Type.ID, into=room)
    with pytest.raises(InterruptedError):
        hash_secret_raw(b"password", b"some salt", 1, 8, 1, 32, Type.ID, into=room, progress=interrupt)
    assert room == b"x" * 40
    with pytest.raises(TypeError, match="read-only"):
        hashed(bytes(32))
    with pytest.raises(TypeError, match="bytes-like object is required, not 'int'"):
        hashed(3)


NO_MEMORY = """
import _testcapi
from sealstone.argon2.low_level import Type, hash_secret_raw
LENGTH = 300_000  # Two pieces.
errors = zeros = 0
for at in range(1, 120):
    room = bytearray(b"x" * LENGTH)
    raised = False
    _testcapi.set_nomemory(at, at + 1)
    try:
        hash_secret_raw(b"p", b"s" * 16, 1, 8, 1, LENGTH, Type.ID, into=room)
    except BaseException:
        raised = True
    finally:
        _testcapi.remove_mem_hooks()
    if raised:
        left = room.rstrip(b"x")
        assert not any(left), at
        errors, zeros = errors + 1, zeros + bool(left)
assert not raised and 0 < zeros < errors
print("ends")
"""


def test_no_part_of_a_hash_stays_in_a_buffer_when_memory_ends() -> None:
    """One after the other, each allocation of Python's fails. Then the buffer is as it was, or has
    zeros."""
    pytest.importorskip("_testcapi")
    done = run(NO_MEMORY)
    assert (done.returncode, done.stdout) == (0, "ends\n"), done.stderr


async def hash_into(into: Buffer | None) -> bytes | int:
    """mypy accepts a function that forwards its buffer, also through another one."""
    return await asyncio.to_thread(hash_secret_raw, b"password", b"some salt", 1, 8, 1, 32, Type.ID, into=into)


def test_a_function_that_forwards_its_buffer() -> None:
    room = bytearray(32)
    assert asyncio.run(hash_into(room)) == 32 and asyncio.run(hash_into(None)) == bytes(room)


def interrupt(done: int, total: int) -> None:
    raise InterruptedError


def test_a_password_is_bytes_like_too() -> None:
    """A `bytearray` can be wiped by its owner."""
    hasher = PasswordHasher.from_parameters(CHEAP)
    stored = hasher.hash("password", salt=b"some salt")
    for password in (b"password", bytearray(b"password"), memoryview(b"password")):
        assert hasher.hash(password, salt=b"some salt") == stored
        assert hasher.verify(stored, password) and hasher.verify(stored.encode(), password)
        assert asyncio.run(hasher.hash_async(password, salt=b"some salt")) == stored
        assert asyncio.run(hasher.verify_async(stored, password))
        assert verify_secret(stored.encode(), password, Type.ID)
    for wrong in (3, None, [1]):
        with pytest.raises(TypeError, match="bytes-like object is required"):
            hasher.hash(wrong)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="bytes-like object is required"):
            hasher.verify(stored, wrong)  # type: ignore[arg-type]


def test_a_pepper_is_bytes_like() -> None:
    expected = PasswordHasher.from_parameters(CHEAP, pepper=b"pepper").hash("password", salt=b"some salt")
    for pepper in (bytearray(b"pepper"), memoryview(b"pepper"), Pepper(bytearray(b"pepper"))):
        hasher = PasswordHasher.from_parameters(CHEAP, pepper=pepper)
        assert hasher.hash("password", salt=b"some salt") == expected and hasher.verify(expected, "password")
    for wrong in ("pepper", 3, [1]):
        with pytest.raises(TypeError, match="bytes-like object is required"):
            PasswordHasher(pepper=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["encoding", "time_cost", "memory_cost", "type", "another"])
def test_a_hasher_does_not_change(name: str) -> None:
    hasher = PasswordHasher.from_parameters(CHEAP)
    with pytest.raises(AttributeError):
        setattr(hasher, name, "latin-1")
    assert hasher.encoding == "utf-8"


def test_pepper_is_needed_and_never_shown() -> None:
    hasher = PasswordHasher.from_parameters(CHEAP, pepper=b"pepper of the house")
    stored = hasher.hash("password")
    assert hasher.verify(stored, "password")
    for other in (None, b"another pepper"):
        with pytest.raises(VerifyMismatchError):
            PasswordHasher.from_parameters(CHEAP, pepper=other).verify(stored, "password")
    assert "house" not in repr(hasher) + repr(hasher._pepper)
    for secret in (hasher, hasher._pepper):
        with pytest.raises(TypeError, match="pickle"):
            pickle.dumps(secret)


def test_pickles_without_secrets() -> None:
    hasher = PasswordHasher.from_parameters(CHEAP)
    copy = pickle.loads(pickle.dumps(hasher))
    assert copy.verify(hasher.hash("password"), "password")
    assert repr(copy) == repr(hasher)


@pytest.mark.parametrize(
    "stored",
    [
        "$argon2id$v=19$m=4194304,t=1,p=1$c29tZSBzYWx0$c29tZSB0YWcgb2YgaXQ",
        "$argon2id$v=19$m=1024,t=100000,p=1$c29tZSBzYWx0$c29tZSB0YWcgb2YgaXQ",
        "$argon2id$v=19$m=01024,t=1,p=1$c29tZSBzYWx0$c29tZSB0YWcgb2YgaXQ",
        "$argon2id$v=19$m=1024,t=1,p=1$c29tZSBzYWx1$c29tZSB0YWcgb2YgaXR",
        "$argon2id$v=19$m=1024,t=1,p=1$c29tZSBzYWx0",
    ],
)
def test_strings_that_are_refused(stored: str) -> None:
    with pytest.raises(VerificationError) as caught:
        PasswordHasher().verify(stored, "password")
    assert caught.type is VerificationError


def test_other_text_is_no_hash() -> None:
    for text in ("", "$", "$2b$12$abc", "argon2id$v=19"):
        with pytest.raises(InvalidHashError):
            PasswordHasher().verify(text, "password")
        with pytest.raises(InvalidHashError):
            extract_parameters(text)


def test_parameters_that_argon2_does_not_allow() -> None:
    for parameters in [(0, 1024, 1, 32), (1, 7, 1, 32), (1, 1024, 0, 32), (1, 1024, 1, 3), (1 << 32, 1024, 1, 32)]:
        passes, memory, lanes, length = parameters
        with pytest.raises(HashingError):
            hash_secret_raw(b"password", b"some salt", passes, memory, lanes, length, Type.ID)


def test_memory_is_kept_and_given_back() -> None:
    memory = Memory()
    hasher = PasswordHasher(1, 4096, 1, memory=memory)
    stored = hasher.hash("password")
    kept = memory.kept_kib
    assert kept >= 4096
    hasher.verify(stored, "password")
    assert memory.kept_kib == kept
    memory.release()
    assert memory.kept_kib == 0
    small = Memory(keep_kib=1024)
    PasswordHasher(1, 4096, 1, memory=small).hash("password")
    assert small.kept_kib == 0


def faults(memory: Memory) -> int:
    """Pages that the system has to find for ten hashes of 16 MiB, after one."""
    hasher = PasswordHasher(1, 1 << 14, 1, memory=memory)
    hasher.hash("password")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(10):
        hasher.hash("password")
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def test_kept_memory_costs_no_page_faults() -> None:
    """16 MiB are 8 huge pages, or 4,096 small ones."""
    assert faults(Memory()) < 40 < 80 <= faults(Memory(keep_kib=0))


def test_bounded_number_at_once() -> None:
    memory = Memory(at_once=2)
    hasher = PasswordHasher(1, 4096, 1, memory=memory)
    threads = [threading.Thread(target=hasher.hash, args=("password",)) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    one = Memory()
    PasswordHasher(1, 4096, 1, memory=one).hash("password")
    assert memory.kept_kib <= 2 * one.kept_kib
    with pytest.raises(ValueError, match="at least 1"):
        Memory(at_once=0)


def test_lock_is_given_up() -> None:
    assert threads_go_on(lambda: PasswordHasher(3, 65536, 1).hash("password"))


def test_event_loop_goes_on() -> None:
    hasher = PasswordHasher(3, 65536, 1)
    stored = hasher.hash("password")
    assert the_loop_goes_on(lambda: hasher.hash_async("password"))
    assert the_loop_goes_on(lambda: hasher.verify_async(stored, "password"))


def long_hash(progress: Any = None) -> bytes:
    return hash_secret_raw(b"p", b"some salt", 10_000, 65536, 1, 32, Type.ID, progress=progress)


def test_progress_cancels_by_raising() -> None:
    seen: list[tuple[int, int]] = []

    def progress(done: int, total: int) -> None:
        seen.append((done, total))
        if len(seen) == 3:
            raise InterruptedError("enough")

    with pytest.raises(InterruptedError, match="enough"):
        long_hash(progress)
    assert len(seen) == 3 and seen == sorted(seen)
    assert all(0 < done < total <= 65536 * 10_000 for done, total in seen)


@pytest.fixture
def interruptible() -> Iterator[None]:
    """SIGINT interrupts, also if pytest is a job in the background of a shell, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_a_signal_ends_a_long_hash() -> None:
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        long_hash()
    timer.join()


@pytest.mark.usefixtures("interruptible")
def test_a_signal_ends_waiting() -> None:
    memory = Memory(at_once=1)
    stop = threading.Event()

    def progress(done: int, total: int) -> None:
        if stop.is_set():
            raise InterruptedError

    def occupy() -> None:
        with pytest.raises(InterruptedError):
            hash_secret_raw(b"p", b"some salt", 10_000, 65536, 1, 32, Type.ID, memory=memory, progress=progress)

    thread = threading.Thread(target=occupy)
    thread.start()
    time.sleep(0.1)
    timer = threading.Timer(0.3, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        hash_secret_raw(b"p", b"some salt", 1, 1024, 1, 32, Type.ID, memory=memory)
    stop.set()
    thread.join()


def test_calibrate_finds_parameters_that_hash() -> None:
    found = calibrate(0.01, memory_cost=8192)
    assert found.parameters.memory_cost <= 8192
    hasher = PasswordHasher.from_parameters(found.parameters)
    assert hasher.verify(hasher.hash("password"), "password")
    for seconds in (-1.0, float("nan")):
        with pytest.raises(ValueError):
            calibrate(seconds)


def test_rehash_after_a_change_of_parameters() -> None:
    old, new = PasswordHasher.from_parameters(CHEAP), PasswordHasher.from_parameters(profiles.OWASP_19M)
    stored = old.hash("password")
    assert new.verify(stored, "password") and new.check_needs_rehash(stored)
    assert not old.check_needs_rehash(stored.encode())


def test_old_strings_without_a_version() -> None:
    stored = b"$argon2i$m=8,t=1,p=1$bL/lLsegFKTuR+5vVyA8tA$VKz5CHavCtFOL1N5TIXWSA"
    assert verify_secret(stored, "pässword".encode("latin1"), Type.I)


def run(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_fork_while_others_hash() -> None:
    """The parent's threads hold all of the memory, and one waits for it; the child has its own."""
    hasher = PasswordHasher(20, 65536, 1)
    threads = [threading.Thread(target=hasher.hash, args=("p",)) for _ in range(MEMORY.at_once + 1)]
    for thread in threads:
        thread.start()
    time.sleep(0.05)
    child = os.fork()
    if child == 0:
        quick = PasswordHasher.from_parameters(CHEAP)
        os._exit(0 if quick.verify(quick.hash("p"), "p") else 1)
    for thread in threads:
        thread.join()
    assert os.waitpid(child, 0)[1] == 0



def test_the_interpreter_ends_while_others_hash() -> None:
    done = run(
        "import threading, time\n"
        "from sealstone.argon2 import PasswordHasher\n"
        "for _ in range(8):\n"
        "    threading.Thread(target=PasswordHasher(50, 65536, 2).hash, args=('p',), daemon=True).start()\n"
        "time.sleep(0.3)\n"
        "print('end')\n"
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n", "")
