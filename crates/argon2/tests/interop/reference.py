#!/usr/bin/env python3
"""Compares with the reference implementation (argon2-cffi), secret and associated data included.

    cargo run --release -p sealstone-argon2 --example differential -- 20000 1 --print | reference.py
"""

import sys

from argon2.low_level import Type, core, ffi


def tag(variant, version, memory, passes, lanes, length, password, salt, secret, data):
    out = ffi.new("uint8_t[]", length)
    strings = [ffi.new("uint8_t[]", s) if s else ffi.NULL for s in (password, salt, secret, data)]
    context = ffi.new(
        "argon2_context *",
        {
            "out": out, "outlen": length,
            "pwd": strings[0], "pwdlen": len(password),
            "salt": strings[1], "saltlen": len(salt),
            "secret": strings[2], "secretlen": len(secret),
            "ad": strings[3], "adlen": len(data),
            "t_cost": passes, "m_cost": memory, "lanes": lanes, "threads": 1,
            "version": version, "allocate_cbk": ffi.NULL, "free_cbk": ffi.NULL, "flags": 0,
        },
    )
    code = core(context, Type(variant).value)
    if code:
        raise SystemExit(f"argon2-cffi: error {code}")
    return bytes(ffi.buffer(out))


def main():
    count = 0
    for line in sys.stdin:
        fields = line.split()
        strings = [bytes.fromhex(field[1:-1]) for field in fields[5:]]
        if tag(*map(int, fields[:5]), len(strings[4]), *strings[:4]) != strings[4]:
            raise SystemExit(f"argon2-cffi disagrees: {line}")
        count += 1
    print(f"{count} cases, 0 disagreements with argon2-cffi")
    return 0 if count else 1


if __name__ == "__main__":
    sys.exit(main())
