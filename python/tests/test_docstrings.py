"""The examples in docstrings, and those of the pages, run."""

import ast
import doctest
import functools
import importlib
import json
import pkgutil
from pathlib import Path
from types import SimpleNamespace

import pytest

import calls
import sealstone
import sealstone.argon2.low_level
from sealstone import errors, packages

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


def table_cells(page: Path) -> list[str]:
    """The spans of code in the second column of the page's tables. All of it is Python."""
    rows = [line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    return [span for row in rows for span in row.strip("|").split(" | ")[-1].split("`")[1::2] if not span.endswith("=")]


def saves_at_a_low_cost(passport: sealstone.Passport) -> SimpleNamespace:
    """Its `save` alone."""
    return SimpleNamespace(save=functools.partial(passport.save, profile=calls.CHEAP))


TABLES = [page for page in PAGES if "|---|" in page.read_text(encoding="utf-8")]


@pytest.mark.parametrize("page", TABLES, ids=lambda page: page.name)
def test_what_a_table_names_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the names that it uses. `seal` and `save` derive keys at a low cost."""
    monkeypatch.chdir(tmp_path)
    passport = sealstone.Passport.generate("Alice")
    (tmp_path / "file").write_bytes(b"content")
    (tmp_path / "public").write_text(passport.public.text)
    for cell in table_cells(page):
        path = "public" if cell.startswith("PublicPassport") else "file" if '"file"' in cell or cell.startswith("seal") else "passport"
        (tmp_path / "target").unlink(missing_ok=True)
        names = {
            **{name: getattr(sealstone, name) for name in sealstone.__all__},
            **{name: getattr(errors, name) for name in vars(errors)},
            **{"seal": functools.partial(sealstone.seal, profile=calls.CHEAP), "Package": packages.Package, "sign": packages.sign, "sealstone": sealstone},
            **{"passport": passport, "public": passport.public, "label": "Alice", "target": "target", "path": path},
            **{"passphrase": "correct horse", "text": passport.public.text, "data": b"content"},
        }
        if "open(" in cell:
            names["data"] = sealstone.seal(b"content", to=passport.public)
        if "save(path" in cell:
            (tmp_path / "passport").unlink(missing_ok=True)
            names["passport"] = saves_at_a_low_cost(passport)
            names["Passport"] = SimpleNamespace(generate=lambda label: saves_at_a_low_cost(sealstone.Passport.generate(label)))
        exec(compile(cell, str(page), "exec"), names)
    assert len(table_cells(page)) > 3


def test_a_table_that_names_nothing_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "page.md"
    page.write_text("| theirs | Sealstone |\n|---|---|\n| `a` | `seal(data, recipient=public)` |\n")
    with pytest.raises(TypeError, match="recipient"):
        test_what_a_table_names_runs(page, tmp_path, monkeypatch)


def test_the_notebook() -> None:
    """Each cell runs, and its last line, if it is an expression, can be shown."""
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
