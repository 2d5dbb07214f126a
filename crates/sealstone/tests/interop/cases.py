#!/usr/bin/env python3
"""Sealed files of many kinds, described by a text beside them.

    cases.py make DIR     writes files of every kind and DIR/cases.txt
    cases.py check DIR    opens all files of DIR/cases.txt and compares them with its description
    cases.py golden DIR   writes the files python-* that DIR/cases.txt describes
    cases.py refuse DIR   writes files that break one rule each, and DIR/refuse.txt

cases.txt has a paragraph of `name: value` lines for each file, as `file/cases.rs` reads and writes
them. The content is 00 01 … fa and again from 00, of the length given. The people are those of the
golden files.
"""

import sys
from functools import cache
from pathlib import Path

from file import CONTENT, Passport, Recipient, Sealer, open_file
from hostile import HOSTILE
from passport import sha3

PEOPLE = {"alice": ("Alice", 1767225600), "bob": ("Bob Åström", 1767225601), "carol": ("Carol", 1767225602), "dave": ("Dave", 1767225603)}
YES_NO = {"yes": True, "no": False}


@cache
def person(name):
    label, created = PEOPLE[name]
    return Passport(sha3(f"sealstone golden v1 {name}".encode()), label, created)


def content(length):
    return (bytes(range(251)) * (length // 251 + 1))[:length]


# The paragraphs.


def describe(case):
    sealer = case["sealer"]
    sender = "none"
    if sealer.sender:
        sender = f"{'carried' if sealer.carry else 'named'} {case['sender']}"
    lines = [("file", case["file"]), ("suite", sealer.suite)]
    lines += [("to", to) for to in case["to"]]
    lines += [("sender", sender), ("armored", yes_no(sealer.armored)), ("padded", yes_no(sealer.hide_length))]
    lines += [(name, value) for name in ("name", "modified", "note") if (value := getattr(sealer, name)) is not None]
    lines += [("content", case["content"])]
    return "".join(f"{name}: {spelled(value)}\n" for name, value in lines)


def spelled(value):
    """As it stands in a line; `None` if there is no line."""
    return None if value is None else str(value).replace("\n", "|")


def yes_no(value):
    return "yes" if value else "no"


def read_cases(text):
    for paragraph in text.strip().split("\n\n"):
        pairs = [line.split(": ", 1) for line in paragraph.splitlines()]
        case = dict(pairs)
        case["to"] = [value for name, value in pairs if name == "to"]
        yield case


def recipient(to):
    kind, _, rest = to.partition(" ")
    if kind == "passphrase":
        m, t, p, words = rest.split(" ", 3)
        return Recipient(passphrase=words, params=(int(m), int(t), int(p)))
    return Recipient(passport=person(rest), anonymous=kind == "anonymous")


# Files that must be opened.


def matrix():
    """Every suite with every kind of sender, then single choices and lengths around a chunk."""
    for suite in (1, 2):
        for sender, carry in ((None, True), ("alice", True), ("alice", False)):
            yield {"suite": suite, "sender": sender, "carry": carry, "length": 1000}
            yield {"suite": suite, "sender": sender, "carry": carry, "length": 0, "armored": True, "hide_length": True}
        for length in (1, CONTENT - 1, CONTENT, CONTENT + 1):
            yield {"suite": suite, "length": length}
        yield {"suite": suite, "length": CONTENT + 5, "sender": "bob", "hide_length": True}
        yield {"suite": suite, "length": CONTENT, "hide_length": True}
        yield {"suite": suite, "length": CONTENT - 5, "hide_length": True}
    for to in (
        ["passport bob", "passport carol", "passport alice"],
        ["anonymous carol"],
        ["anonymous carol", "passport alice", "anonymous bob"],
        ["passphrase 7168 5 1 naïve café"],
        ["passphrase 8192 5 4 four lanes", "passport bob", "passphrase 7168 6 1 other words"],
    ):
        yield {"to": to, "sender": "alice", "length": 100}
    yield {"length": 10, "name": "report.txt", "modified": 1767225700, "note": "two\nlines"}
    yield {"length": 10, "name": "ä" * 127, "note": "n" * 4096, "sender": "carol"}
    yield {"length": 10, "modified": 2**64 - 1, "sender": "carol", "carry": False}


def make(folder):
    folder.mkdir(parents=True, exist_ok=True)
    paragraphs = []
    for i, choices in enumerate(matrix()):
        length, to = choices.pop("length"), choices.pop("to", ["passport bob"])
        sender = choices.pop("sender", None)
        sealer = Sealer([recipient(one) for one in to], sender=sender and person(sender), **choices)
        case = {"file": f"{i:02}.sealed", "sealer": sealer, "to": to, "sender": sender, "content": length}
        (folder / case["file"]).write_bytes(sealer.seal(content(length)))
        paragraphs.append(describe(case))
    (folder / "cases.txt").write_text("\n".join(paragraphs), encoding="utf-8")
    print(f"cases.py: made {len(paragraphs)} files")


def golden(folder):
    for case in read_cases((folder / "cases.txt").read_text(encoding="utf-8")):
        if case["file"].startswith("python-"):
            (folder / case["file"]).write_bytes(sealer_of(case).seal(content(int(case["content"]))))


def sealer_of(case):
    kind, _, name = case["sender"].partition(" ")
    modified, note = case.get("modified"), case.get("note")
    return Sealer(
        [recipient(one) for one in case["to"]],
        suite=int(case["suite"]),
        sender=person(name) if name else None,
        carry=kind != "named",
        name=case.get("name"),
        modified=modified and int(modified),
        note=note and note.replace("|", "\n"),
        hide_length=YES_NO[case["padded"]],
        armored=YES_NO[case["armored"]],
    )


def check(folder):
    cases = list(read_cases((folder / "cases.txt").read_text(encoding="utf-8")))
    for case in cases:
        data = (folder / case["file"]).read_bytes()
        for to in case["to"]:
            try:
                check_one(case, data, recipient(to))
            except Exception as error:
                raise SystemExit(f"{case['file']} for {to}: {error!r}") from error
    print(f"cases.py: {len(cases)} files are whole")


def check_one(case, data, key):
    file = open_file(data, [key.passport or key.passphrase])
    assert file.content == content(int(case["content"])), "content"
    assert file.suite == int(case["suite"]), "suite"
    assert file.armored == YES_NO[case["armored"]], "armor"
    assert file.padded or not YES_NO[case["padded"]], "padding"
    for name in ("name", "modified", "note"):
        assert spelled(getattr(file, name)) == case.get(name), name
    assert sorted(map(stanza_name, file.stanzas)) == sorted(map(recipient_name, case["to"])), "stanzas"
    check_sender(case["sender"], file.sender)


def check_sender(expected, sender):
    kind, _, name = expected.partition(" ")
    assert (sender is None) == (kind == "none"), "signed"
    if sender:
        assert sender.carried == (kind == "carried"), "carried"
        sender.verify_as(person(name))
        if sender.carried:
            assert (sender.label, sender.created) == PEOPLE[name], "carried passport"


def stanza_name(stanza):
    return tuple(map(str, stanza[:4])) if stanza[0] == 2 else (str(stanza[1]),)


def recipient_name(to):
    one = recipient(to)
    if one.passphrase:
        return ("2", *map(str, one.params))
    return (str(b"" if one.anonymous else one.passport.fingerprint),)


# Files that must be refused.


def refuse(folder):
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for i, (what, seal) in enumerate(HOSTILE):
        (folder / f"{i:02}.sealed").write_bytes(seal(person("alice"), person("bob")))
        lines.append(f"{i:02}.sealed: {what}\n")
    (folder / "refuse.txt").write_text("".join(lines), encoding="utf-8")
    print(f"cases.py: made {len(lines)} files that break a rule")


if __name__ == "__main__":
    commands = {"make": make, "check": check, "golden": golden, "refuse": refuse}
    if len(sys.argv) != 3 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]](Path(sys.argv[2]))
