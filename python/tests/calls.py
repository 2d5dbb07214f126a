"""Calls of every function, for the tests of leaks, forks and the end of the interpreter.

Data is short: what a call forgets to free, it forgets at every length.
"""

import asyncio
import atexit
import base64
import contextlib
import copy
import io
import json
import shutil
import tempfile
import types
import warnings
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import sealstone
from sealstone import _native, Passport, PublicPassport, SealedFile, TrustStore, aio, argon2, errors, hashes, timestamps, tokens
from sealstone.argon2 import Memory, PasswordHasher, Pepper
from sealstone.argon2.low_level import Type, hash_secret, hash_secret_raw
from sealstone.packages import Package, sign
from sealstone.timestamps import Roots
from sealstone.tokens import Challenge, IssuerKey, IssuerPublicKey, Pending, Token

ALICE, BOB, EVE = Passport.generate("Alice"), Passport.generate("Bob"), Passport.generate("Eve")
CHEAP = (7168, 5, 1)
DATA = bytes(range(256)) * 4
SEALED = sealstone.seal(DATA, to=BOB.public, sender=ALICE)
KEYS: dict[str, Any] = {"hmac_key": b"k" * 32, "secret": b"s" * 32}
SIGNED = sign(ALICE, embed={"a": DATA}, metadata={"a": 1}, policy={"b": 2}, **KEYS)
STORED = SIGNED.to_bytes()
HALF_SIGNED = sign(ALICE, {"a": DATA}, cosigners=BOB.public)
REPORT = SIGNED.report(signers=ALICE.public, **KEYS)
LOCKED = ALICE.lock("passphrase", profile=CHEAP).encode()
# Of the curve whose tokens take least time. One call makes a key of the other curve.
ISSUER, PUBLIC_ISSUER = IssuerKey.generate("ristretto255"), IssuerKey.generate("rsa")
CHALLENGE = Challenge("ristretto255", "issuer.example", origins=["shop.example"], context=bytes(32))
OPEN_CHALLENGE = Challenge("rsa", "issuer.example")
# In memory, where writing to disk takes no time.
PLACE = Path(tempfile.mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
atexit.register(shutil.rmtree, PLACE)
HASHER = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
HASH = HASHER.hash("password")
PUBLISHED = Path(__file__).parents[2] / "crates/sealstone/tests/timestamp/vectors/sigstage"
ROOTS = Roots.load(PUBLISHED / "ts_chain.pem")
RESPONSE = (PUBLISHED / "response-sha256.tsr").read_bytes()
QUERY = timestamps.request(DATA)
DIRECTORY = json.dumps(
    {
        "issuer-request-uri": "/token-request",
        "token-keys": [{"token-type": 5, "token-key": base64.urlsafe_b64encode(ISSUER.public.encode()).decode()}],
    }
)

# `leaks` keeps one loop and one thread for all calls: to make them takes longer than most work.
run: Callable[[Coroutine[Any, Any, None]], None] = asyncio.run


def one_token(issuer: IssuerKey, challenge: Challenge) -> Token:
    """A token that was issued now."""
    pending = Pending(issuer.public, challenge)
    [token] = Pending.restore(pending.save()).finalize(issuer.issue(pending.request))
    return token


TOKEN, OPEN_TOKEN = one_token(ISSUER, CHALLENGE), one_token(PUBLIC_ISSUER, OPEN_CHALLENGE)


class Broken(io.RawIOBase):
    """A file whose disk is gone."""

    def read(self, size: int = -1, /) -> bytes:
        """Raises."""
        raise LookupError("the disk is gone")


def fails(call: Callable[[], object]) -> None:
    """Calls it; it has to raise."""
    try:
        call()
    except Exception:
        return
    raise AssertionError("no exception")


def look(it: object) -> None:
    """Reads every attribute of an object of the extension module, shows it and compares it."""
    for name, value in vars(type(it)).items():
        if isinstance(value, types.GetSetDescriptorType):
            getattr(it, name)
    repr(it)
    assert it == it
    hash(it)


def hash_objects() -> None:
    """All of them, with all that they can do."""
    made: list[Any] = [hashes.Skein256(DATA, key=b"k", nonce=b"n"), hashes.Skein1024(DATA, digest_size=9)]
    made += [hashes.Skein512(DATA, personalization=b"p"), hashes.Blake2b(bytearray(DATA), key=b"k")]
    for it in [*made, hashes.SkeinTree(DATA)]:
        it.update(DATA)
        assert it.copy().verify(it.digest()) and it.hexdigest()


def tree() -> None:
    """A tree with a proof."""
    whole = hashes.SkeinTree(DATA)
    assert hashes.verify_piece(whole.digest(), whole.length, 0, DATA, whole.prove(0))


def memory() -> None:
    """Memory and a pepper of their own."""
    kept = Memory(2, 64)
    hasher = PasswordHasher.from_parameters(argon2.extract_parameters(HASH), pepper=Pepper(b"pepper"), memory=kept)
    hasher.hash("password")
    kept.release()


def hashers() -> None:
    """The methods and attributes of a hasher."""
    assert not HASHER.check_needs_rehash(HASH) and repr(HASHER) and HASHER.__reduce__() and HASHER.encoding
    argon2.profiles.get_default_parameters()
    argon2.install_as_argon2()


def old_functions() -> None:
    """Those that argon2-cffi has kept."""
    costs: dict[str, Any] = {"salt": b"s" * 16, "time_cost": 1, "memory_cost": 8, "parallelism": 1}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        argon2.verify_password(argon2.hash_password(b"p", **costs), b"p")
        argon2.hash_password_raw(b"p", **costs)


def coroutines() -> None:
    """Calls on another thread."""

    async def work() -> None:
        sealed = await aio.seal(DATA, to=BOB.public)
        assert (await aio.open(sealed, keys=BOB, sender="any")).content == DATA
        (await aio.sealed_file(sealed, keys=BOB, sender="any")).close()
        await HASHER.verify_async(await HASHER.hash_async("password"), "password")

    run(work())


def coroutines_of_passports() -> None:
    """Key derivations on another thread."""
    path = PLACE / "passport of a coroutine"
    path.unlink(missing_ok=True)

    async def work() -> None:
        locked = await aio.lock(ALICE, "passphrase", profile=CHEAP)
        await aio.unlock(locked.encode(), "passphrase")
        await aio.save(ALICE, path, "passphrase", profile=CHEAP)
        await aio.calibrate(0.00002, memory_cost=8)

    run(work())


def coroutines_of_low_level() -> None:
    """Argon2 on another thread."""

    async def work() -> None:
        stored = await aio.hash_secret(b"p", b"s" * 16, 1, 8, 1, 32, Type.ID)
        await aio.verify_secret(stored, b"p", Type.ID)
        await aio.hash_secret_raw(b"p", b"s" * 16, 1, 8, 1, 32, Type.ID)

    run(work())


def coroutines_of_packages() -> None:
    """Packages and timestamps on another thread."""

    async def work() -> None:
        package = await aio.sign(ALICE, {"a": DATA}, cosigners=BOB.public)
        assert not await aio.report(package, {"a": DATA}, signers=ALICE.public)
        package = await aio.cosign(package, BOB, {"a": DATA})
        package = await aio.countersign(package, EVE, {"a": DATA})
        assert await aio.verify(package, {"a": DATA}, signers=[ALICE.public, BOB.public])
        assert await aio.request(DATA) and await aio.renewal(b"hello", RESPONSE)
        assert await aio.verify_timestamps(b"hello", RESPONSE, ROOTS)

    run(work())


def coroutines_of_stored_packages() -> None:
    """Packages on disk, by another thread."""
    directory, path = PLACE / "evidence of a coroutine", PLACE / "package of a coroutine"

    async def work() -> None:
        package = await aio.load_package(STORED)
        await aio.save_package(package, path, overwrite=True)
        assert await aio.evidence(package)
        await aio.export_package(package, directory)

    run(work())
    shutil.rmtree(directory)


def coroutines_of_tokens() -> None:
    """Keys and batches on another thread."""

    async def work() -> None:
        issuer = await aio.generate_issuer("ristretto255")
        pending = await aio.ask(issuer.public, CHALLENGE, 2)
        pending = await aio.restore_pending(pending.save())
        assert len(await aio.finalize(pending, await aio.issue_batch(issuer, pending.request, 2))) == 2

    run(work())


def cosign() -> None:
    """One who was named signs, and one who was not attests."""
    assert len(HALF_SIGNED.cosign(BOB, {"a": DATA}).countersign(EVE, {"a": DATA}).signatures) == 3


def passports() -> None:
    """A passport from its making to its end, without a key derivation."""
    with Passport.from_words(ALICE.words(), "Alice") as same:
        look(same)
        same.close()
    assert PublicPassport.load(ALICE.public.text.encode()) == ALICE.public
    look(ALICE.public)
    carried = sealstone.open(SEALED, keys=BOB, sender="any").sender
    assert carried is not None
    for it in (ALICE.public, carried):
        _make, arguments = it.__reduce__()
        assert _native.public_passport(*arguments) == it


def saved() -> None:
    """A passport on disk."""
    path = PLACE / "passport"
    path.unlink(missing_ok=True)
    ALICE.save(path, "passphrase", profile=CHEAP)


def sealed_file() -> None:
    """Random access, and all that a raw file can do."""
    with SealedFile(io.BytesIO(SEALED), keys=BOB, sender=ALICE.public) as file:
        file.seek(100)
        assert file.read(100) == DATA[100:200] and file.readinto(bytearray(50)) == 50 and file.tell() == 250
        assert file.readall() == DATA[250:] and file.readable() and file.seekable()
        assert not file.writable() and file.mode == "rb"
        reader = file._check()
        reader.read_at(3, 5)
        assert reader.facts() and file.facts
        fails(lambda: file.write(b"x"))


def buffers() -> None:
    """Bytes-like sources that can change, and buffers for output."""
    room = bytearray(len(DATA) + 10_000)
    length = sealstone.seal(bytearray(DATA), room, to=BOB.public)
    back = bytearray(len(DATA))
    sealstone.open(memoryview(room)[:length], back, keys=BOB, sender="unsigned")
    assert back == DATA
    with SealedFile(room[:length], keys=BOB, sender="unsigned") as file:
        assert file.readinto(back) == len(DATA)
    fails(lambda: sealstone.open(room[: length - 9], back, keys=BOB, sender="any"))
    fails(lambda: sealstone.seal(DATA, back, to=BOB.public))


def stored() -> None:
    """Files of all kinds."""
    package, path = Package.load(STORED), PLACE / "package"
    package.save(path, overwrite=True)
    sealstone.seal(path, PLACE / "sealed", to=BOB.public, overwrite=True)
    sealstone.open(PLACE / "sealed", PLACE / "opened", keys=BOB, sender="unsigned", overwrite=True)


def opened() -> None:
    """The facts about a file: shown, copied, and never pickled."""
    it = sealstone.open(SEALED, keys=BOB, sender=ALICE.public)
    assert repr(it) and copy.copy(it) is copy.deepcopy(it) is it
    fails(it.__reduce__)


def exceptions() -> None:
    """Those that no other call raises."""
    made: list[errors.SealstoneError] = [errors.KdfLimit("text", 2, 1, "memory"), errors.StoreAltered("text", "what"), errors.Unsupported("text", "what")]
    made += [errors.KeyLifecycle("text", "over", None, 7), errors.SealstoneError("text")]
    assert {str(it) for it in made} == {"text"}


def exported() -> None:
    """Evidence on disk."""
    # Always the same name: Python 3.12 keeps every name that a `Path` ever had.
    directory = PLACE / "evidence"
    SIGNED.export(directory, REPORT)
    shutil.rmtree(directory)


def trust() -> None:
    """A trust store from its first record on: one that is kept grows on disk."""
    directory = PLACE / "trust"
    shutil.rmtree(directory, ignore_errors=True)
    store, public = TrustStore(directory), BOB.public
    store.approve(public)
    store.deny(public, note="note")
    store.revoke(public, since=7)
    assert store.status(public) == "revoked" and len(store.rows()) == 1
    look(store)


def report() -> None:
    """A report in all its forms."""
    found = SIGNED.report(signers=ALICE.public, **KEYS)
    assert found and found.to_dict() and found._repr_html_() and str(found) and found.layer("hmac")
    fails(found.__reduce__)
    look(found.checked)
    assert SIGNED.report(signers=BOB.public).__reduce__()


def facts() -> None:
    """The attributes of a package."""
    package = Package.load(STORED)
    for name in ("signers", "threshold", "required", "time", "author", "digest", "complete", "metadata", "policy"):
        getattr(package, name)
    assert package.files and package.signatures and package.layers and not package.timestamps
    assert package.embedded("a") == DATA and package == SIGNED and hash(package) and repr(package)
    assert package.__reduce__() and package.derived_key(b"s" * 32, "label") and package.derived_key(b"s" * 32, "label", into=bytearray(32)) and package.to_stamp()


def timestamp() -> None:
    """A published response, and requests."""
    [found] = timestamps.verify(b"hello", RESPONSE, ROOTS)
    assert found.to_dict() and timestamps.renewal(b"hello", RESPONSE) and len(Roots.load(PUBLISHED / "ts_chain.pem"))
    SIGNED.with_timestamp(RESPONSE)
    look(ROOTS)


def challenges() -> None:
    """Challenges and tokens as bytes and text."""
    value = tokens.www_authenticate(CHALLENGE, ISSUER.public, max_age=9)
    assert tokens.read_challenges(value)[0].challenge == Challenge.decode(CHALLENGE.encode()) and CHALLENGE.digest()
    assert Token.from_header(TOKEN.header) == Token.decode(TOKEN.encode())
    for it in (CHALLENGE, TOKEN, ISSUER.public, ISSUER):
        look(it)


def batch() -> None:
    """Several tokens with one proof, from a key that is read and closed."""
    pending = Pending(ISSUER.public, CHALLENGE, 2)
    with IssuerKey.decode("ristretto255", ISSUER.encode()) as same:
        assert len(pending.finalize(same.issue_batch(pending.request, 2))) == 2
    fails(lambda: look(pending))


def directory() -> None:
    """A directory and its key."""
    key = tokens.read_directory(DIRECTORY).key("ristretto255", 0)
    assert IssuerPublicKey.decode("ristretto255", key.encode()) == key


CALLS: dict[str, Callable[[], object]] = {
    "argon2": lambda: HASHER.verify(HASH, "password"),
    "argon2 fails": lambda: fails(lambda: HASHER.verify(HASH, "another")),
    "argon2 refuses": lambda: fails(lambda: hash_secret_raw(b"p", b"short", 1, 8, 1, 32, Type.ID)),
    "argon2 into a buffer": lambda: hash_secret_raw(b"p", b"s" * 16, 1, 8, 1, 32, Type.ID, into=bytearray(32)),
    "argon2 progress": lambda: hash_secret_raw(b"p", b"s" * 16, 1, 8, 1, 32, Type.ID, progress=lambda *at: None),
    "argon2 salt": lambda: hash_secret(b"p", b"s" * 16, 1, 8, 1, 32, Type.D),
    "argon2 memory": memory,
    "argon2 hashers": hashers,
    "argon2 old": old_functions,
    "coroutines": coroutines,
    "coroutines of low level": coroutines_of_low_level,
    "coroutines of passports": coroutines_of_passports,
    "coroutines of packages": coroutines_of_packages,
    "coroutines of stored packages": coroutines_of_stored_packages,
    "coroutines of tokens": coroutines_of_tokens,
    "argon2 calibrate": lambda: argon2.calibrate(0.00002, memory_cost=8),
    "hashes": hash_objects,
    "hashes refuse": lambda: fails(lambda: hashes.Skein512(DATA, digest_size=-1)),
    "tree": tree,
    "passport": lambda: Passport.generate("Eve").public.text,
    "passports": passports,
    "passport lock": lambda: ALICE.lock("passphrase", profile=CHEAP),
    "passport save": saved,
    "passport unlock": lambda: Passport.unlock(LOCKED, "passphrase"),
    "passport unlock fails": lambda: fails(lambda: Passport.unlock(LOCKED, "another")),
    "seal": lambda: sealstone.seal(DATA, to=BOB.public, sender=ALICE, armor=True),
    "seal object": lambda: sealstone.seal(io.BytesIO(DATA), io.BytesIO(), to=BOB.public),
    "seal fails": lambda: fails(lambda: sealstone.seal(Broken(), to=BOB.public)),
    "open": lambda: sealstone.open(SEALED, keys=BOB, sender=ALICE.public),
    "opened": opened,
    "open for others": lambda: fails(lambda: sealstone.open(SEALED, keys=EVE, sender="any")),
    "open refuses": lambda: fails(lambda: sealstone.open(SEALED, keys=BOB, sender=BOB.public)),
    "open fails": lambda: fails(lambda: sealstone.open(SEALED[:-9], keys=BOB, sender="any")),
    "recipients": lambda: sealstone.recipients(SEALED),
    "sealed file": sealed_file,
    "buffers": buffers,
    "files": stored,
    "trust": trust,
    "sign": lambda: sign(ALICE, {"a": DATA, "b": io.BytesIO(DATA)}, digest="skein-tree"),
    "sign facts": lambda: sign(ALICE, embed={"a": DATA}, metadata={"a": 1}, policy={"b": 2}, **KEYS),
    "sign fails": lambda: fails(lambda: sign(ALICE, {"a": Broken()})),
    "package stays": lambda: fails(lambda: setattr(Package.load(STORED), "files", ())),
    "sign refuses": lambda: fails(lambda: sign(ALICE, {"../a": b""})),
    "package": lambda: Package.load(STORED).verify(signers=ALICE.public, **KEYS),
    "package refuses": lambda: fails(lambda: Package.load(STORED).verify(signers=BOB.public)),
    "package fails": lambda: fails(lambda: Package.load(STORED[:-9])),
    "package facts": facts,
    "package report": report,
    "package cosign": cosign,
    "package cosign fails": lambda: fails(lambda: SIGNED.cosign(BOB)),
    "evidence": lambda: SIGNED.evidence(REPORT),
    "evidence files": exported,
    "timestamp": timestamp,
    "timestamp request": lambda: timestamps.request(DATA, hash="sha512"),
    "timestamp fails": lambda: fails(lambda: timestamps.check_answer(b"\x30\0", QUERY)),
    "token": lambda: ISSUER.redeem(one_token(ISSUER, CHALLENGE), CHALLENGE),
    "token for everybody": lambda: PUBLIC_ISSUER.public.redeem(OPEN_TOKEN, OPEN_CHALLENGE),
    "token key": lambda: IssuerKey.generate("p384").close(),
    "token batch": batch,
    "token fails": lambda: fails(lambda: Token.from_header("PrivateToken")),
    "token refuses": lambda: fails(lambda: ISSUER.issue(b"\0\1" + bytes(50))),
    "challenges": challenges,
    "directory": directory,
    "exceptions": exceptions,
    "directory fails": lambda: fails(lambda: tokens.read_directory("{}")),
}
# They write to one place, or change the filters of warnings: two at a time would meet.
ALONE = {"files", "trust", "passport save", "coroutines of passports", "coroutines of stored packages", "evidence files", "argon2 old"}


def begin_anew() -> None:
    """In the child of a fork, which does not have the secrets of its parent."""
    global ALICE, BOB, EVE, SEALED, SIGNED, STORED, HALF_SIGNED, REPORT
    ALICE, BOB, EVE = Passport.generate("Alice"), Passport.generate("Bob"), Passport.generate("Eve")
    SEALED = sealstone.seal(DATA, to=BOB.public, sender=ALICE)
    SIGNED = sign(ALICE, embed={"a": DATA}, metadata={"a": 1}, policy={"b": 2}, **KEYS)
    STORED = SIGNED.to_bytes()
    HALF_SIGNED = sign(ALICE, {"a": DATA}, cosigners=BOB.public)
    REPORT = SIGNED.report(signers=ALICE.public, **KEYS)
