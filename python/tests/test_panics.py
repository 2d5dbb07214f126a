"""A panic of the native code is an exception for Python, and locks nothing for ever.

Nothing that a caller gives makes it panic. PyO3 panics anew when code of the caller's raises the
exception into which it made a panic: so a file object can plant one below any call.
"""

import io
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import sealstone
from sealstone import Passport, SealedFile, seal
from sealstone.packages import Package, sign

ALICE, BOB = Passport.generate("Alice"), Passport.generate("Bob")
CONTENT = b"content " * 10
SEALED = seal(CONTENT, to=BOB.public)
PACKAGE = sign(ALICE, embed={"a": CONTENT})


class Source(io.BytesIO):
    """Raises the error in each `read`, if it has one."""

    error: BaseException | None = None

    def read(self, size: int | None = -1, /) -> bytes:
        if self.error is not None:
            raise self.error
        return super().read(size)


def panic() -> BaseException:
    """The exception that our extension module raises after a panic. Other modules made with PyO3
    have classes of their own, with the same name."""
    source = Source(SEALED)
    for kind in BaseException.__subclasses__():
        if kind.__name__ == "PanicException":
            source.error = kind("planted")
            with pytest.raises(kind):
                SealedFile(source, keys=BOB, sender="unsigned")
            return kind("planted")
    raise AssertionError("the module has no exception for panics")


CALLS: dict[str, Callable[[Source], object]] = {
    "seal": lambda it: seal(it, to=BOB.public),
    "open": lambda it: sealstone.open(it, keys=BOB, sender="unsigned"),
    "SealedFile": lambda it: SealedFile(it, keys=BOB, sender="unsigned"),
    "recipients": lambda it: sealstone.recipients(it),
    "sign": lambda it: sign(ALICE, {"a": it}),
    "verify": lambda it: sign(ALICE, {"a": CONTENT}).verify({"a": it}, signers=ALICE.public),
    "load": lambda it: Package.load(it),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_panic_is_an_exception(name: str) -> None:
    content = {"load": PACKAGE.to_bytes(), "seal": CONTENT, "sign": CONTENT, "verify": CONTENT}
    source, error = Source(content.get(name, SEALED)), panic()
    source.error = error
    with pytest.raises(type(error), match="planted"):
        CALLS[name](source)
    source.error = None
    source.seek(0)
    CALLS[name](source)


READS: dict[str, Callable[[SealedFile], object]] = {
    "read": lambda file: file.read(5),
    "readall": lambda file: file.readall(),
    "readinto": lambda file: file.readinto(bytearray(5)),
}


@pytest.mark.parametrize("name", READS)
def test_a_panic_gives_the_lock_back(name: str) -> None:
    source, error = Source(SEALED), panic()
    with SealedFile(source, keys=BOB, sender="unsigned") as file:
        source.error = error
        for _ in range(2):
            with pytest.raises(type(error), match="planted"):
                READS[name](file)
            assert file.tell() == 0
        source.error = None
        assert file.read() == CONTENT


# The lock alone. It panics under it, and comes again.
PROGRAM = """
mod lock {
    pub(crate) fn me() -> u64 {
        1
    }
}
#[path = "nested.rs"]
mod nested;

fn main() {
    let lock = nested::Unnested::new(0);
    let panics = || lock.with(|_| -> u32 { panic!("planted") });
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics));
    assert!(caught.is_err());
    let again = lock.with(|count| {
        *count += 1;
        *count
    });
    assert_eq!(again, Some(1), "the lock is kept");
    assert_eq!(lock.with(|_| lock.with(|_| ())), Some(None), "nested");
}
"""
GUARD = "self.0.store(0, Relaxed);"


def test_the_guard_of_the_lock_is_needed(tmp_path: Path) -> None:
    """Its source without the guard's `drop` keeps the lock after a panic, and this is noticed."""
    assert shutil.which("rustc"), "there is no rustc: run scripts/setup test"
    source = (Path(__file__).parent.parent / "src/nested.rs").read_text(encoding="utf-8")
    assert source.count(GUARD) == 1
    (tmp_path / "main.rs").write_text(PROGRAM)

    def run(text: str) -> subprocess.CompletedProcess[str]:
        (tmp_path / "nested.rs").write_text(text)
        subprocess.run(["rustc", "--edition=2024", "main.rs"], cwd=tmp_path, check=True, capture_output=True)
        return subprocess.run([tmp_path / "main"], capture_output=True, text=True)

    assert run(source).returncode == 0
    planted = run(source.replace(GUARD, ""))
    assert planted.returncode != 0 and "the lock is kept" in planted.stderr


def test_a_lock_that_is_kept_is_noticed() -> None:
    """As after a panic without the guard: who comes again while the lock is held is refused."""

    class Nested(Source):
        def read(self, size: int | None = -1, /) -> bytes:
            if opened:
                with pytest.raises(RuntimeError, match="reentrant"):
                    opened[0].read(5)
                refused.append(True)
            return super().read(size)

    opened: list[SealedFile] = []
    refused: list[bool] = []
    opened.append(SealedFile(Nested(SEALED), keys=BOB, sender="unsigned"))
    assert opened[0].read() == CONTENT
    assert refused
