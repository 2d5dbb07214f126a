"""That calls.py calls every function: what it leaves out, the test of leaks does not see."""

import ast
import inspect
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import calls
import sealstone
from sealstone import _tasks, aio

PACKAGE = Path(sealstone.__file__).parent
# Functions that no job calls, each with the reason.
NOT_CALLED = {
    "_interpreter.refuse_others": "by import, once",
    "argon2._memory._after_fork": "by a fork",
    "_native.Memory._after_fork": "by a fork",
    "_tasks.coroutine": "by import, once",
    "_tasks.silent": "by import, once",
    "_tasks._task": "by import, once",
    "_tasks._begin_anew": "by a fork",
    "_tasks.Threads.__init__": "by import, and by a fork",
    "_tasks.Threads._ended": "by another thread",
    "aio.fetch": "needs a server",
    "timestamps.fetch": "needs a server, as test_timestamps.py has one",
    "timestamps._ask": "needs a server",
    "django.Argon2PasswordHasher._load_library": "needs a configured Django, as in test_frameworks.py",
}
Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(path: Path) -> Iterator[tuple[str, Function]]:
    """Functions and methods of a source file by their full names."""
    module = ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        for it in node.body if isinstance(node, ast.ClassDef) else [node]:
            if isinstance(it, Function):
                place = f"{module}.{node.name}" if isinstance(node, ast.ClassDef) else module
                yield f"{place}.{it.name}", it


def marks(function: Function) -> set[str]:
    return {ast.unparse(it) for it in function.decorator_list}


def coroutines() -> set[str]:
    """The coroutines that `aio` makes of functions: assigned, not written."""
    made = ast.parse((PACKAGE / "aio.py").read_text(encoding="utf-8")).body
    names = set()
    for it in made:
        if isinstance(it, ast.Assign) and isinstance(it.value, ast.Call) and ast.unparse(it.value.func) in ("coroutine", "silent"):
            names |= {f"aio.{ast.unparse(target)}" for target in it.targets}
    return names


def written() -> dict[tuple[str, int], str]:
    """Every function of the package, by its file and first line."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        for name, it in functions(path):
            line = min([it.lineno, *(mark.lineno for mark in it.decorator_list)])
            protocol = name.startswith(("_annotations.Readable.", "_annotations.Writable."))
            if "overload" not in marks(it) and not protocol:
                found[str(path), line] = name
    return found


def native() -> set[str]:
    """Functions and methods of the extension module. `calls.look` reads all attributes."""
    stub = functions(PACKAGE / "_native.pyi")
    return {name for name, it in stub if "property" not in marks(it) and not it.name.startswith("__")}


# The name of each coroutine of `aio`, by its function.
MADE_OF = {inspect.unwrap(getattr(aio, name.removeprefix("aio."))): name for name in coroutines()}


def called(work: Callable[[], object]) -> tuple[set[tuple[str, int]], set[str]]:
    """The functions that `work` calls on this thread: in Python, of the extension, coroutines."""
    ours, theirs = set(), set()

    def note(frame: types.FrameType, event: str, function: Any) -> None:
        if event == "call":
            ours.add((frame.f_code.co_filename, frame.f_code.co_firstlineno))
            if frame.f_code.co_name == "run" and frame.f_code.co_filename == _tasks.__file__:
                theirs.add(MADE_OF.get(frame.f_locals["call"], ""))
        elif event == "c_call":
            owner = getattr(function, "__self__", None)
            if isinstance(owner, types.ModuleType | None):
                theirs.add(f"_native.{function.__qualname__}")
            else:
                kind = owner if isinstance(owner, type) else type(owner)
                theirs.add(f"_native.{kind.__name__}.{function.__name__}")

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return ours, theirs


def test_every_function_is_called() -> None:
    def everything() -> None:
        for call in calls.CALLS.values():
            call()

    ours, theirs = called(everything)
    assert native() - theirs - set(NOT_CALLED) == set()
    assert coroutines() - theirs == set()
    assert {name for place, name in written().items() if place not in ours} - set(NOT_CALLED) == set()


def test_what_is_not_called_is_noticed() -> None:
    ours, theirs = called(calls.CALLS["tree"])
    assert "_native.SkeinTree.prove" in theirs and "_native.argon2_hash" not in theirs
    _, theirs = called(calls.CALLS["coroutines"])
    assert "aio.seal" in theirs and "aio.sign" in coroutines() - theirs and len(coroutines()) > 12
    assert set(NOT_CALLED) <= set(written().values()) | native() and len(native()) > 80
