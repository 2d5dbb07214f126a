"""Sealing, opening, and reading sealed files at any position."""

from __future__ import annotations

import io
import operator
from collections import namedtuple

from sealstone import _native, _types
from sealstone._native import Passport, PublicPassport
from sealstone._passports import public, secret

# As `typing` has it: importing that would take longer than all else here.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NamedTuple, overload

    class _Opened(NamedTuple):
        content: bytes | None
        sender: PublicPassport | None
        """`None` if the file is not signed."""
        name: str | None
        modified: int | None
        """Seconds since 1970."""
        note: str | None
        length: int
        """Bytes of content."""

else:
    _FIELDS = {
        "content": "bytes | None",
        "sender": "PublicPassport | None",
        "name": "str | None",
        "modified": "int | None",
        "note": "str | None",
        "length": "int",
    }
    _Opened = namedtuple("_Opened", _FIELDS)
    _Opened.__annotations__ = _FIELDS


class Opened(_Opened):
    """A file that was opened: its content, unless that went to a target, and what came with it.

    `repr` shows the lengths of the content and the note only. With content, it cannot be pickled:
    hand `content` itself to another process, if that may have it. A pickle of the rest has the name
    and the note, which were sealed too.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        lengths = {
            "content": None if self.content is None else f"<{len(self.content)} bytes>",
            "note": None if self.note is None else f"<{len(self.note)} characters>",
        }
        shown = [f"{name}={lengths.get(name, repr(value))}" for name, value in zip(self._fields, self)]
        return f"Opened({', '.join(shown)})"

    def __copy__(self) -> Opened:
        return self

    def __deepcopy__(self, memo: object) -> Opened:
        return self

    def __reduce__(self) -> tuple[type[Opened], tuple[object, ...]]:
        if self.content is not None:
            raise TypeError("a pickle would hold the content of a sealed file: pickle its field content")
        return Opened, tuple(self)


if TYPE_CHECKING:

    @overload
    def seal(
        source: _types.Buffer | _types.Path | _types.Readable,
        target: None = None,
        *,
        to: PublicPassport | _types.Iterable[PublicPassport] = (),
        passphrase: str | _types.Buffer | None = None,
        sender: Passport | None = None,
        anonymous: bool = False,
        profile: _types.Profile = "sensitive",
        armor: bool = False,
        hide_length: bool = False,
        name: str | None = None,
        modified: int | None = None,
        note: str | None = None,
        progress: _types.Progress | None = None,
    ) -> bytes: ...
    @overload
    def seal(
        source: _types.Buffer | _types.Path | _types.Readable,
        target: _types.Path | _types.Writable,
        *,
        to: PublicPassport | _types.Iterable[PublicPassport] = (),
        passphrase: str | _types.Buffer | None = None,
        sender: Passport | None = None,
        anonymous: bool = False,
        profile: _types.Profile = "sensitive",
        armor: bool = False,
        hide_length: bool = False,
        name: str | None = None,
        modified: int | None = None,
        note: str | None = None,
        overwrite: bool = False,
        progress: _types.Progress | None = None,
    ) -> None: ...
    @overload
    def seal(
        source: _types.Buffer | _types.Path | _types.Readable,
        target: _types.Buffer,
        *,
        to: PublicPassport | _types.Iterable[PublicPassport] = (),
        passphrase: str | _types.Buffer | None = None,
        sender: Passport | None = None,
        anonymous: bool = False,
        profile: _types.Profile = "sensitive",
        armor: bool = False,
        hide_length: bool = False,
        name: str | None = None,
        modified: int | None = None,
        note: str | None = None,
        progress: _types.Progress | None = None,
    ) -> int: ...


def seal(
    source: _types.Buffer | _types.Path | _types.Readable,
    target: _types.Path | _types.Writable | _types.Buffer | None = None,
    *,
    to: PublicPassport | _types.Iterable[PublicPassport] = (),
    passphrase: str | _types.Buffer | None = None,
    sender: Passport | None = None,
    anonymous: bool = False,
    profile: _types.Profile = "sensitive",
    armor: bool = False,
    hide_length: bool = False,
    name: str | None = None,
    modified: int | None = None,
    note: str | None = None,
    overwrite: bool = False,
    progress: _types.Progress | None = None,
) -> bytes | int | None:
    """Seals `source` to public passports and a passphrase, signed by `sender`.

    `source` is bytes-like, a path or a file object. Without a target, the sealed file is returned;
    a path appears whole or not at all, and is not replaced without `overwrite`. A writable buffer
    has to be long enough, and separate from the source; the number of bytes is returned. After an
    exception, what was written to it is zeros; throw away what a file object got. No contiguous
    source is copied as a whole: do not change it before the call returns. File objects are called
    from other threads too. Ctrl-C ends the call, also while it waits for a pipe that a path names;
    while a file object waits, it does when that returns.

    `anonymous` hides the recipients, `hide_length` the length, `armor` makes text. `profile` is the
    cost of the passphrase, or (KiB, passes, lanes). `progress(done, total)` counts bytes, or KiB of
    a key derivation; it cancels by raising.

    >>> from sealstone import Passport, open, seal
    >>> alice, bob = Passport.generate("Alice"), Passport.generate("Bob")
    >>> sealed = seal(b"attack at dawn", to=bob.public, sender=alice, name="plan.txt")
    >>> opened = open(sealed, keys=bob, sender=alice.public)
    >>> opened.content, opened.name
    (b'attack at dawn', 'plan.txt')
    """
    choices = {
        "recipients": public("to", to),
        "anonymous": anonymous,
        "passphrase": passphrase,
        "profile": profile,
        "sender": sender,
        "armor": armor,
        "hide_length": hide_length,
        "name": name,
        "modified": modified,
        "note": note,
        "overwrite": overwrite,
    }
    return _native.seal(source, target, choices, progress)


def open(
    source: _types.Buffer | _types.Path | _types.Readable,
    target: _types.Path | _types.Buffer | None = None,
    *,
    keys: Passport | _types.Iterable[Passport] = (),
    passphrase: str | _types.Buffer | None = None,
    sender: _types.Accepted,
    overwrite: bool = False,
    progress: _types.Progress | None = None,
) -> Opened:
    """Opens a sealed file with passports and a passphrase, if its sender is accepted.

    `sender` is the passport that must have signed it, a trust store that must have approved the
    signer, `"any"` (look at `Opened.sender` then) or `"unsigned"`. Nothing is returned, and no
    target appears, before everything is verified. A target may be a writable buffer, long enough
    and separate from the source: do not read it before the call returns. After an exception, what
    was written is zeros.

    Raises `NotARecipient`, `WrongPassphrase`, `SenderNotApproved`, `Altered`, `Malformed`,
    `KdfLimit` of `sealstone.errors`.

    >>> from sealstone import open, seal
    >>> sealed = seal(b"text", passphrase="correct horse battery", profile="interactive")
    >>> open(sealed, passphrase="correct horse battery", sender="unsigned").content
    b'text'
    >>> open(sealed, passphrase="another", sender="unsigned")
    Traceback (most recent call last):
        ...
    sealstone.errors.WrongPassphrase: wrong passphrase
    """
    content, facts = _native.open(source, target, _ring(keys, passphrase), sender, overwrite, progress)
    return Opened(content, *facts)


def _ring(
    keys: Passport | _types.Iterable[Passport], passphrase: str | _types.Buffer | None
) -> tuple[list[Passport], str | _types.Buffer | None]:
    several = secret("keys", keys)
    if not several and passphrase is None:
        raise ValueError("nothing to open it with: give keys, a passphrase, or both")
    return several, passphrase


class SealedFile(io.RawIOBase):
    """The content of a sealed file, to be read at any position, as pandas, zipfile and pyarrow do.

    The source is bytes-like, a path, or a seekable file object. The constructor verifies the
    sender's signatures, which takes one pass over all of it. From then on, a part costs the chunks
    of 1 MiB that it touches, and only what was verified is read. Threads may share it: as those of
    a file, their reads get different bytes. A file object is called from other threads too.

    >>> import io, zipfile
    >>> from sealstone import Passport, SealedFile, seal
    >>> archive = io.BytesIO()
    >>> with zipfile.ZipFile(archive, "w") as files:
    ...     files.writestr("hello.txt", "hello")
    >>> bob = Passport.generate("Bob")
    >>> sealed = seal(archive.getvalue(), to=bob.public)
    >>> with SealedFile(sealed, keys=bob, sender="unsigned") as file:
    ...     zipfile.ZipFile(file).read("hello.txt")
    b'hello'
    """

    def __init__(
        self,
        source: _types.Buffer | _types.Path | _types.Readable,
        *,
        keys: Passport | _types.Iterable[Passport] = (),
        passphrase: str | _types.Buffer | None = None,
        sender: _types.Accepted,
        progress: _types.Progress | None = None,
    ) -> None:
        reader = _native.Reader(source, _ring(keys, passphrase), sender, progress)
        self._reader: _native.Reader | None = reader
        self._facts = Opened(None, *reader.facts())

    @property
    def facts(self) -> Opened:
        """The facts about the content: its sender, name, time, note and length."""
        return self._facts

    @property
    def mode(self) -> str:
        """`"rb"`, as that of a file opened for reading bytes."""
        return "rb"

    def readable(self) -> bool:
        """True; raises `ValueError` if the file is closed."""
        self._check()
        return True

    def writable(self) -> bool:
        """False; raises `ValueError` if the file is closed."""
        self._check()
        return False

    def seekable(self) -> bool:
        """True; raises `ValueError` if the file is closed."""
        self._check()
        return True

    def readinto(self, buffer: _types.Buffer, /) -> int:
        """Fills the buffer, or less at the end. Returns the number of bytes."""
        return self._check().readinto(buffer)

    def read(self, size: int | None = -1, /) -> bytes:
        """Up to `size` bytes, by default all that is left."""
        reader = self._check()
        size = -1 if size is None else operator.index(size)
        return reader.read(None if size < 0 else size)

    def readall(self) -> bytes:
        """All that is left."""
        return self.read()

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Goes to a position, which may lie behind the end."""
        return self._check().seek(offset, whence)

    def tell(self) -> int:
        """The position."""
        return self._check().tell()

    def write(self, data: _types.Buffer, /) -> int:
        """Raises `io.UnsupportedOperation`: the file is read-only."""
        memoryview(data).release()
        self._check()
        raise io.UnsupportedOperation("not writable")

    def close(self) -> None:
        """Closes the file, and gives up the source."""
        try:
            super().close()
        finally:
            self._reader = None

    def _check(self) -> _native.Reader:
        reader = self._reader
        if self.closed or reader is None:
            raise ValueError("I/O operation on closed file")
        return reader
