"""Argon2 for Django's users, by an entry of `PASSWORD_HASHERS`.

    PASSWORD_HASHERS = ["sealstone.django.Argon2PasswordHasher", …]

It reads and writes the strings of Django's own `Argon2PasswordHasher`, so users of that one go on,
and argon2-cffi need not be installed.
"""

from types import ModuleType

from django.contrib.auth.hashers import Argon2PasswordHasher as _Hasher  # type: ignore[import-untyped]

import sealstone.argon2

__all__ = ["Argon2PasswordHasher"]


class Argon2PasswordHasher(_Hasher):  # type: ignore[misc]
    """Django's hasher of this name on `sealstone.argon2`."""

    def _load_library(self) -> ModuleType:
        return sealstone.argon2
