"""Parameters with names, as in argon2-cffi; those of OWASP and libsodium beside them."""

from dataclasses import replace

from sealstone.argon2._parameters import Parameters, is_wasm
from sealstone.argon2.low_level import Type

__all__ = [
    "CHEAPEST",
    "OWASP_19M",
    "OWASP_46M",
    "PRE_21_2",
    "RFC_9106_HIGH_MEMORY",
    "RFC_9106_LOW_MEMORY",
    "get_default_parameters",
]

RFC_9106_HIGH_MEMORY = Parameters(Type.ID, 19, 16, 32, 1, 2 << 20, 4)
"""2 GiB, 1 pass, 4 lanes: the first recommended option of RFC 9106."""

RFC_9106_LOW_MEMORY = Parameters(Type.ID, 19, 16, 32, 3, 64 << 10, 4)
"""64 MiB, 3 passes, 4 lanes: the second recommended option of RFC 9106."""

OWASP_46M = Parameters(Type.ID, 19, 16, 32, 1, 47104, 1)
"""46 MiB, 1 pass: the first of OWASP's equally strong options."""

OWASP_19M = Parameters(Type.ID, 19, 16, 32, 2, 19456, 1)
"""19 MiB, 2 passes: the second of OWASP's equally strong options."""

PRE_21_2 = Parameters(Type.ID, 19, 16, 16, 2, 102400, 8)
"""The defaults of argon2-cffi 18.2 to 21.1."""

CHEAPEST = Parameters(Type.ID, 19, 8, 4, 1, 8, 1)
"""For tests only."""


def get_default_parameters() -> Parameters:
    """The default parameters on this platform."""
    return replace(RFC_9106_LOW_MEMORY, parallelism=1) if is_wasm() else RFC_9106_LOW_MEMORY
