"""Whether others get on while a long call works.

A busy machine can leave others without turns for one call, so the best of ten calls counts.
"""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable

ENOUGH = 5


def threads_go_on(work: Callable[[], object]) -> bool:
    """Whether another thread gets turns while `work` runs on one."""

    def turns() -> int:
        state: list[str] = []

        def run() -> None:
            state.append("begun")
            work()
            state.append("ended")

        thread = threading.Thread(target=run)
        thread.start()
        counted = 0
        while thread.is_alive():
            # Turns before the work begins, on a busy machine, say nothing of it.
            counted += state == ["begun"]
            time.sleep(0.001)
        return counted

    return any(turns() >= ENOUGH for _ in range(10))


def the_loop_goes_on(work: Callable[[], Awaitable[object]]) -> bool:
    """Whether the event loop gets turns while it waits for what `work` makes."""

    async def turns() -> int:
        task = asyncio.ensure_future(work())
        counted = 0
        while not task.done():
            counted += 1
            await asyncio.sleep(0.001)
        await task
        return counted

    return any(asyncio.run(turns()) >= ENOUGH for _ in range(10))
