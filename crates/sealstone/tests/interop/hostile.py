"""A writer that breaks one rule of spec/file.md at a time and is otherwise correct.

HOSTILE is a list of pairs: the broken rule, and a function of sender and recipient that makes the
file. Keys, MACs and tags fit. Entries that begin with "right" must open: they test this writer.
"""

from types import SimpleNamespace

import tree
from file import CHUNK, CONTENT, MAGIC, Chunks, FileKeys, Hedge, Recipient, Sealer, u64, xseal
from passport import mac, sha3
from wire import armor, encode, pad


class Forger(Sealer):
    """Seals content in parts that can be replaced by setting an attribute."""

    header_map = None  # function of the header's map
    encoded = None  # function of the encoded header
    prefix = None  # function of version, suite and zero byte
    private_map = None  # function of the private part's map
    private_padded = None  # function of the padded private part
    plains = None  # plaintexts of the chunks, padding included
    lengths = None  # function of payload and content length
    signed_message = None  # function of what is signed
    signatures = None  # function of the signatures
    stanza_bytes = None  # function of a stanza
    after = b""

    def seal(self, content):
        change = lambda function, value: function(value) if function else value
        hedge = Hedge(self.random(32), self.sender, self.time_ns())
        file = FileKeys(hedge.file_key)
        stanzas = [
            change(self.stanza_bytes, self.stanza(one, hedge, i)) for i, one in enumerate(self.recipients)
        ]
        header = change(self.header_map, {0: stanzas, 1: self.private_part(file.private, change)})
        header = change(self.encoded, encode(header))
        head = MAGIC + change(self.prefix, bytes([1, self.suite, 0])) + len(header).to_bytes(4, "big") + header
        head += mac(file.header_mac, head)
        file.bind(head)
        chunks = Chunks(self.suite, file.payload)
        plains = self.plains or [pad(content, len(content) + 1)]
        last = len(plains) - 1
        payload = b"".join(chunks.seal(i, i == last, plain) for i, plain in enumerate(plains))
        lengths = b"".join(map(u64, change(self.lengths, (len(payload), len(content)))))
        message = change(self.signed_message, file.h + lengths + tree.tree_hash(payload))
        signatures = self.sender.sign(message) if self.sender else b""
        trailer = xseal(file.trailer, lengths + change(self.signatures, signatures))
        return head + payload + trailer + self.after

    def private_part(self, key, change):
        sender = {0: self.sender.carried()} if self.sender else {}
        private = change(self.private_map, sender)
        encoded = private if isinstance(private, bytes) else encode(private)
        padded = pad(encoded, (len(encoded) // 64 + 1) * 64)
        return xseal(key, change(self.private_padded, padded))


def forge(what, signed=False, content=b"content", **changes):
    def seal(alice, bob):
        forger = Forger([Recipient(passport=bob)], sender=alice if signed else None)
        for name, value in changes.items():
            setattr(forger, name, value)
        return forger.seal(content)

    return what, seal


def uniform(what, place):
    return forge(what, private_map=lambda _: {4: 1}, signatures=lambda _: place)


def private(what, fields):
    return forge(what, private_map=lambda _: fields)


def carried(what, change):
    """The sender's own body, changed: `change` may alter the map or give other bytes."""

    def seal(alice, bob):
        forger = Forger([Recipient(passport=bob)], sender=alice)
        body = dict(enumerate([1, *alice.keys[:4], sha3(alice.keys[4]), alice.label, alice.created]))
        forger.private_map = lambda _: {0: encode(change(body, alice))}
        return forger.seal(b"content")

    return what, seal


def stanza(what, change):
    return forge(what, stanza_bytes=change)


def replaced(index, value):
    return lambda values: [*values[:index], value, *values[index + 1 :]]


def altered(index):
    return lambda values: replaced(index, bytes([values[index][0] ^ 1]) + values[index][1:])(values)


def other_stanza(forger, recipient):
    """A stanza with a file key of its own."""
    return forger.stanza(recipient, Hedge(forger.random(32), None, forger.time_ns()), 0)


def two_keys(alice, bob):
    """Two stanzas for one recipient with different file keys; the header MAC fits the second."""
    forger = Forger([Recipient(passport=bob, anonymous=True)])
    other = other_stanza(forger, forger.recipients[0])
    forger.header_map = lambda header: {**header, 0: [other, *header[0]]}
    return forger.seal(b"content")


def stolen_stanza(alice, bob):
    """A stanza that names Bob but is sealed to Alice, before one that is Bob's."""
    forger = Forger([Recipient(passport=bob)])
    other = other_stanza(forger, Recipient(passport=alice))
    forger.header_map = lambda header: {**header, 0: [replaced(1, bob.fingerprint)(other), *header[0]]}
    return forger.seal(b"content")


def zero_key_first(alice, bob):
    """An anonymous stanza with an all-zero ephemeral key, for whomever, before Bob's."""
    forger = Forger([Recipient(passport=bob)])
    other = other_stanza(forger, Recipient(passport=alice, anonymous=True))
    forger.header_map = lambda header: {**header, 0: [replaced(2, bytes(32))(other), *header[0]]}
    return forger.seal(b"content")


def borrowed_keys(alice, bob):
    """An anonymous stanza for another passport that contains Bob's X25519 and ML-KEM keys."""
    thief = SimpleNamespace(keys=bob.keys, fingerprint=alice.fingerprint)
    return Forger([Recipient(passport=thief, anonymous=True)]).seal(b"content")


def badly_armored(change):
    def seal(alice, bob):
        return change(armor(Forger([Recipient(passport=bob)]).seal(b"content"), "FILE"))

    return seal


def quoted(text):
    return b"".join(b"> " + line + b"\n" for line in text.splitlines())


FULL = pad(b"x" * CONTENT, CHUNK - 16)

HOSTILE = [
    forge("right: unsigned"),
    forge("right: signed", True),
    forge("right: two chunks, the second only padding", content=b"x" * CONTENT, plains=[FULL, pad(b"", 9)]),
    ("right: armored with CRLF", badly_armored(lambda text: b" \n" + text.replace(b"\n", b"\r\n") + b"\n\n")),
    carried("right: a carried passport", lambda body, _: body),
    private("right: note of two lines", {3: "a\n\tb"}),
    ("right: an anonymous stanza with an all-zero ephemeral key before ours", zero_key_first),
    # Prefix and header.
    forge("version 2", prefix=lambda _: b"\2\1\0"),
    forge("suite 3", prefix=lambda _: b"\1\3\0"),
    forge("the zero byte of the prefix is 1", prefix=lambda _: b"\1\1\1"),
    forge("header CBOR with a byte after it", encoded=lambda header: header + b"\0"),
    forge("header CBOR of indefinite length", encoded=lambda header: b"\xbf" + header[1:] + b"\xff"),
    forge("header CBOR with a long integer", encoded=lambda header: header[:1] + b"\x18\0" + header[2:]),
    forge("header with an unknown field", header_map=lambda header: {**header, 2: b""}),
    forge("header without a private part", header_map=lambda header: {0: header[0]}),
    forge("header without stanzas", header_map=lambda header: {**header, 0: []}),
    forge("1025 stanzas", header_map=lambda header: {**header, 0: header[0] * 1025}),
    forge("private part of 16 bytes", header_map=lambda header: {**header, 1: bytes(16)}),
    forge("private part of 65537 bytes", header_map=lambda header: {**header, 1: bytes(65537)}),
    stanza("unknown kind of stanza", lambda stanza: replaced(0, 3)(stanza)),
    stanza("stanza with a field more", lambda stanza: [*stanza, 0]),
    stanza("stanza with a recipient of 31 bytes", lambda stanza: replaced(1, stanza[1][:31])(stanza)),
    stanza("stanza with an all-zero ephemeral key", replaced(2, bytes(32))),
    stanza("stanza with another ciphertext", altered(3)),
    stanza("stanza with another wrapped key", altered(4)),
    ("a stanza that unwraps to a key of another header MAC", two_keys),
    ("a stanza that names the reader and is not for him", stolen_stanza),
    ("an anonymous stanza for another passport with the same keys", borrowed_keys),
    # Private part.
    private("private part with an unknown field", {6: 0}),
    private("private part not deterministic", b"\xa1\x18\x02\x00"),
    private("empty name", {1: ""}),
    private("name of 256 bytes", {1: "n" * 256}),
    private("name with a slash", {1: "a/b"}),
    private("name ..", {1: ".."}),
    private("name .", {1: "."}),
    private("name with NUL", {1: "a\0b"}),
    private("name with an escape", {1: "a\x1b[31m"}),
    private("name with a C1 control", {1: "a\x9b31m"}),
    private("name with a bidirectional override", {1: "a\u202egpj.exe"}),
    private("name with a bidirectional isolate", {1: "a\u2066b"}),
    private("name of bytes", {1: b"name"}),
    private("time as text", {2: "0"}),
    private("empty note", {3: ""}),
    private("note of 4097 bytes", {3: "n" * 4097}),
    private("note with a carriage return", {3: "a\rb"}),
    forge("private part without padding", private_padded=lambda padded: padded.rstrip(b"\0")[:-1]),
    forge("private part that ends in 2", private_padded=lambda padded: padded[:-1] + b"\2"),
    forge("private part not in steps of 64", private_padded=lambda padded: padded + bytes(3)),
    # Uniform files.
    uniform("right: uniform", bytes(4691)),
    uniform("uniform with a 1 in the place of the signatures", bytes(4690) + b"\1"),
    uniform("uniform with a short trailer", b""),
    uniform("uniform with a longer trailer", bytes(4692)),
    forge("right: uniform and signed", True, private_map=lambda private: {**private, 4: 1}),
    private("field 4 is 0", {4: 0}),
    private("field 4 is 2", {4: 2}),
    private("right: a directory", {5: 1}),
    private("field 5 is 0", {5: 0}),
    private("field 5 is 2", {5: 2}),
    forge("long trailer in a file that is not uniform", signatures=lambda _: bytes(4691)),
    forge("right: private part with more padding than needed", private_padded=lambda padded: padded + bytes(64)),
    # Sender.
    private("unsigned, but with a sender", {0: bytes(32)}),
    forge("signed, but without a sender", True, private_map=lambda _: {}),
    forge("sender of 31 bytes", True, private_map=lambda _: {0: bytes(31)}),
    forge("sender is empty", True, private_map=lambda _: {0: b""}),
    carried("carried passport with the ML-DSA-65 key", lambda body, alice: {**body, 5: alice.keys[4]}),
    carried("carried passport of version 2", lambda body, _: {**body, 0: 2}),
    carried("carried passport without label", lambda body, _: {**body, 6: ""}),
    carried("carried passport with an escape in its label", lambda body, _: {**body, 6: "\x1b"}),
    carried(
        "carried passport with a succession",
        lambda body, _: {**body, 8: [bytes(32), 0, bytes(64), bytes(4627)]},
    ),
    carried("carried passport with an ML-KEM key out of range", lambda body, _: {**body, 2: b"\xff" * 1568}),
    carried("carried passport of other keys", lambda body, _: {**body, 3: bytes(32)}),
    # Payload and trailer.
    forge("chunk without padding", plains=[bytes(8)]),
    forge("empty plaintext of a chunk", plains=[b""]),
    forge("chunk that ends in 2", plains=[b"content\2"]),
    forge("a first chunk that is short", plains=[pad(b"content", 8), pad(b"", 8)]),
    forge("content after a short content", content=b"ab", plains=[pad(b"a", CHUNK - 16), pad(b"b", 2)]),
    forge("wrong payload length", lengths=lambda lengths: (lengths[0] + 1, lengths[1])),
    forge("wrong content length", lengths=lambda lengths: (lengths[0], lengths[1] + 1)),
    forge("signature over another root", True, signed_message=lambda message: message[:-64] + bytes(64)),
    forge("signature over another header", True, signed_message=lambda message: bytes(64) + message[64:]),
    forge("Ed25519 signature altered", True, signatures=lambda pair: bytes([pair[0] ^ 1]) + pair[1:]),
    forge("ML-DSA-87 signature altered", True, signatures=lambda pair: pair[:-100] + bytes(100)),
    forge("Ed25519 signature twice", True, signatures=lambda pair: pair[:64] * 2 + pair[128:]),
    forge("a byte after the trailer", after=b"\0"),
    # Armor.
    ("armor of another label", badly_armored(lambda text: text.replace(b"FILE", b"PUBLIC PASSPORT"))),
    ("right: armor behind a greeting", badly_armored(lambda text: b"Hello Bob,\n\n" + text)),
    ("right: armor before a signature", badly_armored(lambda text: text + b"\n-- \nAlice\n")),
    ("right: armor behind a byte order mark", badly_armored(lambda text: b"\xef\xbb\xbf" + text)),
    ("right: quoted armor", badly_armored(lambda text: b"Bob wrote:\n" + quoted(text))),
    ("right: armor quoted twice", badly_armored(lambda text: quoted(quoted(text)))),
    ("right: quoted armor with CRLF", badly_armored(lambda text: quoted(text).replace(b"\n", b"\r\n"))),
    ("armor behind 70,000 bytes of text", badly_armored(lambda text: b"hello, world\n" * 6000 + text)),
    ("armor before 70,000 bytes of text", badly_armored(lambda text: text + b"hello, world\n" * 6000)),
    ("armor twice", badly_armored(lambda text: text + text)),
    ("armor with text behind its BEGIN", badly_armored(lambda text: text.replace(b"\n", b" hello\n", 1))),
    ("armor with long lines", badly_armored(lambda text: text.replace(b"\n", b"", 3).replace(b"-----", b"-----\n", 2))),
    ("armor with a blank line", badly_armored(lambda text: text.replace(b"\n", b"\n\n", 2))),
    ("armor without its last line", badly_armored(lambda text: text[: text.rindex(b"-----END")])),
    ("right: armor without its last line ending", badly_armored(lambda text: text[:-1])),
    ("armor with a space after the first line", badly_armored(lambda text: text.replace(b"\n", b" \n", 1))),
    ("armor with a space at the end of a line of base64", badly_armored(lambda text: text[:-200] + text[-200:].replace(b"\n", b" \n", 1))),
]
