"""Ctrl-C, while a call works."""

import os
import signal
import threading
import time
from collections.abc import Callable

import pytest


def interrupted(call: Callable[[], object], within: float = 10) -> None:
    """Calls it, and presses Ctrl-C after 0.3 s: it has to end by that `within` so many seconds.

    SIGINT interrupts, also if pytest is a job in the background of a shell, which ignores it.
    """
    pressed: list[float] = []

    def press() -> None:
        pressed.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, press)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            call()
        took = time.monotonic() - pressed[0]
    finally:
        timer.cancel()
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert took < within, f"{took:.2f} s"
