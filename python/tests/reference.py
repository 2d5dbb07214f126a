"""Writes docs/reference.md: every public name with its signature, from the stubs and the sources.

usage: python tests/reference.py
"""

import ast
import importlib
import inspect
import itertools
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

PACKAGE = Path(__file__).parent.parent / "package/sealstone"
PAGE = PACKAGE.parent.parent / "docs/reference.md"
MODULES = ["sealstone", "packages", "timestamps", "tokens", "hashes", "argon2", "aio", "errors", "django"]
MODULES[6:6] = ["argon2.low_level", "argon2.exceptions", "argon2.profiles"]
HEAD = """# Reference

Generated from the stubs and the sources by `python tests/reference.py`. `help()` in Python has the
examples.
"""
Function = ast.FunctionDef | ast.AsyncFunctionDef
Definition = ast.ClassDef | Function


def definitions() -> dict[str, Definition]:
    """Every class and function by its name, those of the stubs first. A class has the fields of
    its private superclass, which type checkers see."""
    found: dict[str, Definition] = {}
    for path in [PACKAGE / "_native.pyi", *sorted(PACKAGE.rglob("*.py"))]:
        module = path.relative_to(PACKAGE).with_suffix("").as_posix()
        for node in unfolded(ast.parse(path.read_text(encoding="utf-8")).body):
            if isinstance(node, Definition):
                found[f"{module}.{node.name}"] = node
            if isinstance(node, ast.ClassDef) and node.bases:
                base = ast.unparse(node.bases[0])
                private = found.get(f"{module}.{base}") if base.startswith("_") else None
                node.body = [*(private.body if private else []), *node.body]
    return found


def unfolded(statements: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements, and those of conditions."""
    for it in statements:
        yield from it.body if isinstance(it, ast.If) else [it]


def constants() -> dict[str, tuple[str, str]]:
    """Every documented value by its name: how it is set, and the string below it."""
    found: dict[str, tuple[str, str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        module = path.relative_to(PACKAGE).with_suffix("").as_posix()
        body = ast.parse(path.read_text(encoding="utf-8")).body
        for node, below in itertools.pairwise(body):
            if isinstance(node, ast.Assign) and isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant):
                text = " ".join(str(below.value.value).split())
                found |= {f"{module}.{ast.unparse(it)}": (ast.unparse(node), text) for it in node.targets}
    return found


def constant(name: str, module: ModuleType) -> list[str]:
    """The lines about a value: of the module itself, or of the one that it imports it from. A
    private name is replaced by its value."""
    local = module.__name__.removeprefix("sealstone").lstrip(".").replace(".", "/")
    known = constants()
    places = [it for it in known if it.rpartition(".")[2] == name]
    for place in sorted(places, key=lambda it: not it.startswith(local)):
        if place.startswith(local):
            shown, text = known[place]
            if re.search(r"\b_[A-Za-z]", shown):
                shown = f"{name} = {getattr(module, name)!r}"
            return [f"### `{name}`", "", "```python", shown, "```", "", wrapped(text), ""]
    raise ValueError(f"{module.__name__}.{name} has no line below it that says what it is")


def of(name: str, value: object, known: dict[str, Definition]) -> Definition | None:
    """Where a public object is defined; `None` for values."""
    place = getattr(value, "__module__", "") or ""
    local = place.removeprefix("sealstone").lstrip(".").replace(".", "/")
    for module in (local, f"{local}/__init__", "_native"):
        if f"{module}.{getattr(value, '__name__', name)}" in known:
            return known[f"{module}.{getattr(value, '__name__', name)}"]
    return None


class Unquoted(ast.NodeTransformer):
    """Annotations in quotes lose them; those of `Literal` and of defaults are values."""

    def visit_arguments(self, node: ast.arguments) -> ast.arguments:
        """Leaves defaults as they are."""
        for it in [*node.posonlyargs, *node.args, *node.kwonlyargs, *filter(None, [node.vararg, node.kwarg])]:
            self.visit(it)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """Leaves the values of a `Literal` as they are."""
        return node if ast.unparse(node.value) == "Literal" else self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        """Replaces a type in quotes by the type."""
        return self.visit(ast.parse(node.value, mode="eval").body) if isinstance(node.value, str) else node


def signature(node: Function) -> str:
    """As it is called: without `self` and decorators, quotes of annotations dropped."""
    arguments = ast.unparse(Unquoted().visit(node.args))
    arguments = re.sub(r"^(self|cls)(, /)?(, )?", "", arguments)
    result = f" -> {ast.unparse(Unquoted().visit(node.returns))}" if node.returns else ""
    return re.sub(r"\b_((native|types)\.)?(?=[A-Z])", "", f"({arguments}){result}")


def wrapped(text: str, indent: str = "") -> str:
    """Prose of the page's width. Code is not broken."""
    held = re.sub(r"`[^`]*`", lambda it: it.group().replace(" ", "\0"), text)
    lines = textwrap.fill(held, 98, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return lines.replace("\0", " ")


def summary(value: object, name: str) -> str:
    """The first paragraph of a docstring, which everything public has."""
    text = inspect.getdoc(value)
    if not text:
        raise ValueError(f"{name} has no docstring")
    return " ".join(text.split("\n\n")[0].split())


def members(node: ast.ClassDef, owner: object) -> list[str]:
    """The public methods and fields of a class, as code, and then what they do. A field of a
    private type is for the package itself."""
    code, lines = [], []
    for it in node.body:
        if isinstance(it, ast.AnnAssign) and isinstance(it.target, ast.Name) and not it.target.id.startswith("_"):
            annotation = ast.unparse(it.annotation)
            if not annotation.startswith("_"):
                code.append(f"{it.target.id}: {annotation}")
        if not isinstance(it, Function) or it.name.startswith("_"):
            continue
        decorators = {ast.unparse(decorator) for decorator in it.decorator_list}
        if "overload" in decorators:
            continue
        is_value = bool(decorators & {"property", "cached_property"})
        shown = f": {ast.unparse(it.returns)}" if is_value and it.returns else signature(it)
        member = getattr(owner, it.name)
        code.append(f"{'await ' * isinstance(it, ast.AsyncFunctionDef)}{it.name}{shown}")
        if inspect.getdoc(member):
            lines.append(wrapped(f"- `{it.name}`: {summary(member, it.name)}", "  "))
    return (["```python", *code, "```", ""] if code else []) + lines


def coroutine(name: str, value: object, known: dict[str, Definition], module: ModuleType) -> list[str]:
    """A coroutine of `aio`: the arguments of what it is of, and its result."""
    original = inspect.unwrap(value)  # type: ignore[arg-type]
    owner, _, method = original.__qualname__.rpartition(".")
    for place in ("packages", "timestamps", "argon2/_parameters", "argon2/low_level", "_files", "_native"):
        node = known.get(f"{place}.{owner or method}")
        body = node.body if isinstance(node, ast.ClassDef) else [node]
        for it in body:
            made = () if owner or it is node else ("__init__", "__new__")
            if isinstance(it, Function) and it.name in (made or (method,)):
                shown = signature(it).replace("-> None", f"-> {method}") if it.name == "__init__" else signature(it)
                if owner and not {"staticmethod", "classmethod"} & {ast.unparse(mark) for mark in it.decorator_list}:
                    shown = shown.replace("(", f"({owner.lower()}: {owner}, ", 1)
                return ["```python", f"await {name}{shown}", "```", ""]
    raise LookupError(name)


def entry(name: str, value: object, known: dict[str, Definition], module: ModuleType) -> list[str]:
    """The lines about one public name."""
    node = of(name, value, known)
    if node is None:
        return constant(name, module)
    if isinstance(node, Function):
        return [f"### `{name}`", "", "```python", f"{name}{signature(node)}", "```", "", wrapped(summary(value, name)), ""]
    made = [it for it in node.body if isinstance(it, ast.FunctionDef) and it.name in ("__new__", "__init__")]
    made = [it for it in made if not (ast.get_docstring(it) or "").startswith("Not to be called")]
    call = ["```python", f"{name}{signature(made[0]).split(' -> ')[0]}", "```", ""] if made else []
    return [f"### `{name}`", "", *call, wrapped(summary(value, name)), "", *members(node, value), ""]


def page() -> str:
    """The whole page."""
    known, lines = definitions(), [HEAD]
    for name in MODULES:
        module = importlib.import_module(name if name == "sealstone" else f"sealstone.{name}")
        public = getattr(module, "__all__", [it for it in vars(module) if it[0].isupper()])
        lines += [f"## `{module.__name__}`", "", wrapped(summary(module, name)), ""]
        for it in sorted(public):
            value = getattr(module, it)
            if not inspect.ismodule(value) and not it.startswith("__"):
                lines += (coroutine if name == "aio" else entry)(it, value, known, module)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
