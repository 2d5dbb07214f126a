"""Long calls on other threads, for tasks of asyncio."""

import asyncio
import contextlib
import contextvars
import functools
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

# Executors of Python 3.13 and later count the processors that the process may use.
_processors: Callable[[], int | None] = getattr(os, "process_cpu_count", os.cpu_count)

MOST = min(32, (_processors() or 1) + 4)
"""Calls that work at a time, as many as asyncio's own executor lets work. More wait for a turn."""


class _Cancelled(Exception):
    """Ends the work of a task that was cancelled."""


class Threads:
    """The threads of this package's tasks. They end when no work is left.

    asyncio's own executor also answers `loop.getaddrinfo`, which must not wait for hashes. Idle
    threads end, because Python 3.12 and later warn of every fork beside other threads.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._executor: ThreadPoolExecutor | None = None
        self._left = 0

    def submit(self, work: Callable[[], T]) -> "Future[T]":
        """Calls `work` when a thread is free.

        Raises `RuntimeError` when the interpreter ends, or the system gives no thread: then nothing
        calls `work`.
        """
        refused = False

        def begin() -> T:
            with self._lock:  # `submit` has it until that is known.
                if refused:
                    raise _Cancelled
            return work()

        with self._lock:
            if self._executor is None:
                self._executor = ThreadPoolExecutor(MOST, "sealstone")
            try:
                future = self._executor.submit(begin)
            except BaseException:
                # The executor queues work before it starts a thread. Another thread may take it.
                refused = True
                if not self._left:
                    self._executor = None
                raise
            self._left += 1
        future.add_done_callback(self._ended)
        return future

    def _ended(self, _future: "Future[Any]") -> None:
        with self._lock:
            self._left -= 1
            idle = None if self._left else self._executor
            if idle is not None:
                self._executor = None
        if idle is not None:
            idle.shutdown(wait=False)


_threads = Threads()


def _begin_anew() -> None:
    """In the child of a fork, which has none of its parent's threads and may have a held lock."""
    global _threads
    _threads = Threads()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)


def submit(call: Callable[..., T], *args: Any, **kwargs: Any) -> "Future[T]":
    """`call` on a thread of this package, with a copy of the context, as `asyncio.to_thread`."""
    context = contextvars.copy_context()
    return _threads.submit(functools.partial(context.run, call, *args, **kwargs))


def coroutine(call: Callable[P, T]) -> Callable[P, Coroutine[Any, Any, T]]:
    """`call` on another thread. Its `progress` looks whether the task was cancelled.

    A `progress` that is no function goes to `call`, which refuses it.
    """
    return _task(call, True)


def silent(call: Callable[P, T]) -> Callable[P, Coroutine[Any, Any, T]]:
    """`call`, which has no `progress`, on another thread. A cancelled task waits for the end of a
    call that has begun."""
    return _task(call, False)


def _task(call: Callable[P, T], reports: bool) -> Callable[P, Coroutine[Any, Any, T]]:
    @functools.wraps(call)
    async def run(*args: P.args, **kwargs: P.kwargs) -> T:
        cancelled = False
        wanted: Any = kwargs.get("progress")

        def progress(done: int, total: int) -> None:
            if cancelled:
                raise _Cancelled
            if wanted is not None:
                wanted(done, total)

        if reports and (wanted is None or callable(wanted)):
            kwargs["progress"] = progress
        queued = submit(call, *args, **kwargs)
        work = asyncio.wrap_future(queued)
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            if queued.cancel():
                raise  # No thread had begun it.
            cancelled = True
            while not work.done():
                # Another cancellation does not end the wait: the work still has its target.
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.wait([work])
            work.exception()  # It is known already why.
            raise

    return run
