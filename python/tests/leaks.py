"""Measures leaks: `python leaks.py CALLS [NAME]…`.

A round makes CALLS calls of each job. If a count grows in one round, up to two more rounds follow.
`python leaks.py 1000000 --rest` makes a million calls of each job that `million.txt` lacks.
"""

import argparse
import asyncio
import contextlib
import ctypes
import gc
import mmap
import os
import sys
import threading
import zlib
from collections.abc import Callable
from pathlib import Path

import calls
from calls import CALLS
from sealstone import _tasks


def mapped() -> int:
    """Pages of this process, in memory or not: malloc does not know those of secrets and Argon2."""
    return int(Path("/proc/self/statm").read_text().split()[0])


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


def counted() -> tuple[int, ...]:
    """Bytes of malloc, blocks of Python, pages, descriptors, threads."""
    gc.collect()
    return allocated(), sys.getallocatedblocks(), mapped(), len(os.listdir("/proc/self/fd")), threading.active_count()


def leak(call: Callable[[], object], times: int) -> str | None:
    """The counts that grow by half a block, page or byte with each call, or `None`.

    Caches and lists of free objects grow now and then. A leak grows in each of three rounds, and
    with the number of calls: a second measurement makes four times as many.
    """
    return leak_of(call, times) and leak_of(call, 4 * times)


def leak_of(call: Callable[[], object], times: int) -> str | None:
    """The same by one measurement."""
    return measured(call, times)[0]


def measured(call: Callable[[], object], times: int) -> tuple[str | None, float]:
    """The same, and bytes of malloc by which a call grows, in the round with the least growth.

    It ends when no leak can be found any more.
    """
    for _ in range(max(20, times // 10)):
        call()
    limits = [times // 2, times // 2 + 50, times // 2, 0, 0]
    names = ["bytes of malloc", "blocks of Python", "pages", "descriptors", "threads"]
    least = grown(call, times)
    for _ in range(2):
        if not above(least, limits):
            break
        least = [min(pair) for pair in zip(least, grown(call, times), strict=True)]
    found = [f"{least[at]} {names[at]}" for at in above(least, limits)]
    return ", ".join(found) or None, least[0] / times


def above(numbers: list[int], limits: list[int]) -> list[int]:
    """Where numbers are greater than their limits."""
    return [at for at, (number, limit) in enumerate(zip(numbers, limits, strict=True)) if number > limit]


def grown(call: Callable[[], object], times: int) -> list[int]:
    """By how much each number grows in one round."""
    before = counted()
    for _ in range(times):
        call()
    return [b - a for a, b in zip(before, counted(), strict=True)]


# The jobs that were done a million times without growth.
MILLION = Path(__file__).with_name("million.txt")


def done() -> set[str]:
    """The names in `million.txt`. A line that begins with `#` is a comment."""
    lines = MILLION.read_text(encoding="utf-8").splitlines()
    return {line for line in lines if not line.startswith("#")}


KEPT: list[object] = []
# Leaks that have to be found.
PLANTED: dict[str, Callable[[], object]] = {
    "planted bytes": lambda: KEPT.append(zlib.compressobj()),
    "planted page": lambda: KEPT.append(mmap.mmap(-1, mmap.PAGESIZE)),
    "planted objects": lambda: KEPT.append([len(KEPT)]),
    "planted descriptor": lambda: KEPT.append(os.dup(2)),
}


def main() -> int:
    """Prints what leaks, and returns how many calls do."""
    parser = argparse.ArgumentParser()
    parser.add_argument("calls", type=int)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--rest", action="store_true", help="only jobs that million.txt lacks")
    options = parser.parse_args()
    calls.run = asyncio.new_event_loop().run_until_complete
    # The threads of tasks stay while one of them has work.
    ended = threading.Event()
    _tasks.submit(ended.wait)
    found = 0
    left_out = done() if options.rest else set()
    for name in options.names or [name for name in CALLS if name not in left_out]:
        call, times = (CALLS | PLANTED)[name], options.calls
        leaked, each = measured(call, times)
        leaked = leaked and leak_of(call, 4 * times)
        found += leaked is not None
        print(f"{name}: {leaked or 'flat'}, {times:,} calls, {each:+.4f} bytes a call", flush=True)
    ended.set()
    return found


# Malloc keeps freed memory for each thread, and makes new arenas for threads now and then. Both
# would count as given out. It reads this when a program starts.
TUNABLES = "glibc.malloc.tcache_count=0:glibc.malloc.arena_max=1"

if __name__ == "__main__":
    if os.environ.get("GLIBC_TUNABLES") != TUNABLES:
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | {"GLIBC_TUNABLES": TUNABLES})
    sys.exit(min(100, main()))
