"""Numbers out of range: a `ValueError` that says what is allowed, or argon2-cffi's error."""

import ast
import functools
import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import calls
import sealstone
from sealstone import SealedFile, TrustStore, _native, argon2, timestamps, tokens
from sealstone.argon2 import Memory, PasswordHasher
from sealstone.argon2.exceptions import HashingError, VerificationError
from sealstone.argon2.low_level import Type, hash_secret, hash_secret_raw, verify_secret
from sealstone.hashes import Blake2b, Skein256, Skein512, Skein1024, SkeinTree, verify_piece
from sealstone.packages import sign
from sealstone.tokens import Pending

PACKAGE = Path(sealstone.__file__).parent
OUT_OF_RANGE = [-1, -(1 << 70), 1 << 64, 1 << 70]
READER = _native.Reader(calls.SEALED, ([calls.BOB], None), "any")
FILE = SealedFile(calls.SEALED, keys=calls.BOB, sender="any")
TREE = SkeinTree(b"text")
RAW: dict[str, Any] = {"time_cost": 1, "memory_cost": 8, "parallelism": 1, "hash_len": 32, "type": Type.ID, "version": 19}
OLD: dict[str, Any] = {"time_cost": 1, "memory_cost": 8, "parallelism": 1, "hash_len": 32}
HASHER: dict[str, Any] = {"time_cost": 1, "memory_cost": 8, "parallelism": 1}


def native_hash(at: int) -> Callable[[int], object]:
    """The task of a hash with another number at this place."""

    def call(number: int) -> object:
        task: list[Any] = [2, 19, 1, 8, 1, b"s" * 16, None, b""]
        task[at] = number
        return _native.argon2_hash(b"p", tuple(task), 32, Memory())

    return call


class Changing:
    """A number that is another one each time it is asked."""

    def __init__(self, *numbers: int) -> None:
        self.left = list(numbers)

    def __index__(self) -> int:
        return self.left.pop(0)


def test_a_number_that_changes_passes_no_limit() -> None:
    """Each number is asked once: what the limits allow is what is computed."""
    memory = Changing(8, 1 << 20)
    task: Any = (2, 19, 1, memory, 1, b"s" * 16, None, b"")
    assert not _native.argon2_verify(b"p", task, b"tag.", Memory(), (8, 1000))
    assert memory.left == [1 << 20]


def old(function: Any, name: str) -> Callable[[int], object]:
    def call(number: int) -> object:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(b"p", b"s" * 16, **OLD | {name: number})

    return call


def hasher(name: str, number: int) -> object:
    options: dict[str, Any] = HASHER | {name: number}
    return PasswordHasher(**options).hash("p")


def raw(function: Any, name: str) -> Callable[[int], object]:
    return lambda number: function(b"p", b"s" * 16, **RAW | {name: number})


def profiles(call: Callable[[Any], object]) -> Iterator[Callable[[int], object]]:
    """Each number of a profile."""
    def with_number(at: int, number: int) -> object:
        return call(tuple(number if it == at else cost for it, cost in enumerate(calls.CHEAP)))

    for at in range(3):
        yield functools.partial(with_number, at)


# By module, function and parameter: what is called with the number.
CALLS: dict[str, Callable[[int], object]] = {
    "_native.Memory.at_once": lambda it: Memory(at_once=it) if it < 1 << 60 else Memory(at_once=it * it),
    "_native.Memory.keep_kib": lambda it: Memory(keep_kib=it),
    **{f"_native.argon2_hash.task {at}": native_hash(at) for at in range(5)},
    "_native.argon2_hash.hash_len": lambda it: _native.argon2_hash(b"p", (2, 19, 1, 8, 1, b"s" * 16, None, b""), it, Memory()),
    "_native.argon2_verify.task": lambda it: _native.argon2_verify(b"p", (2, 19, it, 8, 1, b"s" * 16, None, b""), b"tag.", Memory(), None),
    "_native.argon2_verify.limits 0": lambda it: verify_limits((it, 1)),
    "_native.argon2_verify.limits 1": lambda it: verify_limits((1, it)),
    "_native.argon2_calibrate.memory_cost": lambda it: _native.argon2_calibrate(0.001, it, 1),
    "_native.argon2_calibrate.parallelism": lambda it: _native.argon2_calibrate(0.001, 8, it),
    "_native.Skein256.digest_size": lambda it: Skein256(digest_size=it),
    "_native.Skein512.digest_size": lambda it: Skein512(digest_size=it),
    "_native.Skein1024.digest_size": lambda it: Skein1024(digest_size=it),
    "_native.Blake2b.digest_size": lambda it: Blake2b(digest_size=it),
    "_native.SkeinTree.prove.index": TREE.prove,
    "_native.verify_piece.length": lambda it: verify_piece(TREE.digest(), it, 0, b"text", TREE.prove(0)),
    "_native.verify_piece.index": lambda it: verify_piece(TREE.digest(), 4, it, b"text", TREE.prove(0)),
    **{f"_native.Passport.lock.profile {at}": call for at, call in enumerate(profiles(lambda it: calls.ALICE.lock("p", profile=it)))},
    **{f"_native.Passport.save.profile {at}": call for at, call in enumerate(profiles(lambda it: calls.ALICE.save("nowhere/at/all", "p", profile=it)))},
    "_native.TrustStore.revoke.since": lambda it: TrustStore(calls.PLACE / "numbers").revoke(calls.BOB.public, since=it),
    "_native.Reader.read_at.position": lambda it: READER.read_at(it, 1),
    "_native.Reader.read_at.size": lambda it: READER.read_at(0, it),
    "_native.Reader.read.size": READER.read,
    "_native.Reader.seek.offset": lambda it: READER.seek(it, 0),
    "_native.Reader.seek.whence": lambda it: READER.seek(0, it),
    "_native.Package.with_signature.time": lambda it: calls.SIGNED._package.with_signature(calls.BOB, True, it),
    "_native.timestamp_verify.now": lambda it: _native.timestamp_verify(b"hello", [calls.RESPONSE], calls.ROOTS, it),
    "_native.Pending.count": lambda it: Pending(calls.ISSUER.public, calls.CHALLENGE, it),
    "_native.IssuerKey.issue_batch.limit": lambda it: calls.ISSUER.issue_batch(b"", it),
    "_native.token_challenge_header.max_age": lambda it: _native.token_challenge_header(calls.CHALLENGE, None, it),
    **{f"_files.seal.profile {at}": call for at, call in enumerate(profiles(lambda it: sealstone.seal(b"", passphrase="p", profile=it)))},
    "_files.seal.modified": lambda it: sealstone.seal(b"", to=calls.BOB.public, modified=it),
    "_files.SealedFile.read.size": FILE.read,
    "_files.SealedFile.seek.offset": FILE.seek,
    "_files.SealedFile.seek.whence": lambda it: FILE.seek(0, it),
    **{f"argon2._hasher.PasswordHasher.{name}": functools.partial(hasher, name) for name in (*OLD, "salt_len")},
    **{f"argon2._legacy.hash_password.{name}": old(argon2.hash_password, name) for name in OLD},
    **{f"argon2._legacy.hash_password_raw.{name}": old(argon2.hash_password_raw, name) for name in OLD},
    "argon2._parameters.calibrate.memory_cost": lambda it: argon2.calibrate(0.001, memory_cost=it),
    "argon2._parameters.calibrate.parallelism": lambda it: argon2.calibrate(0.001, parallelism=it),
    **{f"argon2.low_level.hash_secret.{name}": raw(hash_secret, name) for name in (*OLD, "version")},
    **{f"argon2.low_level.hash_secret_raw.{name}": raw(hash_secret_raw, name) for name in (*OLD, "version")},
    "argon2.low_level.verify_secret.limits": lambda it: verify_secret(calls.HASH.encode(), b"p", Type.ID, limits=(it, 1)),
    "packages.Package.report.now": lambda it: calls.SIGNED.report(now=it),
    "packages.Package.verify.now": lambda it: calls.SIGNED.verify(now=it, signers=calls.ALICE.public, **calls.KEYS),
    "packages.Package.cosign.time": lambda it: calls.SIGNED.cosign(calls.BOB, time=it),
    "packages.Package.countersign.time": lambda it: calls.SIGNED.countersign(calls.BOB, time=it),
    "packages.sign.threshold": lambda it: sign(calls.ALICE, embed={"a": b""}, threshold=it),
    "packages.sign.time": lambda it: sign(calls.ALICE, embed={"a": b""}, time=it),
    "timestamps.verify.now": lambda it: timestamps.verify(b"hello", calls.RESPONSE, calls.ROOTS, now=it),
    "tokens.www_authenticate.max_age": lambda it: tokens.www_authenticate(calls.CHALLENGE, max_age=it),
}
# No number is out of range, or not each of them.
ANY = {
    "tokens.Directory.key.now": "a time that is compared",
    "_annotations.Readable.read.size": "the caller's method",
}
ALLOWED = {"_files.SealedFile.read.size": {-1, -(1 << 70)}}


def verify_limits(limits: tuple[int, int]) -> bool:
    return _native.argon2_verify(b"p", (2, 19, 1, 8, 1, b"s" * 16, None, b""), b"tag.", Memory(), limits)


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("number", OUT_OF_RANGE)
def test_a_number_out_of_range(name: str, number: int) -> None:
    if number in ALLOWED.get(name, ()):
        CALLS[name](number)
        return
    with pytest.raises((ValueError, HashingError, VerificationError)) as refused:
        CALLS[name](number)
    assert re.search(r"\d|negative", str(refused.value)), refused.value


def test_what_is_no_number() -> None:
    """It stays a `TypeError`."""
    for name in ("_native.Memory.keep_kib", "_files.seal.modified", "packages.sign.time", "_native.Blake2b.digest_size"):
        for wrong in ("7", 7.5, [7]):
            with pytest.raises(TypeError):
                CALLS[name](wrong)  # type: ignore[arg-type]


def parameters() -> set[str]:
    """Those of the stubs and the sources whose type has an `int`."""
    found = set()
    for path in [PACKAGE / "_native.pyi", *PACKAGE.rglob("*.py")]:
        module = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            for it in node.body if isinstance(node, ast.ClassDef) else [node]:
                if not isinstance(it, ast.FunctionDef | ast.AsyncFunctionDef):
                    continue
                made = it.name in ("__new__", "__init__")
                owner = [node.name] if isinstance(node, ast.ClassDef) else []
                place = ".".join([module, *owner, *([] if made else [it.name])])
                for of in [*it.args.posonlyargs, *it.args.args, *it.args.kwonlyargs]:
                    written = ast.unparse(of.annotation) if of.annotation else ""
                    if re.search(r"\bint\b|Profile|_Argon2Task", written):
                        found.add(f"{place}.{of.arg}")
    return {it for it in found if not it.startswith("errors.") and not re.search(r"\._[a-z]\w*\.\w+$", it)}


def test_the_table_is_complete() -> None:
    assert parameters() - {it.split(" ")[0] for it in CALLS} - set(ANY) == set()
    assert len(parameters()) > 50
