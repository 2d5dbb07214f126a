"""CPython's own tests of hashlib, from the running Python, on the hash objects.

They are those of HashLibTestCase of Lib/test/test_hashlib.py. In the place of the module hashlib,
they see one whose constructors are of one class of `sealstone.hashes`. CHANGED has those that need
other numbers, and LEFT_OUT those that do not apply, each with its reason. On Debian, the package
libpython3-testsuite has CPython's tests.

The bodies of CHANGED are derived from those of CPython 3.11.7, Copyright (c) 2001-2023 Python
Software Foundation; All Rights Reserved, under the PSF License Agreement, version 2
(https://docs.python.org/3/license.html). A comment beside each names the changes.
"""

import hashlib
import sys
import unittest
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from sealstone.hashes import Blake2b, Skein256, Skein512, Skein1024, SkeinTree

test_hashlib: Any = import_module("test.test_hashlib")
OBJECTS: list[Any] = [Skein256, Skein512, Skein1024, Blake2b, SkeinTree]
SIZES = {"skein-256": (32, 32), "skein-512": (64, 64), "skein-1024": (128, 128), "blake2b": (128, 64), "skein-512-tree": (64, 64)}


class StandIn:
    """As hashlib, with one class for all its algorithms."""

    def __init__(self, make: Any) -> None:
        self.make, self.name = make, make().name

    def new(self, name: object, data: bytes = b"", **options: Any) -> Any:
        """As `hashlib.new`."""
        if not isinstance(name, str):
            raise TypeError("name must be a string")
        if name != self.name and name not in hashlib.algorithms_available:
            raise ValueError(f"unsupported hash type {name}")
        return self.make(data, **options)

    def __getattr__(self, name: str) -> Any:
        return self.make if name in hashlib.algorithms_guaranteed else getattr(hashlib, name)


class Conformance(test_hashlib.HashLibTestCase):  # type: ignore[misc]
    """With the constructors of one class. Each has the two ways to a hash that CPython's have."""

    __test__ = False  # pytest would collect those that are left out too.
    make: Any
    _hashlib = None

    def __init__(self, name: str) -> None:
        super().__init__(name)
        stand_in = StandIn(self.make)

        def via_new(data: bytes = b"", **options: Any) -> Any:
            return stand_in.new(stand_in.name, data, **options)

        self.constructors_to_test = {stand_in.name: {self.make, via_new}}
        self.supported_hash_names, self._hashlib = (stand_in.name,), None

    def test_no_unicode(self) -> None:
        """Of our name."""
        for name in self.constructors_to_test:
            self.check_no_unicode(name)

    def test_blocksize_name(self) -> None:
        """Of our name, with our sizes. `repr` has the name of the class, not that of the hash."""
        for name, makes in self.constructors_to_test.items():
            block, digest = SIZES[name]
            for make in makes:
                m = make(usedforsecurity=False)
                self.assertEqual((m.block_size, m.digest_size), (block, digest))
                self.assertEqual(len(m.digest()), digest)
                self.assertEqual(len(m.hexdigest()), 2 * digest)
                self.assertEqual(m.name, name)
                self.assertIn(self.make.__name__, repr(m))

    def test_blake2b(self) -> None:
        """Without `check_blake2`, which is about salt, person and tree."""
        sizes = [20, 32, 48, 64], [0, 3, 128, 129, 255, 1024]
        expected = "c23a7800d98123bd10f506c61e29da5603d763b8bbad2e737f5e765a7bccd475"
        self.assertEqual(self.blake2_rfc7693(self.make, *sizes), expected)

    def test_gil(self) -> None:
        """Compares the parts with the whole, for which CPython's has the values of SHA-256."""
        for make in self.hash_constructors:
            m = make(usedforsecurity=False)
            m.update(b"1")
            m.update(b"#" * 2048)
            m.update(b"1")
            self.assertEqual(m.hexdigest(), make(b"1" + b"#" * 2048 + b"1").hexdigest())
            m = make(b"x" * 2048, usedforsecurity=False)
            m.update(b"1")
            self.assertEqual(m.hexdigest(), make(b"x" * 2048 + b"1").hexdigest())

    def test_digest_length_overflow(self) -> None:
        """The length is given to the constructor; so it is that which refuses."""
        for length in (-10, 0, 2**29, 2**32 - 10, 2**32 + 10, 2**61, 2**64 - 10, 2**64 + 10):
            with self.assertRaises((ValueError, OverflowError)):
                self.make(digest_size=length)


CHANGED = {name for name in vars(Conformance) if name.startswith("test_")}
OF_BLAKE2B = {"test_blake2b", "test_case_blake2b_0", "test_case_blake2b_1"}
LEFT_OUT = {
    "about other algorithms": (
        "test_algorithms_available test_algorithms_guaranteed test_blake2s test_blake2s_vectors "
        "test_blocksize_name_blake2 test_blocksize_name_sha3 test_case_blake2s_0 test_case_blake2s_1 "
        "test_case_blake2s_all_parameters test_extra_sha3 test_get_builtin_constructor test_get_fips_mode "
        "test_new_upper_to_lower test_no_unicode_blake2 test_no_unicode_sha3 test_blake2_update_over_4gb "
        "test_sha256_update_over_4gb test_sha3_256_update_over_4gb test_sha3_update_overflow"
    ),
    "Python 3.14's names for two of CHANGED": "test_blocksize_and_name test_sha256_gil",
    "hashlib's old parameter `string`": "test_clinic_signature test_clinic_signature_errors",
    "Blake2b has no salt, no person and no tree": "test_case_blake2b_all_parameters",
    "fetches its vectors": "test_blake2b_vectors",
    "our classes are made by calling them": "test_disallow_instantiation test_hash_disallow_instantiation",
    "PyO3 makes classes that can be given attributes": "test_readonly_types",
}
FIXED = ("test_case_md5", "test_case_sha", "test_case_shake")


def cases() -> Iterator[tuple[Any, str]]:
    """Each test with each class to which it applies."""
    left_out = {name for words in LEFT_OUT.values() for name in words.split()}
    for name in unittest.defaultTestLoader.getTestCaseNames(Conformance):
        if name in left_out or name.startswith(FIXED):
            continue
        for make in OBJECTS:
            fixed_size = make is SkeinTree and name == "test_digest_length_overflow"
            if not fixed_size and (make is Blake2b or name not in OF_BLAKE2B):
                yield make, name


def run(make: Any, name: str) -> Any:
    result = unittest.TestResult()
    type("Of" + make.__name__, (Conformance,), {"make": make})(name).run(result)
    return result


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some write a file into the current directory."""
    monkeypatch.chdir(tmp_path)


def as_hashlib(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(test_hashlib, "hashlib", StandIn(make))


@pytest.mark.parametrize(("make", "name"), list(cases()))
def test_as_cpython_tests_it(make: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if "file_digest" in name and not hasattr(hashlib, "file_digest"):
        pytest.skip("hashlib.file_digest is of Python 3.11")
    as_hashlib(make, monkeypatch)
    result = run(make, name)
    assert (result.testsRun, result.skipped) == (1, [])
    assert not result.errors + result.failures, (result.errors + result.failures)[0][1]


# How many of CPython's tests apply, and how many runs they make with our classes. Counted in the
# suites of 3.10.13, 3.11.7, 3.12.1 and 3.13.0. Other versions may have other tests.
COUNTS = {(3, 10): (15, 62), (3, 11): (15, 62), (3, 12): (15, 62), (3, 13): (15, 62)}


def test_how_many_there_are(record_property: Callable[[str, object], None]) -> None:
    names = {name for _, name in cases()}
    assert CHANGED <= names and OF_BLAKE2B <= names
    counts = len(names), len(list(cases()))
    found = unittest.defaultTestLoader.getTestCaseNames(Conformance)
    record_property("tests of CPython", f"{counts[0]} of {len(found)}, in {counts[1]} runs")
    assert COUNTS.get(sys.version_info[:2], counts) == counts


def test_a_wrong_object_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its copy is itself, and it writes capitals."""

    class Wrong:
        name, digest_size, block_size = "skein-512", 64, 64

        def __init__(self, data: bytes = b"", *, usedforsecurity: bool = True) -> None:
            self.made = Skein512(data)

        def update(self, data: bytes) -> None:
            self.made.update(data)

        def digest(self) -> bytes:
            return self.made.digest()

        def hexdigest(self) -> str:
            return self.made.hexdigest().upper()

        def copy(self) -> "Wrong":
            return self

    as_hashlib(Wrong, monkeypatch)
    for name in ("test_hexdigest", "test_large_update", "test_no_unicode"):
        result = run(Wrong, name)
        assert len(result.failures + result.errors) == (name != "test_no_unicode"), name
