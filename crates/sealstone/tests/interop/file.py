#!/usr/bin/env python3
"""A second reader and writer of sealed files, written from spec/file.md alone.

    file.py open KEY FILE   opens a sealed file, prints its metadata and the content's SHA3-256
    file.py example         prints the numbers of the page's worked example

KEY is `passphrase:WORDS` or `passport:PATH:WORDS`, a secret passport with the passphrase of its
first slot.
Shares no code with the crate; see passport.py for the packages.
"""

import hashlib
import hmac
import os
import random
import sys
import textwrap
import time
import unicodedata
from dataclasses import dataclass
from types import SimpleNamespace

import passport
import tree
from argon2.low_level import Type, hash_secret_raw
from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from dilithium_py.ml_dsa import ML_DSA_87
from kyber_py.ml_kem import ML_KEM_1024
from nacl import bindings
from nacl.exceptions import CryptoError
from passport import expand, mac, sha3
from wire import Refused, armor, dearmor, decode, encode, fields, need, number, octets, pad, text, unpad

MAGIC = b"\x89SEAL\r\n\x1a\n"
DOMAIN = b"sealstone.file.v1"
STANZA = b"sealstone.stanza.v1"
PASSPHRASE = b"sealstone.passphrase.v1"
CHUNK = 1 << 20
CONTENT = CHUNK - 17
HEDGE = b"sealstone.hedge.v1"
SIGNATURES = 64 + 4627
TRAILER, SIGNED_TRAILER = 32, 32 + SIGNATURES
UNIFORM = 9216


class Passport:
    """A secret passport, from its root seed."""

    def __init__(self, seed, label, created):
        _, self.secrets = passport.derive(seed)
        self.keys = passport.public_keys(self.secrets)
        self.fingerprint = passport.fingerprint(self.keys)
        self.label, self.created = label, created

    def exchange(self, epk):
        return X25519PrivateKey.from_private_bytes(self.secrets["x25519"]).exchange(X25519PublicKey.from_public_bytes(epk))

    def decapsulate(self, ct):
        seed = self.secrets["ml-kem-1024"]
        return ML_KEM_1024.decaps(ML_KEM_1024._keygen_internal(seed[:32], seed[32:])[1], ct)

    def sign(self, message):
        framed = DOMAIN + b"\0" + message
        _, secret = ML_DSA_87.key_derive(self.secrets["ml-dsa-87"])
        ed25519 = Ed25519PrivateKey.from_private_bytes(self.secrets["ed25519"]).sign(framed)
        return ed25519 + ML_DSA_87.sign(secret, framed, ctx=DOMAIN)

    def carried(self):
        body = dict(enumerate([1, *self.keys[:4], sha3(self.keys[4]), self.label, self.created]))
        return encode(body)


@dataclass
class Recipient:
    """A passport, named or anonymous, or a passphrase with its Argon2id parameters."""

    passport: Passport = None
    anonymous: bool = False
    passphrase: str = None
    params: tuple = (7168, 5, 1)


# Primitives.


def xseal(key, plain):
    return bindings.crypto_aead_xchacha20poly1305_ietf_encrypt(plain, b"", bytes(24), key)


def xopen(key, sealed, what):
    try:
        return bindings.crypto_aead_xchacha20poly1305_ietf_decrypt(sealed, b"", bytes(24), key)
    except CryptoError:
        raise Refused(what) from None


def argon2id(passphrase, salt, m, t, p):
    normal = unicodedata.normalize("NFC", passphrase).encode()
    return hash_secret_raw(normal, salt, t, m, p, 32, Type.ID, 0x13)


def u32(value):
    return value.to_bytes(4, "big")


def u64(value):
    return value.to_bytes(8, "big")


# Keys.


def stanza_kek(ss_k, ss_x, ct, epk, recipient):
    rx, rk = recipient.keys[:2]
    return expand(mac(STANZA, ss_k + ss_x + ct + epk + rk + rx), b"kek" + recipient.fingerprint, 32)


def stretch(passphrase, salt, m, t, p):
    """The commitment and the kek of a passphrase stanza."""
    prk = mac(PASSPHRASE, argon2id(passphrase, salt, m, t, p))
    return expand(prk, b"commitment", 32), expand(prk, b"kek", 32)


class Hedge:
    """Everything random in a file, from fresh randomness, the sender's secret and the time."""

    def __init__(self, fresh, sender, time_ns):
        secret = sender.secrets["hedge"] if sender else bytes(32)
        seconds, nanoseconds = divmod(time_ns, 10**9)
        self.prk = mac(HEDGE, fresh + secret + u64(seconds) + u32(nanoseconds))
        self.file_key = expand(self.prk, b"file key", 32)

    def of_stanza(self, name, i):
        return expand(self.prk, name + u32(i), 32)


class FileKeys:
    def __init__(self, file_key):
        self.prk = mac(DOMAIN, file_key)
        self.header_mac = expand(self.prk, b"header-mac", 32)
        self.private = expand(self.prk, b"private", 32)

    def bind(self, head):
        """Takes in H, the digest of prefix, header and header MAC."""
        self.h = hashlib.sha3_512(head).digest()
        self.payload = expand(self.prk, b"payload" + self.h, 32)
        self.trailer = expand(self.prk, b"trailer" + self.h, 32)


class Chunks:
    def __init__(self, suite, key):
        self.suite, self.key = suite, key

    def nonce(self, i, last):
        return bytes(15 if self.suite == 1 else 3) + u64(i) + bytes([last])

    def seal(self, i, last, plain):
        if self.suite == 1:
            return bindings.crypto_aead_xchacha20poly1305_ietf_encrypt(plain, b"", self.nonce(i, last), self.key)
        return AESGCM(self.key).encrypt(self.nonce(i, last), plain, b"")

    def open(self, i, last, sealed):
        try:
            if self.suite == 1:
                return bindings.crypto_aead_xchacha20poly1305_ietf_decrypt(sealed, b"", self.nonce(i, last), self.key)
            return AESGCM(self.key).decrypt(self.nonce(i, last), sealed, b"")
        except (CryptoError, InvalidTag):
            raise Refused(f"chunk {i}") from None


# The reader.


def open_file(data, keys):
    """The content of a sealed file, opened with `keys`: passports and passphrases."""
    armored = not data.startswith(MAGIC[:1])
    data = dearmor(data, "FILE") if armored else data
    suite, header, tag, head, rest = parse(data)
    file = FileKeys(unwrap(header[0], keys))
    need(hmac.compare_digest(mac(file.header_mac, head[:-32]), tag), "header MAC")
    file.bind(head)
    private = read_private(xopen(file.private, header[1], "private part"))
    signed, uniform = 0 in private, 4 in private
    trailer_len = SIGNED_TRAILER if signed or uniform else TRAILER
    need(len(rest) >= trailer_len + 17, "cut short")
    payload, trailer = rest[:-trailer_len], rest[-trailer_len:]
    content = read_payload(Chunks(suite, file.payload), payload)
    opened = xopen(file.trailer, trailer, "trailer")
    need(opened[:16] == u64(len(payload)) + u64(len(content)), "lengths")
    sender = private.get(0)
    if signed:
        message = file.h + opened[:16] + tree.tree_hash(payload)
        sender = Sender(sender, message, opened[16:])
    else:
        need(not any(opened[16:]), "the place of the signatures")
    return SimpleNamespace(
        suite=suite,
        armored=armored,
        stanzas=header[0],
        sender=sender,
        name=private.get(1),
        modified=private.get(2),
        note=private.get(3),
        directory=5 in private,
        content=content,
        padded=uniform and len(payload) == sealed_len(padme(len(content))),
        payload_len=len(payload),
    )


def parse(data):
    need(len(data) >= 16 and data[:9] == MAGIC and data[9] == 1, "prefix")
    suite, zero, length = data[10], data[11], int.from_bytes(data[12:16], "big")
    need(suite in (1, 2) and zero == 0 and 1 <= length <= 4 << 20, "prefix")
    end = 16 + length
    need(len(data) >= end + 32, "cut short")
    header = fields(decode(data[16:end]), [0, 1])
    need(isinstance(header[0], list) and 1 <= len(header[0]) <= 1024, "stanzas")
    for stanza in header[0]:
        check_stanza(stanza)
    need(sum(stanza[0] == 2 for stanza in header[0]) <= 8, "passphrase stanzas")
    octets(header[1], *range(17, 65537))
    return suite, header, data[end : end + 32], data[: end + 32], data[end + 32 :]


def check_stanza(stanza):
    need(isinstance(stanza, list) and stanza, "stanza")
    if stanza[0] == 1:
        need(len(stanza) == 5, "stanza")
        for value, lengths in zip(stanza[1:], [(0, 32), (32,), (1568,), (48,)]):
            octets(value, *lengths)
    else:
        need(stanza[0] == 2 and len(stanza) == 7, "stanza")
        m, t, p = map(number, stanza[1:4])
        need(1 <= p <= 16 and 8 * p <= m <= 2 << 20 and t >= 1 and m * t <= 64 << 20, "Argon2id bounds")
        for value, length in zip(stanza[4:], (32, 32, 48)):
            octets(value, length)


def unwrap(stanzas, keys):
    """The file key. Named stanzas are tried first, then anonymous ones, then passphrases."""
    passports = [key for key in keys if isinstance(key, Passport)]
    passphrases = [key for key in keys if isinstance(key, str)]
    for stanza in sorted(stanzas, key=lambda stanza: (stanza[0], stanza[1] == b"")):
        candidates = passports if stanza[0] == 1 else passphrases
        for key in candidates:
            if stanza[0] == 1 and stanza[1] not in (b"", key.fingerprint):
                continue
            try:
                return xopen(kek_of(stanza, key), stanza[-1], "wrapped file key")
            except Refused:
                need(stanza[0] == 2 or stanza[1] == b"", "a stanza for this passport that does not unwrap")
    raise Refused("not a recipient")


def kek_of(stanza, key):
    if stanza[0] == 2:
        commitment, kek = stretch(key, stanza[4], *stanza[1:4])
        need(commitment == stanza[5], "another passphrase")
        return kek
    _, _, epk, ct, _ = stanza
    try:
        ss_x = key.exchange(epk)
    except ValueError:
        raise Refused("an all-zero X25519 result") from None
    return stanza_kek(key.decapsulate(ct), ss_x, ct, epk, key)


def read_private(padded):
    need(len(padded) % 64 == 0, "private part not in steps of 64")
    private = fields(decode(unpad(padded)), [], [0, 1, 2, 3, 4, 5])
    need(private.get(4, 1) == 1, "field 4")
    need(private.get(5, 1) == 1, "field 5")
    if 0 in private:
        need(isinstance(private[0], bytes), "sender")
    if 1 in private:
        name = text(private[1], 1, 255)
        need("/" not in name and "\0" not in name and name not in (".", ".."), "file name")
    if 2 in private:
        number(private[2])
    if 3 in private:
        text(private[3], 1, 4096, lines=True)
    return private


class Sender:
    """The sender's name, or the passport that was carried, and what it is said to have signed."""

    def __init__(self, field, message, signatures):
        self.message, self.signatures = message, signatures
        self.carried = len(field) != 32
        if self.carried:
            body = fields(decode(field), range(8))
            need(body[0] == 1, "version")
            self.keys = [octets(body[i], n) for i, n in enumerate([32, 1568, 32, 2592, 32], 1)]
            self.label, self.created = text(body[6], 1, 64), number(body[7])
            hashed = b"".join([*map(sha3, self.keys[:4]), self.keys[4]])
            self.fingerprint = sha3(b"sealstone.fingerprint.v1\0" + hashed)
            self.verify(self.keys)
        else:
            self.fingerprint = field

    def verify(self, keys):
        try:
            passport.verify(keys, DOMAIN, self.message, self.signatures[:64], self.signatures[64:])
        except (InvalidSignature, AssertionError):
            raise Refused("signature") from None

    def verify_as(self, sender):
        need(self.fingerprint == sender.fingerprint, "another sender")
        self.verify(sender.keys)


def read_payload(chunks, payload):
    count = -(-len(payload) // CHUNK)
    need(count <= 1 << 28, "too many chunks")
    content, ended = [], False
    for i in range(count):
        plain = unpad(chunks.open(i, i == count - 1, payload[i * CHUNK : (i + 1) * CHUNK]))
        need(not (ended and plain), "content after the end")
        ended = len(plain) < CONTENT
        content.append(plain)
    return b"".join(content)


# The writer.


@dataclass
class Sealer:
    recipients: list
    suite: int = 1
    sender: Passport = None
    carry: bool = True
    name: str = None
    modified: int = None
    note: str = None
    hide_length: bool = False
    armored: bool = False
    random: object = os.urandom
    time_ns: object = time.time_ns

    def seal(self, content):
        hedge = Hedge(self.random(32), self.sender, self.time_ns())
        file = FileKeys(hedge.file_key)
        stanzas = [self.stanza(recipient, hedge, i) for i, recipient in enumerate(self.recipients)]
        if any(recipient.anonymous for recipient in self.recipients):
            random.SystemRandom().shuffle(stanzas)
        header = encode({0: stanzas, 1: self.private(file.private)})
        head = MAGIC + bytes([1, self.suite, 0]) + len(header).to_bytes(4, "big") + header
        head += mac(file.header_mac, head)
        file.bind(head)
        payload = self.payload(Chunks(self.suite, file.payload), content)
        data = head + payload + self.trailer(file, payload, len(content))
        return armor(data, "FILE") if self.armored else data

    def stanza(self, recipient, hedge, i, ):
        if recipient.passport is None:
            salt = hedge.of_stanza(b"salt", i)
            commitment, kek = stretch(recipient.passphrase, salt, *recipient.params)
            return [2, *recipient.params, salt, commitment, xseal(kek, hedge.file_key)]
        rx, rk = recipient.passport.keys[:2]
        ephemeral = X25519PrivateKey.from_private_bytes(hedge.of_stanza(b"x25519", i))
        epk = ephemeral.public_key().public_bytes_raw()
        ss_x = ephemeral.exchange(X25519PublicKey.from_public_bytes(rx))
        ss_k, ct = ML_KEM_1024._encaps_internal(rk, hedge.of_stanza(b"ml-kem-1024", i))
        kek = stanza_kek(ss_k, ss_x, ct, epk, recipient.passport)
        name = b"" if recipient.anonymous else recipient.passport.fingerprint
        return [1, name, epk, ct, xseal(kek, hedge.file_key)]

    def private(self, key):
        sender = self.sender and (self.sender.carried() if self.carry else self.sender.fingerprint)
        values = enumerate([sender, self.name, self.modified, self.note, 1 if self.hide_length else None])
        encoded = encode({i: value for i, value in values if value is not None})
        return xseal(key, pad(encoded, UNIFORM if self.hide_length else (len(encoded) // 64 + 1) * 64))

    def payload(self, chunks, content):
        length = padme(len(content)) if self.hide_length else len(content)
        count = max(1, -(-length // CONTENT))
        sealed = []
        for i in range(count):
            last = i == count - 1
            plain = content[i * CONTENT : (i + 1) * CONTENT]
            sealed.append(chunks.seal(i, last, pad(plain, 1 + (length - i * CONTENT if last else CONTENT))))
        return b"".join(sealed)

    def trailer(self, file, payload, content_len):
        lengths = u64(len(payload)) + u64(content_len)
        signatures = bytes(SIGNATURES) if self.hide_length else b""
        if self.sender:
            signatures = self.sender.sign(file.h + lengths + tree.tree_hash(payload))
        return xseal(file.trailer, lengths + signatures)


def padme(length):
    length = max(length, 1024)
    exponent = length.bit_length() - 1
    step = 1 << exponent - exponent.bit_length()
    return -(-length // step) * step


def sealed_len(content_len):
    return content_len + 17 * max(1, -(-content_len // CONTENT))


# The commands.


def read_key(spelled):
    kind, _, rest = spelled.partition(":")
    if kind == "passphrase":
        return rest
    path, _, words = rest.partition(":")
    body = decode(decode(dearmor(open(path, "rb").read(), "SECRET PASSPORT"))[0])
    return Passport(passport.unwrap(body, body[4][0], words.encode()), body[2], body[3])


def show(spelled, path):
    file = open_file(open(path, "rb").read(), [read_key(spelled)])
    sender = file.sender
    print("suite:", file.suite)
    print("sender:", sender and f"{sender.fingerprint.hex()} ({'verified' if sender.carried else 'not carried'})")
    for name in ("name", "modified", "note"):
        print(f"{name}:", getattr(file, name))
    print("content:", len(file.content), "bytes, SHA3-256", sha3(file.content).hex())


EXAMPLE_TIME = 1767225600 * 10**9 + 5


def example_hedge(sender=None):
    return Hedge(bytes(range(32)), sender, EXAMPLE_TIME)


def example():
    for rows in (passphrase_example(), passport_example(), hedge_example()):
        print("```")
        for name, value in rows.items():
            lines = textwrap.wrap(value.hex(), 96)
            print(f"{name:<14} =", ("\n" + " " * 17).join(lines))
        print("```")


def passphrase_example():
    recipient = Recipient(passphrase="correct horse battery staple")
    sealer = Sealer([recipient], name="a.txt", modified=1767225600)
    sealer.random, sealer.time_ns = lambda n: bytes(range(n)), lambda: EXAMPLE_TIME
    data = sealer.seal(b"hello\n")
    suite, header, tag, head, rest = parse(data)
    hedge = example_hedge()
    file = FileKeys(hedge.file_key)
    file.bind(head)
    _, m, t, p, salt, commitment, wrapped = header[0][0]
    return {
        "hedge": hedge.prk,
        "file key": hedge.file_key,
        "salt": salt,
        "argon2id": argon2id(recipient.passphrase, salt, m, t, p),
        "commitment": commitment,
        "kek": stretch(recipient.passphrase, salt, m, t, p)[1],
        "wrapped": wrapped,
        "prk": file.prk,
        "header MAC key": file.header_mac,
        "header MAC": tag,
        "private key": file.private,
        "private": encode({1: sealer.name, 2: sealer.modified}),
        "H": file.h,
        "payload key": file.payload,
        "payload": rest[:-32],
        "trailer key": file.trailer,
        "trailer": rest[-32:],
        "file": data,
    }


def passport_example():
    alice = Passport(bytes(range(32)), "Alice", 1767225600)
    recipient = Recipient(passport=alice)
    hedge = example_hedge()
    _, _, epk, ct, wrapped = Sealer([]).stanza(recipient, hedge, 1)
    ss_k, ss_x = alice.decapsulate(ct), alice.exchange(epk)
    return {
        "rx": alice.keys[0],
        "SHA3-256(rk)": sha3(alice.keys[1]),
        "e": hedge.of_stanza(b"x25519", 1),
        "m": hedge.of_stanza(b"ml-kem-1024", 1),
        "epk": epk,
        "ct": ct,
        "ss_x": ss_x,
        "ss_k": ss_k,
        "prk": mac(STANZA, ss_k + ss_x + ct + epk + alice.keys[1] + alice.keys[0]),
        "kek": stanza_kek(ss_k, ss_x, ct, epk, alice),
        "wrapped": wrapped,
    }


def hedge_example():
    alice = Passport(bytes(range(32)), "Alice", 1767225600)
    hedge = example_hedge(alice)
    return {"s": alice.secrets["hedge"], "hedge": hedge.prk, "file key": hedge.file_key}


if __name__ == "__main__":
    commands = {"open": show, "example": example}
    if len(sys.argv) < 2 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]](*sys.argv[2:])
