"""A maker of packages that breaks one rule of spec/package.md at a time and is otherwise correct.

HOSTILE is a list of `Forgery`: the broken rule, what a verifier must say, and how it is broken.
Digests, tags and signatures fit what was changed before them. A verifier names Alice, has key,
secret and directory, and says `good`, `format` (it does not read the package), `signers` (all
layers are good, but the signatures do not count), or which layers are bad. OpenSSL makes the
signatures: the second implementation takes a second for each of hundreds.
"""

import hashlib
from dataclasses import dataclass
from functools import cache

from cases import person
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.mldsa import MLDSA65PrivateKey
from file import u64
from package import BESIDE, DOMAIN, EMBEDDED, LINK, MAGIC, MIB, Derived, Maker, signer_of, tag
from passport import mac, sha3
from wire import decode, encode

NOON = 1767225600
KEY, SECRET = sha3(b"a shared key"), sha3(b"a shared secret")
POLICY = b'{"use":["research"]}'
FILES = {"data/a.bin": b"data", "latest": "data/a.bin"}
SIGNED = (("alice", 0), ("bob", 0), ("carol", 1))
BOTH = ["ed25519", "ml-dsa-65"]


@dataclass
class Forgery:
    what: str
    expected: object
    manifest: object = None  # changes the manifest's map
    encoded: object = None  # gives other bytes for the encoded manifest
    unsigned: object = None  # changes the package before it is signed
    signed: tuple = SIGNED  # who signs, in which role
    message: object = None  # gives another message to sign
    pair: object = None  # gives other signatures of a passport over a message
    package: object = None  # changes the signed package
    bundle: object = None  # changes the bundle's map
    data: object = None  # gives other bytes for the package
    files: object = None  # changes the files of the directory

    def make(self):
        package = base()
        manifest = decode(package.manifest_bytes)
        apply(self.manifest, manifest)
        package.manifest_bytes = replaced(self.encoded, encode(manifest))
        package.tag = tag(KEY, package.m)
        package.confirmation = Derived(SECRET, package.m, policy_digest(manifest)).confirmation
        apply(self.unsigned, package)
        for i, (name, role) in enumerate(self.signed):
            package.signatures.append([role, NOON + i, signer_of(person(name))])
            message = replaced(self.message, DOMAIN + b"\0" + package.message(i))
            package.signatures[i] += (self.pair or good_pair)(person(name), message)
        apply(self.package, package)
        bundle = package.bundle()
        apply(self.bundle, bundle)
        files = dict(FILES)
        apply(self.files, files)
        return replaced(self.data, MAGIC + encode(bundle)), files


def base():
    maker = Maker(
        [person("alice"), person("bob")],
        [
            ("data/a.bin", BESIDE, b"data", "application/octet-stream", NOON),
            ("hello.txt", EMBEDDED, b"hello\n", "text/plain", 0),
            ("latest", LINK, b"data/a.bin", "", 0),
            ("note", EMBEDDED, b"a note", "", 0),
        ],
        time=NOON,
        author="Alice",
        complete=True,
        policy=POLICY,
        metadata=b'{"version":"1"}',
    )
    return maker.make()


@cache
def signed_once(passport, framed, context):
    ed25519 = Ed25519PrivateKey.from_private_bytes(passport.secrets["ed25519"])
    ml_dsa = MLDSA65PrivateKey.from_seed_bytes(passport.secrets["ml-dsa-65"])
    return [ed25519.sign(framed), ml_dsa.sign(framed, context=context)]


def good_pair(passport, framed, context=DOMAIN):
    return list(signed_once(passport, framed, context))


def policy_digest(manifest):
    digest = manifest.get(9)
    return digest if isinstance(digest, bytes) and len(digest) == 32 else None


def apply(change, value):
    if change:
        change(value)


def replaced(change, value):
    return change(value) if change else value


def put(key, value):
    """A change that sets an element of a map or list, at the end of a path of keys."""
    *way, last = key if isinstance(key, tuple) else (key,)

    def change(target):
        for step in way:
            target = target[step]
        target[last] = value

    return change


def drop(key):
    return lambda target: target.pop(key)


def attribute(name, value):
    return lambda package: setattr(package, name, value)


def flipped(data, at=0):
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


def manifest(what, change, expected="format"):
    return Forgery(what, expected, manifest=change, signed=SIGNED[:1])


def field(what, key, value, expected="format"):
    return manifest(what, put(key, value), expected)


def entry(what, at, value):
    """Sets a field of the entry `note`, the last one."""
    return field(what, (8, 3, at), value)


def target(what, value, expected="format"):
    """Makes `note` beside `latest` another link."""
    link = ["note", LINK, len(value), value, "", 0]
    files = put("note", value.decode(errors="replace"))
    return Forgery(what, expected, manifest=put((8, 3), link), bundle=lambda b: b[6].pop(), files=files)


def paths(what, *names, expected="format"):
    """Entries of these names, beside the package; in order if that must be good."""
    names = sorted(names, key=str.encode) if expected == "good" else names
    entries = [[name, BESIDE, 4, sha3(b"data"), "", 0] for name in names]

    def files(found):
        found.clear()
        found.update({name: b"data" for name in names} if expected == "good" else {})

    return Forgery(what, expected, manifest=put(8, entries), bundle=put(6, []), files=files, signed=SIGNED[:1])


def metadata(what, text):
    return field(what, 10, text)


def signature(what, at, value):
    """Sets a field of Bob's signature."""
    return Forgery(what, "format", bundle=put((4, 1, *at), value))


def files(what, expected=("content",), **changes):
    names = {"a": "data/a.bin", "link": "latest", "hello": "hello.txt", "other": "other", "below": "data/b"}

    def change(found):
        for name, value in changes.items():
            found.pop(names[name], None)
            if value is not None:
                found[names[name]] = value

    return Forgery(what, expected if isinstance(expected, str) else list(expected), files=change)


def stamps(what, covers, expected="format", change=None):
    """Timestamps with these numbers of signatures."""

    def add(bundle):
        bundle[5] = [[count, b"0\0", sha3(b"0\0")] for count in covers]
        apply(change, bundle[5])

    return Forgery(what, expected, bundle=add)


def policy(what, text, expected=("content",)):
    """A policy whose digest fits."""
    expected = expected if isinstance(expected, str) else list(expected)
    return Forgery(what, expected, manifest=put(9, sha3(text)), bundle=put(1, text), signed=SIGNED[:1])


def other_context(context):
    """Signs as always, but ML-DSA-65 with another context string."""
    return lambda passport, framed: good_pair(passport, framed, context)


def malleable(package):
    """Adds the order of the group to the scalar of Alice's Ed25519 signature."""
    order = 2**252 + 27742317777372353535851937790883648493
    one = package.signatures[0]
    scalar = int.from_bytes(one[3][32:], "little") + order
    one[3] = one[3][:32] + scalar.to_bytes(32, "little")


def borrowed(package):
    """Alice's signing keys under another X25519 key: a fingerprint that she did not sign."""
    package.signatures[2][2] = [bytes(32), *signer_of(person("alice"))[1:]]


def swap(index, a, b):
    def change(bundle):
        bundle[index][a], bundle[index][b] = bundle[index][b], bundle[index][a]

    return change


def twice(index, at):
    return lambda bundle: bundle[index].append(bundle[index][at])


def exchange(bundle):
    one, other = bundle[4]
    one[3:], other[3:] = other[3:], one[3:]


def altered(what, expected, signature, part):
    """A bit of a signature is other."""

    def change(package):
        one = package.signatures[signature]
        one[part] = flipped(one[part])

    return Forgery(what, expected, package=change)


def other_manifest(package):
    """Another manifest, with the tag and the confirmation that fit it."""
    package.manifest_bytes = encode({**decode(package.manifest_bytes), 5: "Mallory"})
    package.tag = tag(KEY, package.m)
    package.confirmation = confirmation(SECRET, POLICY)(package)


def confirmation(secret, of_policy):
    return lambda package: Derived(secret, package.m, of_policy and sha3(of_policy)).confirmation


def computed(name, function):
    """A change that sets an attribute of a package to what follows from the package."""
    return lambda package: setattr(package, name, function(package))


def old_tag(package):
    return mac(KEY, b"sealstone.package.hmac.v1\0" + package.m)


def over_head_without_flags(message):
    at = len(DOMAIN) + 1 + 1 + 8 + 32
    return message[:at] + message[at + 1 :]


def at_time(framed):
    at = len(DOMAIN) + 2
    return framed[:at] + u64(7) + framed[at + 8 :]


def prior(framed):
    """Counter-signatures that cover nothing before them."""
    role = framed[len(DOMAIN) + 1]
    return framed[:-64] + bytes(64) if role else framed


def prior_of_own(framed):
    """Signatures of signers that cover something before them."""
    role = framed[len(DOMAIN) + 1]
    return framed if role else framed[:-64] + hashlib.sha3_512(b"\x80").digest()


SHORT = [bytes(32)] * 4 + [bytes(1951)]
RIGHT = [
    Forgery("right: nothing", "good"),
    Forgery("right: a co-signature less than there could be", "good", signed=(("alice", 0), ("carol", 1))),
    Forgery("right: no counter-signature", "good", signed=SIGNED[:2]),
    Forgery("right: both have to sign", "good", manifest=put(2, 2)),
    field("right: layers required that are there", 3, [2, 5], "good"),
    field("right: an author with spaces and quotes", 5, ' "A" ', "good"),
    stamps("right: timestamps, and no roots", [1, 3, 3], "good"),
    files("right: an embedded file is in the directory too", "good", hello=b"hello\n"),
    paths("right: names like dots", "..a", "...", "a.", ".a/..b", "c/-/d", expected="good"),
    paths("right: names of 255 bytes", "n" * 255, "Ä" * 127, expected="good"),
    paths("right: names that do not clash", "a", "a b/x", "a!", "ab", "ı", "ø", expected="good"),
    policy("right: a policy of numbers", b"[-1.5e-7,0.000001,1e-27,5e-324,333333333.3333333]", "good"),
    field("right: metadata with a number at the limit", 10, '{"n":9007199254740991}', "good"),
    field("right: metadata of 64 levels", 10, '{"a":' + "[" * 63 + "]" * 63 + "}", "good"),
    target("right: a link to anywhere", b"../../etc/\xc3\xa4 b", "good"),
    field("right: a media type of all characters", (8, 3, 4), "a!#$&-^_.+9/" + "x" * 127, "good"),
]
ENCODING = [
    Forgery("version 2", "format", data=lambda data: data[:9] + b"\2" + data[10:]),
    Forgery("version 0", "format", data=lambda data: data[:9] + b"\0" + data[10:]),
    Forgery("the magic of sealed files", "format", data=lambda data: data[:1] + b"SEAL" + data[5:]),
    Forgery("line endings converted", "format", data=lambda data: data.replace(b"\r\n", b"\n", 1)),
    Forgery("a byte after the package", "format", data=lambda data: data + b"\0"),
    Forgery("cut by a byte", "format", data=lambda data: data[:-1]),
    Forgery("bundle of indefinite length", "format", data=lambda data: data[:10] + b"\xbf" + data[11:] + b"\xff"),
    Forgery("bundle with a long key", "format", data=lambda data: data[:11] + b"\x18\0" + data[12:]),
    Forgery("bundle with an unknown field", "format", bundle=put(7, b"")),
    Forgery("bundle without a manifest", "format", bundle=drop(0)),
    Forgery("bundle without timestamps", "format", bundle=drop(5)),
    Forgery("bundle without embedded content", "format", bundle=drop(6)),
    Forgery("manifest that is a map, not bytes", "format", bundle=lambda b: b.update({0: decode(b[0])})),
    Forgery("tag of 31 bytes", "format", bundle=put(2, bytes(31))),
    Forgery("tag of text", "format", bundle=put(2, "t" * 32)),
    Forgery("confirmation of 33 bytes", "format", bundle=put(3, bytes(33))),
    Forgery("empty policy", "format", bundle=put(1, b"")),
    Forgery("policy of 1 MiB and a byte", "format", bundle=put(1, b'"' + b"p" * (MIB - 1) + b'"')),
    Forgery("manifest with a byte after it", "format", encoded=lambda data: data + b"\0"),
    Forgery("manifest with a long integer", "format", encoded=lambda data: data[:1] + b"\x18\0" + data[2:]),
    Forgery("manifest of indefinite length", "format", encoded=lambda data: b"\xbf" + data[1:] + b"\xff"),
    Forgery("manifest with a tag of CBOR", "format", encoded=lambda data: b"\xc1" + data),
    Forgery("empty manifest", "format", encoded=lambda data: b""),
    manifest("manifest with an unknown field", put(11, 0)),
    manifest("manifest without field 7", drop(7)),
]
MANIFEST = [
    field("manifest of version 2", 0, 2),
    field("manifest of version 0", 0, 0),
    field("no signers", 1, []),
    field("65 signers", 1, [u64(i) * 4 for i in range(65)]),
    manifest("a signer twice", lambda m: m[1].append(m[1][0])),
    manifest("a fingerprint of 31 bytes", lambda m: m[1].append(bytes(31))),
    field("none has to sign", 2, 0),
    field("three of two have to sign", 2, 3),
    field("2^64 - 1 of two have to sign", 2, 2**64 - 1),
    field("layer 3 among the required ones", 3, [3]),
    field("layer 7 among the required ones", 3, [7]),
    field("layer 0 among the required ones", 3, [0]),
    field("required layers out of order", 3, [5, 2]),
    field("a required layer twice", 3, [2, 2]),
    field("time as text", 4, "0"),
    field("negative time", 4, -1),
    field("author of 257 bytes", 5, "a" * 257),
    field("author of bytes", 5, b"Alice"),
    field("author of two lines", 5, "Alice\nBob"),
    field("author with an escape", 5, "\x1b[31mAlice"),
    field("author with a C1 control", 5, "\x9b31m"),
    field("author with a bidirectional override", 5, "Alice\u202e"),
    field("author with a line separator", 5, "Alice\u2028Bob"),
    field("author with an isolate", 5, "\u2066"),
    field("kind of digest 2", 6, 2),
    field("completeness 2", 7, 2),
    field("completeness of a boolean", 7, True),
    field("tree digests of 32 bytes", 6, 1),
    field("digest of the policy of 31 bytes", 9, bytes(31)),
    metadata("metadata that is not an object", "[]"),
    metadata("empty metadata", ""),
    metadata("metadata with a space", '{ "version":"1"}'),
    metadata("metadata out of order", '{"b":1,"a":1}'),
    metadata("metadata in the order of UTF-8", '{"\ufb33":1,"\U0001f600":1}'),
    metadata("metadata with a name twice", '{"a":1,"a":1}'),
    metadata("metadata with a number over the limit", '{"a":9007199254740992}'),
    metadata("metadata with a large number", '{"a":1e+30}'),
    metadata("metadata with a long number", '{"a":1.0}'),
    metadata("metadata with -0", '{"a":-0}'),
    metadata("metadata with NaN", '{"a":NaN}'),
    metadata("metadata with an escape too many", '{"a":"\\u0041"}'),
    metadata("metadata with upper-case digits", '{"a":"\\u001F"}'),
    metadata("metadata with a lone surrogate", '{"a":"\\ud800"}'),
    metadata("metadata of 65 levels", '{"a":' + "[" * 64 + "]" * 64 + "}"),
    metadata("metadata of 65,537 bytes", '{"a":"' + "a" * 65529 + '"}'),
    field("metadata of bytes", 10, b"{}"),
]
ENTRIES = [
    manifest("entry with a field more", lambda m: m[8][0].append(0)),
    manifest("entry with a field less", lambda m: m[8][0].pop()),
    entry("entry of kind 3", 1, 3),
    entry("size of 2^63", 2, 1 << 63),
    entry("digest of 31 bytes", 3, bytes(31)),
    entry("digest of 64 bytes", 3, bytes(64)),
    entry("digest of text", 3, "d" * 32),
    entry("media type without a slash", 4, "text"),
    entry("media type with two slashes", 4, "text/plain/x"),
    entry("media type with a parameter", 4, "text/plain;charset=utf-8"),
    entry("media type with a space", 4, "text/ plain"),
    entry("media type that begins with a dot", 4, ".a/plain"),
    entry("media type without a subtype", 4, "text/"),
    entry("media type with a name of 128 characters", 4, "text/" + "x" * 128),
    entry("media type with a letter that is not ASCII", 4, "text/plaín"),
    entry("negative modification time", 5, -1),
    Forgery("link with another size", "format", manifest=put((8, 2, 2), 9)),
    target("link to nothing", b""),
    target("link with a zero byte", b"a\0b"),
    target("link with a line feed", b"a\nb"),
    target("link with a bidirectional override", "a\u202eb".encode()),
    target("link that is not UTF-8", b"\xff"),
    target("link of 4097 bytes", b"a" * 4097),
    paths("empty path", ""),
    paths("absolute path", "/a"),
    paths("path ..", ".."),
    paths("path that climbs", "a/../../b"),
    paths("path that ends in ..", "a/.."),
    paths("path .", "."),
    paths("path that begins with ./", "./a"),
    paths("path with an empty component", "a//b"),
    paths("path that ends in a slash", "a/"),
    paths("path with a backslash", "a\\b"),
    paths("path with a zero byte", "a\0b"),
    paths("path with an escape", "\x1b[2J"),
    paths("path with DEL", "a\x7f"),
    paths("path with a bidirectional override", "a\u202egnp.exe"),
    paths("path with a paragraph separator", "a\u2029b"),
    paths("component of 256 bytes", "n" * 256),
    paths("component of 256 bytes in 128 letters", "Ä" * 128),
    paths("path of 4097 bytes", "a/" * 2048 + "a"),
    paths("paths out of order", "b", "a"),
    paths("paths in the order of UTF-16", "\U0001f600", "\ufb33"),
    paths("a path twice", "a", "a"),
    paths("paths that differ in case", "A", "a"),
    paths("paths that differ in the case of one component", "a/B/c", "a/b/c"),
    paths("paths that differ in normalisation", "A\u030a", "\u00c5"),
    paths("paths that differ in case and normalisation", "a\u030a", "\u00c5"),
    paths("paths that differ in a final sigma", "\u03c2", "\u03c3"),
    paths("paths that differ in a long s", "s", "\u017f"),
    paths("paths that differ in a sharp s", "STRASSE", "stra\u00dfe"),
    paths("paths that differ in the sign micro", "\u00b5", "\u03bc"),
    paths("paths that differ in the sign kelvin", "K", "\u212a"),
    paths("a file that is a directory", "a", "a/b"),
    paths("a file that is a directory in another case", "A", "a/b"),
    paths("a file that is a directory further up", "a", "a!", "a/b/c"),
    paths("directories that differ in case", "A/x", "a/y"),
    paths("directories that differ in normalisation", "b/A\u030a/x", "b/\u00c5/y"),
    Forgery("path that is not UTF-8", "format", encoded=lambda data: data.replace(b"dnote", b"d\xff\xffte", 1)),
    Forgery("a content too many", "format", bundle=lambda b: b[6].append(b"")),
    Forgery("a content too few", "format", bundle=lambda b: b[6].pop()),
    Forgery("content of text", "format", bundle=put((6, 0), "hello\n")),
    Forgery("content of more than 64 MiB", "format", bundle=put((6, 1), bytes(64 * MIB))),
]
SIGNATURES = [
    Forgery("no signatures", "format", signed=()),
    Forgery("only a counter-signature", "format", signed=(("carol", 1),)),
    Forgery("65 signatures", "format", bundle=lambda b: b[4].extend(b[4][2:] * 62)),
    Forgery("co-signers out of order", "format", signed=(("bob", 0), ("alice", 0))),
    Forgery("a counter-signature first", "format", signed=(("carol", 1), ("alice", 0))),
    Forgery("a counter-signature between", "format", signed=(("alice", 0), ("carol", 1), ("bob", 0))),
    Forgery("a signature twice", "format", signed=(("alice", 0), ("alice", 0))),
    Forgery("a counter-signature twice", "format", bundle=twice(4, 2)),
    Forgery("a signer who is not named", "format", signed=(("alice", 0), ("carol", 0))),
    Forgery("a counter-signature of a signer", "format", signed=(("alice", 0), ("bob", 1))),
    signature("role 2", (0,), 2),
    signature("negative time of a signature", (1,), -1),
    signature("Ed25519 signature of 63 bytes", (3,), bytes(63)),
    signature("ML-DSA-65 signature of 3308 bytes", (4,), bytes(3308)),
    signature("ML-DSA-65 signature of 3310 bytes", (4,), bytes(3310)),
    signature("ML-DSA-65 key of 1951 bytes", (2,), SHORT),
    signature("Ed25519 key of 31 bytes", (2, 2), bytes(31)),
    signature("signer with four parts", (2,), [bytes(32)] * 4),
    Forgery("signature with a field more", "format", bundle=lambda b: b[4][1].append(0)),
    stamps("33 timestamps", [1] * 33),
    stamps("a timestamp that covers nothing", [0]),
    stamps("a timestamp that covers more than there is", [4]),
    stamps("timestamps that cover less and less", [3, 2]),
    stamps("a response of 1 MiB and a byte", [1], change=put((0, 1), bytes(MIB + 1))),
    stamps("a response of text", [1], change=put((0, 1), "response")),
    stamps("digest of a response of 31 bytes", [1], change=put((0, 2), bytes(31))),
    stamps("timestamp without a digest", [1], change=lambda stamps: stamps[0].pop()),
]
LAYERS = [
    files("a file altered", a=b"dato"),
    files("a file longer", a=b"data\0"),
    files("an empty file", a=b""),
    files("a file missing", a=None),
    files("a link in the place of a file", a="data/b", below=b"data"),
    files("a file in the place of a link", link=b"data"),
    files("a link to another target", link="data/b"),
    files("a link missing", link=None),
    files("an additional file", other=b""),
    files("an additional file further down", below=b""),
    files("an additional link", other="latest"),
    files("another file in the place of an embedded one", hello=b"rogue\n"),
    files("a link in the place of an embedded file", hello="data/a.bin"),
    Forgery("a file below a link", ["content"], files=lambda f: (f.clear(), f.update({"data": ".", "latest": "data/a.bin"}))),
    field("another size of a file", (8, 0, 2), 5, ["content"]),
    field("another digest of a file", (8, 0, 3), bytes(32), ["content"]),
    field("another size of an embedded file", (8, 3, 2), 7, ["content"]),
    Forgery("embedded content altered", ["content"], bundle=put((6, 1), b"A note")),
    Forgery("embedded content cut", ["content"], bundle=put((6, 1), b"a not")),
    Forgery("embedded contents exchanged", ["content"], bundle=swap(6, 0, 1)),
    Forgery("policy altered", ["content"], bundle=put(1, b'{"use":["anything"]}')),
    Forgery("policy missing", ["content"], bundle=drop(1)),
    manifest("policy that the manifest does not name", drop(9), ["content"]),
    policy("policy with a space", b'{"use": []}'),
    policy("policy that is not JSON", b"use it well"),
    policy("policy with a name twice", b'{"a":1,"a":2}'),
    policy("policy with a number over the limit", b"9007199254740993"),
    policy("policy of 65 levels", b"[" * 65 + b"]" * 65),
    policy("policy that is not UTF-8", b'"\xff"'),
    policy("policy with a byte order mark", b"\xef\xbb\xbf{}"),
    Forgery("tag under another key", ["hmac"], unsigned=computed("tag", lambda p: tag(SECRET, p.m))),
    Forgery("tag over another manifest", ["hmac"], unsigned=attribute("tag", tag(KEY, bytes(64)))),
    Forgery("tag whose key was not extracted", ["hmac"], unsigned=computed("tag", old_tag)),
    Forgery("hmac required and missing", ["hmac"], manifest=put(3, [2]), unsigned=attribute("tag", None)),
    Forgery("tag removed", ["hmac", *BOTH], package=attribute("tag", None)),
    Forgery("tag added", BOTH, unsigned=attribute("tag", None), package=computed("tag", lambda p: tag(KEY, p.m))),
    Forgery("tag of zeros added", ["hmac", *BOTH], unsigned=attribute("tag", None), package=attribute("tag", bytes(32))),
    Forgery("confirmation removed", [*BOTH, "keys"], package=attribute("confirmation", None)),
    Forgery("confirmation altered", [*BOTH, "keys"], package=attribute("confirmation", bytes(32))),
    Forgery("confirmation of another secret", ["keys"], unsigned=computed("confirmation", confirmation(KEY, POLICY))),
    Forgery("confirmation without the policy", ["keys"], unsigned=computed("confirmation", confirmation(SECRET, None))),
    Forgery("keys required and missing", ["keys"], manifest=put(3, [5]), unsigned=attribute("confirmation", None)),
    Forgery("timestamp required and missing", ["timestamp"], manifest=put(3, [6])),
    stamps("digest of another response", [1], ["timestamp"], change=put((0, 2), bytes(32))),
    stamps("a response altered", [1, 1], ["timestamp"], change=put((1, 1), b"1\0")),
    altered("Ed25519 counter-signature altered", ["ed25519"], 2, 3),
    altered("ML-DSA-65 counter-signature altered", ["ml-dsa-65"], 2, 4),
    altered("Ed25519 signature altered below a counter-signature", BOTH, 1, 3),
    altered("ML-DSA-65 signature altered below a counter-signature", BOTH, 1, 4),
    Forgery("Ed25519 signature that was made malleable", ["ed25519"], signed=SIGNED[:1], package=malleable),
    Forgery("signatures without the domain", BOTH, message=lambda framed: framed[len(DOMAIN) + 1 :]),
    Forgery("signatures over a head without flags", BOTH, message=over_head_without_flags),
    Forgery("signatures over another time", BOTH, message=at_time),
    Forgery("ML-DSA-65 without a context", ["ml-dsa-65"], pair=other_context(b"")),
    Forgery("ML-DSA-65 in another context", ["ml-dsa-65"], pair=other_context(b"sealstone.file.v1")),
    Forgery("a counter-signature that covers no signature", BOTH, message=prior),
    Forgery("signatures that cover a signature before", BOTH, message=prior_of_own),
    Forgery("a co-signature removed below a counter-signature", BOTH, bundle=lambda b: b[4].pop(1)),
    Forgery("time of a signature altered", BOTH, signed=SIGNED[:2], bundle=put((4, 1, 1), 0)),
    Forgery("the signatures of two signers exchanged", BOTH, signed=SIGNED[:2], bundle=exchange),
    Forgery("another X25519 key of a counter-signer", BOTH, package=borrowed),
    Forgery("another manifest below the signatures", BOTH, package=other_manifest),
    Forgery("Alice has not signed", "signers", signed=(("bob", 0),)),
    Forgery("two have to sign and one has", "signers", manifest=put(2, 2), signed=SIGNED[:1]),
    Forgery("two have to sign, one has, another counter-signed", "signers", manifest=put(2, 2), signed=(("alice", 0), ("carol", 1))),
    Forgery("Alice has only counter-signed", "signers", manifest=put((1, 0), person("carol").fingerprint), signed=(("carol", 0), ("alice", 1))),
]


HOSTILE = [*RIGHT, *ENCODING, *MANIFEST, *ENTRIES, *SIGNATURES, *LAYERS]
