"""The conventions of spec/README.md: deterministic CBOR, shown text, padding, armor."""

import base64
import re
import unicodedata

import cbor2

OVERRIDES = re.compile("[\u2028-\u202e\u2066-\u2069]")


class Refused(Exception):
    """A reader must not go on."""


def need(condition, what):
    if not condition:
        raise Refused(what)


def encode(value):
    return cbor2.dumps(value, canonical=True)


def decode(data):
    """The value of which `data` is the one encoding."""
    try:
        value, end = item(data, 0, 4)
    except (IndexError, UnicodeDecodeError) as error:
        raise Refused(f"CBOR: {error}") from error
    need(end == len(data) and encode(value) == data, "CBOR: not deterministic")
    return value


def item(data, at, depth):
    """The item at `at` and where it ends. `depth` is how many arrays and maps may be opened."""
    kind, number, at = head(data, at)
    if kind == 0:
        return number, at
    if kind in (2, 3):
        need(number <= len(data) - at, "CBOR: cut short")
        text = data[at : at + number]
        return text.decode() if kind == 3 else text, at + number
    need(kind in (4, 5) and depth > 0, "CBOR: type or depth")
    need(number <= len(data) - at, "CBOR: cut short")
    values = []
    for _ in range(number * (kind - 3)):
        value, at = item(data, at, depth - 1)
        values.append(value)
    if kind == 4:
        return values, at
    keys = values[::2]
    need(all(type(key) is int for key in keys) and len(set(keys)) == len(keys), "CBOR: map keys")
    return dict(zip(keys, values[1::2])), at


def head(data, at):
    kind, number = data[at] >> 5, data[at] & 31
    if number < 24:
        return kind, number, at + 1
    need(number < 28, "CBOR: indefinite or reserved")
    end = at + 1 + (1 << number - 24)
    need(end <= len(data), "CBOR: cut short")
    return kind, int.from_bytes(data[at + 1 : end], "big"), end


def fields(value, required, optional=()):
    """`value`, which must be a map with these fields and no others."""
    need(isinstance(value, dict), "a map")
    keys = set(value)
    need(set(required) <= keys <= set(required) | set(optional), "missing or unknown fields")
    return value


def octets(value, *lengths):
    need(isinstance(value, bytes) and len(value) in lengths, "a byte string of the right length")
    return value


def number(value):
    need(type(value) is int, "a number")
    return value


def text(value, least, most, lines=False):
    need(isinstance(value, str) and least <= len(value.encode()) <= most, "text of the right length")
    for character in value:
        shown = unicodedata.category(character) != "Cc" or (lines and character in "\n\t")
        need(shown and not OVERRIDES.match(character), "text with control characters")
    return value


def pad(content, length):
    return (content + b"\1").ljust(length, b"\0")


def unpad(padded):
    content = padded.rstrip(b"\0")
    need(content.endswith(b"\1"), "padding")
    return content[:-1]


def armor(data, label):
    digits = base64.b64encode(data).decode()
    lines = [digits[at : at + 64] for at in range(0, len(digits), 64)]
    return "\n".join([f"-----BEGIN SEALSTONE {label}-----", *lines, f"-----END SEALSTONE {label}-----", ""]).encode()


def dearmor(data, label):
    begin, end = (f"-----{word} SEALSTONE {label}-----".encode() for word in ("BEGIN", "END"))
    text = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    text = [line.removesuffix(b"\r").lstrip(b"> \t") for line in text]
    need(begin in text, "armor: BEGIN line")
    before, after = text[: text.index(begin)], text[text.index(begin) + 1 :]
    need(sum(map(len, before)) <= 65536, "armor: text before")
    ends = [i for i, line in enumerate(after) if line.rstrip(b" \t\f\r") == end]
    need(ends, "armor: END line")
    lines, rest = after[: ends[0]], after[ends[0] + 1 :]
    need(begin not in rest and sum(map(len, rest)) <= 65536, "armor: text after")
    need(lines, "armor: nothing inside")
    need(all(len(line) == 64 for line in lines[:-1]) and 1 <= len(lines[-1]) <= 64, "armor: length of a line")
    digits = b"".join(lines)
    try:
        binary = base64.b64decode(digits, validate=True)
    except ValueError as error:
        raise Refused(f"armor: {error}") from error
    need(base64.b64encode(binary) == digits, "armor: bits after the end")
    return binary
