#!/usr/bin/env python3
"""A second maker and verifier of packages, written from spec/package.md alone.

    package.py verify FILE [DIR]   reports the layers, as far as that goes without keys
    package.py example             prints the numbers of the page's worked example

Responses of time-stamping authorities are not verified here: `attest` of `Verifier` does that.
Shares no code with the crate; see passport.py for the packages.
"""

import hashlib
import hmac
import os
import re
import stat
import sys
import textwrap
from dataclasses import dataclass, field
from pathlib import Path

import strict_json
import tree
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from dilithium_py.ml_dsa import ML_DSA_65
from directory import lstat, walk
from file import Passport, u64
from passport import expand, mac, sha3
from paths import check_path, check_paths
from wire import Refused, decode, encode, fields, need, number, octets, text

MAGIC = b"\x89PACK\r\n\x1a\n\x01"
DOMAIN = b"sealstone.package.v1"
HMAC_DOMAIN = b"sealstone.package.hmac.v1"
KEYS_DOMAIN = b"sealstone.package.keys.v1"
STAMP_DOMAIN = b"sealstone.package.timestamp.v1"
LAYERS = {1: "content", 2: "hmac", 3: "ed25519", 4: "ml-dsa-65", 5: "keys", 6: "timestamp"}
BESIDE, EMBEDDED, LINK = range(3)
CLOCKS_DIFFER = 300
MIB = 1 << 20
NAME = "[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126}"
MEDIA_TYPE = re.compile(f"{NAME}/{NAME}")


# The manifest.


@dataclass
class Entry:
    path: str
    kind: int
    size: int
    content: bytes
    media: str = ""
    modified: int = 0

    def item(self):
        return [self.path, self.kind, self.size, self.content, self.media, self.modified]


@dataclass
class Manifest:
    signers: list
    needed: int
    required: list
    time: int
    author: str
    digests: int
    complete: int
    entries: list
    policy: bytes = None
    metadata: str = None

    def encode(self):
        values = [1, self.signers, self.needed, self.required, self.time, self.author, self.digests]
        values += [self.complete, [entry.item() for entry in self.entries], self.policy, self.metadata]
        return encode({i: value for i, value in enumerate(values) if value is not None})


def read_manifest(data):
    value = fields(decode(data), range(9), [9, 10])
    need(value[0] == 1, "version")
    signers = items(value[1], 1, 64)
    for one in signers:
        octets(one, 32)
    need(len(set(signers)) == len(signers), "a signer twice")
    need(1 <= number(value[2]) <= len(signers), "how many have to sign")
    required = items(value[3], 0, 3)
    need(required == sorted(set(required) & {2, 5, 6}), "required layers")
    number(value[4])
    text(value[5], 0, 256)
    need(value[6] in (0, 1) and value[7] in (0, 1), "digests or completeness")
    digest = 64 if number(value[6]) else 32
    entries = [read_entry(one, digest) for one in items(value[8], 0, 1 << 21)]
    check_paths([entry.path for entry in entries])
    if 9 in value:
        octets(value[9], 32)
    if 10 in value:
        check_metadata(value[10])
    number(value[7])
    return Manifest(signers, *(value[i] for i in range(2, 8)), entries, value.get(9), value.get(10))


def items(value, least, most):
    need(isinstance(value, list) and least <= len(value) <= most, "an array of the right length")
    return value


def read_entry(value, digest):
    entry = Entry(*items(value, 6, 6))
    check_path(entry.path)
    need(number(entry.kind) in (BESIDE, EMBEDDED, LINK), "kind of entry")
    need(number(entry.size) < 1 << 63, "size")
    if entry.kind == LINK:
        need(isinstance(entry.content, bytes) and entry.size == len(entry.content), "target of a link")
        text(entry.content.decode(), 1, 4096)
    else:
        octets(entry.content, digest)
    need(isinstance(entry.media, str), "media type")
    need(entry.media == "" or MEDIA_TYPE.fullmatch(entry.media), "media type")
    number(entry.modified)
    return entry


def check_metadata(value):
    need(isinstance(value, str) and len(value.encode()) <= 65536, "metadata")
    data = value.encode()
    need(isinstance(strict_json.parse(data), dict) and strict_json.is_canonical(data), "metadata")


# The package.


@dataclass
class Package:
    manifest_bytes: bytes
    policy: bytes = None
    tag: bytes = None
    confirmation: bytes = None
    signatures: list = field(default_factory=list)
    timestamps: list = field(default_factory=list)
    embedded: list = field(default_factory=list)

    def bundle(self):
        values = [self.manifest_bytes, self.policy, self.tag, self.confirmation]
        values += [self.signatures, self.timestamps, self.embedded]
        return {i: value for i, value in enumerate(values) if value is not None}

    def encode(self):
        return MAGIC + encode(self.bundle())

    @property
    def m(self):
        return hashlib.sha3_512(self.manifest_bytes).digest()

    @property
    def head(self):
        flags = (self.tag is not None) + 2 * (self.confirmation is not None)
        return bytes([flags]) + self.m + (self.tag or bytes(32)) + (self.confirmation or bytes(32))

    def message(self, i):
        """The message that signature i signs."""
        role, time, signer = self.signatures[i][:3]
        prior = hashlib.sha3_512(encode(self.signatures[:i])).digest() if role else bytes(64)
        return bytes([role]) + u64(time) + fingerprint(signer) + self.head + prior

    def stamped(self, i):
        covers = self.timestamps[i][0]
        return stamped(self.head, self.signatures[:covers], self.timestamps[:i])

    # For writers.

    def sign(self, passport, time, role=0, deterministic=False):
        self.signatures.append([role, time, signer_of(passport)])
        framed = DOMAIN + b"\0" + self.message(len(self.signatures) - 1)
        self.signatures[-1] += sign(passport, framed, deterministic)

    def stamp(self, authority):
        """`authority` makes a response for some bytes."""
        covers = len(self.signatures)
        response = authority(stamped(self.head, self.signatures, self.timestamps))
        self.timestamps.append([covers, response, sha3(response)])


def stamped(head, signatures, timestamps):
    return STAMP_DOMAIN + b"\0" + head + encode(signatures) + encode(timestamps)


def signer_of(passport):
    x25519, ml_kem, ed25519, ml_dsa_87, ml_dsa_65 = passport.keys
    return [sha3(x25519), sha3(ml_kem), ed25519, sha3(ml_dsa_87), ml_dsa_65]


def fingerprint(signer):
    hashes = [signer[0], signer[1], sha3(signer[2]), signer[3], sha3(signer[4])]
    return sha3(b"sealstone.fingerprint.v1\0" + b"".join(hashes))


def sign(passport, framed, deterministic):
    ed25519 = Ed25519PrivateKey.from_private_bytes(passport.secrets["ed25519"]).sign(framed)
    _, secret = ML_DSA_65.key_derive(passport.secrets["ml-dsa-65"])
    return [ed25519, ML_DSA_65.sign(secret, framed, ctx=DOMAIN, deterministic=deterministic)]


def read_package(data):
    try:
        return parse(data)
    except UnicodeDecodeError as error:
        raise Refused("not UTF-8") from error


def parse(data):
    need(len(data) <= 1 << 30 and data.startswith(MAGIC), "prefix or length")
    value = fields(decode(data[len(MAGIC) :]), [0, 4, 5, 6], [1, 2, 3])
    need(isinstance(value[0], bytes), "manifest")
    manifest = read_manifest(value[0])
    if 1 in value:
        need(isinstance(value[1], bytes) and 1 <= len(value[1]) <= MIB, "policy")
    for tag in (value[i] for i in (2, 3) if i in value):
        octets(tag, 32)
    package = Package(value[0], *(value.get(i) for i in range(1, 7)))
    check_signatures(package, manifest)
    check_timestamps(package)
    check_embedded(package, manifest)
    return package, manifest


def check_signatures(package, manifest):
    for one in items(package.signatures, 1, 64):
        role, time, signer, ed25519, ml_dsa = items(one, 5, 5)
        need(number(role) in (0, 1), "role")
        number(time)
        for part, length in zip(items(signer, 5, 5), (32, 32, 32, 32, 1952)):
            octets(part, length)
        octets(ed25519, 64)
        octets(ml_dsa, 3309)
    roles = [one[0] for one in package.signatures]
    need(roles[0] == 0 and roles == sorted(roles), "order of roles")
    names = [fingerprint(one[2]) for one in package.signatures]
    need(all((name in manifest.signers) == (role == 0) for name, role in zip(names, roles)), "roles")
    need(len(set(names)) == len(names), "somebody signed twice")
    first = names[: roles.count(0)]
    need(first == [name for name in manifest.signers if name in first], "order of the signers")


def check_timestamps(package):
    last = 1
    for one in items(package.timestamps, 0, 32):
        covers, response, digest = items(one, 3, 3)
        need(last <= number(covers) <= len(package.signatures), "covers")
        need(isinstance(response, bytes) and len(response) <= MIB, "response")
        octets(digest, 32)
        last = covers


def check_embedded(package, manifest):
    contents = items(package.embedded, 0, 65536)
    need(all(isinstance(one, bytes) for one in contents), "embedded content")
    need(sum(map(len, contents)) <= 64 * MIB, "too much embedded content")
    need(len(contents) == sum(entry.kind == EMBEDDED for entry in manifest.entries), "number of contents")


# The writer.


@dataclass
class Maker:
    """Makes an unsigned package. A source is (path, kind, content or target, media type, time)."""

    signers: list
    sources: list
    needed: int = 1
    required: tuple = ()
    time: int = 0
    author: str = ""
    tree: bool = False
    complete: bool = False
    policy: bytes = None
    metadata: bytes = None
    key: bytes = None
    secret: bytes = None

    def make(self):
        policy = self.policy and strict_json.canonical(self.policy)
        sources = sorted(self.sources, key=lambda source: source[0].encode())
        manifest = Manifest(
            [passport.fingerprint for passport in self.signers],
            self.needed,
            list(self.required),
            self.time,
            self.author,
            int(self.tree),
            int(self.complete),
            [self.entry(*source) for source in sources],
            policy and sha3(policy),
            self.metadata and strict_json.canonical(self.metadata).decode(),
        )
        package = Package(manifest.encode(), policy, embedded=[s[2] for s in sources if s[1] == EMBEDDED])
        if self.key:
            package.tag = tag(self.key, package.m)
        if self.secret:
            package.confirmation = Derived(self.secret, package.m, manifest.policy).confirmation
        return package

    def entry(self, path, kind, content, media="", modified=0):
        held = content if kind == LINK else digest(content, self.tree)
        return Entry(path, kind, len(content), held, media, modified)


def digest(content, as_tree):
    return tree.tree_hash(content) if as_tree else sha3(content)


def tag(key, m):
    need(32 <= len(key) <= 1024, "HMAC key")
    return mac(mac(HMAC_DOMAIN, key), m)


class Derived:
    """The keys of layer 5."""

    def __init__(self, secret, m, policy):
        need(32 <= len(secret) <= 1024, "secret")
        self.prk = mac(KEYS_DOMAIN, secret)
        self.context = m + (policy or bytes(32))
        self.confirmation = expand(self.prk, b"confirmation" + self.context, 32)

    def key(self, label):
        need(1 <= len(label) <= 255, "label")
        return expand(self.prk, b"key" + self.context + label, 32)


# The verifier.


@dataclass
class Verifier:
    """The keys, trust and demands of a user.

    `attest(stamped, response, at)` verifies a response at a time, or now, and returns its own time
    and the latest moment that it allows. `accept(fingerprint, proved)` says whether a signature
    that existed at the proved time, or at an unknown one, counts.
    """

    root: Path = None
    key: bytes = None
    secret: bytes = None
    attest: object = None
    named: tuple = ()
    accept: object = None
    required: tuple = ()

    def verify(self, data, itself=None):
        package, manifest = read_package(data)
        report = Report(package, manifest)
        report.findings = self.findings(package, manifest, itself)
        found = {1: self.content(report), 2: self.hmac(package), 3: ed25519(package), 4: ml_dsa_65(package)}
        found[5] = self.keys(package, manifest)
        found[6] = self.timestamp(package, report)
        given = {2} if self.key is not None else set()
        given |= {5} if self.secret is not None else set()
        required = {1, 3, 4, *given, *manifest.required, *self.required}
        report.layers = {i: judged(found[i], i in required) for i in LAYERS}
        report.counted = self.counted(report)
        enough = len(report.counted) >= manifest.needed and set(self.named) <= set(report.counted)
        bad = any(verdict == "bad" for verdict, _ in report.layers.values())
        report.good = enough and not bad
        return report

    def findings(self, package, manifest, itself):
        contents, found = iter(package.embedded), []
        for entry in manifest.entries:
            if entry.kind == EMBEDDED and not matches(entry, next(contents), manifest.digests):
                found.append((entry.path, "altered"))
            elif self.root and (what := compare(self.root, entry, manifest.digests)):
                found.append((entry.path, what))
        if self.root and manifest.complete:
            named = {entry.path for entry in manifest.entries}
            found += [(path, "additional") for path in walk(self.root, itself) if path not in named]
        return sorted(found)

    def content(self, report):
        package, manifest = report.package, report.manifest
        if (package.policy is None) != (manifest.policy is None):
            return "bad", "policy without digest, or digest without policy"
        if package.policy is not None:
            if sha3(package.policy) != manifest.policy or not strict_json.is_canonical(package.policy):
                return "bad", "policy"
        if report.findings:
            return "bad", "findings"
        outside = manifest.complete or any(entry.kind != EMBEDDED for entry in manifest.entries)
        return ("unchecked", "no directory") if outside and not self.root else ("good", "")

    def hmac(self, package):
        if package.tag is None:
            return "absent", "no tag"
        if self.key is None:
            return "unchecked", "no key"
        return held(hmac.compare_digest(package.tag, tag(self.key, package.m)), "another tag")

    def keys(self, package, manifest):
        if package.confirmation is None:
            return "absent", "no confirmation"
        if self.secret is None:
            return "unchecked", "no secret"
        derived = Derived(self.secret, package.m, manifest.policy)
        return held(hmac.compare_digest(package.confirmation, derived.confirmation), "another confirmation")

    def timestamp(self, package, report):
        report.proved = [None] * len(package.signatures)
        if not package.timestamps:
            return "absent", "no timestamp"
        if any(sha3(response) != digest for _, response, digest in package.timestamps):
            return "bad", "digest of a response"
        if self.attest is None:
            return "unchecked", "no roots"
        try:
            proved = self.proved(package)
        except Refused as error:
            return "bad", str(error)
        report.proved = proved
        return "good", ""

    def proved(self, package):
        at, latest = None, []
        for i in reversed(range(len(package.timestamps))):
            time, latest_of_one = self.attest(package.stamped(i), package.timestamps[i][1], at)
            need(at is None or time <= at, "times decrease")
            at, latest = time, [latest_of_one, *latest]
        proved = [self.first(package, latest, i) for i in range(len(package.signatures))]
        for (role, time, *_), moment in zip(package.signatures, proved):
            need(role == 1 or moment is not None, "a signature is not covered")
            need(moment is None or time <= moment + CLOCKS_DIFFER, "signed after it was stamped")
        return proved

    def first(self, package, latest, i):
        return next((moment for (covers, *_), moment in zip(package.timestamps, latest) if covers > i), None)

    def counted(self, report):
        holds = lambda layer: report.layers[layer][0] == "good"
        if not (holds(3) and holds(4)):
            return []
        signed = zip(report.package.signatures, report.proved)
        names = [(fingerprint(one[2]), proved) for one, proved in signed if one[0] == 0]
        accept = self.accept or (lambda name, proved: name in self.named)
        return [name for name, proved in names if accept(name, proved)]


@dataclass
class Report:
    package: Package
    manifest: Manifest
    good: bool = False


def judged(found, required):
    verdict, reason = found
    return ("bad", f"required: {reason}") if required and verdict in ("absent", "unchecked") else found


def held(holds, reason):
    return ("good", "") if holds else ("bad", reason)


def ed25519(package):
    def check(signer, framed, one):
        try:
            Ed25519PublicKey.from_public_bytes(signer[2]).verify(one[3], framed)
        except (InvalidSignature, ValueError):
            return False
        return True

    return every_signature(package, check)


def ml_dsa_65(package):
    return every_signature(package, lambda signer, framed, one: ML_DSA_65.verify(signer[4], framed, one[4], ctx=DOMAIN))


def every_signature(package, check):
    for i, one in enumerate(package.signatures):
        if not check(one[2], DOMAIN + b"\0" + package.message(i), one):
            return "bad", f"signature {i}"
    return "good", ""


def matches(entry, content, digests):
    return entry.size == len(content) and entry.content == digest(content, digests)


def compare(root, entry, digests):
    """The kind of the finding about an entry below the root, if there is one."""
    try:
        mode = lstat(root, entry.path)
        if mode is None:
            return None if entry.kind == EMBEDDED else "missing"
        if entry.kind == LINK:
            same = stat.S_ISLNK(mode) and os.readlink(os.fsencode(root / entry.path)) == entry.content
            return None if same else "altered" if stat.S_ISLNK(mode) else "another kind of object"
        if not stat.S_ISREG(mode):
            return "another kind of object"
        return None if matches(entry, (root / entry.path).read_bytes(), digests) else "altered"
    except OSError:
        return "unreadable"


# The commands.


def show(path, root=None):
    report = Verifier(root=root and Path(root)).verify(Path(path).read_bytes(), Path(path))
    for layer, (verdict, reason) in report.layers.items():
        print(f"{LAYERS[layer]:<10}", verdict, reason)
    for path, what in report.findings:
        print(f"{what}: {path!r}")
    for one in report.package.signatures:
        print("counter-signed" if one[0] else "signed", fingerprint(one[2]).hex())


EXAMPLE_TIME = 1767225600


def example_package():
    """The package of the page. ML-DSA-65 is deterministic: its rnd is 32 zero bytes."""
    alice = Passport(bytes(range(32)), "Alice", EXAMPLE_TIME)
    maker = Maker(
        [alice],
        [
            ("hello.txt", EMBEDDED, b"hello\n", "text/plain", EXAMPLE_TIME),
            ("latest", LINK, b"hello.txt", "", EXAMPLE_TIME),
        ],
        required=(2,),
        time=EXAMPLE_TIME + 1,
        author="Alice",
        policy=b'{ "version": 1, "use": ["research", "teaching"] }',
        key=alice.secrets["package-mac"],
        secret=bytes(range(32, 64)),
    )
    package = maker.make()
    package.sign(alice, EXAMPLE_TIME + 2, deterministic=True)
    return package, maker


def example():
    package, maker = example_package()
    manifest = read_manifest(package.manifest_bytes)
    derived = Derived(maker.secret, package.m, manifest.policy)
    signature = package.signatures[0]
    rows = {
        "policy": package.policy,
        "manifest": package.manifest_bytes,
        "M": package.m,
        "HMAC key": mac(HMAC_DOMAIN, maker.key),
        "tag": package.tag,
        "prk": derived.prk,
        "confirmation": package.confirmation,
        "key(payload)": derived.key(b"payload"),
        "head": package.head,
        "framed": DOMAIN + b"\0" + package.message(0),
        "ed25519": signature[3],
        "SHA3-256(ml-dsa-65)": sha3(signature[4]),
        "SHA3-256(signature)": sha3(encode(signature)),
        "SHA3-256(package)": sha3(package.encode()),
        "SHA3-256(stamped(0))": sha3(stamped(package.head, package.signatures, [])),
    }
    for name, value in rows.items():
        lines = textwrap.wrap(value.hex(), 64)
        print(f"{name:<20} =", ("\n" + " " * 23).join(lines))


if __name__ == "__main__":
    commands = {"verify": show, "example": example}
    if len(sys.argv) < 2 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]](*sys.argv[2:])
