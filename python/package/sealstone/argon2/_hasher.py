"""Storing and verifying passwords."""

import os
from typing import Literal

from sealstone._native import Memory, Pepper
from sealstone._tasks import coroutine
from sealstone._types import Buffer, Progress
from sealstone.argon2._memory import MEMORY
from sealstone.argon2._parameters import Parameters, extract_parameters, validate_for_platform
from sealstone.argon2.exceptions import HashingError, InvalidHashError
from sealstone.argon2.low_level import Type, hash_secret, verify_secret
from sealstone.argon2.profiles import get_default_parameters

_DEFAULT = get_default_parameters()
DEFAULT_RANDOM_SALT_LENGTH = _DEFAULT.salt_len
"""Bytes of a random salt: 16."""
DEFAULT_HASH_LENGTH = _DEFAULT.hash_len
"""Bytes of a hash: 32."""
DEFAULT_TIME_COST = _DEFAULT.time_cost
"""Passes over the memory: 3."""
DEFAULT_MEMORY_COST = _DEFAULT.memory_cost
"""Memory in KiB: 65,536, which is 64 MiB."""
DEFAULT_PARALLELISM = _DEFAULT.parallelism
"""Lanes: 4, and 1 in WebAssembly."""

# Limits of a stored string, because it may come from others: 2 GiB, and 64 GiB times passes.
_MOST_KIB = 2 << 20
_MOST_WORK_KIB = 64 << 20


class PasswordHasher:
    """Hashes passwords to strings that are stored, and verifies them.

    The interface is that of argon2-cffi: `memory_cost` is in KiB, lengths are in bytes, a `str` is
    encoded by `encoding`. A password may be anything bytes-like: you can wipe a `bytearray`.
    `pepper` is a secret that is not stored with the hashes: without it, a stolen table of them
    cannot be searched. `memory` bounds how many hashes run at once, and is kept from hash to hash.
    A hasher does not change, unlike argon2-cffi's, whose `encoding` can be set.

    >>> from sealstone.argon2 import PasswordHasher
    >>> old = PasswordHasher(time_cost=1, memory_cost=512, parallelism=1)
    >>> new = PasswordHasher(time_cost=2, memory_cost=1024, parallelism=1)
    >>> stored = old.hash("correct horse")
    >>> new.verify(stored, "correct horse")
    True
    >>> new.check_needs_rehash(stored)
    True
    """

    __slots__ = ("_encoding", "_memory", "_parameters", "_pepper")

    def __init__(
        self,
        time_cost: int = DEFAULT_TIME_COST,
        memory_cost: int = DEFAULT_MEMORY_COST,
        parallelism: int = DEFAULT_PARALLELISM,
        hash_len: int = DEFAULT_HASH_LENGTH,
        salt_len: int = DEFAULT_RANDOM_SALT_LENGTH,
        encoding: str = "utf-8",
        type: Type = Type.ID,
        *,
        pepper: Pepper | Buffer | None = None,
        memory: Memory = MEMORY,
    ) -> None:
        _check_types(
            time_cost=(time_cost, int),
            memory_cost=(memory_cost, int),
            parallelism=(parallelism, int),
            hash_len=(hash_len, int),
            salt_len=(salt_len, int),
            encoding=(encoding, str),
            type=(type, Type),
        )
        params = Parameters(type, 19, salt_len, hash_len, time_cost, memory_cost, parallelism)
        validate_for_platform(params)
        self._parameters = params
        self._pepper = pepper if pepper is None or isinstance(pepper, Pepper) else Pepper(pepper)
        self._memory = memory
        self._encoding = encoding

    @classmethod
    def from_parameters(
        cls, params: Parameters, *, pepper: Pepper | Buffer | None = None, memory: Memory = MEMORY
    ) -> "PasswordHasher":
        """A hasher with these parameters, for example a profile or those of `calibrate`."""
        return cls(
            params.time_cost,
            params.memory_cost,
            params.parallelism,
            params.hash_len,
            params.salt_len,
            type=params.type,
            pepper=pepper,
            memory=memory,
        )

    @property
    def encoding(self) -> str:
        """How a `str` becomes bytes."""
        return self._encoding

    @property
    def time_cost(self) -> int:
        """Passes over the memory."""
        return self._parameters.time_cost

    @property
    def memory_cost(self) -> int:
        """Memory in KiB."""
        return self._parameters.memory_cost

    @property
    def parallelism(self) -> int:
        """Lanes: threads that can share the work."""
        return self._parameters.parallelism

    @property
    def hash_len(self) -> int:
        """Length of the hash in bytes."""
        return self._parameters.hash_len

    @property
    def salt_len(self) -> int:
        """Length of a random salt in bytes."""
        return self._parameters.salt_len

    @property
    def type(self) -> Type:
        """The variant of Argon2."""
        return self._parameters.type

    def hash(
        self, password: str | Buffer, *, salt: bytes | None = None, progress: Progress | None = None
    ) -> str:
        """Hashes `password` with a random salt, to a string that is stored.

        Pass `salt` only to reproduce a known string. `progress(done, total)` cancels by raising.
        Raises `HashingError`.
        """
        hash = hash_secret(
            _bytes(password, self.encoding),
            salt or _salt(self.salt_len),
            self.time_cost,
            self.memory_cost,
            self.parallelism,
            self.hash_len,
            self.type,
            pepper=self._pepper,
            memory=self._memory,
            progress=progress,
        )
        return hash.decode("ascii")

    def verify(
        self, hash: str | bytes, password: str | Buffer, *, progress: Progress | None = None
    ) -> Literal[True]:
        """Returns `True` if `password` is what was hashed.

        The variant and the costs are those of the stored string. It may ask for 2 GiB, and 64 GiB
        times passes, or what this hasher asks for, if that is more. `progress` is that of `hash`.

        Raises `VerifyMismatchError` if it is another password or pepper, `VerificationError` if the
        string is malformed or asks for too much, `InvalidHashError` if it is not an Argon2 hash.
        """
        hash = bytes(_bytes(hash, "ascii"))
        name = hash.split(b"$", 2)[1:2]
        if not hash.startswith(b"$") or name not in ([b"argon2id"], [b"argon2i"], [b"argon2d"]):
            raise InvalidHashError("not an Argon2 hash")
        type = {b"argon2id": Type.ID, b"argon2i": Type.I, b"argon2d": Type.D}[name[0]]
        memory, passes = self.memory_cost, self.time_cost
        return verify_secret(
            hash,
            _bytes(password, self.encoding),
            type,
            pepper=self._pepper,
            memory=self._memory,
            limits=(max(memory, _MOST_KIB), max(memory * passes, _MOST_WORK_KIB)),
            progress=progress,
        )

    async def hash_async(
        self, password: str | Buffer, *, salt: bytes | None = None, progress: Progress | None = None
    ) -> str:
        """`hash` on another thread, on which `progress` is called: the event loop goes on.

        A task that is cancelled stops its hash, which takes about a tenth of a second; while it
        waits for a thread, it ends at once. The threads are those of `sealstone.aio`.
        """
        return await coroutine(self.hash)(password, salt=salt, progress=progress)

    async def verify_async(
        self, hash: str | bytes, password: str | Buffer, *, progress: Progress | None = None
    ) -> Literal[True]:
        """`verify` on another thread, on which `progress` is called: the event loop goes on.

        A task that is cancelled stops its hash, which takes about a tenth of a second; while it
        waits for a thread, it ends at once. The threads are those of `sealstone.aio`.
        """
        return await coroutine(self.verify)(hash, password, progress=progress)

    def check_needs_rehash(self, hash: str | bytes) -> bool:
        """Whether `hash` has other parameters than this hasher.

        Ask after each login that succeeds, the only time when the password is at hand.
        """
        return self._parameters != extract_parameters(hash.decode("ascii") if isinstance(hash, bytes) else hash)

    def __repr__(self) -> str:
        pepper = ", pepper=..." if self._pepper else ""
        return (
            f"PasswordHasher(time_cost={self.time_cost}, memory_cost={self.memory_cost}, "
            f"parallelism={self.parallelism}, type={self.type}{pepper})"
        )

    def __reduce__(self) -> tuple[object, ...]:
        if self._pepper or self._memory is not MEMORY:
            raise TypeError("a PasswordHasher with a pepper or memory of its own cannot be pickled")
        arguments = (
            self.time_cost,
            self.memory_cost,
            self.parallelism,
            self.hash_len,
            self.salt_len,
            self.encoding,
            self.type,
        )
        return PasswordHasher, arguments


def _salt(length: int) -> bytes:
    if not 8 <= length < 1 << 32:
        raise HashingError("a salt has 8 to 4294967295 bytes")
    return os.urandom(length)


def _bytes(text: str | Buffer, encoding: str) -> Buffer:
    return text.encode(encoding) if isinstance(text, str) else text


def _check_types(**values: tuple[object, "type[object]"]) -> None:
    """Raises `TypeError` that names every value of another type, in argon2-cffi's words."""
    errors = [
        f"'{name}' must be a {wanted.__name__} (got {type(value).__name__})"
        for name, (value, wanted) in values.items()
        if not isinstance(value, wanted)
    ]
    if errors:
        raise TypeError(", ".join(errors) + ".")
