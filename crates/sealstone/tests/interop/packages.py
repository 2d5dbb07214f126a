#!/usr/bin/env python3
"""Packages of many kinds, described by a file beside them.

    packages.py make DIR     writes packages of every kind and DIR/cases.json
    packages.py check DIR    verifies all packages of DIR/cases.json and compares them with it
    packages.py golden DIR   writes the golden packages and DIR/cases.json
    packages.py refuse DIR   writes packages that break one rule each, and DIR/refuse.json

`package/cases.rs` reads and writes the same descriptions. Content is 00 01 … fa and again from 00,
of the length given. Beside NN.package stands the directory NN with its files. The people are those
of the golden files.
"""

import json
import os
import sys
from pathlib import Path

import strict_json
from cases import content, person
from package import BESIDE, EMBEDDED, LAYERS, LINK, Derived, Maker, Verifier, digest, example_package, stamped
from package_hostile import HOSTILE
from passport import sha3
from wire import Refused

NOON = 1767225600
KEY, SECRET = sha3(b"a shared key"), sha3(b"a shared secret")
DEFAULTS = {
    "signers": ["alice"],
    "needed": 1,
    "required": [],
    "time": NOON,
    "author": "",
    "tree": False,
    "complete": False,
    "policy": None,
    "metadata": None,
    "key": None,
    "secret": None,
    "entries": [["hello.txt", EMBEDDED, 6, "", 0]],
    "signatures": None,
    "derived": {},
    "responses": [],
    "to_stamp": None,
}
POLICY = '{"uses":["research"],"weight":0.1,"€":null}'


def passport(name):
    return person(name)


def source(path, kind, size, media, modified):
    """The content of an entry of a description; the size of a link is its target."""
    return path, kind, size.encode() if kind == LINK else content(size), media, modified


def build(case):
    """The signed package of a description: the same bytes each time."""
    maker = Maker(
        [passport(name) for name in case["signers"]],
        [source(*entry) for entry in case["entries"]],
        needed=case["needed"],
        required=tuple(case["required"]),
        time=case["time"],
        author=case["author"],
        tree=case["tree"],
        complete=case["complete"],
        policy=case["policy"] and case["policy"].encode(),
        metadata=case["metadata"] and case["metadata"].encode(),
        key=unhex(case["key"]),
        secret=unhex(case["secret"]),
    )
    package = maker.make()
    for name, role, time in case["signatures"]:
        package.sign(passport(name), time, role, deterministic=True)
    for response in case["responses"]:
        package.stamp(lambda _: bytes.fromhex(response))
    return package


def to_stamp(package):
    """SHA3-256 of what another timestamp would cover."""
    return sha3(stamped(package.head, package.signatures, package.timestamps)).hex()


def unhex(text):
    return text and bytes.fromhex(text)


def put(root, entries):
    """The files beside a package."""
    for path, kind, size, *_ in entries:
        if kind == EMBEDDED:
            continue
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        if kind == BESIDE:
            (root / path).write_bytes(content(size))
        elif not (root / path).is_symlink():
            os.symlink(size, root / path)


def complete(case):
    """A description with everything that follows from the rest."""
    case = DEFAULTS | case
    if case["signatures"] is None:
        case["signatures"] = [[name, 0, case["time"]] for name in case["signers"]]
    for name in ("policy", "metadata"):
        case[name] = case[name] and strict_json.canonical(case[name].encode()).decode()
    case["entries"].sort(key=lambda entry: entry[0].encode())
    return case


# Packages that must be good.


def matrix():
    tree = [
        ["a.bin", BESIDE, 0, "application/octet-stream", 0],
        ["a/b/c d", BESIDE, 70_000, "", NOON],
        ["a/Ünïcode ✓", BESIDE, 4097, "text/plain", 2**64 - 1],
        ["latest", LINK, "a/b/../b/c d", "", 3],
        ["-", EMBEDDED, 1, "image/svg+xml", 0],
    ]
    for as_tree in (False, True):
        yield {"tree": as_tree}
        yield {"tree": as_tree, "entries": tree}
        yield {"tree": as_tree, "entries": tree, "complete": True, "author": "Alice Ä. <a@example.org>"}
        yield {"tree": as_tree, "entries": [["empty", EMBEDDED, 0, "", 0], ["large", EMBEDDED, 300_000, "", 0]]}
    yield {"entries": []}
    yield {"entries": [], "complete": True, "author": "a" * 256}
    yield {"key": KEY.hex(), "required": [2]}
    yield {"key": (KEY * 32).hex()}
    yield {"secret": SECRET.hex(), "required": [5]}
    yield {"key": KEY.hex(), "secret": SECRET.hex(), "policy": POLICY, "required": [2, 5]}
    for policy in ("null", '""', "[]", "-1.5e-7", '{"\U0001f600":1,"\ufb33":2}', '"\x7f\u2028\ud7ff"', "9007199254740991"):
        yield {"policy": policy}
    yield {"metadata": "{}"}
    yield {"metadata": '{"version": 1.0, "deep": ' + "[" * 63 + "]" * 63 + "}", "policy": "[" * 64 + "]" * 64}
    yield from signers()


def signers():
    three = ["carol", "alice", "bob"]
    yield {"signers": three, "needed": 3}
    yield {"signers": three, "needed": 1, "signatures": [["bob", 0, 0]]}
    yield {"signers": three, "needed": 2, "signatures": [["carol", 0, 5], ["bob", 0, 2**64 - 1]]}
    yield {"signatures": [["alice", 0, NOON], ["bob", 1, NOON + 1]]}
    yield {"key": KEY.hex(), "signatures": [["alice", 0, 0], ["bob", 1, 1]], "responses": ["", "00" * 70_000, "3000"]}
    yield {
        "signers": ["bob"],
        "signatures": [["bob", 0, 1], ["alice", 1, 2], ["carol", 1, 3]],
        "key": KEY.hex(),
        "secret": SECRET.hex(),
        "policy": "{}",
    }


def write(folder, cases):
    folder.mkdir(parents=True, exist_ok=True)
    described = []
    for case in map(complete, cases):
        case.setdefault("file", f"{len(described):02}.package")
        package = build(case)
        if case["secret"]:
            derived = Derived(unhex(case["secret"]), package.m, package.policy and sha3(package.policy))
            case["derived"] = {label: derived.key(label.encode()).hex() for label in ("a", "é" * 127)}
        case["to_stamp"] = to_stamp(package)
        (folder / case["file"]).write_bytes(package.encode())
        put(folder / case["file"].removesuffix(".package"), case["entries"])
        described.append(case)
    (folder / "cases.json").write_text(json.dumps(described, indent=1, ensure_ascii=False), encoding="utf-8")
    return len(described)


def make(folder):
    print(f"packages.py: made {write(folder, matrix())} packages")


def golden(folder):
    """Only before the first release."""
    package, _ = example_package()
    (folder / "example.package").write_bytes(package.encode())
    write(folder, [case | {"file": f"{name}.package"} for name, case in GOLDEN.items()])


GOLDEN = {
    "plain": {},
    "everything": {
        "signers": ["alice", "carol", "bob"],
        "needed": 2,
        "required": [2, 5],
        "author": "Alice Ä.",
        "tree": True,
        "entries": [
            ["a/b", EMBEDDED, 1000, "text/plain", NOON],
            ["c", EMBEDDED, 0, "", 0],
            ["ä/ß", EMBEDDED, 70_000, "application/vnd.x+json", 1],
        ],
        "policy": POLICY,
        "metadata": '{"version":"1.2"}',
        "key": KEY.hex(),
        "secret": SECRET.hex(),
        "signatures": [["alice", 0, NOON], ["bob", 0, NOON + 1], ["dave", 1, NOON + 2]],
    },
    "tree": {
        "complete": True,
        "entries": [
            ["a.txt", BESIDE, 251, "text/plain", NOON],
            ["b/c.bin", BESIDE, 4096, "", 0],
        ],
    },
}


# Packages of the crate.


def check(folder):
    cases = json.loads((folder / "cases.json").read_text(encoding="utf-8"))
    for case in cases:
        try:
            check_one(folder, case)
        except Exception as error:
            raise SystemExit(f"{case['file']}: {error!r}") from error
    print(f"packages.py: {len(cases)} packages are good")


def check_one(folder, case):
    path = folder / case["file"]
    verifier = Verifier(
        root=folder / case["file"].removesuffix(".package"),
        key=unhex(case["key"]),
        secret=unhex(case["secret"]),
        named=tuple(passport(name).fingerprint for name, role, _ in case["signatures"] if role == 0),
    )
    report = verifier.verify(path.read_bytes(), path)
    package, manifest = report.package, report.manifest
    assert report.good, report.layers
    assert package.encode() == path.read_bytes(), "another encoding"
    assert manifest.signers == [passport(name).fingerprint for name in case["signers"]], "signers"
    for name in ("needed", "required", "time", "author", "metadata"):
        assert getattr(manifest, name) == case[name], name
    assert (manifest.digests, manifest.complete) == (case["tree"], case["complete"]), "kind of digests"
    assert package.policy == (case["policy"] and case["policy"].encode()), "policy"
    entries = [entry.item() for entry in manifest.entries]
    assert entries == [held(*entry, case["tree"]) for entry in case["entries"]], "entries"
    signed = [[role, time] for role, time, *_ in package.signatures]
    assert signed == [[role, time] for _, role, time in case["signatures"]], "signatures"
    for layer, given in ((2, "key"), (5, "secret")):
        assert report.layers[layer][0] == ("good" if case[given] else "absent"), given
    assert [response.hex() for _, response, _ in package.timestamps] == case["responses"], "responses"
    assert to_stamp(package) == case["to_stamp"], "what is to be stamped"
    if case["secret"]:
        derived = Derived(unhex(case["secret"]), package.m, manifest.policy)
        assert case["derived"], "no derived keys"
        for label, key in case["derived"].items():
            assert derived.key(label.encode()).hex() == key, label


def held(path, kind, size, media, modified, as_tree):
    _, _, data, *_ = source(path, kind, size, media, modified)
    return [path, kind, len(data), data if kind == LINK else digest(data, as_tree), media, modified]


# Packages that must be refused.


def refuse(folder):
    folder.mkdir(parents=True, exist_ok=True)
    described, wrong = [], []
    for i, forgery in enumerate(HOSTILE):
        path, root = folder / f"{i:03}.package", folder / f"{i:03}"
        data, files = forgery.make()
        path.write_bytes(data)
        for name, found in files.items():
            put_object(root / name, found)
        expected = forgery.expected
        found = say(path, root)
        if found != expected:
            wrong.append(f"{forgery.what}: {found}, not {expected}")
        described.append({"file": path.name, "what": forgery.what, "expected": expected})
    if wrong:
        raise SystemExit("\n".join(wrong))
    (folder / "refuse.json").write_text(json.dumps(described), encoding="utf-8")
    print(f"packages.py: made {len(described)} packages that break a rule, or none")


def put_object(path, found):
    """Bytes are a file, text is the target of a link, if a link can have it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(found, bytes):
        path.write_bytes(found)
    elif 0 < len(found) < 4096 and "\0" not in found:
        os.symlink(found, path)


def say(path, root):
    """The report on a package by the verifier in this directory."""
    verifier = Verifier(root=root, key=KEY, secret=SECRET, named=(passport("alice").fingerprint,))
    verifier.accept = lambda name, _: name in (passport("alice").fingerprint, passport("bob").fingerprint)
    try:
        report = verifier.verify(path.read_bytes(), path)
    except Refused:
        return "format"
    bad = [LAYERS[layer] for layer, (verdict, _) in report.layers.items() if verdict == "bad"]
    return bad or ("good" if report.good else "signers")


if __name__ == "__main__":
    commands = {"make": make, "check": check, "golden": golden, "refuse": refuse}
    if len(sys.argv) != 3 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]](Path(sys.argv[2]))
