"""Whether others get on while a long call works.

A busy machine can leave others without turns for one call, so the best of ten calls counts.
"""

import asyncio
import sys
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


def longest_wait(work: Callable[[], object]) -> float:
    """The longest time for which another thread has no turn while `work` runs, as a share of it.

    Python itself takes its lock from no thread meanwhile: a turn is one that `work` gave up. Short
    work is repeated for a while, as the system may take long to wake the other thread. The best of
    ten attempts counts; the first good one ends the search.
    """
    begin = time.perf_counter()
    work()
    count = 1 + int(WHILE / (time.perf_counter() - begin))

    def repeated() -> None:
        for _ in range(count):
            work()

    shares = []
    for _ in range(10):
        shares.append(_share_without_turns(repeated))
        if shares[-1] <= MOST:
            break
    return min(shares)


WHILE = 0.05
"""Seconds."""

MOST = 0.5
"""Half of a call: more is a call that keeps the lock."""


def _share_without_turns(work: Callable[[], object]) -> float:
    turns: list[float] = []
    ended = threading.Event()

    def run() -> None:
        while not ended.is_set():
            turns.append(time.perf_counter())
            time.sleep(0.0002)

    interval = sys.getswitchinterval()
    thread = threading.Thread(target=run)
    thread.start()
    while len(turns) < 3:
        time.sleep(0.001)
    sys.setswitchinterval(1000)
    try:
        begin = time.perf_counter()
        work()
        end = time.perf_counter()
    finally:
        sys.setswitchinterval(interval)
        ended.set()
        thread.join()
    inside = [begin, *(at for at in turns if begin < at < end), end]
    return max(after - before for before, after in zip(inside, inside[1:])) / (end - begin)
