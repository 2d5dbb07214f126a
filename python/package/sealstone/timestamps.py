"""Timestamps of third parties (RFC 3161): evidence of when data existed.

| to | use |
|---|---|
| ask for a timestamp | `request`, then `fetch`, or any other way to the authority |
| check an answer before it is stored | `check_answer` |
| prove later when data existed | `verify`, `Roots`, `Timestamp` |
| keep that proof when certificates end | `renewal` |
| stamp a package | `Package.to_stamp` and `Package.with_timestamp` of `sealstone.packages` |

Only `fetch` uses the network. Keep the whole response: it is the evidence.

>>> from sealstone import timestamps
>>> query = timestamps.request(b"data")
>>> refused = bytes([0x30, 5, 0x30, 3, 2, 1, 2])  # an authority's answer: "rejected"
>>> timestamps.check_answer(refused, query)
Traceback (most recent call last):
    ...
sealstone.errors.TimestampRefused: the authority did not grant the request (status 2)
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from time import monotonic
from typing import Any, Literal, NamedTuple, TypeAlias

from sealstone import _native
from sealstone._native import Roots
from sealstone._types import Buffer, Path, Progress, Readable

__all__ = [
    "Certificate",
    "Roots",
    "Timestamp",
    "check_answer",
    "fetch",
    "renewal",
    "request",
    "verify",
]

Hash: TypeAlias = Literal["sha256", "sha384", "sha512"]

_LONGEST = 1 << 20
_QUERY = "application/timestamp-query"


class Certificate(NamedTuple):
    """A certificate between the authority and a root."""

    subject: str
    issuer: str
    der: bytes


@dataclass(frozen=True, slots=True)
class Timestamp:
    """A timestamp that was verified."""

    time_ns: int
    """When the data existed: nanoseconds since 1970."""
    accuracy_ns: int | None
    """How far off the authority's clock may be in nanoseconds, if it says so."""
    authority: str
    """The subject of the certificate that signed."""
    policy: str
    """An object identifier."""
    serial: bytes
    hash: str
    expires: int
    """When its first certificate ends, in seconds since 1970: renew it before."""
    path: tuple[Certificate, ...]
    """From the authority's certificate to a root."""

    @property
    def time(self) -> datetime:
        """When the data existed, in UTC, down to a microsecond."""
        return datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(microseconds=self.time_ns // 1000)

    def to_dict(self) -> dict[str, Any]:
        """For JSON; bytes are hexadecimal, certificates are named."""
        return {
            "time": self.time.isoformat(),
            "time_ns": self.time_ns,
            "accuracy_ns": self.accuracy_ns,
            "authority": self.authority,
            "policy": self.policy,
            "serial": self.serial.hex(),
            "hash": self.hash,
            "expires": self.expires,
            "path": [it.subject for it in self.path],
        }


def timestamp_of(row: tuple[Any, ...]) -> Timestamp:
    """From the extension module's row."""
    time, accuracy, authority, policy, serial, hash, expires, path = row
    certificates = tuple(Certificate(*it) for it in path)
    return Timestamp(time, accuracy, authority, policy, serial, hash, expires, certificates)


def request(
    data: "Buffer | Path | Readable",
    *,
    hash: Hash = "sha256",
    policy: str | None = None,
    progress: Progress | None = None,
) -> bytes:
    """The request for a timestamp over data, in DER, with a fresh nonce.

    `data` is bytes-like, a path or a file object; the authority sees its hash only. `policy` is an
    object identifier that the authority has to follow. `progress(done, total)` counts bytes of the
    data; it cancels by raising.

    Raises `ValueError` for another hash or a malformed policy, `OSError` if the data cannot be
    read.
    """
    return _native.timestamp_request(data, hash, policy, progress)


def renewal(
    data: "Buffer | Path | Readable",
    responses: "Buffer | Iterable[Buffer]",
    *,
    hash: Hash = "sha256",
    progress: Progress | None = None,
) -> bytes:
    """The request for a renewal: it covers the data and all responses so far.

    Append the answer to the responses. `progress` is that of `request`. Raises `TimestampRefused`
    if a response is malformed.
    """
    return _native.timestamp_renewal(data, _list(responses), hash, progress)


def fetch(url: str, query: bytes, *, timeout: float = 30.0) -> bytes:
    """Sends a request to an authority over HTTP, checks the answer, and returns it.

    All of that ends after `timeout` seconds, however slowly the authority answers: another thread
    waits for the network. Raises `TimestampRefused` if the answer is not one to this request,
    `TimeoutError` if it takes longer, another `OSError` if the authority cannot be reached,
    `ValueError` if the URL is not of HTTP.
    """
    from queue import Empty, SimpleQueue
    from threading import Thread

    if not url.startswith(("http://", "https://")):
        raise ValueError("an authority has a URL of http:// or https://")
    end, answers = monotonic() + timeout, SimpleQueue[bytes | BaseException]()
    late = f"{url} does not answer within {timeout:g} seconds"

    def ask() -> None:
        try:
            answers.put(_ask(url, query, timeout, end, late))
        except BaseException as error:
            answers.put(error)

    Thread(target=ask, name="sealstone.timestamps.fetch", daemon=True).start()
    try:
        answer = answers.get(timeout=timeout)
    except Empty:
        raise TimeoutError(late) from None
    if isinstance(answer, BaseException):
        raise answer
    check_answer(answer, query)
    return answer


def _ask(url: str, query: bytes, timeout: float, end: float, late: str) -> bytes:
    """The answer to a request. After `end`, no more of it is read."""
    from urllib.request import Request, urlopen

    sent = Request(url, data=query, headers={"Content-Type": _QUERY})
    pieces: list[bytes] = []
    length = 0
    with urlopen(sent, timeout=timeout) as answer:
        # A piece is what there is: nobody waits for it to be full.
        while length <= _LONGEST and (piece := answer.read1(_LONGEST + 1 - length)):
            if monotonic() >= end:
                raise TimeoutError(late)
            pieces.append(piece)
            length += len(piece)
    return b"".join(pieces)


def check_answer(response: "Buffer", query: "Buffer") -> None:
    """Checks that a response answers a request; all but whether its authority is trusted.

    Raises `TimestampRefused`, whose field `name` is the failed check's in the specification.
    """
    _native.timestamp_answer(response, query)


def verify(
    data: "Buffer | Path | Readable",
    responses: "Buffer | Iterable[Buffer]",
    roots: Roots,
    *,
    query: "Buffer | None" = None,
    policy: str | None = None,
    now: int | None = None,
    progress: Progress | None = None,
) -> tuple[Timestamp, ...]:
    """Verifies a response over data, or a response and its renewals.

    The time of the first timestamp is the proved one. `roots` certify authorities, as
    `Roots.load("roots.pem")` reads them. `query` is the request, whose nonce must come back.
    `now` is the time in seconds since 1970, by default the clock's. `progress` is that of
    `request`.

    Raises `TimestampRefused`: `name` is the failed check's, `at` the place of the response.
    """
    return tuple(
        timestamp_of(row)
        for row in _native.timestamp_verify(data, _list(responses), roots, now, policy, query, progress)
    )


def _list(responses: "Buffer | Iterable[Buffer]") -> "list[Buffer]":
    try:
        memoryview(responses)  # type: ignore[arg-type]
    except TypeError:
        return list(responses)  # type: ignore[arg-type]
    return [responses]  # type: ignore[list-item]
