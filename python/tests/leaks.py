"""Measures leaks: `python leaks.py CALLS [--seconds N] [NAME]…`.

Each of three rounds makes CALLS calls of each job, or as many as fit into N seconds.
"""

import argparse
import contextlib
import ctypes
import gc
import os
import sys
import threading
import time
import zlib
from collections.abc import Callable
from pathlib import Path

from calls import CALLS

def resident() -> int:
    """Bytes of this process that are in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


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


def counted() -> tuple[int, int, int, int]:
    """Bytes of malloc, blocks of Python, descriptors, threads."""
    gc.collect()
    return allocated(), sys.getallocatedblocks(), len(os.listdir("/proc/self/fd")), threading.active_count()


def leak(call: Callable[[], object], times: int) -> str | None:
    """What grows by half a block or byte with each call, or `None`.

    Caches and lists of free objects grow now and then. A leak grows in each of three rounds, and
    with the number of calls: a second measurement makes four times as many.
    """
    return leak_of(call, times) and leak_of(call, 4 * times)


def leak_of(call: Callable[[], object], times: int) -> str | None:
    """The same by one measurement."""
    for _ in range(max(20, times // 10)):
        call()
    memory = resident()
    rounds = [grown(call, times) for _ in range(3)]
    least = [min(column) for column in zip(*rounds, strict=True)]
    limits = [times // 2, times // 2 + 50, 0, 0]
    names = ["bytes of malloc", "blocks of Python", "descriptors", "threads"]
    found = [f"{n} {name}" for n, name, limit in zip(least, names, limits, strict=True) if n > limit]
    if resident() - memory > (8 << 20) + 16 * times:
        found.append(f"{resident() - memory} bytes in memory")
    return ", ".join(found) or None


def grown(call: Callable[[], object], times: int) -> list[int]:
    """By how much each number grows in one round."""
    before = counted()
    for _ in range(times):
        call()
    return [b - a for a, b in zip(before, counted(), strict=True)]


KEPT: list[object] = []
# Leaks that have to be found.
PLANTED: dict[str, Callable[[], object]] = {
    "planted bytes": lambda: KEPT.append(zlib.compressobj()),
    "planted objects": lambda: KEPT.append([len(KEPT)]),
    "planted descriptor": lambda: KEPT.append(os.dup(2)),
}


def fitting(call: Callable[[], object], times: int, seconds: float) -> int:
    """A number of calls, at most `times`, of which three rounds take about `seconds`."""
    start = time.perf_counter()
    for _ in range(20):
        call()
    each = (time.perf_counter() - start) / 20
    # With fewer than 120, growth by one block a call is within the limit.
    return max(120, min(times, int(seconds / 3 / each)))


def main() -> int:
    """Prints what leaks, and returns how many calls do."""
    parser = argparse.ArgumentParser()
    parser.add_argument("calls", type=int)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seconds", type=float)
    options = parser.parse_args()
    found = 0
    for name in options.names or CALLS:
        call, times = (CALLS | PLANTED)[name], options.calls
        if options.seconds is not None:
            times = fitting(call, times, options.seconds)
        leaked = leak(call, times)
        found += leaked is not None
        print(f"{name}: {leaked or 'flat'}, 3 x {times:,} calls", flush=True)
    return found


# Malloc keeps freed memory for each thread, and makes new arenas for threads now and then. Both
# would count as given out. It reads this when a program starts.
TUNABLES = "glibc.malloc.tcache_count=0:glibc.malloc.arena_max=1"

if __name__ == "__main__":
    if os.environ.get("GLIBC_TUNABLES") != TUNABLES:
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | {"GLIBC_TUNABLES": TUNABLES})
    sys.exit(min(100, main()))
