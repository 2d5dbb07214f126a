"""Every public function, class and method, and which of them take `progress`."""

import importlib
import inspect
from collections.abc import Callable, Iterator
from typing import Any

from reference import MODULES

# What the classes of exceptions, enumerations and tuples have from their superclasses is Python's.
VALUES = (BaseException, tuple)


def callables() -> dict[str, Callable[..., Any]]:
    """Functions, constructors and methods, by module and name: `packages.Package.load`."""
    return dict(found())


def found() -> Iterator[tuple[str, Callable[..., Any]]]:
    for module in MODULES:
        if module == "django":  # Needs a configured Django; its class has Django's methods.
            continue
        place = importlib.import_module(module if module == "sealstone" else f"sealstone.{module}")
        for name in getattr(place, "__all__", [it for it in vars(place) if it[0].isupper()]):
            value = getattr(place, name)
            if inspect.isclass(value):
                yield from methods(f"{module}.{name}", value)
            elif callable(value):
                yield f"{module}.{name}", value


def methods(name: str, owner: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    if not issubclass(owner, VALUES):
        yield name, owner
    for it, value in vars(owner).items():
        method = getattr(owner, it)
        if not it.startswith("_") and callable(method) and not isinstance(value, owner):
            yield f"{name}.{it}", method


def takes_progress(call: Callable[..., Any]) -> bool:
    try:
        return "progress" in inspect.signature(call).parameters
    except ValueError:  # A class without a constructor of its own.
        return False


def listed(table: dict[str, str]) -> list[str]:
    """The names of a table that has several names in one string, under their reason."""
    return [name for names in table.values() for name in names.split()]
