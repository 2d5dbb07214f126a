"""Argon2 for passwords and keys, with the interface and the defaults of argon2-cffi.

Replace `import argon2` by `import sealstone.argon2 as argon2`. Beyond that interface there are a
pepper, `calibrate`, memory that is kept from hash to hash, and `async` methods.

>>> from sealstone.argon2 import PasswordHasher
>>> hasher = PasswordHasher(time_cost=1, memory_cost=1024, parallelism=1)
>>> stored = hasher.hash("correct horse")
>>> stored.startswith("$argon2id$v=19$m=1024,t=1,p=1$")
True
>>> hasher.verify(stored, "correct horse")
True
>>> hasher.verify(stored, "battery staple")
Traceback (most recent call last):
    ...
sealstone.argon2.exceptions.VerifyMismatchError: The password does not match the supplied hash
"""

import sys

from sealstone._native import Memory, Pepper, __version__
from sealstone.argon2 import exceptions, low_level, profiles
from sealstone.argon2._hasher import (
    DEFAULT_HASH_LENGTH,
    DEFAULT_MEMORY_COST,
    DEFAULT_PARALLELISM,
    DEFAULT_RANDOM_SALT_LENGTH,
    DEFAULT_TIME_COST,
    PasswordHasher,
)
from sealstone.argon2._legacy import hash_password, hash_password_raw, verify_password
from sealstone.argon2._memory import MEMORY
from sealstone.argon2._parameters import Calibration, Parameters, calibrate, extract_parameters
from sealstone.argon2.low_level import Type

__all__ = [
    "DEFAULT_HASH_LENGTH",
    "DEFAULT_MEMORY_COST",
    "DEFAULT_PARALLELISM",
    "DEFAULT_RANDOM_SALT_LENGTH",
    "DEFAULT_TIME_COST",
    "MEMORY",
    "Calibration",
    "Memory",
    "Parameters",
    "PasswordHasher",
    "Pepper",
    "Type",
    "__version__",
    "calibrate",
    "exceptions",
    "extract_parameters",
    "hash_password",
    "hash_password_raw",
    "install_as_argon2",
    "low_level",
    "profiles",
    "verify_password",
]


def install_as_argon2() -> None:
    """Makes `import argon2` mean this package, for libraries that look for argon2-cffi.

    Call it before such a library is imported, for example passlib.

    >>> import sealstone.argon2
    >>> sealstone.argon2.install_as_argon2()
    >>> import argon2
    >>> argon2 is sealstone.argon2
    True
    """
    sys.modules["argon2"] = sys.modules[__name__]
    for module in (exceptions, low_level, profiles):
        sys.modules["argon2." + module.__name__.rpartition(".")[2]] = module
