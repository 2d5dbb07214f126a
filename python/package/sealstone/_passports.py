"""Arguments that take one passport or several."""

from __future__ import annotations

from sealstone._native import Passport, PublicPassport

# As `typing` has it: importing that would take longer than all else here.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def public(name: str, given: Any) -> list[PublicPassport]:
    """The public passports of the argument `name`. Raises `TypeError`."""
    several = _several(given)
    for it in several:
        if not isinstance(it, PublicPassport):
            hint = ": use its attribute public" if isinstance(it, Passport) else ""
            raise TypeError(f"{name} takes PublicPassport, not {type(it).__name__}{hint}")
    return several


def secret(name: str, given: Any) -> list[Passport]:
    """The passports of the argument `name`. Raises `TypeError`."""
    several = _several(given)
    for it in several:
        if not isinstance(it, Passport):
            raise TypeError(f"{name} takes Passport, not {type(it).__name__}")
    return several


def _several(given: Any) -> list[Any]:
    return [given] if isinstance(given, PublicPassport | Passport) else list(given)
