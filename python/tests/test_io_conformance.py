"""CPython's own tests of files in memory, from the running Python, on `SealedFile`.

They are for `io.BytesIO`, so those that write, or ask for all bytes with `getvalue`, are left out.
On Debian, the package libpython3-testsuite has them.
"""

import io
import unittest
from collections.abc import Callable
from test import test_io, test_memoryio  # type: ignore[import-not-found]
from typing import Any

import pytest

from sealstone import Passport, SealedFile, seal

BOB = Passport.generate("Bob")
READ_OPS: Any = test_io.IOTest.read_ops
LEFT_OUT = {
    "writes": "test_write test_writelines test_writelines_error test_truncate test_overseek test_flags",
    "getvalue": "test_init test_getvalue test_subclassing",
    "a raw file has no detach": "test_detach",
    "no secret is pickled": "test_pickling",
}


def sealed(content: bytes = b"") -> SealedFile:
    return SealedFile(seal(content, to=BOB.public), keys=BOB, sender="unsigned")


class Conformance(test_memoryio.MemoryTestMixin, test_memoryio.MemorySeekTestMixin, unittest.TestCase):  # type: ignore[misc]
    __test__ = False  # pytest would collect those that are left out too.
    EOF = b""
    ioclass = staticmethod(sealed)
    UnsupportedOperation = io.UnsupportedOperation

    @staticmethod
    def buftype(text: str) -> bytes:
        return text.encode("ascii")

    test_readinto = test_memoryio.PyBytesIOTest.test_readinto

    def test_read_ops(self) -> None:
        READ_OPS(self, sealed(b"hello world\n"))

    def test_read_ops_buffered(self) -> None:
        READ_OPS(self, io.BufferedReader(sealed(b"hello world\n")), True)


def names() -> list[str]:
    left_out = {name for words in LEFT_OUT.values() for name in words.split()}
    found = unittest.defaultTestLoader.getTestCaseNames(Conformance)
    assert left_out <= set(found)
    return [name for name in found if name not in left_out]


def test_how_many_there_are(record_property: Callable[[str, object], None]) -> None:
    found = unittest.defaultTestLoader.getTestCaseNames(Conformance)
    record_property("tests of CPython", f"{len(names())} of {len(found)}")
    assert len(names()) == 16


@pytest.mark.parametrize("name", names())
def test_as_cpython_tests_it(name: str) -> None:
    result: Any = unittest.TestResult()
    Conformance(name).run(result)
    assert (result.testsRun, result.skipped) == (1, [])
    assert not result.errors + result.failures, (result.errors + result.failures)[0][1]


def test_a_wrong_file_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SealedFile, "tell", lambda self: 0)
    result = unittest.TestResult()
    Conformance("test_tell").run(result)
    assert len(result.failures) == 1

