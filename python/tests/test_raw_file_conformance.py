"""CPython's own tests of raw files, from the running Python, on `SealedFile`.

They are AutoFileTests and OtherFileTests of Lib/test/test_fileio.py, and IOTest, MiscIOTest and
BufferedReaderTest of Lib/test/test_io.py. Most run as they are: what a test has written into a
file is sealed when it opens the file for reading. CHANGED has those that need another file or
another step, and LEFT_OUT those that do not apply to a read-only file without a descriptor, each
with its reason. On Debian, the package libpython3-testsuite has CPython's tests.

The bodies in this file are derived from those of CPython 3.11.7, Copyright (c) 2001-2023 Python
Software Foundation; All Rights Reserved, under the PSF License Agreement, version 2
(https://docs.python.org/3/license.html). A comment beside each names the changes.
"""

import array
import errno
import gc
import io
import os
import unittest
import warnings
import weakref
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from sealstone import Passport, SealedFile, seal

test_fileio: Any = import_module("test.test_fileio")
test_io: Any = import_module("test.test_io")
BOB = Passport.generate("Bob")
# How many sealed files were made: a test that makes none shows nothing.
MADE: list[object] = []


class Sealed(SealedFile):
    """A sealed file with this content."""

    def __init__(self, content: bytes = b"") -> None:
        MADE.append(self.__class__)
        super().__init__(seal(content, to=BOB.public), keys=BOB, sender="unsigned")


class Written(Sealed):
    """As `io.FileIO`, by name. A file that is open for writing is sealed anew by each `write`."""

    def __init__(self, name: str, mode: str = "r") -> None:
        self._path, self._writes = Path(name), mode.startswith("w")
        if self._writes:
            self._path.write_bytes(b"")
        super().__init__(self._path.read_bytes())

    def write(self, data: Any) -> int:
        if self.closed or not self._writes or not isinstance(data, bytes):
            return super().write(data)
        content = self._path.read_bytes() + data
        self._path.write_bytes(content)
        Sealed.__init__(self, content)
        self.seek(0, io.SEEK_END)
        return len(data)


class Pieces(Sealed):
    """A file of which each call gives at most one piece, and that counts calls. A `None` at the
    end of the pieces, where other files have no bytes yet, is the end."""

    def __init__(self, pieces: Iterable[bytes | None] = ()) -> None:
        content = [piece or b"" for piece in pieces]
        self._ends = [len(b"".join(content[: n + 1])) for n in range(len(content))]
        self._reads = self._extraneous_reads = 0
        super().__init__(b"".join(content))

    def readinto(self, buffer: Any) -> int:
        self._reads += 1
        position = self.tell()
        end = min((it for it in self._ends if it > position), default=position)
        self._extraneous_reads += end == position
        return super().readinto(memoryview(buffer).cast("B")[: end - position])

    def read(self, size: int | None = -1) -> Any:
        return io.RawIOBase.read(self, -1 if size is None else size)

    readall = io.RawIOBase.readall


class Recorded(Sealed):
    """A file that records how many bytes each call gave."""

    def __init__(self, content: bytes) -> None:
        self.read_history: list[int] = []
        super().__init__(content)

    def readinto(self, buffer: Any) -> int:
        self.read_history.append(super().readinto(buffer))
        return self.read_history[-1]


def opened(name: Any, mode: str = "r", buffering: int = -1, **options: Any) -> Any:
    """As `io.open`, but what is read is sealed."""
    if mode not in ("r", "rb"):
        return io.open(name, mode, buffering, **options)
    with io.open(name, "rb") as file:
        raw = Sealed(file.read())
    binary: Any = raw if buffering == 0 else io.BufferedReader(raw)
    return binary if "b" in mode else io.TextIOWrapper(binary, **options)


# The names that CPython's classes expect.
NAMES: dict[str, Any] = {name: getattr(io, name) for name in io.__all__ if name != "open"} | {
    "open": staticmethod(opened),
    "MockRawIO": Pieces,
    "MockRawIOWithoutRead": Pieces,
    "MockFileIO": Recorded,
}


class Auto(test_fileio.AutoFileTests, unittest.TestCase):  # type: ignore[misc]
    __test__ = False  # pytest would collect those that are left out too.
    FileIO = Written
    # CPython's names keep them from being run.
    testReadintoMemoryview = test_fileio.AutoFileTests._testReadintoMemoryview
    testReadintoArray = test_fileio.AutoFileTests._testReadintoArray

    def testAttributes(self) -> None:
        # The mode is "rb" here.
        self.assertEqual(self.f.mode, "rb")
        self.assertEqual(self.f.closed, False)
        for attr in "mode", "closed":
            self.assertRaises((AttributeError, TypeError), setattr, self.f, attr, "oops")

    def testErrors(self) -> None:
        # A sealed file can be read, and not written.
        with Sealed() as file:
            self.assertFalse(file.isatty())
            self.assertFalse(file.closed)
            self.assertRaises(ValueError, file.write, b"")
            self.assertRaises(TypeError, file.readinto, "")
            self.assertFalse(file.closed)
            file.close()
            self.assertTrue(file.closed)

    def without_descriptor(self) -> SealedFile:
        """A sealed file whose source was closed by somebody else, and was not yet read."""
        self.f.close()
        self.f.__init__(self.f._path, "w")
        source = io.FileIO(self.f._path, "r+")
        source.write(seal(b"x" * 10, to=BOB.public))
        source.seek(0)
        MADE.append(SealedFile)
        file = SealedFile(source, keys=BOB, sender="unsigned")
        os.close(source.fileno())
        self.addCleanup(self.assertRaises, OSError, source.close)
        return file

    def check_descriptor_error(self, call: Callable[[SealedFile], object]) -> None:
        with self.assertRaises(OSError) as cm:
            call(self.without_descriptor())
        self.assertEqual(cm.exception.errno, errno.EBADF)

    # The descriptor is the source's.
    def testErrnoOnClosedRead(self) -> None:
        self.check_descriptor_error(lambda f: f.read(1))

    def testErrnoOnClosedReadall(self) -> None:
        self.check_descriptor_error(lambda f: f.readall())

    def testErrnoOnClosedReadinto(self) -> None:
        self.check_descriptor_error(lambda f: f.readinto(array.array("b", b"x" * 10)))

    def testErrnoOnClosedSeekable(self) -> None:
        self.assertEqual(self.without_descriptor().seekable(), True)

    def testErrnoOnClosedReadable(self) -> None:
        self.assertEqual(self.without_descriptor().readable(), True)

    def testErrnoOnClosedWritable(self) -> None:
        self.assertEqual(self.without_descriptor().writable(), False)

    def testErrnoOnClosedIsatty(self) -> None:
        self.assertEqual(self.without_descriptor().isatty(), False)


class Other(test_fileio.OtherFileTests, unittest.TestCase):  # type: ignore[misc]
    __test__ = False  # pytest would collect those that are left out too.
    FileIO = Written

    def testAbles(self) -> None:
        # Only the part about "r".
        with Sealed() as file:
            self.assertEqual(file.readable(), True)
            self.assertEqual(file.writable(), False)
            self.assertEqual(file.seekable(), True)
            self.assertEqual(file.isatty(), False)

    def testConstructorHandlesNULChars(self) -> None:
        # A path is text; bytes would be the sealed content.
        self.assertRaises(ValueError, self.native, "foo\0bar")

    def testInvalidInit(self) -> None:
        # Other arguments.
        self.assertRaises(TypeError, SealedFile, "1", 0, 0)
        self.assertRaises(TypeError, SealedFile, "1", keys=BOB)
        self.assertRaises(TypeError, self.native, 1.5)

    def testWarnings(self) -> None:
        # Other arguments.
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.assertRaises(TypeError, self.native, [])
            self.assertRaises(FileNotFoundError, self.native, "/some/invalid/name")
        self.assertEqual(caught, [])

    def testTruncate(self) -> None:
        # A sealed file is not truncated.
        with Sealed(bytes(range(10))) as file:
            self.assertRaises(io.UnsupportedOperation, file.truncate, 5)
            self.assertEqual(file.tell(), 0)
            self.assertEqual(file.seek(0, io.SEEK_END), 10)

    def testUnclosedFDOnException(self) -> None:
        # The source is a file object.
        class MyException(Exception):
            pass

        class MyFile(SealedFile):
            def __setattr__(self, name: str, value: object) -> None:
                if name == "_facts":
                    raise MyException("blocked setting name")
                super().__setattr__(name, value)

        with io.BytesIO(seal(b"", to=BOB.public)) as source:
            MADE.append(MyFile)
            self.assertRaises(MyException, MyFile, source, keys=BOB, sender="unsigned")
            self.assertFalse(source.closed)

    def testOpendir(self) -> None:
        # From OtherFileTests' point of view, it belongs here: it needs no file.
        with self.assertRaises(OSError) as cm:
            self.native(".")
        self.assertEqual(cm.exception.errno, errno.EISDIR)
        self.assertEqual(cm.exception.filename, ".")

    @staticmethod
    def native(source: Any) -> SealedFile:
        MADE.append(SealedFile)
        return SealedFile(source, keys=BOB, sender="unsigned")


class Raw(test_io.IOTest):  # type: ignore[misc]
    __test__ = False  # pytest would collect those that are left out too.
    def test_optional_abilities(self) -> None:
        # The table has a sealed file, and layers above it.
        for make in (
            Sealed,
            lambda: io.BufferedReader(Sealed()),
            lambda: io.TextIOWrapper(io.BufferedReader(Sealed()), "ascii"),
        ):
            with self.subTest(make), make() as file:
                self.assertEqual(file.readable(), True)
                self.assertEqual(file.writable(), False)
                self.assertRaises(OSError, file.fileno)
                file.read(1)
                file.read()
                self.assertRaises(OSError, file.write, "3" if isinstance(file, io.TextIOBase) else b"3")
                self.assertEqual(file.seekable(), True)
                file.tell()
                file.seek(0)
                self.assertRaises(OSError, file.truncate)
                self.assertRaises(OSError, file.truncate, 0)

    def test_large_file_ops(self) -> None:
        # A position may be large; nothing is written there.
        with Sealed(b"x") as file:
            self.assertEqual(file.seek(self.LARGE), self.LARGE)
            self.assertEqual(file.tell(), self.LARGE)
            self.assertEqual(file.read(2), b"")
            self.assertEqual(file.readinto(bytearray(2)), 0)
            self.assertEqual(file.seek(-1, 1), self.LARGE - 1)
            self.assertEqual(file.seek(-1, 2), 0)
            self.assertEqual(file.read(2), b"x")

    def test_read_closed(self) -> None:
        # Without a second file on the same descriptor.
        with self.open(self.written(b"egg\n"), "r", encoding="utf-8") as file:
            self.assertEqual(file.read(), "egg\n")
            file.seek(0)
            file.close()
            self.assertRaises(ValueError, file.read)
        with self.open(self.written(b"egg\n"), "rb") as file:
            self.assertEqual(file.read()[:3], b"egg")
            file.close()
            self.assertRaises(ValueError, file.readinto, bytearray(1))

    def test_destructor(self) -> None:
        # Nothing is written.
        record = []

        class MyFile(Sealed):
            def __del__(self) -> None:
                record.append(1)
                super().__del__()

            def close(self) -> None:
                record.append(2)
                super().close()

            def flush(self) -> None:
                record.append(3)
                super().flush()

        file = MyFile(b"xxx")
        del file
        gc.collect()
        self.assertEqual(record, [1, 2, 3])

    def test_garbage_collection(self) -> None:
        # Nothing is written.
        file: Any = Sealed(b"abcxxx")
        file.f = file
        wr = weakref.ref(file)
        del file
        gc.collect()
        self.assertIsNone(wr())

    def test_flush_error_on_close(self) -> None:
        # The file is a sealed one, which gives up its source all the same.
        for make in (Sealed, lambda: io.BufferedReader(Sealed())):
            file: Any = make()
            closed: list[bool] = []

            def bad_flush(file: Any = file, closed: list[bool] = closed) -> None:
                closed[:] = [file.closed]
                raise OSError

            file.flush = bad_flush
            self.assertRaises(OSError, file.close)
            self.assertTrue(file.closed)
            self.assertEqual(closed, [False])
            self.assertIsNone(getattr(file, "raw", file)._reader)
            file.flush = lambda: None

    def test_with_open(self) -> None:
        # The file is a sealed one.
        for make in (Sealed, lambda: io.BufferedReader(Sealed())):
            with make() as file:
                file.read()
            self.assertEqual(file.closed, True)
            with self.assertRaises(ZeroDivisionError), make() as file:
                _ = 1 / 0
            self.assertEqual(file.closed, True)

    def test_multi_close(self) -> None:
        # The file is a sealed one.
        file = Sealed()
        file.close()
        file.close()
        file.close()
        self.assertRaises(ValueError, file.flush)

    def written(self, content: bytes) -> str:
        name: str = test_io.os_helper.TESTFN
        Path(name).write_bytes(content)
        return name


class Misc(test_io.MiscIOTest):  # type: ignore[misc]
    __test__ = False  # pytest would collect those that are left out too.
    io = io

    def test_abc_inheritance(self) -> None:
        # The file is a sealed one.
        with Sealed() as file:
            self.assertIsInstance(file, io.IOBase)
            self.assertIsInstance(file, io.RawIOBase)
            self.assertNotIsInstance(file, io.BufferedIOBase)
            self.assertNotIsInstance(file, io.TextIOBase)


class Buffered(test_io.BufferedReaderTest):  # type: ignore[misc]
    __test__ = False  # pytest would collect those that are left out too.
    tp = io.BufferedReader

    def test_read_on_closed(self) -> None:
        # The file is a sealed one.
        buffered = io.BufferedReader(Sealed(b"12"))
        buffered.read(1)
        buffered.close()
        self.assertRaises(ValueError, buffered.peek)
        self.assertRaises(ValueError, buffered.read1, 1)


LEFT_OUT: dict[type, dict[str, str]] = {
    Auto: {
        "A sealed file has no descriptor": "testBlksize testErrnoOnClose testErrnoOnClosedFileno testOpenDirFD testReprNoCloseFD",
        "its position is a number in memory": "testErrnoOnClosedSeek testErrnoOnClosedTell",
        "it is not written": "testErrnoOnClosedWrite testErrnoOnClosedTruncate",
        "it has no name in the file system, and its repr shows none": "testRepr testRecursiveRepr",
        "see Other": "testOpendir",
    },
    Other: {
        "A sealed file has no mode to choose": "testInvalidModeStrings testModeStrings testBadModeArgument",
        "it has no descriptor": "testInvalidFd testBooleanFd",
        "bytes are content, not a path": "testBytesOpen testUtf8BytesOpen",
        "it is not written": "testTruncateOnWindows testAppend",
    },
    Raw: {
        "io's own base classes": "test_IOBase_destructor test_RawIOBase_destructor test_BufferedIOBase_destructor test_TextIOBase_destructor "
        "test_buffered_readinto_mixin test_BufferedIOBase_readinto test_close_assert test_next_nonsizeable test_readline_nonsizeable "
        "test_types_have_dict test_RawIOBase_read test_RawIOBase_read_bounds_checking test_startup_optimization",
        "files in memory of io": "test_raw_bytes_io test_array_writes",
        "options of io.open": "test_open_handles_NUL_chars test_closefd test_no_closefd_with_filename test_closefd_attr test_opener "
        "test_bad_opener_negative_1 test_bad_opener_other_negative test_opener_invalid_fd test_fileio_closefd test_nonbuffered_textio "
        "test_invalid_newline",
        "a sealed file has a length": "test_unbounded_file",
        "it is not written": "test_append_mode_tell test_write_readline_races",
    },
    Misc: {
        "io's own names, classes and texts": "test___all__ test_abcs test_blockingioerror test_openwrapper test_text_encoding "
        "test_check_encoding_errors test_check_encoding_warning",
        "no descriptor is left open": "test_warn_on_dealloc test_warn_on_dealloc_fd",
        "a sealed file is not written": "test_create_fail test_create_writes test_open_allargs",
        "it is no pipe": "test_nonblock_pipe_write_bigbuf test_nonblock_pipe_write_smallbuf test_open_pipe_with_append",
        "modes of io.open": "test_removed_u_mode test_attributes",
        "the same classes again": "test_abc_inheritance_official",
    },
    Buffered: {
        "A sealed file never asks to come again": "test_read_non_blocking",
        "it has no descriptor": "test_fileno",
        "a file in memory of io": "test_pickling_subclass",
        "a raw file that is wrong": "test_misbehaved_io test_error_through_destructor",
        "it is seekable, and no device": "test_unseekable test_seek_character_device_file test_tell_character_device_file",
    },
}


# Those that some versions of Python do not have.
NOT_IN_ALL = set(
    (
        "testBooleanFd test_removed_u_mode test_openwrapper test_text_encoding test_seek_character_device_file "
        "test_tell_character_device_file test_RawIOBase_read_bounds_checking test_startup_optimization "
        "test_write_readline_races test_pickling_subclass"
    ).split()
)


def found(kind: type) -> list[str]:
    return list(unittest.defaultTestLoader.getTestCaseNames(kind))


def left_out(kind: type) -> set[str]:
    return {name for words in LEFT_OUT[kind].values() for name in words.split()}


def cases(kind: type) -> list[str]:
    return [name for name in found(kind) if name not in left_out(kind)]


def changed(kind: type) -> set[str]:
    return {name for name, value in vars(kind).items() if name in cases(kind) and value.__module__ == __name__}


ALL = [(kind, name) for kind in LEFT_OUT for name in cases(kind)]
for _kind in (Raw, Misc, Buffered):
    for _name, _value in NAMES.items():
        setattr(_kind, _name, _value)


def run(kind: Any, name: str) -> unittest.TestResult:
    result = unittest.TestResult()
    kind(name).run(result)
    return result


@pytest.mark.parametrize(("kind", "name"), ALL)
def test_as_cpython_tests_it(kind: Any, name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    MADE.clear()
    result: Any = run(kind, name)
    assert not result.errors + result.failures, (result.errors + result.failures)[0][1]
    assert (result.testsRun, result.skipped) == (1, [])
    assert MADE, "no sealed file was made"


def test_how_many_there_are(record_property: Callable[[str, object], None]) -> None:
    """Python 3.13 has one more, about the name of a subclass, and 3.14 has another one."""
    record_property("tests of CPython", f"{len(ALL)} of {sum(len(found(kind)) for kind in LEFT_OUT)}")
    assert len(ALL) in (74, 75, 76)
    assert sum(len(changed(kind)) for kind in LEFT_OUT) == 26
    assert {name for kind in LEFT_OUT for name in left_out(kind) - set(found(kind))} <= NOT_IN_ALL


def test_a_wrong_file_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SealedFile, "tell", lambda self: 0)
    assert len(run(Auto, "testSeekTell").failures) == 1
    monkeypatch.setattr(SealedFile, "seekable", lambda self: False)
    assert len(run(Raw, "test_raw_file_io").failures) == 1
