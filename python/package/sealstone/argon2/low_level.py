"""The functions of argon2-cffi's module of this name. All parameters are given."""

from enum import Enum
from typing import Literal, overload

from sealstone._native import Memory, Pepper, argon2_hash, argon2_verify
from sealstone._types import Buffer, Progress
from sealstone.argon2 import _encoded
from sealstone.argon2._memory import MEMORY, known
from sealstone.argon2.exceptions import HashingError, VerificationError, VerifyMismatchError

__all__ = ["ARGON2_VERSION", "Type", "hash_secret", "hash_secret_raw", "verify_secret"]

ARGON2_VERSION = 19
"""The version of Argon2 that is hashed with: 1.3."""


class Type(Enum):
    """The variants of Argon2."""

    D = 0
    I = 1
    ID = 2


def hash_secret(
    secret: Buffer,
    salt: bytes,
    time_cost: int,
    memory_cost: int,
    parallelism: int,
    hash_len: int,
    type: Type,
    version: int = ARGON2_VERSION,
    *,
    pepper: Pepper | None = None,
    memory: Memory = MEMORY,
    progress: Progress | None = None,
) -> bytes:
    """Hashes `secret` and returns an encoded hash, which `verify_secret` takes.

    `progress` is that of `hash_secret_raw`.

    Raises `HashingError` if the parameters are not allowed or memory is missing.
    """
    tag = hash_secret_raw(
        secret,
        salt,
        time_cost,
        memory_cost,
        parallelism,
        hash_len,
        type,
        version,
        pepper=pepper,
        memory=memory,
        progress=progress,
    )
    encoded = _encoded.Encoded(type.value, version, memory_cost, time_cost, parallelism, b"", salt, tag)
    return encoded.text().encode("ascii")


@overload
def hash_secret_raw(
    secret: Buffer,
    salt: bytes,
    time_cost: int,
    memory_cost: int,
    parallelism: int,
    hash_len: int,
    type: Type,
    version: int = ARGON2_VERSION,
    *,
    pepper: Pepper | None = None,
    associated_data: bytes = b"",
    memory: Memory = MEMORY,
    progress: Progress | None = None,
    into: None = None,
) -> bytes: ...
@overload
def hash_secret_raw(
    secret: Buffer,
    salt: bytes,
    time_cost: int,
    memory_cost: int,
    parallelism: int,
    hash_len: int,
    type: Type,
    version: int = ARGON2_VERSION,
    *,
    pepper: Pepper | None = None,
    associated_data: bytes = b"",
    memory: Memory = MEMORY,
    progress: Progress | None = None,
    into: Buffer,
) -> int: ...
@overload
def hash_secret_raw(
    secret: Buffer,
    salt: bytes,
    time_cost: int,
    memory_cost: int,
    parallelism: int,
    hash_len: int,
    type: Type,
    version: int = ARGON2_VERSION,
    *,
    pepper: Pepper | None = None,
    associated_data: bytes = b"",
    memory: Memory = MEMORY,
    progress: Progress | None = None,
    into: Buffer | None,
) -> bytes | int: ...
def hash_secret_raw(
    secret: Buffer,
    salt: bytes,
    time_cost: int,
    memory_cost: int,
    parallelism: int,
    hash_len: int,
    type: Type,
    version: int = ARGON2_VERSION,
    *,
    pepper: Pepper | None = None,
    associated_data: bytes = b"",
    memory: Memory = MEMORY,
    progress: Progress | None = None,
    into: Buffer | None = None,
) -> bytes | int:
    """Hashes `secret` to `hash_len` bytes: a key, for example.

    Nobody can wipe `bytes`. Give a writable buffer of `hash_len` bytes or more as `into`: the hash
    goes to its begin, and `hash_len` is returned. After an exception, the buffer is as it was; if
    memory ended while it was filled, it may have zeros where the hash was to go.
    `progress(done, total)` is called about ten times a second, and cancels by raising.

    Raises `HashingError` if the parameters are not allowed, memory is missing or the buffer is too
    short, `TypeError` if it is read-only.

    >>> from sealstone.argon2.low_level import Type, hash_secret_raw
    >>> key = hash_secret_raw(b"passphrase", b"16 bytes of salt", 3, 1024, 1, 32, Type.ID)
    >>> len(key)
    32
    >>> room = bytearray(32)
    >>> hash_secret_raw(b"passphrase", b"16 bytes of salt", 3, 1024, 1, 32, Type.ID, into=room)
    32
    >>> room == key
    True
    """
    task = (type.value, version, time_cost, memory_cost, parallelism, salt, pepper, associated_data)
    if memoryview(salt).nbytes < 8:
        raise HashingError("Salt is too short")
    try:
        return argon2_hash(secret, task, hash_len, known(memory), progress, into)
    except (ValueError, MemoryError) as error:
        raise HashingError(str(error)) from None


def verify_secret(
    hash: bytes,
    secret: Buffer,
    type: Type,
    *,
    pepper: Pepper | None = None,
    memory: Memory = MEMORY,
    limits: tuple[int, int] | None = None,
    progress: Progress | None = None,
) -> Literal[True]:
    """Returns `True` if `secret` is what was hashed.

    `limits` are the most KiB, and the most KiB times passes, that the hash may ask for. `progress`
    is that of `hash_secret_raw`.

    Raises `VerifyMismatchError` if `secret` is another one, `VerificationError` if the hash is
    malformed, of another type, or asks for more than the limits allow.
    """
    found = _encoded.parse(hash)
    if found is None or found.type != type.value:
        raise VerificationError("Decoding failed")
    costs = (found.time_cost, found.memory_cost, found.parallelism)
    task = (found.type, found.version, *costs, found.salt, pepper, found.data)
    try:
        matches = argon2_verify(secret, task, found.tag, known(memory), limits, progress)
    except (ValueError, MemoryError) as error:
        raise VerificationError(str(error)) from None
    if not matches:
        raise VerifyMismatchError("The password does not match the supplied hash")
    return True
