"""The examples in docstrings, and those of the pages, run."""

import ast
import doctest
import importlib
import json
import pkgutil
from pathlib import Path

import pytest

import sealstone

# Needs a configured Django; test_frameworks.py runs it.
ELSEWHERE = {"sealstone.django"}
MODULES = ["sealstone", *(m.name for m in pkgutil.walk_packages(sealstone.__path__, "sealstone.") if m.name not in ELSEWHERE)]
PYTHON = Path(__file__).parent.parent
PAGES = [PYTHON / "README.md", *sorted((PYTHON / "docs").glob("from-*.md"))]


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


def test_the_notebook() -> None:
    """Each cell runs, and its last line, if it is an expression, can be shown."""
    pytest.importorskip("pandas")
    cells = json.loads((PYTHON / "docs/tour.ipynb").read_text(encoding="utf-8"))["cells"]
    programs = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert len(programs) == 5
    names: dict[str, object] = {}
    for program in programs:
        *body, last = ast.parse(program).body
        exec(compile(ast.Module(body, []), "tour.ipynb", "exec"), names)
        if not isinstance(last, ast.Expr):
            exec(compile(ast.Module([last], []), "tour.ipynb", "exec"), names)
            continue
        shown = eval(compile(ast.Expression(last.value), "tour.ipynb", "eval"), names)
        assert repr(shown)
        if hasattr(shown, "_repr_html_"):
            assert "<table" in shown._repr_html_()
