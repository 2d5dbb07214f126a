"""Every long call can be cancelled: by its progress function, and by a signal."""

import asyncio
import io
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import calls
import sealstone
from sealstone import Passport, SealedFile, aio, argon2, timestamps
from sealstone.argon2.low_level import Type, hash_secret_raw
from sealstone.packages import sign
from sealstone.tokens import Challenge, IssuerKey, Pending
from interrupts import interrupted

ALICE, BOB, EVE = Passport.generate("Alice"), Passport.generate("Bob"), Passport.generate("Eve")
CONTENT = {"a": b"a" * 1000, "b": b"b"}
SIGNED = sign(ALICE, CONTENT, cosigners=BOB.public, threshold=1)
SEALED = sealstone.seal(b"text", to=BOB.public)
LOCKED = ALICE.lock("passphrase", profile=calls.CHEAP).encode()
HASHER = argon2.PasswordHasher(time_cost=1, memory_cost=1024, parallelism=1)
HASH = HASHER.hash("password")

# Each takes less than the tenth of a second after which progress is told. The path is a new file's.
SHORT: dict[str, Callable[..., object]] = {
    "seal": lambda path, **it: sealstone.seal(b"text", path, to=BOB.public, **it),
    "open": lambda path, **it: sealstone.open(SEALED, path, keys=BOB, sender="unsigned", **it),
    "sealed_file": lambda path, **it: SealedFile(SEALED, keys=BOB, sender="unsigned", **it),
    "lock": lambda path, **it: ALICE.lock("passphrase", profile=calls.CHEAP, **it),
    "save": lambda path, **it: ALICE.save(path, "passphrase", profile=calls.CHEAP, **it),
    "unlock": lambda path, **it: Passport.unlock(LOCKED, "passphrase", **it),
    "sign": lambda path, **it: sign(ALICE, CONTENT, **it),
    "report": lambda path, **it: SIGNED.report(CONTENT, **it),
    "verify": lambda path, **it: SIGNED.verify(CONTENT, signers=ALICE.public, **it),
    "cosign": lambda path, **it: SIGNED.cosign(BOB, CONTENT, **it),
    "countersign": lambda path, **it: SIGNED.countersign(EVE, CONTENT, **it),
    "request": lambda path, **it: timestamps.request(b"text", **it),
    "renewal": lambda path, **it: timestamps.renewal(b"hello", calls.RESPONSE, **it),
    "verify_timestamps": lambda path, **it: timestamps.verify(b"hello", calls.RESPONSE, calls.ROOTS, **it),
    "calibrate": lambda path, **it: argon2.calibrate(0.001, memory_cost=1024, **it),
    "PasswordHasher.hash": lambda path, **it: HASHER.hash("password", **it),
    "PasswordHasher.verify": lambda path, **it: HASHER.verify(HASH, "password", **it),
    "hash_secret_raw": lambda path, **it: hash_secret_raw(b"p", b"s" * 16, 1, 1024, 1, 32, Type.ID, **it),
}


class Enough(Exception):
    """The exception of a progress function."""


def enough(done: int, total: int) -> None:
    raise Enough


@pytest.mark.parametrize("name", SHORT)
def test_progress_of_short_work(name: str, tmp_path: Path) -> None:
    """It is told once at least, and may still refuse the result."""
    seen: list[tuple[int, int]] = []
    with pytest.raises(Enough):
        SHORT[name](tmp_path / "new", progress=enough)
    assert os.listdir(tmp_path) == []
    SHORT[name](tmp_path / "new", progress=lambda *at: seen.append(at))
    assert seen and all(0 <= done <= total for done, total in seen)


@pytest.mark.parametrize("name", SHORT)
def test_progress_that_is_no_function(name: str, tmp_path: Path) -> None:
    """It is refused at once."""
    with pytest.raises(TypeError, match="progress is a function, not 'int'"):
        SHORT[name](tmp_path / "new", progress=3)
    SHORT[name](tmp_path / "new", progress=None)


COROUTINES: dict[str, Callable[..., Any]] = {
    "seal": lambda **it: aio.seal(b"text", to=BOB.public, **it),
    "report": lambda **it: aio.report(SIGNED, CONTENT, **it),
    "request": lambda **it: aio.request(b"text", **it),
    "calibrate": lambda **it: aio.calibrate(0.001, memory_cost=1024, **it),
}


@pytest.mark.parametrize("name", COROUTINES)
def test_coroutines_refuse_it_too(name: str) -> None:
    async def main() -> None:
        with pytest.raises(TypeError, match="progress is a function, not 'int'"):
            await COROUTINES[name](progress=3)
        with pytest.raises(Enough):
            await COROUTINES[name](progress=enough)
        await COROUTINES[name](progress=None)

    asyncio.run(main())


class Endless(io.BytesIO):
    """Content that ends on the main thread once another one reads, and there after 10 s."""

    others = threading.Event()

    def __init__(self, pause: float) -> None:
        super().__init__()
        self.pause, self.end = pause, time.monotonic() + 10

    def read(self, size: int | None = -1, /) -> bytes:
        if threading.current_thread() is threading.main_thread():
            self.others.wait(10)
            return b""
        self.others.set()
        time.sleep(self.pause)
        assert size is not None
        return bytes(min(size, 10)) if time.monotonic() < self.end else b""


# How long a thread reads, until it reports: often, and rarely.
PAUSES = pytest.mark.parametrize("pause", [0.0, 0.05])
TWO = pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="needs two processors")


@TWO
@PAUSES
def test_a_signal_while_other_threads_read(pause: float) -> None:
    """The main thread alone hears of it, and has nothing to read any more."""

    def content() -> dict[str, io.BytesIO]:
        Endless.others = threading.Event()
        return {"a": Endless(pause), "b": Endless(pause)}

    interrupted(lambda: sign(ALICE, content()), 0.6)
    # A reader gets no more bytes than were signed.
    long = sign(ALICE, {"a": bytes(1 << 26), "b": bytes(1 << 26)}, cosigners=BOB.public)
    interrupted(lambda: long.report(content()), 0.6)
    interrupted(lambda: long.cosign(BOB, content()), 0.6)


class Slow(io.BytesIO):
    """Content that comes in small pieces, each after a pause."""

    def __init__(self, pause: float, piece: int) -> None:
        super().__init__()
        self.pause, self.piece, self.end = pause, piece, time.monotonic() + 10

    def read(self, size: int | None = -1, /) -> bytes:
        time.sleep(self.pause)
        assert size is not None
        return bytes(min(size, self.piece)) if time.monotonic() < self.end else b""


@pytest.mark.parametrize("pause, piece", [(0.0, 1 << 20), (0.05, 1 << 14), (0.05, 1 << 20)])
def test_a_signal_while_threads_seal(pause: float, piece: int) -> None:
    """Whichever thread reads now."""
    interrupted(lambda: sealstone.seal(Slow(pause, piece), io.BytesIO(), to=BOB.public), 0.6)


def test_a_signal_while_one_thread_reads() -> None:
    interrupted(lambda: timestamps.request(Slow(0.001, 1000)), 0.6)
    interrupted(lambda: timestamps.renewal(Slow(0.001, 1000), calls.RESPONSE), 0.6)
    interrupted(lambda: timestamps.verify(Slow(0.001, 1000), calls.RESPONSE, calls.ROOTS), 0.6)
    interrupted(lambda: sign(ALICE, {"a": Slow(0.001, 1000)}), 0.6)


@pytest.fixture
def deep(tmp_path: Path) -> Iterator[Path]:
    """A directory whose walk takes seconds: it opens each directory from the root on."""
    root = tmp_path / "deep"
    root.mkdir()
    here = os.open(root, os.O_RDONLY)
    for _ in range(2500):
        os.close(os.open("file", os.O_CREAT, dir_fd=here))
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    yield root
    # Python's own function calls itself for each directory.
    subprocess.run(["rm", "-rf", root], check=True)


def test_a_signal_while_a_directory_is_walked(deep: Path, tmp_path: Path) -> None:
    interrupted(lambda: sign(ALICE, deep), 0.6)
    (tmp_path / "small").mkdir()
    (tmp_path / "small/file").write_bytes(b"")
    signed = sign(ALICE, tmp_path / "small")
    interrupted(lambda: signed.report(deep), 0.6)


def test_progress_while_a_directory_is_walked(deep: Path) -> None:
    """Nothing is done yet. The total grows with the files that were found."""
    seen: list[tuple[int, int]] = []

    def third(done: int, total: int) -> None:
        seen.append((done, total))
        if len(seen) == 3:
            raise Enough

    (deep / "a").write_bytes(b"text")
    with pytest.raises(Enough):
        sign(ALICE, deep, progress=third)
    assert seen == [(0, 4)] * 3


def test_a_signal_while_a_batch_of_tokens_is_made() -> None:
    """The client's blinds stay as they were: it may finalize again."""
    issuer, challenge = IssuerKey.generate("ristretto255"), Challenge("ristretto255", "issuer.example")
    many = 30_000
    interrupted(lambda: Pending(issuer.public, challenge, many), 0.6)
    pending = Pending(issuer.public, challenge, many)
    request, saved = pending.request, pending.save()
    interrupted(lambda: Pending.restore(saved), 0.6)
    interrupted(lambda: issuer.issue_batch(request, many), 0.6)
    response = issuer.issue_batch(request, many)
    interrupted(lambda: pending.finalize(response), 0.6)
    tokens = pending.finalize(response)
    assert len(tokens) == many and issuer.redeem(tokens[-1], challenge)
    with pytest.raises(ValueError, match="finalized already"):
        pending.finalize(response)


def test_a_signal_while_hashes_are_measured() -> None:
    """Each hash of the first instants is short: this is no test of how soon one of them ends."""
    interrupted(lambda: argon2.calibrate(30.0), 5)


@pytest.mark.parametrize("lanes", [1, 4])
def test_a_signal_while_a_hash_works(lanes: int) -> None:
    memory = argon2.Memory(at_once=1)
    interrupted(lambda: hash_secret_raw(b"p", b"s" * 16, 2000, 1 << 16, lanes, 32, Type.ID, memory=memory), 3)
