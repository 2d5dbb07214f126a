"""Functions that argon2-cffi has kept since 2016; `PasswordHasher` replaces them."""

import os
import warnings
from typing import Literal

from sealstone.argon2._hasher import (
    DEFAULT_HASH_LENGTH,
    DEFAULT_MEMORY_COST,
    DEFAULT_PARALLELISM,
    DEFAULT_RANDOM_SALT_LENGTH,
    DEFAULT_TIME_COST,
)
from sealstone.argon2.low_level import Type, hash_secret, hash_secret_raw, verify_secret


def hash_password(
    password: bytes,
    salt: bytes | None = None,
    time_cost: int = DEFAULT_TIME_COST,
    memory_cost: int = DEFAULT_MEMORY_COST,
    parallelism: int = DEFAULT_PARALLELISM,
    hash_len: int = DEFAULT_HASH_LENGTH,
    type: Type = Type.I,
) -> bytes:
    """Deprecated: `low_level.hash_secret` with defaults."""
    _warn("hash_password")
    salt = salt or os.urandom(DEFAULT_RANDOM_SALT_LENGTH)
    return hash_secret(password, salt, time_cost, memory_cost, parallelism, hash_len, type)


def hash_password_raw(
    password: bytes,
    salt: bytes | None = None,
    time_cost: int = DEFAULT_TIME_COST,
    memory_cost: int = DEFAULT_MEMORY_COST,
    parallelism: int = DEFAULT_PARALLELISM,
    hash_len: int = DEFAULT_HASH_LENGTH,
    type: Type = Type.I,
) -> bytes:
    """Deprecated: `low_level.hash_secret_raw` with defaults."""
    _warn("hash_password_raw")
    salt = salt or os.urandom(DEFAULT_RANDOM_SALT_LENGTH)
    return hash_secret_raw(password, salt, time_cost, memory_cost, parallelism, hash_len, type)


def verify_password(hash: bytes, password: bytes, type: Type = Type.I) -> Literal[True]:
    """Deprecated: `low_level.verify_secret`."""
    _warn("verify_password")
    return verify_secret(hash, password, type)


def _warn(name: str) -> None:
    text = f"argon2.{name} is deprecated, use argon2.PasswordHasher instead"
    warnings.warn(text, DeprecationWarning, stacklevel=3)
