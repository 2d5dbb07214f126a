"""Puts `sealstone.argon2` in the place of argon2-cffi, for argon2-cffi's own tests.

A pytest plugin. It makes the parts of the C library that the tests use through cffi: the constants,
`argon2_context`, and `core`, which reads one and writes its output. It also makes the private names
of argon2-cffi that the tests import.
"""

import sys
from types import ModuleType
from typing import Any

import cffi  # type: ignore[import-untyped]

import sealstone.argon2
from sealstone.argon2 import low_level
from sealstone.argon2._hasher import _bytes, _check_types
from sealstone.argon2._parameters import Parameters

ffi = cffi.FFI()
ffi.cdef("""
    typedef struct {
        uint8_t *out; uint32_t outlen;
        uint8_t *pwd; uint32_t pwdlen;
        uint8_t *salt; uint32_t saltlen;
        uint8_t *secret; uint32_t secretlen;
        uint8_t *ad; uint32_t adlen;
        uint32_t t_cost, m_cost, lanes, threads, version;
        void *allocate_cbk, *free_cbk;
        uint32_t flags;
    } argon2_context;
""")


class lib:
    """The constants of argon2.h that the tests use."""

    ARGON2_MIN_PWD_LENGTH = 0
    ARGON2_MIN_TIME = 1
    ARGON2_MIN_LANES = 1
    ARGON2_MIN_OUTLEN = 4
    ARGON2_MIN_SALT_LENGTH = 8
    ARGON2_DEFAULT_FLAGS = 0


def core(context: Any, type: int) -> int:
    """`argon2_ctx`: the result goes to `context.out`."""
    tag = low_level.hash_secret_raw(
        bytes(ffi.buffer(context.pwd, context.pwdlen)),
        bytes(ffi.buffer(context.salt, context.saltlen)),
        context.t_cost,
        context.m_cost,
        context.lanes,
        context.outlen,
        low_level.Type(type),
        context.version,
    )
    ffi.memmove(context.out, tag, len(tag))
    return 0


def verify_secret(hash: bytes, secret: bytes, type: low_level.Type) -> bool:
    """`low_level.verify_secret`, whose TypeError has cffi's words."""
    try:
        return low_level.verify_secret(hash, secret, type)
    except TypeError as error:
        raise TypeError(f"initializer for ctype 'uint8_t[]' must be a bytes: {error}") from None


def check_types(**values: Any) -> str | None:
    """argon2-cffi returns the words, of several types for one value too."""
    single = {name: (value, types) for name, (value, types) in values.items() if not isinstance(types, tuple)}
    words = []
    for name, (value, types) in values.items():
        if isinstance(types, tuple) and not isinstance(value, types):
            names = ", or ".join(t.__name__ for t in types)
            words.append(f"'{name}' must be a {names} (got {type(value).__name__})")
    try:
        _check_types(**single)
    except TypeError as error:
        words.append(str(error).rstrip("."))
    return ", ".join(words) + "." if words else None


def _module(name: str, base: ModuleType | None = None, **names: Any) -> ModuleType:
    module = ModuleType(name)
    module.__dict__.update({**(base.__dict__ if base else {}), "__name__": name, **names})
    sys.modules[name] = module
    return module


_low_level = _module("argon2.low_level", low_level, ffi=ffi, lib=lib, core=core, verify_secret=verify_secret)
_module("argon2", sealstone.argon2, low_level=_low_level)
_module("argon2.exceptions", sealstone.argon2.exceptions)
_module("argon2.profiles", sealstone.argon2.profiles)
_module("argon2._password_hasher", _ensure_bytes=_bytes)
_module(
    "argon2._utils",
    NoneType=type(None),
    Parameters=Parameters,
    _check_types=check_types,
    _decoded_str_len=lambda length: length * 3 // 4,
)
