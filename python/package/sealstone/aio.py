"""The long calls as coroutines: each works on another thread, and the event loop goes on.

| coroutine | of |
|---|---|
| `seal`, `open`, `sealed_file` | `seal`, `open` and `SealedFile` of `sealstone` |
| `unlock`, `lock`, `save` | a `Passport` |
| `sign`, `report`, `verify`, `cosign`, `countersign` | `sealstone.packages.sign`, and a `Package` |
| `load_package`, `save_package` | `load` and `save` of a `Package` |
| `evidence`, `export_package` | `evidence` and `export` of a `Package` |
| `request`, `renewal`, `fetch` | `sealstone.timestamps` |
| `verify_timestamps` | `sealstone.timestamps.verify` |
| `generate_issuer`, `issue_batch` | `generate` and `issue_batch` of a `tokens.IssuerKey` |
| `ask`, `restore_pending`, `finalize` | `tokens.Pending`, and its `restore` and `finalize` |
| `hash_secret`, `hash_secret_raw`, `verify_secret` | `sealstone.argon2.low_level` |
| `calibrate` | `sealstone.argon2` |

A `PasswordHasher` has `hash_async` and `verify_async` instead. The rest has no coroutine. Short
work needs none: a passport is made, a single token issued or redeemed, a record of the trust store
written in milliseconds. `to_bytes`, `embedded` and `with_timestamp` of a `Package` copy what is in
memory. For long reads of a `SealedFile`, and for much data that a hash object takes, use
`asyncio.to_thread`: it cannot be cancelled, so do them in pieces.

Arguments and results are those of the functions and methods of these names; `progress` is called on
the other thread. The package has threads of its own for them, four more than processors and 32 at
most; other work waits for a turn. A task that is cancelled while it waits ends at once. One that is
cancelled while it works stops its work, which takes about a tenth of a second, and nothing of a
target stays. Work that has ended by then, or is putting its target in place, is not undone: the
target is whole. `evidence` has no `progress`: it goes on, and the task ends after it.

Nothing stops the making of an RSA key, which has one more thread, beside those of the package. The
task of `generate_issuer` ends; that thread goes on until the key is made, and drops it. The process
makes as many such keys at a time as it has processors. Other calls wait until one is made, and can
be cancelled meanwhile.

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

import sealstone
from sealstone import Passport, SealedFile, argon2, packages, timestamps
from sealstone._tasks import coroutine, silent, submit
from sealstone.tokens import IssuerKey, Pending

__all__ = [
    "ask",
    "calibrate",
    "cosign",
    "countersign",
    "evidence",
    "export_package",
    "fetch",
    "finalize",
    "generate_issuer",
    "hash_secret",
    "hash_secret_raw",
    "issue_batch",
    "load_package",
    "lock",
    "open",
    "renewal",
    "report",
    "request",
    "restore_pending",
    "save",
    "save_package",
    "seal",
    "sealed_file",
    "sign",
    "unlock",
    "verify",
    "verify_secret",
    "verify_timestamps",
]


seal = coroutine(sealstone.seal)
open = coroutine(sealstone.open)
sealed_file = coroutine(SealedFile)
unlock = coroutine(Passport.unlock)
lock = coroutine(Passport.lock)
save = coroutine(Passport.save)
sign = coroutine(packages.sign)
report = coroutine(packages.Package.report)
verify = coroutine(packages.Package.verify)
cosign = coroutine(packages.Package.cosign)
countersign = coroutine(packages.Package.countersign)
request = coroutine(timestamps.request)
renewal = coroutine(timestamps.renewal)
verify_timestamps = coroutine(timestamps.verify)
calibrate = coroutine(argon2.calibrate)
hash_secret = coroutine(argon2.low_level.hash_secret)
hash_secret_raw = coroutine(argon2.low_level.hash_secret_raw)
verify_secret = coroutine(argon2.low_level.verify_secret)
load_package = coroutine(packages.Package.load)
save_package = coroutine(packages.Package.save)
evidence = silent(packages.Package.evidence)
export_package = coroutine(packages.Package.export)
generate_issuer = coroutine(IssuerKey.generate)
issue_batch = coroutine(IssuerKey.issue_batch)
ask = coroutine(Pending)
restore_pending = coroutine(Pending.restore)
finalize = coroutine(Pending.finalize)


async def fetch(url: str, query: bytes, *, timeout: float = 30.0) -> bytes:
    """`sealstone.timestamps.fetch` on another thread. A task that is cancelled ends at once. The
    thread is free again when the authority answers, or after `timeout` seconds in all."""
    return await asyncio.wrap_future(submit(timestamps.fetch, url, query, timeout=timeout))
