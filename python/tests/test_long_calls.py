"""Every long call gives up Python's lock, for most of its time."""

import functools
import re
import shutil
import sysconfig
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import calls
import public
import sealstone
from sealstone import Passport, PublicPassport, SealedFile, TrustStore, argon2, timestamps
from sealstone.argon2.low_level import Type, hash_secret, hash_secret_raw, verify_secret
from sealstone.hashes import PIECE, Blake2b, Skein256, Skein512, Skein1024, SkeinTree, verify_piece
from sealstone.packages import Package, sign
from sealstone.timestamps import Roots
from sealstone.tokens import Challenge, IssuerKey, IssuerPublicKey, Pending
from turns import MOST, longest_wait

pytestmark = pytest.mark.skipif(bool(sysconfig.get_config_var("Py_GIL_DISABLED")), reason="needs Python's lock")
ALICE, BOB = Passport.generate("Alice"), Passport.generate("Bob")
DATA, LONG = bytes(range(256)) * (64 << 12), bytes(16 << 20)
SEALED = sealstone.seal(DATA, to=BOB.public, sender=ALICE)
LOCKED = ALICE.lock("passphrase", profile=calls.CHEAP).encode()
PACKAGE = sign(ALICE, embed={"a": LONG}, metadata={"a": "a" * 60_000}, hmac_key=b"k" * 32)
STORED = PACKAGE.to_bytes()
TO_COSIGN = sign(ALICE, {"a": DATA}, cosigners=BOB.public)
FOR_MANY = sealstone.seal(b"", to=[BOB.public] * 500)
HASHER = argon2.PasswordHasher(time_cost=2, memory_cost=30_000, parallelism=1)
HASH = HASHER.hash("password")
RSA = IssuerKey.generate("rsa")
CHALLENGE = Challenge("ristretto255", "issuer.example")
ISSUER = IssuerKey.generate("ristretto255")
BATCH = Pending(ISSUER.public, CHALLENGE, 2000)
SAVED, ANSWER = BATCH.save(), ISSUER.issue_batch(BATCH.request, 2000)
TREE = SkeinTree(DATA[: 4 * PIECE - 1])
PLACE = calls.PLACE / "long"
PLACE.mkdir()
(PLACE / "there").touch()
(PLACE / "directory").mkdir()
# The system looks at each of its parts.
WINDING = PLACE / ("directory/../" * 300)


def times(count: int, work: Callable[..., object], *given: Any, **named: Any) -> Callable[[], None]:
    """A call that is short alone."""

    def run() -> None:
        for _ in range(count):
            work(*given, **named)

    return run


def refused(count: int, kind: type[Exception], work: Callable[[], object]) -> Callable[[], None]:
    """A call that works for long before it is refused."""

    def run() -> None:
        for _ in range(count):
            with pytest.raises(kind):
                work()

    return run


def new(name: str) -> Path:
    """A path where nothing is."""
    path = PLACE / name
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    return path


def hash_calls(make: Any) -> Iterator[tuple[str, Callable[[], object]]]:
    """The methods of an object with a long digest."""
    made, name = make(digest_size=len(LONG)), make.__name__
    tag = made.digest()
    yield f"{name}.digest", made.digest
    yield f"{name}.hexdigest", made.hexdigest
    yield f"{name}.verify", lambda: made.verify(tag)
    yield f"{name}.update", lambda: made.update(LONG)
    for option in ("key", "personalization", "public_key", "key_id", "nonce"):
        yield f"{name} {option}", functools.partial(make, **{option: LONG})


CALLS: dict[str, Callable[[], object]] = {
    **dict(it for make in (Skein256, Skein512, Skein1024) for it in hash_calls(make)),
    "Blake2b": lambda: Blake2b(LONG),
    "Blake2b.update": lambda: Blake2b().update(LONG),
    "SkeinTree": lambda: SkeinTree(DATA),
    "SkeinTree of a bytearray": functools.partial(SkeinTree, bytearray(DATA)),
    "SkeinTree.digest": times(20, TREE.digest),
    "SkeinTree.hexdigest": times(20, TREE.hexdigest),
    "SkeinTree.verify": times(20, TREE.verify, bytes(64)),
    "SkeinTree.prove": times(20, TREE.prove, 1),
    "SkeinTree.update": functools.partial(TREE.copy().update, DATA),
    "verify_piece": times(20, verify_piece, TREE.digest(), TREE.length, 1, DATA[:PIECE], TREE.prove(1)),
    "hash_secret_raw": lambda: hash_secret_raw(b"p", b"s" * 16, 2, 30_000, 1, 32, Type.ID),
    "hash_secret_raw of a long hash": lambda: hash_secret_raw(b"p", b"s" * 16, 1, 8, 1, len(LONG), Type.ID),
    "hash_secret": lambda: hash_secret(b"p", b"s" * 16, 2, 30_000, 1, 32, Type.ID),
    "verify_secret": lambda: verify_secret(HASH.encode(), b"password", Type.ID),
    "PasswordHasher.hash": lambda: HASHER.hash("password"),
    "PasswordHasher.verify": lambda: HASHER.verify(HASH, "password"),
    "calibrate": lambda: argon2.calibrate(0.02, memory_cost=1024),
    "Passport.generate": times(50, Passport.generate, "Eve"),
    "Passport.from_words": times(50, Passport.from_words, ALICE.words(), "Alice"),
    "Passport.lock": lambda: ALICE.lock("passphrase", profile=calls.CHEAP),
    "Passport.save": lambda: ALICE.save(new("passport"), "passphrase", profile=calls.CHEAP),
    "Passport.unlock": lambda: Passport.unlock(LOCKED, "passphrase"),
    "PublicPassport.load": times(50, PublicPassport.load, ALICE.public.text.encode()),
    "seal": lambda: sealstone.seal(DATA, to=BOB.public),
    "seal to a path": lambda: sealstone.seal(DATA, new("sealed"), to=BOB.public),
    "seal to a path that is there": refused(20, FileExistsError, lambda: sealstone.seal(b"", WINDING / "there", to=BOB.public)),
    "open": lambda: sealstone.open(SEALED, keys=BOB, sender=ALICE.public),
    "open to a path": lambda: sealstone.open(SEALED, new("opened"), keys=BOB, sender=ALICE.public),
    "SealedFile": lambda: SealedFile(SEALED, keys=BOB, sender=ALICE.public),
    "SealedFile.read": lambda: SealedFile(SEALED, keys=BOB, sender="any").read(),
    "SealedFile.readinto": lambda: SealedFile(SEALED, keys=BOB, sender="any").readinto(bytearray(1 << 20)),
    "recipients": times(50, sealstone.recipients, FOR_MANY),
    "sign": lambda: sign(ALICE, {"a": DATA}),
    "sign what is embedded": lambda: sign(ALICE, embed={"a": LONG}),
    "Package.verify": functools.partial(sign(ALICE, {"a": DATA}).verify, {"a": DATA}, signers=ALICE.public),
    "Package.report": functools.partial(sign(ALICE, {"a": DATA}).report, {"a": DATA}),
    "Package.cosign": lambda: TO_COSIGN.cosign(BOB, {"a": DATA}),
    "Package.load": lambda: Package.load(STORED),
    "Package.to_bytes": lambda: PACKAGE.to_bytes(),
    "Package.save": lambda: PACKAGE.save(new("package")),
    "Package.save to a path that is there": refused(20, FileExistsError, lambda: PACKAGE.save(WINDING / "there")),
    "Package.export": lambda: PACKAGE.export(new("evidence")),
    "Package.evidence": PACKAGE.evidence,
    "Package.embedded": lambda: PACKAGE.embedded("a"),
    "Package.countersign": lambda: PACKAGE.countersign(BOB),
    "Package.with_timestamp": lambda: PACKAGE.with_timestamp(calls.RESPONSE),
    "TrustStore": times(20, TrustStore, WINDING / "trust"),
    "timestamps.request": lambda: timestamps.request(DATA),
    "timestamps.renewal": refused(1, sealstone.errors.TimestampRefused, lambda: timestamps.renewal(b"hello", [calls.RESPONSE] * 1000)),
    "timestamps.verify": refused(1, sealstone.errors.TimestampRefused, lambda: timestamps.verify(DATA, calls.RESPONSE, calls.ROOTS)),
    "Roots.load": times(50, Roots.load, calls.PUBLISHED / "ts_chain.pem"),
    "IssuerKey.generate": lambda: IssuerKey.generate("rsa"),
    "IssuerKey.decode": times(50, IssuerKey.decode, "rsa", RSA.encode()),
    "IssuerPublicKey.decode": times(500, IssuerPublicKey.decode, "rsa", RSA.public.encode()),
    "Pending": lambda: Pending(ISSUER.public, CHALLENGE, 200),
    "Pending.restore": lambda: Pending.restore(SAVED),
    "Pending.finalize": lambda: Pending.restore(SAVED).finalize(ANSWER),
    "IssuerKey.issue_batch": lambda: ISSUER.issue_batch(BATCH.request, 2000),
}


# Functions that have no job here, by the reason.
WITHOUT = {
    "short": """
        Passport Passport.words Passport.close PublicPassport
        SealedFile.readable SealedFile.writable SealedFile.seekable SealedFile.seek SealedFile.tell
        SealedFile.write SealedFile.close
        Package Package.to_stamp Package.derived_key Report Report.layer Report.to_dict
        Roots Timestamp Timestamp.to_dict timestamps.check_answer
        Challenge Challenge.decode Challenge.encode Challenge.digest Directory.key
        IssuerKey IssuerKey.encode IssuerKey.issue IssuerKey.redeem IssuerKey.close IssuerPublicKey
        IssuerPublicKey.encode IssuerPublicKey.redeem Pending.save
        Token Token.decode Token.from_header Token.encode
        read_challenges read_directory www_authenticate
        Blake2b.digest Blake2b.hexdigest Blake2b.verify Blake2b.copy
        Skein256.copy Skein512.copy Skein1024.copy SkeinTree.copy
        Memory Memory.release Parameters PasswordHasher PasswordHasher.from_parameters
        PasswordHasher.check_needs_rehash Pepper Type extract_parameters install_as_argon2
        get_default_parameters
    """,
    "waits for the disk; test_threads.py has it": """
        TrustStore.approve TrustStore.deny TrustStore.revoke TrustStore.status TrustStore.rows
    """,
    "waits for a server on a thread of its own": "timestamps.fetch",
    "calls SealedFile.read": "SealedFile.readall",
    "calls PasswordHasher.hash or verify on another thread": "PasswordHasher.hash_async PasswordHasher.verify_async",
    "calls a function of low_level": "hash_password hash_password_raw verify_password",
}


def test_every_function_has_a_job_or_a_reason() -> None:
    """The first word of a job's name is its function's. Functions of `aio` have other threads."""
    names = {short(name) for name in public.callables() if not name.startswith("aio.")}
    jobs, without = {name.split()[0] for name in CALLS}, public.listed(WITHOUT)
    assert len(without) == len(set(without)) and names - jobs == set(without) and jobs <= names


def short(name: str) -> str:
    """Without its module. Functions of `timestamps` keep it: others have their names."""
    rest = re.sub(r"^(argon2\.low_level|argon2\.profiles|[a-z0-9]+)\.", "", name)
    return name if name.startswith("timestamps.") and rest[0].islower() else rest


@pytest.mark.parametrize("name", CALLS)
def test_other_threads_go_on(name: str) -> None:
    assert longest_wait(CALLS[name]) <= MOST


def kept() -> None:
    """Work of C that keeps the lock."""
    sum(range(3_000_000))


def kept_later() -> None:
    time.sleep(0.01)
    kept()


PLANTED: dict[str, Callable[[], object]] = {
    "always": kept,
    "often": times(3, kept),
    "after a while": kept_later,
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_call_that_keeps_the_lock_is_noticed(name: str) -> None:
    assert longest_wait(PLANTED[name]) > MOST
