"""`typing.get_type_hints` on everything public."""

import importlib
import inspect
import sys
import typing
from collections.abc import Iterator
from typing import Any

import pytest

import sealstone
from sealstone import PublicPassport, TrustStore

MODULES = ["aio", "argon2", "argon2.exceptions", "argon2.low_level", "argon2.profiles", "errors", "hashes", "packages", "timestamps", "tokens"]


def public() -> Iterator[tuple[str, Any]]:
    """Every public function and class, and the functions of each class."""
    for module in [sealstone, *(importlib.import_module(f"sealstone.{name}") for name in MODULES)]:
        for name in getattr(module, "__all__", [it for it in vars(module) if not it.startswith("_")]):
            value = getattr(module, name)
            if inspect.isclass(value):
                yield f"{module.__name__}.{name}", value
                yield from members(f"{module.__name__}.{name}", value)
            elif callable(value):
                yield f"{module.__name__}.{name}", value


def members(name: str, owner: type) -> Iterator[tuple[str, Any]]:
    for it, value in vars(owner).items():
        function = getattr(value, "fget", None) or getattr(value, "func", None) or getattr(value, "__func__", value)
        if inspect.isfunction(function) and function.__module__.startswith("sealstone"):
            yield f"{name}.{it}", function


@pytest.mark.parametrize(("name", "value"), list(public()))
def test_hints_of_everything(name: str, value: Any) -> None:
    hints = typing.get_type_hints(value)
    if not inspect.isfunction(inspect.unwrap(value)):
        return
    wanted = set(inspect.unwrap(value).__annotations__)
    assert set(hints) == wanted and ("return" in wanted or name.endswith(".__init__") or not wanted), name


def test_nothing_is_left_out() -> None:
    names = {name for name, _ in public()}
    assert {"sealstone.seal", "sealstone.SealedFile.readinto", "sealstone.packages.Package.verify", "sealstone.aio.seal"} <= names
    assert len(names) > 150


def test_what_they_say() -> None:
    hints = typing.get_type_hints(sealstone.open)
    assert set(typing.get_args(hints["sender"])) == {PublicPassport, TrustStore, typing.Literal["any", "unsigned"]}
    assert hints["return"] is sealstone.Opened and hints["overwrite"] is bool
    sources = typing.get_args(hints["source"])
    assert str in sources and (bytearray in sources or sys.version_info >= (3, 12))
    assert typing.get_type_hints(sealstone.Opened) == {
        "content": bytes | None,
        "sender": PublicPassport | None,
        "name": str | None,
        "modified": int | None,
        "note": str | None,
        "length": int,
    }
