#!/usr/bin/env python3
"""A second reader and writer of archives, written from spec/archive.md alone.

    archive.py example      prints the numbers of the page's worked example
    archive.py make FILE    writes that archive
    archive.py read FILE    reads an archive, compares it with what Python's own tarfile reads

Shares no code with the crate, and needs only the standard library.
"""

import hashlib
import io
import struct
import sys
import tarfile
from dataclasses import dataclass, replace

BLOCK = 512
CONTENT = (1 << 20) - 17
MAX_OCTAL = 8**11 - 1
MAGIC = b"sealstone.dir.v1"


class Refused(Exception):
    pass


def need(condition, what):
    if not condition:
        raise Refused(what)


@dataclass(frozen=True)
class Member:
    path: bytes
    kind: str = "0"
    mode: int = 0o644
    time: int = 0
    size: int = 0
    stored: int = 0
    target: bytes = b""


def fill(data, length=BLOCK):
    return data + bytes(-len(data) % length)


# Headers.


def octal(number, digits):
    return b"%0*o\0" % (digits, number)


def block(name, mode, size, time, flag, target):
    fields = [
        name[:100].ljust(100, b"\0"), octal(mode, 7), octal(0, 7), octal(0, 7), octal(size, 11),
        octal(time, 11), b" " * 8, flag, target[:100].ljust(100, b"\0"), b"ustar\0" b"00",
    ]
    data = fill(b"".join(fields))
    return data[:148] + octal(sum(data), 7) + data[156:]


def record(key, value):
    rest = len(key) + len(value) + 3
    length = next(n for n in range(rest, rest + 9) if n == rest + len(str(n)))
    return b"%d %s=%s\n" % (length, key, value)


def plain(text):
    return len(text) <= 100 and all(0x20 <= byte <= 0x7E for byte in text)


def header(member):
    name = member.path + (b"/" if member.kind == "5" else b"")
    sparse, number = member.kind == "S", lambda n: b"%d" % n
    records = []
    if not sparse and not plain(name):
        records.append((b"path", name))
    if not plain(member.target):
        records.append((b"linkpath", member.target))
    if member.stored > MAX_OCTAL:
        records.append((b"size", number(member.stored)))
    if not 0 <= member.time <= MAX_OCTAL:
        records.append((b"mtime", number(member.time)))
    if sparse:
        records += [(b"GNU.sparse.major", b"1"), (b"GNU.sparse.minor", b"0")]
        records += [(b"GNU.sparse.name", member.path), (b"GNU.sparse.realsize", number(member.size))]
    data = b"".join(record(*pair) for pair in records)
    extended = block(b"PaxHeader", 0o644, len(data), 0, b"x", b"") + fill(data) if records else b""
    size = member.stored if member.stored <= MAX_OCTAL else 0
    time = member.time if 0 <= member.time <= MAX_OCTAL else 0
    flag = b"0" if sparse else member.kind.encode()
    name = b"GNUSparseFile.0/sparse" if sparse else name
    return extended + block(name, member.mode, size, time, flag, member.target)


# Sparse files.


def sparse_map(fragments):
    numbers = [len(fragments), *(n for fragment in fragments for n in fragment)]
    return fill(b"".join(b"%d\n" % n for n in numbers))


def read_map(stored, size):
    """The fragments, and where their content begins."""
    at = 0

    def number():
        nonlocal at
        end = stored.index(b"\n", at)
        digits, at = stored[at:end], end + 1
        need(digits.isdigit() and (digits == b"0" or digits[:1] != b"0"), "a number of the map")
        return int(digits)

    count = number()
    need(1 <= count <= 65536, "the number of fragments")
    fragments = [(number(), number()) for _ in range(count)]
    end = 0
    for i, (offset, length) in enumerate(fragments):
        need(offset >= end and (length or i == count - 1), "the order of the fragments")
        end = offset + length
    need(end == size, "the end of the fragments")
    content = len(sparse_map(fragments))
    need(stored[:content] == sparse_map(fragments), "the map")
    need(len(stored) == content + sum(length for _, length in fragments), "stored")
    return fragments, content


def content_of(member, stored):
    if member.kind != "S":
        return stored
    fragments, at = read_map(stored, member.size)
    content = bytearray(member.size)
    for offset, length in fragments:
        content[offset : offset + length] = stored[at : at + length]
        at += length
    return bytes(content)


# Index and footer.


def index_record(member):
    head = struct.pack(">H", len(member.path)) + member.path + member.kind.encode()
    numbers = struct.pack(">HqQQ", member.mode, member.time, member.size, member.stored)
    return head + numbers + struct.pack(">H", len(member.target)) + member.target


def read_index(data):
    members, at = [], 0

    def take(length):
        nonlocal at
        need(at + length <= len(data), "index")
        at += length
        return data[at - length : at]

    while at < len(data):
        path = take(*struct.unpack(">H", take(2)))
        kind = take(1).decode("latin-1")
        mode, time, size, stored = struct.unpack(">HqQQ", take(26))
        target = take(*struct.unpack(">H", take(2)))
        members.append(Member(path, kind, mode, time, size, stored, target))
    return members


def check(members):
    """The rules of single members, and of their order."""
    last, directories = None, {b""}
    for member in members:
        parts = member.path.split(b"/")
        need(len(member.path) <= 4095 and len(parts) <= 255 and b"\0" not in member.path, "path")
        need(not {b"", b".", b".."} & set(parts), "path")
        need(last is None or parts > last, "order")
        need(b"/".join(parts[:-1]) in directories, "directory")
        need(member.kind in ("0", "5", "2", "S"), "type")
        need(member.mode <= 0o777 and (member.kind != "2" or member.mode == 0o777), "mode")
        need(bool(member.target) == (member.kind == "2"), "target")
        need(len(member.target) <= 4095 and b"\0" not in member.target, "target")
        need(member.kind in ("0", "S") or member.size == 0, "size")
        need(member.kind == "S" or member.stored == member.size, "stored")
        need(max(member.size, member.stored) < 2**63, "size")
        last = parts
        if member.kind == "5":
            directories.add(member.path)


def write(items, hashes=()):
    """An archive of pairs of a member and what is stored of it."""
    members = [member for member, _ in items]
    check(members)
    tar = b"".join(header(member) + fill(stored) for member, stored in items) + bytes(1024)
    index = b"".join(map(index_record, members))
    footer = struct.pack(">4Q", len(tar), len(index), len(items), len(hashes)) + MAGIC
    return tar + index + b"".join(hashes) + footer


def read(data):
    """The members, each with its content."""
    need(len(data) >= 48 and data[-16:] == MAGIC, "footer")
    tar_len, index_len, count, hashes = struct.unpack(">4Q", data[-48:-16])
    need(tar_len + index_len + 64 * hashes + 48 == len(data), "footer")
    need(hashes in (0, (tar_len + index_len - 1) // CONTENT), "hashes")
    tar, index = data[:tar_len], data[tar_len : tar_len + index_len]
    members = read_index(index)
    need(len(members) == count, "number of members")
    check(members)
    found, at = [], 0
    for member in members:
        head = header(member)
        need(tar[at : at + len(head)] == head, "header")
        at += len(head)
        stored = tar[at : at + member.stored]
        need(len(stored) == member.stored, "cut short")
        found.append((member, content_of(member, stored)))
        need(not any(tar[at + member.stored : at + len(fill(stored))]), "bytes behind a member")
        at += len(fill(stored))
    need(tar[at:] == bytes(1024), "end")
    return found


def compare(found, data):
    """Python's own tarfile sees the same members, with the same content."""
    kinds = {"0": tarfile.REGTYPE, "S": tarfile.REGTYPE, "5": tarfile.DIRTYPE, "2": tarfile.SYMTYPE}
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as tar:
        theirs = tar.getmembers()
        need(len(theirs) == len(found), "tarfile sees other members")
        for (member, content), info in zip(found, theirs):
            name = info.name.encode("utf-8", "surrogateescape")
            target = info.linkname.encode("utf-8", "surrogateescape")
            same = (name, info.mode, int(info.mtime), target) == (member.path, member.mode, member.time, member.target)
            need(same and info.type == kinds[member.kind], f"tarfile sees another {name}")
            if info.isreg():
                need(tar.extractfile(info).read() == content, f"tarfile reads another {name}")


def example():
    base = Member(b"", time=1767225600)
    stored = sparse_map([(1048575, 1)]) + b"\1"
    return write([
        (replace(base, path=b"d", kind="5", mode=0o755), b""),
        (replace(base, path="d/ä".encode(), mode=0o600), b""),
        (replace(base, path=b"hole", kind="S", size=1048576, stored=len(stored)), stored),
        (replace(base, path=b"to", kind="2", mode=0o777, target="d/ä".encode()), b""),
    ])


def show(data):
    tar_len, index_len = struct.unpack(">2Q", data[-48:-32])
    tar = data[:tar_len]
    lines = [("tar length", b"%d" % tar_len), ("SHA3-256", hashlib.sha3_256(tar).hexdigest().encode())]
    for name, value in lines:
        print(f"{name:10} = {value.decode()}")
    rest = data[tar_len:].hex()
    pieces = [rest[i : i + 84] for i in range(0, len(rest), 84)]
    for i, piece in enumerate(pieces):
        print(f"{'' if i else 'the rest':10} {' ' if i else '='} {piece}")


def main(command, *paths):
    if command == "example":
        return show(example())
    (path,) = paths
    if command == "make":
        with open(path, "wb") as file:
            file.write(example())
        return None
    with open(path, "rb") as file:
        data = file.read()
    found = read(data)
    compare(found, data)
    for member, content in found:
        print(member.kind, oct(member.mode), member.time, member.path, hashlib.sha3_256(content).hexdigest(), member.target)
    return None


if __name__ == "__main__":
    main(*sys.argv[1:])
