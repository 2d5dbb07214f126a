#!/usr/bin/env python3
"""Keys of epochs from a root: a second implementation of spec/token.md, "Epochs".

usage: epoch.py ROOT_HEX TYPE FIRST LAST     prints one private key a line, in hexadecimal

TYPE is 0x0001 (P-384) or 0xff01 (P-256). Nothing here is in constant time: it is for tests.
"""

import hashlib
import hmac
import sys

LABEL = b"sealstone.token.epoch.v1"

# SP 800-186 sections 3.2.1.3 and 3.2.1.4: prime, order, generator; RFC 9497 section 4: L, hash.
CURVES = {
    0xFF01: dict(
        name=b"P256-SHA256", hash="sha256", block=64, wide=48, length=32,
        p=0xFFFFFFFF00000001000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFF,
        n=0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551,
        g=(
            0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
            0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
        ),
    ),
    0x0001: dict(
        name=b"P384-SHA384", hash="sha384", block=128, wide=72, length=48,
        p=2**384 - 2**128 - 2**96 + 2**32 - 1,
        n=0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFC7634D81F4372DDF581A0DB248B0A77AECEC196ACCC52973,
        g=(
            0xAA87CA22BE8B05378EB1C71EF320AD746E1D3B628BA79B9859F741E082542A385502F25DBF55296C3A545E3872760AB7,
            0x3617DE4A96262C6F5D9E98BF9292DC29F8F41DBD289A147CE9DA3113B5F0B8C00A60B1CE1D7E819D7A431D7C90EA0E5F,
        ),
    ),
}  # fmt: skip


def main():
    root, number, first, last = bytes.fromhex(sys.argv[1]), *(int(x, 0) for x in sys.argv[2:5])
    for epoch in range(first, last + 1):
        print(epoch_key(root, number, epoch).hex())


def epoch_key(root, number, epoch):
    curve = CURVES[number]
    prk = hmac.digest(LABEL, root, "sha3_256")
    for attempt in range(65536):
        info = b"seed" + number.to_bytes(2) + epoch.to_bytes(8) + attempt.to_bytes(2)
        # One block of HKDF's expansion is the 32 bytes that are needed.
        seed = hmac.digest(prk, info + b"\x01", "sha3_256")
        key = derive_key_pair(curve, seed, LABEL)
        truncated = hashlib.sha256(public_key(curve, key)).digest()[-1]
        if truncated % 8 == epoch % 8:
            return key.to_bytes(curve["length"])
    raise SystemExit("no attempt succeeded")


def derive_key_pair(curve, seed, info):
    """RFC 9497 section 3.2.1, in the verifiable mode."""
    dst = b"DeriveKeyPair" + b"OPRFV1-\x01-" + curve["name"]
    for counter in range(256):
        message = seed + len(info).to_bytes(2) + info + bytes([counter])
        key = int.from_bytes(expand_message_xmd(curve, message, dst, curve["wide"])) % curve["n"]
        if key:
            return key
    raise SystemExit("no key")


def expand_message_xmd(curve, message, dst, length):
    """RFC 9380 section 5.3.1."""
    digest = lambda data: hashlib.new(curve["hash"], data).digest()
    dst += bytes([len(dst)])
    first = digest(bytes(curve["block"]) + message + length.to_bytes(2) + b"\0" + dst)
    blocks = [digest(first + b"\x01" + dst)]
    while len(b"".join(blocks)) < length:
        mixed = bytes(a ^ b for a, b in zip(first, blocks[-1]))
        blocks.append(digest(mixed + bytes([len(blocks) + 1]) + dst))
    return b"".join(blocks)[:length]


def public_key(curve, key):
    x, y = multiply(curve, key)
    return bytes([2 + y % 2]) + x.to_bytes(curve["length"])


def multiply(curve, key):
    """The generator times the key, by doubling and adding."""
    total, power = None, curve["g"]
    while key:
        if key % 2:
            total = add(curve["p"], total, power)
        power, key = add(curve["p"], power, power), key // 2
    return total


def add(p, a, b):
    if a is None or b is None:
        return a or b
    if a == b:
        slope = (3 * a[0] * a[0] - 3) * pow(2 * a[1], -1, p)
    else:
        slope = (b[1] - a[1]) * pow(b[0] - a[0], -1, p)
    x = (slope * slope - a[0] - b[0]) % p
    return x, (slope * (a[0] - x) - a[1]) % p


if __name__ == "__main__":
    main()
