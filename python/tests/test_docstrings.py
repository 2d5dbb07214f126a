"""The examples in docstrings, and those of the pages, run."""

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

import sealstone

# Needs a configured Django; test_frameworks.py runs it.
ELSEWHERE = {"sealstone.django"}
MODULES = ["sealstone", *(m.name for m in pkgutil.walk_packages(sealstone.__path__, "sealstone.") if m.name not in ELSEWHERE)]
PAGES = [Path(__file__).parent.parent / "README.md"]


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_a_module(name: str) -> None:
    done = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert done.failed == 0


def python_blocks(page: Path) -> list[str]:
    blocks = page.read_text(encoding="utf-8").split("```python\n")[1:]
    return [block.partition("```")[0] for block in blocks]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_of_a_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = python_blocks(page)
    assert blocks
    exec(compile("\n".join(blocks), str(page), "exec"), {})
