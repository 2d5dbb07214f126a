"""Every long call can be cancelled: by its progress function, and by a signal."""

import asyncio
import io
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import calls
import public
import sealstone
from sealstone import Passport, SealedFile, aio, argon2, timestamps
from sealstone.argon2.low_level import Type, hash_secret, hash_secret_raw, verify_secret
from sealstone.packages import Package, sign
from sealstone.tokens import Challenge, IssuerKey, Pending
from interrupts import interrupted

ALICE, BOB, EVE = Passport.generate("Alice"), Passport.generate("Bob"), Passport.generate("Eve")
CONTENT = {"a": b"a" * 1000, "b": b"b"}
SIGNED = sign(ALICE, CONTENT, cosigners=BOB.public, threshold=1)
SEALED = sealstone.seal(b"text", to=BOB.public)
LOCKED = ALICE.lock("passphrase", profile=calls.CHEAP).encode()
HASHER = argon2.PasswordHasher(time_cost=1, memory_cost=1024, parallelism=1)
HASH = HASHER.hash("password")
ISSUER, CHALLENGE = IssuerKey.generate("ristretto255"), Challenge("ristretto255", "issuer.example")
PENDING = Pending(ISSUER.public, CHALLENGE, 2)
ANSWER = ISSUER.issue_batch(PENDING.request, 2)

# Each takes less than the tenth of a second after which progress is told. The path is a new file's.
SHORT: dict[str, Callable[..., object]] = {
    "sealstone.seal": lambda path, **it: sealstone.seal(b"text", path, to=BOB.public, **it),
    "sealstone.open": lambda path, **it: sealstone.open(SEALED, path, keys=BOB, sender="unsigned", **it),
    "sealstone.SealedFile": lambda path, **it: SealedFile(SEALED, keys=BOB, sender="unsigned", **it),
    "sealstone.Passport.lock": lambda path, **it: ALICE.lock("passphrase", profile=calls.CHEAP, **it),
    "sealstone.Passport.save": lambda path, **it: ALICE.save(path, "passphrase", profile=calls.CHEAP, **it),
    "sealstone.Passport.unlock": lambda path, **it: Passport.unlock(LOCKED, "passphrase", **it),
    "packages.sign": lambda path, **it: sign(ALICE, CONTENT, **it),
    "packages.Package.load": lambda path, **it: Package.load(SIGNED.to_bytes(), **it),
    "packages.Package.save": lambda path, **it: SIGNED.save(path, **it),
    "packages.Package.export": lambda path, **it: SIGNED.export(path, **it),
    "packages.Package.report": lambda path, **it: SIGNED.report(CONTENT, **it),
    "packages.Package.verify": lambda path, **it: SIGNED.verify(CONTENT, signers=ALICE.public, **it),
    "packages.Package.cosign": lambda path, **it: SIGNED.cosign(BOB, CONTENT, **it),
    "packages.Package.countersign": lambda path, **it: SIGNED.countersign(EVE, CONTENT, **it),
    "timestamps.request": lambda path, **it: timestamps.request(b"text", **it),
    "timestamps.renewal": lambda path, **it: timestamps.renewal(b"hello", calls.RESPONSE, **it),
    "timestamps.verify": lambda path, **it: timestamps.verify(b"hello", calls.RESPONSE, calls.ROOTS, **it),
    "tokens.IssuerKey.generate": lambda path, **it: IssuerKey.generate("rsa", **it),
    "tokens.IssuerKey.issue_batch": lambda path, **it: ISSUER.issue_batch(PENDING.request, 2, **it),
    "tokens.Pending": lambda path, **it: Pending(ISSUER.public, CHALLENGE, 2, **it),
    "tokens.Pending.restore": lambda path, **it: Pending.restore(PENDING.save(), **it),
    "tokens.Pending.finalize": lambda path, **it: Pending.restore(PENDING.save()).finalize(ANSWER, **it),
    "argon2.calibrate": lambda path, **it: argon2.calibrate(0.001, memory_cost=1024, **it),
    "argon2.PasswordHasher.hash": lambda path, **it: HASHER.hash("password", **it),
    "argon2.PasswordHasher.verify": lambda path, **it: HASHER.verify(HASH, "password", **it),
    "argon2.low_level.hash_secret": lambda path, **it: hash_secret(b"p", b"s" * 16, 1, 1024, 1, 32, Type.ID, **it),
    "argon2.low_level.hash_secret_raw": lambda path, **it: hash_secret_raw(b"p", b"s" * 16, 1, 1024, 1, 32, Type.ID, **it),
    "argon2.low_level.verify_secret": lambda path, **it: verify_secret(HASH.encode(), b"password", Type.ID, **it),
}
# Functions that take no `progress`, by the reason.
WITHOUT = {
    "short": """
        sealstone.Passport sealstone.Passport.generate sealstone.Passport.from_words
        sealstone.Passport.words sealstone.Passport.close sealstone.PublicPassport
        sealstone.PublicPassport.load sealstone.TrustStore sealstone.TrustStore.approve
        sealstone.TrustStore.deny sealstone.TrustStore.revoke sealstone.TrustStore.status
        sealstone.TrustStore.rows
        sealstone.SealedFile.readable sealstone.SealedFile.writable sealstone.SealedFile.seekable
        sealstone.SealedFile.seek sealstone.SealedFile.tell sealstone.SealedFile.write
        sealstone.SealedFile.close
        packages.Package packages.Package.to_stamp packages.Package.derived_key packages.Report
        packages.Report.layer packages.Report.to_dict
        timestamps.Roots timestamps.Roots.load timestamps.Timestamp timestamps.Timestamp.to_dict
        timestamps.check_answer
        tokens.Challenge tokens.Challenge.decode tokens.Challenge.encode tokens.Challenge.digest
        tokens.Directory.key tokens.IssuerKey tokens.IssuerKey.decode tokens.IssuerKey.encode
        tokens.IssuerKey.issue tokens.IssuerKey.redeem tokens.IssuerKey.close tokens.IssuerPublicKey
        tokens.IssuerPublicKey.decode tokens.IssuerPublicKey.encode tokens.IssuerPublicKey.redeem
        tokens.Pending.save tokens.Token tokens.Token.decode tokens.Token.from_header
        tokens.Token.encode tokens.read_challenges tokens.read_directory tokens.www_authenticate
        argon2.Memory argon2.Memory.release argon2.Parameters argon2.PasswordHasher
        argon2.PasswordHasher.from_parameters argon2.PasswordHasher.check_needs_rehash argon2.Pepper
        argon2.Type argon2.extract_parameters argon2.install_as_argon2 argon2.low_level.Type
        argon2.profiles.get_default_parameters
    """,
    "reads 4 MiB at most": "sealstone.recipients",
    "copies what is in memory, 64 MiB of content at most": """
        packages.Package.to_bytes packages.Package.embedded packages.Package.evidence
        packages.Package.with_timestamp aio.evidence
    """,
    "the caller reads in pieces, and can stop between two": """
        sealstone.SealedFile.readinto sealstone.SealedFile.read sealstone.SealedFile.readall
    """,
    "the caller hashes in pieces, and can stop between two": " ".join(
        f"hashes.{name}{method}"
        for name in ("Blake2b", "Skein256", "Skein512", "Skein1024", "SkeinTree")
        for method in ("", ".update", ".digest", ".hexdigest", ".verify", ".copy")
    )
    + " hashes.SkeinTree.prove hashes.verify_piece",
    "deprecated, with argon2-cffi's arguments": "argon2.hash_password argon2.hash_password_raw argon2.verify_password",
    "waits for a server, as long as `timeout` says": "timestamps.fetch aio.fetch",
}


def test_every_function_takes_progress_or_has_a_reason() -> None:
    """A new function has a place in one of the tables, so that the tests below see it."""
    everything = public.callables()
    takes = {name for name, call in everything.items() if public.takes_progress(call)}
    without = public.listed(WITHOUT)
    assert len(without) == len(set(without)) and set(everything) - takes == set(without)
    # test_aio.py compares coroutines with what they are of.
    assert {name for name in takes if not name.startswith("aio.") and not name.endswith("_async")} == set(SHORT)


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


def test_progress_while_a_batch_of_tokens_is_made() -> None:
    """The client's blinds stay as they were, also if it is refused before the work."""
    many = 5000

    def later(done: int, total: int) -> None:
        seen.append((done, total))
        if len(seen) == 2:
            raise Enough

    pending = Pending(ISSUER.public, CHALLENGE, many)
    response = ISSUER.issue_batch(pending.request, many)
    for work in (
        lambda: Pending(ISSUER.public, CHALLENGE, many, progress=later),
        lambda: ISSUER.issue_batch(pending.request, many, progress=later),
        lambda: pending.finalize(response, progress=enough),
        lambda: pending.finalize(response, progress=later),
    ):
        seen: list[tuple[int, int]] = []
        with pytest.raises(Enough):
            work()
        assert seen in ([(0, 1)] * 2, [])
    assert len(pending.finalize(response)) == many


def test_progress_while_an_rsa_key_is_made() -> None:
    """Some keys take more than the tenth of a second."""
    seen: list[tuple[int, int]] = []

    def later(done: int, total: int) -> None:
        seen.append((done, total))
        if len(seen) == 2:
            raise Enough

    with pytest.raises(Enough):
        for _ in range(1000):
            seen.clear()
            IssuerKey.generate("rsa", progress=later)
    assert seen == [(0, 1)] * 2


LEFT = """
from sealstone.tokens import IssuerKey
seen = []

def later(done, total):
    seen.append(done)
    if len(seen) == 2:
        raise InterruptedError

try:
    while True:
        seen.clear()
        IssuerKey.generate("rsa", progress=later)
except InterruptedError:
    print("ends")
"""


def test_the_interpreter_ends_while_a_thread_makes_a_key_that_nobody_wants() -> None:
    done = subprocess.run([sys.executable, "-c", LEFT], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "ends\n", "")


CANCELLED = """
import os, signal, threading
from sealstone.tokens import IssuerKey

os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

def cancelled():
    seen = []

    def later(done, total):
        seen.append(done)
        if len(seen) == 2:
            raise InterruptedError

    try:
        IssuerKey.generate("rsa", progress=later)
    except InterruptedError:
        pass

def left():
    return len(os.listdir("/proc/self/task")) - threading.active_count()

threads = [threading.Thread(target=cancelled) for _ in range(16)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
most = left()
while not left():
    cancelled()
child = os.fork()
if child == 0:
    signal.alarm(60)
    IssuerKey.generate("rsa")
    os._exit(0)
IssuerKey.generate("rsa")
print(most <= 1, os.waitpid(child, 0)[1])
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
def test_threads_that_make_keys_that_nobody_wants_are_few() -> None:
    """As many as processors. Another call waits for one of them, but not in the child of a fork."""
    command = [sys.executable, "-W", "ignore", "-c", CANCELLED]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "True 0\n", "")


def test_progress_while_files_of_evidence_are_written(tmp_path: Path) -> None:
    """Each waits for the disk. What was written goes with the hidden directory."""
    seen: list[tuple[int, int]] = []

    def third(done: int, total: int) -> None:
        seen.append((done, total))
        if len(seen) == 3:
            raise Enough

    long = sign(ALICE, embed={f"{n}": b"text" for n in range(2000)})
    with pytest.raises(Enough):
        long.export(tmp_path / "new", progress=third)
    assert 0 < seen[0][0] < seen[1][0] < seen[2][0] < seen[2][1] and os.listdir(tmp_path) == []


def test_a_signal_while_files_of_evidence_are_written(tmp_path: Path) -> None:
    long = sign(ALICE, embed={f"{n}": b"text" for n in range(2000)})
    interrupted(lambda: long.export(tmp_path / "new"), 0.6)
    assert os.listdir(tmp_path) == []


def test_a_signal_while_hashes_are_measured() -> None:
    """Each hash of the first instants is short: this is no test of how soon one of them ends."""
    interrupted(lambda: argon2.calibrate(30.0), 5)


@pytest.mark.parametrize("lanes", [1, 4])
def test_a_signal_while_a_hash_works(lanes: int) -> None:
    memory = argon2.Memory(at_once=1)
    interrupted(lambda: hash_secret_raw(b"p", b"s" * 16, 2000, 1 << 16, lanes, 32, Type.ID, memory=memory), 3)
