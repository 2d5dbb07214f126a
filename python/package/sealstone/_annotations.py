"""The names that `_types` exports."""

import os
from collections.abc import Callable
from collections.abc import Iterable as Iterable
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from sealstone._native import PublicPassport, TrustStore

if TYPE_CHECKING:
    from typing_extensions import Buffer as Buffer
else:
    try:
        from collections.abc import Buffer
    except ImportError:  # Python before 3.12 has no type for all bytes-like objects.
        Buffer = bytes | bytearray | memoryview

Progress: TypeAlias = Callable[[int, int], object]
Path: TypeAlias = str | os.PathLike[str]
Profile: TypeAlias = Literal["sensitive", "moderate", "interactive"] | tuple[int, int, int]
Accepted: TypeAlias = PublicPassport | TrustStore | Literal["any", "unsigned"]


class Readable(Protocol):
    """A file object that is read in binary."""

    def read(self, size: int, /) -> Buffer:
        """Up to `size` bytes; none at the end."""
        ...


class Writable(Protocol):
    """A file object that is written in binary."""

    def write(self, data: bytes, /) -> object:
        """Writes the data, or as much of it as the returned number says."""
        ...
