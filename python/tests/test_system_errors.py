"""Errors of the system: number and path, as those of Python's own functions have them."""

import builtins
import errno
import os
import resource
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import sealstone
from sealstone import Passport, PublicPassport, SealedFile, TrustStore, seal, timestamps
from sealstone.packages import Package, sign
from sealstone.timestamps import Roots

ALICE = Passport.generate("Alice")
CHEAP = (7168, 5, 1)
BIG = bytes(3 << 20)
PACKAGE = sign(ALICE, embed={"a": BIG})
READERS: dict[str, Callable[[Path], object]] = {
    "seal": lambda path: seal(path, to=ALICE.public),
    "open": lambda path: sealstone.open(path, keys=ALICE, sender="any"),
    "SealedFile": lambda path: SealedFile(path, keys=ALICE, sender="any"),
    "recipients": lambda path: sealstone.recipients(path),
    "unlock": lambda path: Passport.unlock(path, "passphrase"),
    "PublicPassport": lambda path: PublicPassport.load(path),
    "Package": lambda path: Package.load(path),
    "Roots": lambda path: Roots.load(path),
    "request": lambda path: timestamps.request(path),
}
WRITERS: dict[str, Callable[[Path], object]] = {
    "seal": lambda path: seal(BIG, path, to=ALICE.public),
    "open": lambda path: sealstone.open(seal(BIG, to=ALICE.public), path, keys=ALICE, sender="any"),
    "package": lambda path: PACKAGE.save(path),
    "export": lambda path: PACKAGE.export(path),
}
SHORT: dict[str, Callable[[Path], object]] = {"passport": lambda path: ALICE.save(path, "passphrase", profile=CHEAP)}


def raised(call: Callable[[], object], number: int, path: Path) -> None:
    with pytest.raises(OSError) as error:
        call()
    assert (error.value.errno, error.value.filename) == (number, str(path))
    assert str(error.value) == f"[Errno {number}] {os.strerror(number)}: {str(path)!r}"


@pytest.mark.parametrize("name", READERS)
def test_what_cannot_be_read(name: str, tmp_path: Path) -> None:
    read = READERS[name]
    raised(lambda: read(tmp_path), errno.EISDIR, tmp_path)
    raised(lambda: read(tmp_path / "none"), errno.ENOENT, tmp_path / "none")
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    raised(lambda: read(loop), errno.ELOOP, loop)


@pytest.mark.parametrize("name", [*WRITERS, *SHORT])
def test_what_cannot_be_written(name: str, tmp_path: Path) -> None:
    write = (WRITERS | SHORT)[name]
    raised(lambda: write(tmp_path / "none/file"), errno.ENOENT, tmp_path / "none/file")
    there = tmp_path / "there"
    there.write_bytes(b"")
    raised(lambda: write(there), errno.EEXIST, there)


@pytest.fixture
def small_files() -> Iterator[None]:
    """No file gets longer than 1 MiB: what a full disk does, with another number."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.usefixtures("small_files")
@pytest.mark.parametrize("name", WRITERS)
def test_what_has_no_room(name: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    raised(lambda: WRITERS[name](path), errno.EFBIG, path)
    assert os.listdir(tmp_path) == []


def test_a_file_object_that_has_no_room() -> None:
    with builtins.open("/dev/full", "wb", buffering=0) as full, pytest.raises(OSError) as error:
        seal(BIG, full, to=ALICE.public)
    assert error.value.errno == errno.ENOSPC


def test_a_trust_store(tmp_path: Path) -> None:
    loop, file = tmp_path / "loop", tmp_path / "file"
    loop.symlink_to(loop)
    file.write_bytes(b"")
    raised(lambda: TrustStore(loop), errno.ELOOP, loop)
    raised(lambda: TrustStore(file / "store").approve(ALICE.public), errno.ENOTDIR, file / "store")


def test_packages(tmp_path: Path) -> None:
    none, file = tmp_path / "none", tmp_path / "file"
    file.write_bytes(b"")
    for call in (lambda path: sign(ALICE, path), lambda path: PACKAGE.report(path)):
        raised(lambda call=call: call(none), errno.ENOENT, none)  # type: ignore[misc]
        raised(lambda call=call: call(file), errno.ENOTDIR, file)  # type: ignore[misc]
    raised(lambda: sign(ALICE, {"a": none}), errno.ENOENT, none)
