"""Encoded hashes, `$argon2id$v=19$m=65536,t=3,p=4$SALT$TAG`, in the one form that each has."""

import re
from base64 import b64decode, b64encode
from typing import NamedTuple

_NAMES = ("argon2d", "argon2i", "argon2id")
_OLD = 16  # Argon2 1.0, whose strings name no version.

_NUMBER = rb"(0|[1-9][0-9]{0,9})"
_BASE64 = rb"([A-Za-z0-9+/]+)"
_FORM = re.compile(
    rb"\$(argon2d|argon2id?)(?:\$v=%s)?\$m=%s,t=%s,p=%s(?:,data=%s)?\$%s\$%s"
    % (_NUMBER, _NUMBER, _NUMBER, _NUMBER, _BASE64, _BASE64, _BASE64)
)


class Encoded(NamedTuple):
    """The fields of an encoded hash."""

    type: int
    version: int
    memory_cost: int
    time_cost: int
    parallelism: int
    data: bytes
    salt: bytes
    tag: bytes

    def text(self) -> str:
        """The encoded hash, of a version that has a number."""
        data = ",data=" + _base64(self.data) if self.data else ""
        costs = f"m={self.memory_cost},t={self.time_cost},p={self.parallelism}{data}"
        return f"${_NAMES[self.type]}$v={self.version}${costs}${_base64(self.salt)}${_base64(self.tag)}"


def parse(hash: bytes) -> Encoded | None:
    """The fields of `hash`; `None` if it is not the form that `Encoded.text` gives."""
    found = _FORM.fullmatch(hash)
    if not found:
        return None
    name, version, memory, time, lanes, data, salt, tag = found.groups()
    parts = [_bytes(part or b"") for part in (data, salt, tag)]
    number = _OLD if version is None else int(version)
    encoded = Encoded(_NAMES.index(name.decode()), number, int(memory), int(time), int(lanes), *parts)
    form = encoded.text().encode("ascii")
    if version is None:
        form = form.replace(b"$v=%d" % _OLD, b"", 1)
    return encoded if form == hash else None


def _base64(data: bytes) -> str:
    return b64encode(data).rstrip(b"=").decode("ascii")


def _bytes(text: bytes) -> bytes:
    return b64decode(text + b"=" * (-len(text) % 4)) if len(text) % 4 != 1 else b""
