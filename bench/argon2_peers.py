#!/usr/bin/env python3
"""One Argon2id hash by a peer that is reached from Python, for bench/argon2.py: nanoseconds of the
call, and the hash.

phc is the reference implementation, built by scripts/setup for this processor; phc-huge is the same
with memory on huge pages, which it lets its caller get. Its own wiping is on for both, as it is by
default.

usage: argon2_peers.py phc|phc-huge|argon2-cffi|pynacl MEMORY-KIB PASSES LANES THREADS
"""

import ctypes
import sys
import time
from pathlib import Path

PASSWORD, SALT = b"password", b"somesaltsomesalt"
HUGE = 2 << 20


def main():
    who, *numbers = sys.argv[1:]
    memory, passes, lanes, threads = map(int, numbers)
    call = {"phc": phc, "phc-huge": phc_huge, "argon2-cffi": argon2_cffi, "pynacl": pynacl}[who](
        memory, passes, lanes, threads
    )
    start = time.perf_counter_ns()
    tag = call()
    print(time.perf_counter_ns() - start, bytes(tag).hex())


def argon2_cffi(memory, passes, lanes, threads):
    from argon2.low_level import Type, hash_secret_raw

    return lambda: hash_secret_raw(
        PASSWORD,
        SALT,
        time_cost=passes,
        memory_cost=memory,
        parallelism=lanes,
        hash_len=32,
        type=Type.ID,
    )


def pynacl(memory, passes, lanes, threads):
    from nacl.bindings import crypto_pwhash_ALG_ARGON2ID13, crypto_pwhash_alg

    return lambda: crypto_pwhash_alg(
        32, PASSWORD, SALT, passes, memory * 1024, crypto_pwhash_ALG_ARGON2ID13
    )


ALLOCATE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_void_p), ctypes.c_size_t)
FREE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t)


class Context(ctypes.Structure):
    """argon2_context of argon2.h."""

    _fields_ = [
        ("out", ctypes.c_char_p), ("outlen", ctypes.c_uint32),
        ("pwd", ctypes.c_char_p), ("pwdlen", ctypes.c_uint32),
        ("salt", ctypes.c_char_p), ("saltlen", ctypes.c_uint32),
        ("secret", ctypes.c_char_p), ("secretlen", ctypes.c_uint32),
        ("ad", ctypes.c_char_p), ("adlen", ctypes.c_uint32),
        ("t_cost", ctypes.c_uint32), ("m_cost", ctypes.c_uint32),
        ("lanes", ctypes.c_uint32), ("threads", ctypes.c_uint32),
        ("version", ctypes.c_uint32), ("allocate_cbk", ALLOCATE), ("free_cbk", FREE),
        ("flags", ctypes.c_uint32),
    ]  # fmt: skip


def phc(memory, passes, lanes, threads, allocate=None, free=None):
    library = ctypes.CDLL(str(Path(sys.prefix) / "lib" / "libargon2.so"))
    out = ctypes.create_string_buffer(32)
    context = Context(
        ctypes.cast(out, ctypes.c_char_p), 32, PASSWORD, len(PASSWORD), SALT, len(SALT),
        None, 0, None, 0,
        passes, memory, lanes, min(threads, lanes), 0x13, allocate or ALLOCATE(), free or FREE(), 0,
    )  # fmt: skip

    def call():
        if library.argon2id_ctx(ctypes.byref(context)) != 0:
            sys.exit("libargon2: error")
        return out.raw

    return call


def phc_huge(memory, passes, lanes, threads):
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [
        ctypes.c_void_p,
        ctypes.c_size_t,
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_long,
    ]
    libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    mapping = []

    @ALLOCATE
    def allocate(place, size):
        read_write, private_anonymous, huge_pages = 3, 0x22, 14
        start = libc.mmap(None, size + HUGE, read_write, private_anonymous, -1, 0)
        mapping.append((start, size + HUGE))
        aligned = (start + HUGE - 1) // HUGE * HUGE
        libc.madvise(aligned, size, huge_pages)
        place[0] = aligned
        return 0

    @FREE
    def free(_place, _size):
        libc.munmap(*mapping.pop())

    return phc(memory, passes, lanes, threads, allocate, free)


if __name__ == "__main__":
    main()
