"""What a run of pytest says at its end."""

import subprocess
import sys
from pathlib import Path

PROGRAM = """
import pytest
pytestmark = pytest.mark.skipif({all}, reason="all of it")

def test_passes(record_property):
    record_property("tests", "3 of 5")

def test_skips():
    pytest.skip("no such thing")

@pytest.mark.skipif(True, reason="by a mark")
@pytest.mark.parametrize("number", [1, 2])
def test_marked(number):
    raise AssertionError
"""


def said(directory: Path, program: str) -> list[str]:
    """The lines that a run of the program prints."""
    (directory / "test_program.py").write_text(program)
    options = ["-q", "-p", "conftest", "-p", "no:cacheprovider", "--color=yes", "--rootdir", str(directory)]
    command = [sys.executable, "-m", "pytest", *options, str(directory)]
    done = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.splitlines()


def test_skipped_tests_and_counts_are_named(tmp_path: Path) -> None:
    lines = said(tmp_path, PROGRAM.format(all=False))
    assert [line for line in lines if line.startswith("skipped: ")] == [
        "skipped: test_program.py::test_skips: no such thing",
        "skipped: test_program.py::test_marked[1]: by a mark",
        "skipped: test_program.py::test_marked[2]: by a mark",
    ]
    assert "test_program.py::test_passes: tests: 3 of 5" in lines


def test_a_module_that_is_skipped(tmp_path: Path) -> None:
    assert sum(line.startswith("skipped: ") for line in said(tmp_path, PROGRAM.format(all=True))) == 4
