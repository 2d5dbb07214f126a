#!/usr/bin/env python3
"""A second reader of passports, written from spec/passport.md alone.

    passport.py example                               prints the page's worked example
    passport.py check ALICE.passport ALICE.pub WORDS  opens and verifies a pair of files
    passport.py succession OLD.pub NEW.pub            verifies that OLD signed NEW over

Shares no code with the crate: hashlib and hmac (SHA3), and from PyPI argon2-cffi, pynacl,
cryptography, cbor2, kyber-py, dilithium-py and mnemonic.
"""

import base64
import hashlib
import hmac
import sys
import textwrap

import cbor2
from argon2.low_level import Type, hash_secret_raw
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from dilithium_py.ml_dsa import ML_DSA_65, ML_DSA_87
from kyber_py.ml_kem import ML_KEM_1024
from mnemonic import Mnemonic
from nacl import bindings

SLOT = b"sealstone.slot.v1"
KEYS = {"x25519": 32, "ml-kem-1024": 64, "ed25519": 32, "ml-dsa-87": 32, "ml-dsa-65": 32, "file-mac": 32}
KEYS |= {"hedge": 32, "package-mac": 32}


def sha3(data):
    return hashlib.sha3_256(data).digest()


def mac(key, data):
    return hmac.digest(key, data, "sha3_256")


def expand(prk, info, length):
    out = block = b""
    for counter in range(1, length // 32 + 1):
        block = mac(prk, block + info + bytes([counter]))
        out += block
    return out


def derive(seed):
    prk = mac(b"sealstone.passport.v1", seed)
    return prk, {name: expand(prk, name.encode(), length) for name, length in KEYS.items()}


def public_keys(secrets):
    ml_kem = secrets["ml-kem-1024"]
    return [
        X25519PrivateKey.from_private_bytes(secrets["x25519"]).public_key().public_bytes_raw(),
        ML_KEM_1024._keygen_internal(ml_kem[:32], ml_kem[32:])[0],
        Ed25519PrivateKey.from_private_bytes(secrets["ed25519"]).public_key().public_bytes_raw(),
        ML_DSA_87.key_derive(secrets["ml-dsa-87"])[0],
        ML_DSA_65.key_derive(secrets["ml-dsa-65"])[0],
    ]


def fingerprint(keys):
    return sha3(b"sealstone.fingerprint.v1\0" + b"".join(map(sha3, keys)))


def verify(keys, domain, message, ed25519, ml_dsa_87):
    framed = domain + b"\0" + message
    Ed25519PublicKey.from_public_bytes(keys[2]).verify(ed25519, framed)
    assert ML_DSA_87.verify(keys[3], framed, ml_dsa_87, ctx=domain), "ML-DSA-87 signature"


def dearmor(path, label):
    begin, *lines, end = open(path, encoding="ascii").read().splitlines()
    assert (begin, end) == (f"-----BEGIN SEALSTONE {label}-----", f"-----END SEALSTONE {label}-----")
    return cbor2.loads(base64.b64decode("".join(lines), validate=True))


def slot_keys(slot, passphrase):
    """The result of Argon2id, the prk, the commitment and the kek of a slot."""
    m, t, p = slot[4]
    assert m >= 7168 and m * t >= 35840, "Argon2id minimum"
    stretched = hash_secret_raw(passphrase, slot[5], t, m, p, 32, Type.ID, 0x13)
    prk = mac(SLOT, stretched)
    return stretched, prk, expand(prk, b"commitment", 32), expand(prk, b"kek", 32)


def slot_context(body, slot):
    return cbor2.dumps([body[1], body[2], body[3], *(slot[i] for i in range(6))], canonical=True)


def wrap(body, slot, passphrase, seed):
    *_, slot[6], kek = slot_keys(slot, passphrase)
    associated = SLOT + b"\0" + slot_context(body, slot)
    slot[7] = bindings.crypto_aead_xchacha20poly1305_ietf_encrypt(seed, associated, bytes(24), kek)


def unwrap(body, slot, passphrase):
    *_, commitment, kek = slot_keys(slot, passphrase)
    assert hmac.compare_digest(commitment, slot[6]), "another passphrase"
    associated = SLOT + b"\0" + slot_context(body, slot)
    return bindings.crypto_aead_xchacha20poly1305_ietf_decrypt(slot[7], associated, bytes(24), kek)


def read_public(path):
    encoded, *signatures = dearmor(path, "PUBLIC PASSPORT")
    body = cbor2.loads(encoded)
    keys = [body[i] for i in range(1, 6)]
    verify(keys, b"sealstone.passport.v1", encoded, *signatures)
    return body, keys


def multiply(a, b):
    product = 0
    for bit in range(8):
        product ^= (a << bit) * (b >> bit & 1)
    for bit in range(14, 7, -1):
        product ^= (0x11B << bit - 8) * (product >> bit & 1)
    return product


def share(seed, name, x):
    """A share of 2 that are needed, with the coefficient of x and the set of the worked example."""
    coefficient, chosen_set = bytes(range(64, 96)), b"\x60\x61\x62\x63"
    y = bytes(s ^ multiply(c, x) for s, c in zip(seed, coefficient))
    content = bytes([1, 2, x]) + name[:8] + chosen_set + y
    digits = base64.b32encode(content + sha3(b"sealstone.share.v1\0" + content)[:4]).decode().rstrip("=")
    return "-".join(["SEALSTONE-SHARE"] + [digits[i : i + 8] for i in range(0, len(digits), 8)])


def example():
    seed = bytes(range(32))
    prk, secrets = derive(seed)
    keys = public_keys(secrets)
    slot = {0: 1, 1: 1, 2: "laptop", 3: 1767225601, 4: [7168, 5, 1], 5: bytes(range(32, 64))}
    body = {0: 1, 1: fingerprint(keys), 2: "Alice", 3: 1767225600, 4: [slot], 5: 2}
    words = b"correct horse battery staple"
    wrap(body, slot, words, seed)
    stretched, slot_prk, commitment, kek = slot_keys(slot, words)
    encoded = cbor2.dumps(body, canonical=True)
    tag = mac(secrets["file-mac"], encoded)
    rows = {"root seed": seed, "prk": prk}
    rows |= {f"Expand {name}": secret for name, secret in secrets.items()}
    rows |= {f"SHA3-256(k{i})": sha3(key) for i, key in enumerate(keys, 1)}
    rows |= {"fingerprint": body[1], "argon2id": stretched, "slot prk": slot_prk}
    rows |= {"commitment": commitment, "kek": kek, "context": slot_context(body, slot), "wrapped": slot[7]}
    rows |= {"MAC": tag, "file": cbor2.dumps([encoded, tag], canonical=True)}
    for name, value in rows.items():
        lines = textwrap.wrap(value.hex(), 96)
        print(f"{name:<18} =", ("\n" + " " * 21).join(lines))
    print("words:", Mnemonic("english").to_mnemonic(seed))
    print("share 1:", share(seed, body[1], 1))
    print("share 3:", share(seed, body[1], 3))


def check(secret_path, public_path, passphrase):
    encoded, tag = dearmor(secret_path, "SECRET PASSPORT")
    body = cbor2.loads(encoded)
    seed = unwrap(body, body[4][0], passphrase.encode())
    _, secrets = derive(seed)
    keys = public_keys(secrets)
    assert fingerprint(keys) == body[1], "fingerprint"
    assert mac(secrets["file-mac"], encoded) == tag, "file MAC"
    public, public_list = read_public(public_path)
    assert public_list == keys, "public keys"
    print(f"{public[6]} {body[1].hex()}: whole")


def succession(old_path, new_path):
    old, old_keys = read_public(old_path)
    new, new_keys = read_public(new_path)
    predecessor, time, *signatures = new[8]
    assert predecessor == fingerprint(old_keys), "predecessor"
    message = predecessor + fingerprint(new_keys) + time.to_bytes(8, "big")
    verify(old_keys, b"sealstone.succession.v1", message, *signatures)
    print(f"{old[6]} is succeeded by {new[6]}")


if __name__ == "__main__":
    commands = {"example": example, "check": check, "succession": succession}
    if len(sys.argv) < 2 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]](*sys.argv[2:])
