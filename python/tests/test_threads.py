"""Objects that many threads use at once, and Python without its lock."""

import io
import subprocess
import sys
import sysconfig
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import calls
import sealstone
from sealstone import Passport, SealedFile, TrustStore, timestamps
from sealstone.argon2 import Memory, PasswordHasher
from sealstone.argon2.low_level import Type, hash_secret_raw
from sealstone.hashes import Blake2b, Skein256, Skein512, Skein1024, SkeinTree
from sealstone.packages import Package, sign
from sealstone.tokens import Challenge, IssuerKey, Pending

THREADS = 8
FREE = pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="needs free-threaded Python")
ALICE, BOB = Passport.generate("Alice"), Passport.generate("Bob")


def together(*works: Callable[[], object]) -> None:
    """Runs each on a thread of its own, all from the same moment; raises what one raised."""
    start, raised = threading.Barrier(len(works)), []

    def run(work: Callable[[], object]) -> None:
        start.wait()
        try:
            work()
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=run, args=(work,), daemon=True) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive(), "a thread waits for ever"
    if raised:
        raise raised[0]


def counted(count: int, work: Callable[[], object]) -> Callable[[], None]:
    def run() -> None:
        for _ in range(count):
            work()

    return run


@FREE
def test_no_module_brings_the_lock_back() -> None:
    modules = ["sealstone", *(f"sealstone.{name}" for name in ("argon2", "hashes", "packages", "timestamps", "tokens"))]
    program = f"import sys, {', '.join(modules)}\nprint(sys._is_gil_enabled())"
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("False\n", "")


@pytest.mark.parametrize("make", [Skein256, Skein512, Skein1024, Blake2b, SkeinTree])
def test_a_hash_object(make: Any) -> None:
    """All that is added arrives, and every hash in between is that of whole parts."""
    part, count = bytes(3000), 60
    shared = make()
    known = {make(part * n).digest() for n in range(THREADS // 2 * count + 1)}

    def look() -> None:
        assert shared.digest() in known
        assert shared.copy().digest() in known
        assert bytes.fromhex(shared.hexdigest()) in known
        shared.verify(bytes(64))

    adds = [counted(count, lambda: shared.update(part))] * (THREADS // 2)
    together(*adds, *[counted(40, look)] * (THREADS // 2))
    assert shared.digest() == make(part * (count * THREADS // 2)).digest()


def test_data_that_changes_meanwhile() -> None:
    """The hash is of some mixture of its bytes; memory that is in use cannot be taken away."""
    data, resized = bytearray(1 << 20), 0

    def change() -> None:
        nonlocal resized
        for at in range(0, len(data), 4096):
            data[at] ^= 255
            try:
                data.append(1)
                resized += 1
            except BufferError:
                continue

    together(change, *[counted(20, lambda: Skein512(data).digest())] * 3, change)
    assert len(data) == (1 << 20) + resized


def test_a_sealed_file(tmp_path: Path) -> None:
    """Reads of one file get different bytes, all of them, as those of a file of the system do."""
    numbers = [number.to_bytes(4, "big") for number in range(400_000)]
    path = tmp_path / "sealed"
    path.write_bytes(sealstone.seal(b"".join(numbers), to=BOB.public))
    got: list[bytes] = []
    with SealedFile(path, keys=BOB, sender="unsigned") as file:

        def read() -> None:
            while data := file.read(400):
                got.append(data)

        def read_into() -> None:
            buffer = bytearray(400)
            while length := file.readinto(buffer):
                got.append(bytes(buffer[:length]))
                assert 0 <= file.tell() <= 1_600_000

        together(*[read] * (THREADS // 2), *[read_into] * (THREADS // 2))
        parts = Counter(part[at : at + 4] for part in got for at in range(0, len(part), 4))
        assert parts == Counter(numbers)
        file.seek(0)
        together(*[counted(1000, lambda: file.seek(1, 1))] * THREADS)
        assert file.tell() == 1000 * THREADS


def test_a_sealed_file_that_is_closed_meanwhile() -> None:
    file = SealedFile(sealstone.seal(bytes(5 << 20), to=BOB.public), keys=BOB, sender="unsigned")

    def read() -> None:
        with pytest.raises(ValueError, match="closed file"):
            while True:
                file.seek(0)
                assert file.read(1 << 20) == bytes(1 << 20)

    together(*[read] * 3, file.close)


class Itself(io.BytesIO):
    """A source that reads the file which is read from it."""

    file: SealedFile | None = None

    def read(self, size: int | None = -1, /) -> bytes:
        if self.file is not None:
            self.file.read(1)
        return super().read(size)


def test_a_source_that_reads_its_own_file() -> None:
    content = bytes(range(256)) * 8192
    source = Itself(sealstone.seal(content, to=BOB.public))
    file = SealedFile(source, keys=BOB, sender="unsigned")
    calls: list[Callable[[], object]] = [file.read, lambda: file.readinto(bytearray(9))]

    def refused() -> None:
        source.file = file
        for call in calls:
            with pytest.raises(RuntimeError, match="reentrant"):
                call()
        source.file = None
        assert file.tell() == 0 and file.read() == content

    together(refused)


def test_a_passport_that_is_closed_meanwhile() -> None:
    """A call has the keys until it ends, or says that they are wiped."""
    passport = Passport.generate("Eve")
    public, words, waiting = passport.public, passport.words(), threading.Event()

    def work() -> None:
        with pytest.raises(ValueError, match="wiped"):
            while True:
                sealed = sealstone.seal(b"text", to=public, sender=passport)
                assert sealstone.open(sealed, keys=passport, sender=public).content == b"text"
                assert sign(passport, embed={"a": b"x"}).verify(signers=public)
                assert passport.words() == words and passport.public == public
                waiting.set()

    def close() -> None:
        assert waiting.wait(60)
        passport.close()

    together(*[work] * (THREADS - 1), close)
    assert passport.closed and repr(passport) == "<Passport, closed>"


def test_a_trust_store(tmp_path: Path) -> None:
    store = TrustStore(tmp_path / "trust")
    others = [Passport.generate(str(number)).public for number in range(THREADS)]
    sealed = sealstone.seal(b"text", to=BOB.public, sender=ALICE)
    store.approve(ALICE.public)

    def decide(number: int) -> None:
        for _ in range(3):
            store.deny(others[number])
            assert store.status(others[number]) == "denied"
            store.approve(others[number], note=str(number))
            assert store.status(others[number]) == "approved"
            assert sealstone.open(sealed, keys=BOB, sender=store).sender == ALICE.public
            assert store.rows()[0][0] == ALICE.fingerprint

    together(*[lambda number=number: decide(number) for number in range(THREADS)])
    rows = TrustStore(tmp_path / "trust").rows()
    assert len(rows) == THREADS + 1
    assert {row[2:4] for row in rows[1:]} == {(str(n), str(n)) for n in range(THREADS)}


def test_a_password_hasher_and_its_memory() -> None:
    memory = Memory(at_once=2, keep_kib=256)
    hasher = PasswordHasher(time_cost=1, memory_cost=64, parallelism=1, pepper=b"pepper", memory=memory)
    stored = hasher.hash("password")
    expected = hash_secret_raw(b"password", b"s" * 16, 1, 100, 1, 32, Type.ID)

    def work() -> None:
        assert hasher.verify(stored, "password")
        assert hash_secret_raw(b"password", b"s" * 16, 1, 100, 1, 32, Type.ID, memory=memory) == expected
        assert memory.kept_kib <= 256

    together(*[counted(200, work)] * THREADS, counted(2000, memory.release))


def test_tokens() -> None:
    """One of many threads gets the tokens of a request, the others hear that it is done."""
    issuer, challenge = IssuerKey.generate("p384"), Challenge("p384", "issuer.example")
    got: list[Any] = []
    refused: list[str] = []

    def finalize(pending: Pending, response: bytes) -> None:
        try:
            got.extend(pending.finalize(response))
        except ValueError as error:
            refused.append(str(error))

    for _ in range(5):
        pending = Pending(issuer.public, challenge)
        response = issuer.issue(pending.request)
        together(*[lambda pending=pending, response=response: finalize(pending, response)] * THREADS)
    assert len(got) == 5 and len(refused) == 5 * (THREADS - 1)
    assert all("finalized already" in text for text in refused)
    together(*[lambda token=token: issuer.redeem(token, challenge) for token in got])


def test_an_issuer_key_that_is_closed_meanwhile() -> None:
    issuer, challenge = IssuerKey.generate("p384"), Challenge("p384", "issuer.example")
    waiting = threading.Event()

    def work() -> None:
        with pytest.raises(ValueError, match="wiped"):
            while True:
                pending = Pending(issuer.public, challenge)
                [token] = pending.finalize(issuer.issue(pending.request))
                issuer.redeem(token, challenge)
                waiting.set()

    def close() -> None:
        assert waiting.wait(60)
        issuer.close()

    together(*[work] * 3, close)


def test_packages_and_timestamps() -> None:
    content = {"a": b"x" * 100_000, "b": b"y"}
    package = sign(ALICE, content, embed={"c": b"z"}, hmac_key=b"k" * 32, metadata={"a": 1})
    stored = package.to_bytes()

    def work() -> None:
        report = package.verify(content, signers=ALICE.public, hmac_key=b"k" * 32)
        assert report.to_dict()["verdict"] == "good" and package.evidence(report)
        assert package.to_bytes() == stored and Package.load(stored) == package
        assert len(package.countersign(BOB, content).signatures) == 2
        assert package.embedded("c") == b"z" and package.metadata == {"a": 1}
        assert timestamps.request(package.to_stamp())

    together(*[counted(10, work)] * THREADS)


def test_everything_at_once() -> None:
    names = [name for name in calls.CALLS if name not in calls.ALONE]
    together(*[counted(20, calls.CALLS[name]) for name in names])
