"""Parameters: of a stored hash, and for this machine."""

import platform
import sys
from dataclasses import dataclass
from typing import NamedTuple

from sealstone._native import argon2_calibrate
from sealstone._types import Progress
from sealstone.argon2.exceptions import InvalidHashError, UnsupportedParametersError
from sealstone.argon2.low_level import Type

_NAME_TO_TYPE = {"argon2id": Type.ID, "argon2i": Type.I, "argon2d": Type.D}
_COSTS = ("m", "p", "t", "v")


@dataclass(slots=True)
class Parameters:
    """The parameters of a hash: lengths in bytes, `memory_cost` in KiB, `time_cost` in passes.

    They can be changed, as argon2-cffi's: Django does that. A `PasswordHasher` has a copy.
    """

    type: Type
    version: int
    salt_len: int
    hash_len: int
    time_cost: int
    memory_cost: int
    parallelism: int


def extract_parameters(hash: str) -> Parameters:
    """The parameters of an encoded hash. Raises `InvalidHashError`."""
    parts = hash.split("$")
    if len(parts) == 5:  # Strings of Argon2 1.0 name no version; argon2-cffi calls it 18.
        parts.insert(2, "v=18")
    if len(parts) != 6 or parts[0] or parts[1] not in _NAME_TO_TYPE:
        raise InvalidHashError("not an Argon2 hash")
    try:
        pairs = (pair.split("=") for pair in (parts[2], *parts[3].split(",")) if not pair.startswith("data="))
        costs = {name: int(value) for name, value in pairs}
    except ValueError:
        raise InvalidHashError("the costs are not numbers") from None
    if tuple(sorted(costs)) != _COSTS:
        raise InvalidHashError("a cost is missing or one too many")
    salt_len, hash_len = (len(part) * 3 // 4 for part in parts[4:])
    type = _NAME_TO_TYPE[parts[1]]
    return Parameters(type, costs["v"], salt_len, hash_len, costs["t"], costs["m"], costs["p"])


def validate_for_platform(params: Parameters) -> None:
    """Raises `UnsupportedParametersError` for several lanes where there is one thread."""
    if is_wasm() and params.parallelism != 1:
        raise UnsupportedParametersError("In WebAssembly environments `parallelism` must be 1.")


def is_wasm() -> bool:
    """Whether Python runs in WebAssembly."""
    return sys.platform == "emscripten" or platform.machine() in ("wasm32", "wasm64")


class Calibration(NamedTuple):
    """The result of `calibrate`."""

    parameters: Parameters
    seconds: float
    """The time of one hash, in memory that is kept."""


def calibrate(
    seconds: float,
    *,
    memory_cost: int = 1 << 20,
    parallelism: int = 1,
    progress: Progress | None = None,
) -> Calibration:
    """The strongest parameters for which a hash takes at most `seconds` on this machine.

    They have as much memory as possible, up to `memory_cost` KiB, then as many passes as possible.
    This takes some ten times `seconds`. `progress(done, total)` is that of each hash that is
    measured; it cancels by raising. Raises `ValueError` for parameters that Argon2 does not allow.

    >>> from sealstone.argon2 import PasswordHasher, calibrate
    >>> found = calibrate(0.005, memory_cost=1024)
    >>> found.parameters.memory_cost <= 1024
    True
    >>> hasher = PasswordHasher.from_parameters(found.parameters)
    """
    memory, passes, took = argon2_calibrate(seconds, memory_cost, parallelism, progress)
    return Calibration(Parameters(Type.ID, 19, 16, 32, passes, memory, parallelism), took)
