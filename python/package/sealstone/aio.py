"""The long calls as coroutines: each works on another thread, and the event loop goes on.

| coroutine | of |
|---|---|
| `seal`, `open`, `sealed_file` | `seal`, `open` and `SealedFile` of `sealstone` |
| `unlock`, `lock`, `save` | a `Passport` |
| `sign`, `report`, `verify` | `sealstone.packages.sign`, and a `Package` |
| `fetch` | `sealstone.timestamps.fetch` |

Arguments and results are those of the functions and methods of the same names; `progress` is called
on the other thread. A task that is cancelled stops its work, which takes about a tenth of a second,
and nothing of a target stays.

>>> import asyncio
>>> from sealstone import Passport, aio
>>> async def main(bob: Passport) -> bytes | None:
...     sealed = await aio.seal(b"text", to=bob.public)
...     return (await aio.open(sealed, keys=bob, sender="unsigned")).content
>>> asyncio.run(main(Passport.generate("Bob")))
b'text'

A passport and a package are the first argument of what were their methods.

>>> async def signed(alice: Passport) -> bool:
...     package = await aio.sign(alice, embed={"a": b"text"})
...     return (await aio.verify(package, signers=alice.public)).good
>>> asyncio.run(signed(Passport.generate("Alice")))
True
"""

import asyncio
import contextlib
import functools
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar

import sealstone
from sealstone import Passport, SealedFile, packages, timestamps

P = ParamSpec("P")
T = TypeVar("T")

__all__ = ["fetch", "lock", "open", "report", "save", "seal", "sealed_file", "sign", "unlock", "verify"]


class _Cancelled(Exception):
    """Ends the work of a task that was cancelled."""


def _coroutine(call: Callable[P, T]) -> Callable[P, Coroutine[Any, Any, T]]:
    """`call` on another thread. Its `progress` looks whether the task was cancelled."""

    @functools.wraps(call)
    async def run(*args: P.args, **kwargs: P.kwargs) -> T:
        cancelled, wanted = False, kwargs.get("progress")

        def progress(done: int, total: int) -> None:
            if cancelled:
                raise _Cancelled
            if callable(wanted):
                wanted(done, total)

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


seal = _coroutine(sealstone.seal)
open = _coroutine(sealstone.open)
sealed_file = _coroutine(SealedFile)
unlock = _coroutine(Passport.unlock)
lock = _coroutine(Passport.lock)
save = _coroutine(Passport.save)
sign = _coroutine(packages.sign)
report = _coroutine(packages.Package.report)
verify = _coroutine(packages.Package.verify)


async def fetch(url: str, query: bytes, *, timeout: float = 30.0) -> bytes:
    """`sealstone.timestamps.fetch` on another thread, which a cancelled task does not stop: it ends
    when the authority answers, or after `timeout` seconds."""
    return await asyncio.to_thread(timestamps.fetch, url, query, timeout=timeout)
