"""Calls of every kind, for the tests of leaks, forks and the end of the interpreter.

Run alone, it measures leaks: `python life.py CALLS [NAME]…`, with the number of calls of each.
"""

import contextlib
import ctypes
import gc
import io
import os
import sys
import tempfile
import threading
import zlib
from collections.abc import Callable
from pathlib import Path

import sealstone
from sealstone import Passport, SealedFile, TrustStore, hashes, timestamps
from sealstone.argon2 import PasswordHasher
from sealstone.argon2.low_level import Type, hash_secret_raw
from sealstone.packages import Package, sign
from sealstone.tokens import Challenge, IssuerKey, Pending, Token, read_directory

ALICE, BOB = Passport.generate("Alice"), Passport.generate("Bob")
CHEAP = (7168, 5, 1)
DATA = bytes(range(256)) * 64
SEALED = sealstone.seal(DATA, to=BOB.public, sender=ALICE)
STORED = sign(ALICE, embed={"a": DATA}, hmac_key=b"k" * 32, metadata={"a": 1}).to_bytes()
LOCKED = ALICE.lock("passphrase", profile=CHEAP).encode()
ISSUER = IssuerKey.generate("p384")
CHALLENGE = Challenge("p384", "issuer.example")
QUERY = timestamps.request(DATA)
PLACE = Path(tempfile.mkdtemp())
HASHER = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
HASH = HASHER.hash("password")


class Broken(io.RawIOBase):
    """A file whose disk is gone."""

    def read(self, size: int = -1, /) -> bytes:
        """Raises."""
        raise LookupError("the disk is gone")


def refuse(done: int, total: int) -> None:
    """A progress function that cancels."""
    raise InterruptedError


def fails(call: Callable[[], object]) -> None:
    """Calls it; it has to raise."""
    try:
        call()
    except Exception:
        return
    raise AssertionError("no exception")


def sealed_file() -> None:
    """Random access."""
    with SealedFile(io.BytesIO(SEALED), keys=BOB, sender=ALICE.public) as file:
        file.seek(100)
        file.read(1000)


def stored() -> None:
    """Files of all kinds."""
    package, path = Package.load(STORED), PLACE / "package"
    package.save(path, overwrite=True)
    sealstone.seal(path, PLACE / "sealed", to=BOB.public, overwrite=True)
    sealstone.open(PLACE / "sealed", PLACE / "opened", keys=BOB, sender="unsigned", overwrite=True)


def evidence() -> None:
    """A report and what follows from it."""
    report = Package.load(STORED).report(signers=ALICE.public, hmac_key=b"k" * 32)
    assert report.to_dict() and report._repr_html_() and Package.load(STORED).evidence(report)


def token() -> None:
    """A token from the challenge to the mark."""
    pending = Pending(ISSUER.public, Challenge.decode(CHALLENGE.encode()))
    [made] = Pending.restore(pending.save()).finalize(ISSUER.issue(pending.request))
    ISSUER.redeem(Token.from_header(made.header), CHALLENGE)


def trust() -> None:
    """A trust store, which grows only on disk."""
    store = TrustStore(PLACE / "trust")
    assert store.status(BOB.public) == "unknown" and store.rows() == []


def tree() -> None:
    """A tree with a proof."""
    whole = hashes.SkeinTree(DATA * 65)
    hashes.verify_piece(whole.digest(), whole.length, 0, DATA * 64, whole.prove(0))


CALLS: dict[str, Callable[[], object]] = {
    "argon2": lambda: HASHER.verify(HASH, "password"),
    "argon2 fails": lambda: fails(lambda: HASHER.verify(HASH, "another")),
    "argon2 refuses": lambda: fails(lambda: hash_secret_raw(b"p", b"short", 1, 8, 1, 32, Type.ID)),
    "skein": lambda: hashes.Skein512(DATA, key=b"key").copy().hexdigest(),
    "skein refuses": lambda: fails(lambda: hashes.Skein512(DATA, digest_size=-1)),
    "blake2b": lambda: hashes.Blake2b(DATA).digest(),
    "tree": tree,
    "passport": lambda: Passport.generate("Eve").public.text,
    "passport words": lambda: Passport.from_words(ALICE.words(), "Alice").close(),
    "passport lock": lambda: ALICE.lock("passphrase", profile=CHEAP),
    "passport unlock": lambda: Passport.unlock(LOCKED, "passphrase"),
    "passport unlock fails": lambda: fails(lambda: Passport.unlock(LOCKED, "another")),
    "seal": lambda: sealstone.seal(DATA, to=BOB.public, sender=ALICE, armor=True),
    "seal object": lambda: sealstone.seal(io.BytesIO(DATA), io.BytesIO(), to=BOB.public),
    "seal fails": lambda: fails(lambda: sealstone.seal(Broken(), to=BOB.public)),
    "open": lambda: sealstone.open(SEALED, keys=BOB, sender=ALICE.public),
    "open refuses": lambda: fails(lambda: sealstone.open(SEALED, keys=BOB, sender=BOB.public)),
    "open fails": lambda: fails(lambda: sealstone.open(SEALED[:-9], keys=BOB, sender="any")),
    "recipients": lambda: sealstone.recipients(SEALED),
    "sealed file": sealed_file,
    "files": stored,
    "trust": trust,
    "sign": lambda: sign(ALICE, {"a": DATA, "b": io.BytesIO(DATA)}, digest="skein-tree"),
    "sign fails": lambda: fails(lambda: sign(ALICE, {"a": Broken()})),
    "sign refuses": lambda: fails(lambda: sign(ALICE, {"../a": b""})),
    "package": lambda: Package.load(STORED).verify(signers=ALICE.public, hmac_key=b"k" * 32),
    "package refuses": lambda: fails(lambda: Package.load(STORED).verify(signers=BOB.public)),
    "package fails": lambda: fails(lambda: Package.load(STORED[:-9])),
    "package facts": lambda: repr([Package.load(STORED).files, Package.load(STORED).metadata]),
    "evidence": evidence,
    "timestamp": lambda: timestamps.request(DATA, hash="sha512"),
    "timestamp fails": lambda: fails(lambda: timestamps.check_answer(b"\x30\0", QUERY)),
    "token": token,
    "token fails": lambda: fails(lambda: Token.from_header("PrivateToken")),
    "token refuses": lambda: fails(lambda: ISSUER.issue(b"\0\1" + bytes(50))),
    "directory fails": lambda: fails(lambda: read_directory("{}")),
}


def resident() -> int:
    """Bytes of this process that are in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


class MallInfo(ctypes.Structure):
    """`struct mallinfo2` of glibc."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")
    ]


def allocated() -> int:
    """Bytes that malloc has given out, 0 where its library does not say."""
    with contextlib.suppress(AttributeError):
        mallinfo = ctypes.CDLL(None).mallinfo2
        mallinfo.restype = MallInfo
        info = mallinfo()
        return int(info.uordblks + info.hblkhd)
    return 0


def counted() -> tuple[int, int, int, int]:
    """Bytes of malloc, blocks of Python, descriptors, threads."""
    gc.collect()
    return allocated(), sys.getallocatedblocks(), len(os.listdir("/proc/self/fd")), threading.active_count()


def leak(call: Callable[[], object], times: int) -> str | None:
    """What grows by half a block or byte with each call, or `None`.

    Caches and lists of free objects grow now and then, a leak grows in each of three rounds, and
    again in a second measurement.
    """
    return leak_of(call, times) and leak_of(call, times)


def leak_of(call: Callable[[], object], times: int) -> str | None:
    """The same by one measurement."""
    for _ in range(max(20, times // 10)):
        call()
    memory = resident()
    rounds = [grown(call, times) for _ in range(3)]
    least = [min(column) for column in zip(*rounds, strict=True)]
    limits = [times // 2, times // 2 + 50, 0, 0]
    names = ["bytes of malloc", "blocks of Python", "descriptors", "threads"]
    found = [f"{n} {name}" for n, name, limit in zip(least, names, limits, strict=True) if n > limit]
    if resident() - memory > (8 << 20) + 16 * times:
        found.append(f"{resident() - memory} bytes in memory")
    return ", ".join(found) or None


def grown(call: Callable[[], object], times: int) -> list[int]:
    """By how much each number grows in one round."""
    before = counted()
    for _ in range(times):
        call()
    return [b - a for a, b in zip(before, counted(), strict=True)]


KEPT: list[object] = []
# Leaks that have to be found.
PLANTED: dict[str, Callable[[], object]] = {
    "planted bytes": lambda: KEPT.append(zlib.compressobj()),
    "planted objects": lambda: KEPT.append([len(KEPT)]),
    "planted descriptor": lambda: KEPT.append(os.dup(2)),
}


def main(times: int, names: list[str]) -> int:
    """Prints what leaks, and returns how many calls do."""
    found = 0
    for name in names or list(CALLS):
        leaked = leak((CALLS | PLANTED)[name], times)
        found += leaked is not None
        print(f"{name}: {leaked or 'flat'}", flush=True)
    return found


if __name__ == "__main__":
    sys.exit(min(100, main(int(sys.argv[1]), sys.argv[2:])))
