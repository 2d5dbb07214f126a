"""No class shows a secret: not by `repr`, `str` or a format, and not in a pickle of it."""

import importlib
import inspect
import io
import pickle
from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import Any, NamedTuple

import pytest

import calls
import sealstone
from sealstone import Passport, SealedFile, _native, argon2, hashes, timestamps, tokens
from sealstone.argon2 import Memory, Parameters, PasswordHasher, Pepper
from sealstone.argon2.low_level import Type
from sealstone.packages import sign
from sealstone.tokens import Challenge, IssuerKey, Pending
from test_hints import MODULES

PLAN = b"attack at dawn with all"
KEY = b"key of the house, 32 bytes long."
BOB = Passport.generate("Bob")
SEALED = sealstone.seal(PLAN, to=BOB.public, passphrase=KEY, profile=calls.CHEAP)
PACKAGE = sign(calls.ALICE, embed={"a": b"public"}, hmac_key=KEY, secret=KEY, metadata={"a": 1})
REPORT = PACKAGE.report(signers=calls.ALICE.public, hmac_key=KEY, secret=KEY)
ISSUER, CHALLENGE = IssuerKey.generate("p384"), Challenge("p384", "issuer.example")
PENDING = Pending(ISSUER.public, CHALLENGE)
TIMESTAMP = timestamps.verify(b"hello", calls.RESPONSE, calls.ROOTS)[0]
DIRECTORY = tokens.read_directory(calls.DIRECTORY)


class Held(NamedTuple):
    """An object, the secrets that it has, and whether it may be pickled."""

    made: Any
    secrets: tuple[bytes, ...] = ()
    pickles: bool = False


def words(passport: Passport) -> tuple[bytes, ...]:
    """Each three of them: single ones are words of English."""
    several = passport.words().split()
    return tuple(" ".join(several[at : at + 3]).encode() for at in range(22))


def keyed(make: Any) -> Held:
    """A MAC, whose key is in its state."""
    return Held(make(PLAN, key=KEY), (PLAN, KEY))


# By class. The entry of a class without secrets names none.
TABLE: dict[str, Callable[[], Held]] = {
    "sealstone.Opened": lambda: Held(sealstone.open(SEALED, keys=BOB, sender="any"), (PLAN,)),
    "sealstone.Passport": lambda: Held(BOB, words(BOB)),
    "sealstone.PublicPassport": lambda: Held(BOB.public, words(BOB), True),
    "sealstone.SealedFile": lambda: Held(SealedFile(SEALED, keys=BOB, passphrase=KEY, sender="any"), (PLAN, KEY)),
    "sealstone.TrustStore": lambda: Held(sealstone.TrustStore(calls.PLACE / "secrets")),
    "sealstone._native.Reader": lambda: Held(_native.Reader(SEALED, ([BOB], KEY), "any"), (PLAN, KEY)),
    "sealstone._native.Checked": lambda: Held(REPORT.checked, (KEY,)),
    "sealstone._native.Package": lambda: Held(PACKAGE._package, (KEY, PACKAGE.derived_key(KEY, "label"))),
    "sealstone.argon2.Calibration": lambda: Held(argon2.calibrate(0.0001, memory_cost=8), (), True),
    "sealstone.argon2.Memory": lambda: Held(used_memory(), (KEY,)),
    "sealstone.argon2.Parameters": lambda: Held(Parameters(Type.ID, 19, 16, 32, 1, 8, 1), (), True),
    "sealstone.argon2.PasswordHasher": lambda: Held(PasswordHasher(pepper=KEY), (KEY,)),
    "sealstone.argon2.Pepper": lambda: Held(Pepper(KEY), (KEY,)),
    "sealstone.argon2.Type": lambda: Held(Type.ID, (), True),
    "sealstone.hashes.Blake2b": lambda: keyed(hashes.Blake2b),
    "sealstone.hashes.Skein256": lambda: keyed(hashes.Skein256),
    "sealstone.hashes.Skein512": lambda: keyed(hashes.Skein512),
    "sealstone.hashes.Skein1024": lambda: keyed(hashes.Skein1024),
    "sealstone.hashes.SkeinTree": lambda: Held(hashes.SkeinTree(PLAN), (PLAN,)),
    "sealstone.packages.File": lambda: Held(PACKAGE.files[0], (KEY,), True),
    "sealstone.packages.Finding": lambda: Held(sign(calls.ALICE, {"a": PLAN}).report({"a": KEY}).findings[0], (PLAN, KEY), True),
    "sealstone.packages.Layer": lambda: Held(REPORT.layers[0], (KEY,), True),
    "sealstone.packages.Package": lambda: Held(PACKAGE, (KEY, PACKAGE.derived_key(KEY, "label")), True),
    "sealstone.packages.Report": lambda: Held(REPORT, (KEY,)),
    "sealstone.packages.Signature": lambda: Held(PACKAGE.signatures[0], (KEY,), True),
    "sealstone.packages.Signer": lambda: Held(REPORT.signers[0], (KEY,), True),
    "sealstone.timestamps.Certificate": lambda: Held(TIMESTAMP.path[0], (), True),
    "sealstone.timestamps.Roots": lambda: Held(calls.ROOTS),
    "sealstone.timestamps.Timestamp": lambda: Held(TIMESTAMP, (), True),
    "sealstone.tokens.Challenge": lambda: Held(CHALLENGE),
    "sealstone.tokens.Directory": lambda: Held(DIRECTORY),
    "sealstone.tokens.DirectoryKey": lambda: Held(DIRECTORY.keys[0]),
    "sealstone.tokens.IssuerKey": lambda: Held(ISSUER, (ISSUER.encode(),)),
    "sealstone.tokens.IssuerPublicKey": lambda: Held(ISSUER.public, (ISSUER.encode(),)),
    "sealstone.tokens.Offer": lambda: Held(tokens.read_challenges(tokens.www_authenticate(CHALLENGE))[0]),
    "sealstone.tokens.Pending": lambda: Held(PENDING, (PENDING.save()[-64:], PENDING.save()[-32:])),
    "sealstone.tokens.Token": lambda: Held(calls.TOKEN, (ISSUER.encode(),)),
}


def used_memory() -> Memory:
    """It is kept after a hash of a secret."""
    memory = Memory(1)
    PasswordHasher(time_cost=1, memory_cost=64, parallelism=1, memory=memory).hash(KEY)
    return memory


def classes() -> Iterator[str]:
    """Every public class that is no exception, and those of the extension module, by name."""
    seen: set[type] = set()
    modules = [sealstone, *(importlib.import_module(f"sealstone.{name}") for name in MODULES), _native]
    for module in modules:
        for name in names(module):
            it = getattr(module, name)
            if inspect.isclass(it) and not issubclass(it, BaseException) and it not in seen:
                seen.add(it)
                yield f"{module.__name__}.{name}"


def names(module: ModuleType) -> Iterable[str]:
    return getattr(module, "__all__", None) or [it for it in vars(module) if not it.startswith("_")]


def test_the_table_is_complete() -> None:
    assert set(TABLE) == set(classes())


def shown(it: object) -> list[bytes]:
    """Everything in which a program or a person may find what the object has."""
    texts = [repr(it), str(it), f"{it}", repr([it]), repr({"it": it})]
    for method in ("_repr_html_", "__doc__"):
        value = getattr(it, method, "")
        texts.append(str(value() if callable(value) else value))
    return [text.encode() for text in texts]


def has(secret: bytes, found: Iterable[bytes]) -> bool:
    """In any of the forms in which Python and people write bytes."""
    forms = [secret, secret.hex().encode(), repr(secret).encode()[2:-1], str(list(secret)).encode()[1:-1]]
    return any(form in text for form in forms for text in found)


@pytest.mark.parametrize("name", TABLE)
def test_no_secret_is_shown(name: str) -> None:
    held = TABLE[name]()
    assert type(held.made).__qualname__ == name.rsplit(".")[-1]
    assert not [secret for secret in held.secrets if has(secret, shown(held.made))]


@pytest.mark.parametrize("name", TABLE)
def test_no_secret_is_pickled(name: str) -> None:
    held = TABLE[name]()
    written = [pickled(held.made, protocol) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)]
    # The oldest two write the name of a class alone, which makes no object again, or refuse.
    assert all((it is not None) == held.pickles for it in written[2:])
    assert not [secret for secret in held.secrets if has(secret, filter(None, written))]


def pickled(it: object, protocol: int) -> bytes | None:
    """`None` if it is refused."""
    try:
        return pickle.dumps(it, protocol)
    except (TypeError, pickle.PicklingError):
        return None


def test_a_secret_that_is_shown_is_noticed() -> None:
    class Open:
        def __repr__(self) -> str:
            return f"<Open {KEY!r}>"

    class Hex(io.BytesIO):
        def __str__(self) -> str:
            return KEY.hex()

    assert has(KEY, shown(Open())) and has(KEY, shown(Hex())) and has(KEY, shown((KEY,)))
    assert has(KEY, [pickle.dumps(KEY)]) and not has(KEY, shown(object()))
