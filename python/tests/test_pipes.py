"""Pipes with a name: what waits for them ends by a signal."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import sealstone
from sealstone import Passport, timestamps
from sealstone.packages import Package, sign
from interrupts import interrupted

ALICE = Passport.generate("Alice")
SEALED = sealstone.seal(bytes(5 << 20), to=ALICE.public)
SIGNED = sign(ALICE, {"a": bytes(1000), "b": b""})
READERS: dict[str, Callable[[Path], object]] = {
    "seal": lambda path: sealstone.seal(path, to=ALICE.public),
    "open": lambda path: sealstone.open(path, keys=ALICE, sender="any"),
    "unlock": lambda path: Passport.unlock(path, "passphrase"),
    "Package": lambda path: Package.load(path),
    "request": lambda path: timestamps.request(path),
    "sign": lambda path: sign(ALICE, {"a": path, "b": b""}),
    "verify": lambda path: SIGNED.verify({"a": path, "b": b""}, signers=ALICE.public),
}


@pytest.fixture
def pipe(tmp_path: Path) -> Iterator[Path]:
    """A pipe that gets a writer, and its end, after 20 s: what waits for it then fails at last."""
    path, done = tmp_path / "pipe", threading.Event()
    os.mkfifo(path)

    def end() -> None:
        while not done.wait(20):
            os.close(os.open(path, os.O_RDWR | os.O_NONBLOCK))

    thread = threading.Thread(target=end)
    thread.start()
    yield path
    done.set()
    thread.join()


@pytest.mark.parametrize("name", READERS)
def test_a_signal_ends_waiting_for_a_writer(name: str, pipe: Path) -> None:
    interrupted(lambda: READERS[name](pipe))


@pytest.mark.parametrize("name", READERS)
def test_a_signal_ends_waiting_for_bytes(name: str, pipe: Path) -> None:
    writer = os.open(pipe, os.O_RDWR)
    os.write(writer, SEALED[:100] if name == "open" else b"-" * 100)
    interrupted(lambda: READERS[name](pipe))
    os.close(writer)


def test_a_signal_ends_waiting_in_the_middle(pipe: Path, tmp_path: Path) -> None:
    def write() -> None:
        with open(pipe, "wb") as file:
            file.write(SEALED[: 3 << 20])
            file.flush()
            done.wait(20)

    for number, call in enumerate([sealstone.seal, sealstone.open]):
        done, target = threading.Event(), tmp_path / f"target{number}"
        thread = threading.Thread(target=write)
        thread.start()
        if call is sealstone.seal:
            interrupted(lambda target=target: sealstone.seal(pipe, target, to=ALICE.public))  # type: ignore[misc]
        else:
            interrupted(lambda target=target: sealstone.open(pipe, target, keys=ALICE, sender="any"))  # type: ignore[misc]
        done.set()
        thread.join()
        assert os.listdir(tmp_path) == ["pipe"]


def test_a_handler_that_returns_changes_nothing(pipe: Path) -> None:
    seen: list[int] = []
    before = signal.signal(signal.SIGUSR1, lambda *_: seen.append(1))

    def write() -> None:
        time.sleep(0.1)
        os.kill(os.getpid(), signal.SIGUSR1)
        time.sleep(0.1)
        with open(pipe, "wb") as file:
            for at in range(0, len(SEALED), 1 << 20):
                file.write(SEALED[at : at + (1 << 20)])
                os.kill(os.getpid(), signal.SIGUSR1)
                time.sleep(0.01)

    thread = threading.Thread(target=write)
    thread.start()
    assert sealstone.open(pipe, keys=ALICE, sender="any").content == bytes(5 << 20)
    thread.join()
    signal.signal(signal.SIGUSR1, before)
    assert seen
