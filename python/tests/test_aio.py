"""Coroutines of the long calls: results, progress, exceptions, and tasks that are cancelled."""

import asyncio
import inspect
import io
import os
import threading
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest

import public
import sealstone
from sealstone import Passport, aio, errors, timestamps
from sealstone._tasks import silent
from sealstone.argon2 import Memory, PasswordHasher
from sealstone.argon2.low_level import Type, hash_secret, hash_secret_raw
from sealstone.packages import sign
from sealstone.tokens import Challenge, IssuerKey
from turns import the_loop_goes_on

ALICE, BOB = Passport.generate("Alice"), Passport.generate("Bob")
CHEAP = (7168, 5, 1)
ISSUER = IssuerKey.generate("ristretto255")


# Functions that take `progress` and have no coroutine in `aio`, by the reason.
WITHOUT = {"has a method that is a coroutine": "argon2.PasswordHasher.hash argon2.PasswordHasher.verify"}
# Coroutines of functions that take no `progress`, by the reason.
SILENT = {"copies in memory": "packages.Package.evidence", "waits for a server": "aio.fetch"}


def test_every_function_with_progress_has_a_coroutine() -> None:
    everything = public.callables()
    made = {inspect.unwrap(getattr(aio, name)) for name in aio.__all__}
    have = {name for name, call in everything.items() if call in made}
    assert len(have) == len(made) == len(aio.__all__)
    takes = {name for name, call in everything.items() if public.takes_progress(call)}
    takes -= {name for name in takes if name.startswith("aio.") or name.endswith("_async")}
    assert takes - have == set(public.listed(WITHOUT)) and have - takes == set(public.listed(SILENT))


class Endless(io.BytesIO):
    """Content without an end."""

    reads = 0

    def read(self, size: int | None = -1, /) -> bytes:
        self.reads += 1
        assert size is not None and size > 0
        return bytes(size)


def test_everything(tmp_path: Path) -> None:
    async def main() -> None:
        path = tmp_path / "alice.passport"
        locked = await aio.lock(ALICE, "passphrase", profile=CHEAP)
        await aio.save(ALICE, path, "passphrase", profile=CHEAP)
        for source in (path, locked.encode()):
            assert (await aio.unlock(source, "passphrase")).fingerprint == ALICE.fingerprint
        sealed = await aio.seal(b"text", to=BOB.public, sender=ALICE)
        assert (await aio.open(sealed, keys=BOB, sender=ALICE.public)).content == b"text"
        with await aio.sealed_file(sealed, keys=BOB, sender=ALICE.public) as file:
            assert file.read() == b"text"
        package = await aio.sign(ALICE, embed={"a": b"text"})
        assert await aio.report(package, signers=ALICE.public)
        assert await aio.verify(package, signers=ALICE.public)

    asyncio.run(main())


def test_the_loop_goes_on_and_progress_is_told() -> None:
    seen: list[tuple[int, int]] = []

    def progress(done: int, total: int) -> None:
        seen.append((done, total))

    assert the_loop_goes_on(lambda: aio.lock(ALICE, "passphrase", profile=(1 << 18, 3, 1), progress=progress))
    assert seen and all(0 < done <= total for done, total in seen)


def test_exceptions_come_through() -> None:
    def enough(done: int, total: int) -> None:
        raise InterruptedError("enough")

    async def main() -> None:
        with pytest.raises(errors.NotARecipient):
            await aio.open(sealstone.seal(b"text", to=ALICE.public), keys=BOB, sender="any")
        with pytest.raises(TypeError, match="sender"):
            await aio.open(b"text")  # type: ignore[call-arg]
        with pytest.raises(InterruptedError, match="enough"):
            await aio.seal(Endless(), to=BOB.public, progress=enough)
        with pytest.raises(ValueError, match="http"):
            await aio.fetch("file:///etc/passwd", timestamps.request(b"x"))

    asyncio.run(main())


@pytest.mark.parametrize("name", ["seal", "sign", "lock", "ask"])
def test_a_task_that_is_cancelled_stops_its_work(name: str, tmp_path: Path) -> None:
    source = Endless()

    async def main() -> int:
        endless: dict[str, Coroutine[Any, Any, object]] = {
            "seal": aio.seal(source, tmp_path / "sealed", to=BOB.public),
            "sign": aio.sign(ALICE, {"a": source}),
            "lock": aio.lock(ALICE, "passphrase", profile=(1 << 15, 10_000, 1)),
            "ask": aio.ask(ISSUER.public, Challenge("ristretto255", "issuer.example"), 60_000),
        }
        task = asyncio.create_task(endless.pop(name))
        for other in endless.values():
            other.close()
        await asyncio.sleep(0.3)
        assert not task.done()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, 20)
        return source.reads

    reads = asyncio.run(main())
    assert source.reads == reads and os.listdir(tmp_path) == []
    assert (reads > 0) == (name in ("seal", "sign"))


class Waiting(io.BytesIO):
    """Content that is read once `go` is set."""

    def __init__(self, content: bytes, go: threading.Event) -> None:
        super().__init__(content)
        self.go = go

    def read(self, size: int | None = -1, /) -> bytes:
        assert self.go.wait(60)
        return super().read(size)


def test_short_work_that_is_cancelled_leaves_nothing(tmp_path: Path) -> None:
    async def main() -> None:
        room = bytearray(2 << 20)
        for target in (tmp_path / "sealed", room):
            go = threading.Event()
            task = asyncio.create_task(aio.seal(Waiting(bytes(1 << 20), go), target, to=BOB.public))
            await asyncio.sleep(0.05)
            # The second cancellation does not end the wait for the other thread.
            for _ in range(2):
                task.cancel()
                await asyncio.sleep(0.05)
                assert not task.done()
            go.set()
            with pytest.raises(asyncio.CancelledError):
                await task
        assert room == bytes(len(room))
        room.clear()

    asyncio.run(main())
    assert os.listdir(tmp_path) == []


def test_a_hash_that_is_cancelled_stops() -> None:
    """It stops while it works, and while it waits for its turn."""
    memory = Memory(at_once=1)
    cheap = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1, memory=memory)
    dear = PasswordHasher(time_cost=10_000, memory_cost=1 << 15, parallelism=1, memory=memory)
    stored = cheap.hash("password")
    asked = stored.replace("m=8,t=1", f"m={1 << 15},t=2047")

    async def main() -> None:
        for long in (lambda: dear.hash_async("password"), lambda: dear.verify_async(asked, "password")):
            working = asyncio.create_task(long())
            await asyncio.sleep(0.3)
            waiting = [asyncio.create_task(it) for it in (cheap.hash_async("password"), cheap.verify_async(stored, "password"))]
            await asyncio.sleep(0.3)
            for task in (*waiting, working):
                assert not task.done()
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await asyncio.wait_for(task, 20)
            # The turn is free again.
            assert await cheap.verify_async(stored, "password")

    asyncio.run(main())


def test_a_hasher_has_its_own() -> None:
    """With a salt and progress, as `hash` and `verify`."""
    hasher = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    seen: list[tuple[int, int]] = []

    def enough(done: int, total: int) -> None:
        raise InterruptedError("enough")

    async def main() -> None:
        assert await hasher.verify_async(await hasher.hash_async("password"), "password")
        stored = await hasher.hash_async("password", salt=b"some salt", progress=lambda *at: seen.append(at))
        assert stored == hasher.hash("password", salt=b"some salt") and len(seen) == 1
        await hasher.verify_async(stored, "password", progress=lambda *at: seen.append(at))
        assert len(seen) == 2
        for call in (hasher.hash_async("password", progress=enough), hasher.verify_async(stored, "password", progress=enough)):
            with pytest.raises(InterruptedError, match="enough"):
                await call

    asyncio.run(main())


def test_low_level() -> None:
    async def main() -> None:
        stored = await aio.hash_secret(b"p", b"s" * 16, 1, 8, 1, 32, Type.ID)
        assert stored == hash_secret(b"p", b"s" * 16, 1, 8, 1, 32, Type.ID)
        assert await aio.verify_secret(stored, b"p", Type.ID)
        assert (await aio.hash_secret_raw(b"p", b"s" * 16, 1, 8, 1, 32, Type.ID)) == hash_secret_raw(b"p", b"s" * 16, 1, 8, 1, 32, Type.ID)
        long = asyncio.create_task(aio.hash_secret_raw(b"p", b"s" * 16, 10_000, 1 << 15, 1, 32, Type.ID, memory=Memory(at_once=1)))
        await asyncio.sleep(0.3)
        long.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(long, 20)

    asyncio.run(main())


def test_packages_and_tokens(tmp_path: Path) -> None:
    async def main() -> None:
        package = await aio.sign(ALICE, embed={"a": b"text"})
        await aio.save_package(package, tmp_path / "package")
        for source in (tmp_path / "package", package.to_bytes(), io.BytesIO(package.to_bytes())):
            assert await aio.load_package(source) == package
        with pytest.raises(FileExistsError):
            await aio.save_package(package, tmp_path / "package")
        assert await aio.evidence(package) == package.evidence()
        await aio.export_package(package, tmp_path / "evidence")
        assert (tmp_path / "evidence").is_dir()
        issuer = await aio.generate_issuer("rsa")
        assert issuer.token_type == "rsa"
        issuer = await aio.generate_issuer("ristretto255")
        pending = await aio.ask(issuer.public, Challenge("ristretto255", "issuer.example"), 3)
        pending = await aio.restore_pending(pending.save())
        assert len(await aio.finalize(pending, await aio.issue_batch(issuer, pending.request, 3))) == 3
        with pytest.raises(TypeError, match="progress"):
            await aio.fetch("http://localhost:1", b"", progress=print)  # type: ignore[call-arg]

    asyncio.run(main())


def test_the_loop_goes_on_beside_tokens() -> None:
    issuer = IssuerKey.generate("ristretto255")
    challenge = Challenge("ristretto255", "issuer.example")
    assert the_loop_goes_on(lambda: aio.ask(issuer.public, challenge, 500))
    assert the_loop_goes_on(lambda: aio.generate_issuer("rsa"))


def test_a_task_without_progress_ends_with_its_work() -> None:
    """Once a thread has begun it."""
    begun, go, ended = threading.Event(), threading.Event(), threading.Event()

    def work() -> None:
        begun.set()
        assert go.wait(60)
        ended.set()

    async def main() -> None:
        task = asyncio.create_task(silent(work)())
        await asyncio.to_thread(begun.wait, 60)
        task.cancel()
        await asyncio.sleep(0.05)
        assert not task.done()
        go.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert ended.is_set()

    asyncio.run(main())
