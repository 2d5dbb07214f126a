"""The threads of coroutines: how many there are, who waits for them, forks, the end of Python."""

import asyncio
import contextvars
import io
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sealstone
from sealstone import Passport, _tasks, aio, timestamps
from sealstone.argon2 import PasswordHasher
from test_leaks import child_of

BOB = Passport.generate("Bob")
CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
# More than the threads of this package, and than those of asyncio.
MANY = (os.cpu_count() or 1) + 8


class Busy:
    """Content whose readers wait until `go` is set. Counts those who wait at a time."""

    def __init__(self) -> None:
        self.go, self.lock = threading.Event(), threading.Lock()
        self.now = self.most = 0

    def source(self) -> io.BytesIO:
        """One more file object of this kind."""
        busy = self

        class Source(io.BytesIO):
            def read(self, size: int | None = -1, /) -> bytes:
                with busy.lock:
                    busy.now += 1
                    busy.most = max(busy.most, busy.now)
                assert busy.go.wait(60)
                with busy.lock:
                    busy.now -= 1
                return b""

        return Source()


async def until(holds: Callable[[], bool]) -> None:
    """Waits for it, for a minute at most."""

    async def wait() -> None:
        while not holds():
            await asyncio.sleep(0.001)

    await asyncio.wait_for(wait(), 60)


async def occupied(busy: Busy) -> list["asyncio.Task[Any]"]:
    """Tasks that have all threads, and several that wait for one."""
    tasks = [asyncio.create_task(aio.request(busy.source())) for _ in range(MANY)]
    await until(lambda: busy.now == _tasks.MOST)
    return tasks


async def ends(task: "asyncio.Future[Any]") -> bool:
    """Whether it ends, within seconds, while all threads are occupied."""
    await asyncio.wait([task], timeout=10)
    return task.done()


def test_a_task_that_waits_for_a_thread_is_cancelled_at_once() -> None:
    busy = Busy()

    async def main() -> None:
        try:
            tasks = await occupied(busy)
            waiting: list[asyncio.Task[Any]] = [
                tasks.pop(),
                asyncio.create_task(CHEAP.hash_async("password")),
                asyncio.create_task(aio.generate_issuer("p384")),
                asyncio.create_task(aio.fetch("http://localhost:1", timestamps.request(b"text"))),
            ]
            await asyncio.sleep(0)
            for task in waiting:
                task.cancel()
                assert await ends(task) and task.cancelled()
        finally:
            busy.go.set()
        assert len(await asyncio.gather(*tasks)) == MANY - 1

    assert _tasks.MOST < MANY
    asyncio.run(main())
    assert busy.most == _tasks.MOST


def test_the_executor_of_asyncio_is_free() -> None:
    busy = Busy()

    async def main() -> None:
        try:
            tasks = await occupied(busy)
            asked = asyncio.ensure_future(asyncio.get_running_loop().getaddrinfo("127.0.0.1", 80))
            assert await ends(asked) and asked.result()
        finally:
            busy.go.set()
        await asyncio.gather(*tasks)

    asyncio.run(main())


def test_a_call_has_the_context_of_its_task() -> None:
    name = contextvars.ContextVar("name", default="none")
    seen: list[str] = []

    def progress(done: int, total: int) -> None:
        seen.append(name.get())
        name.set("changed")

    async def main() -> None:
        name.set("mine")
        await CHEAP.hash_async("password", progress=progress)
        assert name.get() == "mine"

    asyncio.run(main())
    assert seen and seen[0] == "mine"


def test_idle_threads_end() -> None:
    """Python 3.12 and later warn of a fork beside them."""
    asyncio.run(CHEAP.hash_async("password"))
    for thread in threading.enumerate():
        if thread.name.startswith("sealstone"):
            thread.join(10)
    assert not any(it.name.startswith("sealstone") for it in threading.enumerate())


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_the_child_of_a_fork_has_threads_of_its_own() -> None:
    """Those of its parent are occupied, and the lock is held."""
    busy = Busy()

    def works() -> None:
        done: list[str] = []
        thread = threading.Thread(target=lambda: done.append(asyncio.run(CHEAP.hash_async("password"))))
        thread.start()
        thread.join(30)
        assert done

    async def main() -> None:
        try:
            tasks = await occupied(busy)
            with _tasks._threads._lock:
                status = child_of(works)
        finally:
            busy.go.set()
        await asyncio.gather(*tasks)
        assert status == 0

    asyncio.run(main())


@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside another call"])
def test_a_call_that_the_system_gives_no_thread_is_never_made(
    beside: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """An executor queues it all the same. Another thread may take it before its own one fails."""
    busy = Busy()

    def start(thread: threading.Thread) -> None:
        busy.go.set()
        time.sleep(0.3)
        raise RuntimeError("can't start new thread")

    async def main() -> None:
        tasks = [asyncio.create_task(aio.request(busy.source()))] if beside else []
        await until(lambda: busy.now == len(tasks))
        with monkeypatch.context() as patched:
            patched.setattr(threading.Thread, "start", start)
            with pytest.raises(RuntimeError, match="can't start new thread"):
                await aio.seal(b"text", tmp_path / "sealed", to=BOB.public)
        # Else it would keep the arguments of the call.
        assert beside or _tasks._threads._executor is None
        await asyncio.gather(*tasks)
        assert await CHEAP.hash_async("password")

    asyncio.run(main())
    test_idle_threads_end()
    assert os.listdir(tmp_path) == []


def test_as_many_threads_as_an_executor_has() -> None:
    """Python 3.13 and later count the processors that the process may use."""
    program = """
import os
os.cpu_count, os.process_cpu_count = lambda: 9, lambda: 3
from sealstone import _tasks
print(_tasks.MOST)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("7\n", "")


ENDING = """
import asyncio, sys, threading
from sealstone.argon2 import PasswordHasher
hasher = PasswordHasher(time_cost=1, memory_cost=1024, parallelism=1)
begun = threading.Event()

async def work():
    while True:
        await asyncio.gather(*(hasher.hash_async("password") for _ in range(50)))
        begun.set()

def run():
    try:
        asyncio.run(work())
    except RuntimeError:  # No call begins any more.
        pass

threading.Thread(target=run, daemon=True).start()
begun.wait(60)
print("ends")
"""


def test_the_interpreter_ends_while_tasks_work_on_another_thread() -> None:
    done = subprocess.run([sys.executable, "-c", ENDING], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "ends\n", "")


def test_the_interpreter_ends_after_a_program() -> None:
    """Whose tasks were cancelled, at work and before it, by the end of the main coroutine."""
    program = """
import asyncio
from sealstone.argon2 import Memory, PasswordHasher
hasher = PasswordHasher(time_cost=10_000, memory_cost=1 << 15, parallelism=1, memory=Memory(1))

async def main():
    tasks = [asyncio.create_task(hasher.hash_async("password")) for _ in range(60)]
    await asyncio.sleep(0.2)
    print("ends")

asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-X", "dev", "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "ends\n", "")
