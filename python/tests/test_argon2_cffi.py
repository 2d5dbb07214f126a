"""argon2-cffi's own tests, from its source distribution, against `sealstone.argon2`."""

import hashlib
import os
import re
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SOURCE = "argon2_cffi-25.1.0"
SHA256 = "694ae5cc8a42f4c4e2bf2ca0e64e51e23a040c6a517a85074683d3959e1346c1"

# The version, the name and the address of that project.
NOT_OURS = "tests/test_packaging.py::TestLegacyMetadataHack"
COUNTS = {"passed": 73, "deselected": 5}


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """The unpacked source; pip fetches it once."""
    kept = Path(os.environ.get("SEALSTONE_PYTHON_CACHE", tmp_path))
    archive = kept / f"{SOURCE}.tar.gz"
    if not archive.exists():
        wanted = ["--no-deps", "--no-binary", ":all:", SOURCE.replace("_", "-").replace("-25", "==25")]
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--dest", str(kept)]
        subprocess.run([*command, *wanted], check=True)
    assert hashlib.sha256(archive.read_bytes()).hexdigest() == SHA256
    with tarfile.open(archive) as files:
        files.extractall(tmp_path, filter="data")
    return tmp_path / SOURCE


def test_its_own_suite_passes(suite: Path, record_property: Callable[[str, object], None]) -> None:
    options = ["-q", "-p", "argon2_cffi.shim", "-p", "no:cacheprovider", f"--deselect={NOT_OURS}"]
    command = [sys.executable, "-m", "pytest", *options, "tests"]
    environment = {**os.environ, "PYTHONPATH": str(HERE)}
    done = subprocess.run(command, cwd=suite, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    counts = {what: int(number) for number, what in re.findall(r"(\d+) (\w+)[, ]", done.stdout.splitlines()[-1])}
    record_property("tests of argon2-cffi", counts)
    assert {what: counts.get(what) for what in COUNTS} == COUNTS, done.stdout
