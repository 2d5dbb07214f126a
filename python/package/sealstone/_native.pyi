"""The extension module: what the public modules are built on.

It converts and computes, and decides nothing. Every long call gives up Python's lock.
"""

from collections.abc import Callable
from typing import Final, TypeAlias, final

from typing_extensions import Buffer

__all__ = ["Memory", "Pepper", "__version__", "argon2_calibrate", "argon2_hash", "argon2_verify"]

__version__: Final[str]

_Progress: TypeAlias = Callable[[int, int], object]

# Argon2.

# (type, version, time_cost, memory_cost, parallelism, salt, pepper, associated data)
_Argon2Task: TypeAlias = tuple[int, int, int, int, int, Buffer, Pepper | None, Buffer]

@final
class Pepper:
    def __new__(cls, secret: Buffer) -> Pepper: ...

@final
class Memory:
    def __new__(cls, at_once: int | None = None, keep_kib: int = 1048576) -> Memory: ...
    @property
    def at_once(self) -> int: ...
    @property
    def keep_kib(self) -> int: ...
    @property
    def kept_kib(self) -> int: ...
    def release(self) -> None: ...
    def _after_fork(self) -> None: ...

def argon2_hash(
    password: Buffer, task: _Argon2Task, hash_len: int, memory: Memory, progress: _Progress | None = None
) -> bytes: ...
def argon2_verify(
    password: Buffer, task: _Argon2Task, tag: Buffer, memory: Memory, limits: tuple[int, int] | None
) -> bool: ...
def argon2_calibrate(seconds: float, memory_cost: int, parallelism: int) -> tuple[int, int, float]: ...
