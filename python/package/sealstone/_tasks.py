"""Long calls on another thread, for tasks of asyncio."""

import asyncio
import contextlib
import functools
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class _Cancelled(Exception):
    """Ends the work of a task that was cancelled."""


def coroutine(call: Callable[P, T]) -> Callable[P, Coroutine[Any, Any, T]]:
    """`call` on another thread. Its `progress` looks whether the task was cancelled.

    A `progress` that is no function goes to `call`, which refuses it.
    """
    return _task(call, True)


def silent(call: Callable[P, T]) -> Callable[P, Coroutine[Any, Any, T]]:
    """`call`, which has no `progress`, on another thread. A cancelled task waits for its end."""
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
        work = asyncio.ensure_future(asyncio.to_thread(call, *args, **kwargs))
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            cancelled = True
            while not work.done():
                # Another cancellation does not end the wait: the work still has its target.
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.wait([work])
            work.exception()  # It is known already why.
            raise

    return run
