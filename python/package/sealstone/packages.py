"""Signed packages: files that nobody can alter or backdate.

A package is a signed manifest over files. Six layers are checked, each with a verdict of its own:
`content`, `hmac`, `ed25519`, `ml-dsa-65`, `keys` and `timestamp`.

| to | use |
|---|---|
| sign files | `sign` |
| store and read a package | `Package` |
| accept a package, or refuse it | `Package.verify` |
| look at every layer of a bad one too | `Package.report`, `Report` |
| let others check it without Sealstone | `Package.evidence`, `Package.export` |

>>> from sealstone import Passport
>>> from sealstone.packages import Package, sign
>>> alice = Passport.generate("Alice")
>>> files = {"data.csv": b"a,b\\n1,2\\n"}
>>> stored = sign(alice, files, author="Alice Example").to_bytes()
>>> package = Package.load(stored)
>>> report = package.verify(files, signers=alice.public)
>>> [(layer.name, layer.verdict) for layer in report.layers][:2]
[('content', 'good'), ('hmac', 'absent')]
>>> package.verify({"data.csv": b"a,b\\n1,3\\n"}, signers=alice.public)
Traceback (most recent call last):
    ...
sealstone.errors.NotVerified: content: data.csv: altered
"""

import json
import os
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, Literal, NamedTuple, TypeAlias, overload

from sealstone import _native
from sealstone._native import Passport, PublicPassport, TrustStore
from sealstone._passports import public
from sealstone._report import Finding, Layer, Report, Signer, report_of
from sealstone._types import Buffer, Path, Progress, Readable
from sealstone.errors import NotVerified
from sealstone.timestamps import Roots

__all__ = [
    "File",
    "Finding",
    "Layer",
    "Package",
    "Report",
    "Signature",
    "Signer",
    "sign",
]

Content: TypeAlias = Path | Mapping[str, Buffer | Path | Readable]
"""A directory, or the source of each file under its name in the package.

A `str` or a path names a file, an object with `read` is a file object, anything else is bytes-like.
"""

LayerName: TypeAlias = Literal["content", "hmac", "ed25519", "ml-dsa-65", "keys", "timestamp"]
OptionalLayer: TypeAlias = Literal["hmac", "keys", "timestamp"]


class File(NamedTuple):
    """One file or link of a package."""

    path: str
    size: int
    """Bytes of content; of the target, for a link."""
    digest: bytes | None
    """32 bytes (SHA3-256) or 64 bytes (Skein tree); `None` for a link."""
    embedded: bool
    """Whether the package contains it."""
    target: str | None
    """Of a symbolic link, which is never followed."""
    media_type: str | None
    modified: int | None
    """Seconds since 1970. A claim of the signer."""


class Signature(NamedTuple):
    """One signature, not checked."""

    fingerprint: str
    role: str
    """`signer`, or `counter-signer` for one that the manifest does not name."""
    time: int
    """By the signer's clock: seconds since 1970."""


class Package:
    """A signed package. It never changes: methods that add something return another one.

    Nothing of it is proved before `verify` returns.
    """

    _package: _native.Package
    _path: str | None

    def __init__(self, native: _native.Package, path: str | None = None) -> None:
        """Not to be called: use `Package.load` or `sign`."""
        object.__setattr__(self, "_package", native)
        object.__setattr__(self, "_path", path)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a package does not change: {name!r} cannot be set")

    @classmethod
    def load(
        cls, source: "Buffer | Path | Readable", *, progress: Progress | None = None
    ) -> "Package":
        """Reads a package of up to 1 GiB, from bytes-like data, a path or a file object.

        `progress(done, total)` counts bytes; it cancels by raising.

        Raises `Malformed` or `Unsupported` of `sealstone.errors`. No layer is checked.
        """
        path = os.fspath(source) if isinstance(source, (str, os.PathLike)) else None
        return cls(_native.Package.load(source, progress), path)

    def to_bytes(self) -> bytes:
        """The bytes to store."""
        return self._package.encode()

    def save(
        self, path: Path, *, overwrite: bool = False, progress: Progress | None = None
    ) -> None:
        """Writes the package to a file, which appears whole or not at all.

        `progress(done, total)` counts bytes; it cancels by raising, until the file appears.

        Raises `FileExistsError` if the file is there, unless it may be overwritten.
        """
        self._package.save(path, overwrite, progress)
        object.__setattr__(self, "_path", os.fspath(path))

    @cached_property
    def _facts(self) -> tuple[list[str], int, list[str], int, str, str, bool, str | None]:
        return self._package.facts()

    @property
    def signers(self) -> tuple[str, ...]:
        """The fingerprints of those who are to sign, in order."""
        return tuple(self._facts[0])

    @property
    def threshold(self) -> int:
        """How many of the signers have to sign."""
        return self._facts[1]

    @property
    def required(self) -> tuple[str, ...]:
        """Layers that the signer requires, besides those that every package has."""
        return tuple(self._facts[2])

    @property
    def time(self) -> int:
        """When the first signer signed, by the signer's clock: seconds since 1970."""
        return self._facts[3]

    @property
    def author(self) -> str:
        """As the signer says; may be empty."""
        return self._facts[4]

    @property
    def digest(self) -> str:
        """How content is hashed."""
        return self._facts[5]

    @property
    def complete(self) -> bool:
        """Whether the files are all files of a directory, so that another one is a finding."""
        return self._facts[6]

    @property
    def metadata(self) -> dict[str, Any] | None:
        """Free data of the signer."""
        text = self._facts[7]
        return None if text is None else json.loads(text)

    @property
    def policy(self) -> Any:
        """The policy that is bound to the package, or `None`."""
        text = self._package.policy()
        return None if text is None else json.loads(text)

    @cached_property
    def files(self) -> tuple[File, ...]:
        """Files and links, ascending by path."""
        return tuple(File(*row) for row in self._package.files())

    @property
    def signatures(self) -> tuple[Signature, ...]:
        """The signatures that are there."""
        return tuple(Signature(*row) for row in self._package.signatures())

    @property
    def timestamps(self) -> tuple[bytes, ...]:
        """The responses of time-stamping authorities, the first one first."""
        return tuple(self._package.timestamps())

    @property
    def layers(self) -> tuple[str, ...]:
        """The layers that are there."""
        return tuple(self._package.layers())

    def embedded(self, path: str) -> bytes:
        """The content of an embedded file. Raises `KeyError` if there is none at the path."""
        content = self._package.embedded(path)
        if content is None:
            raise KeyError(path)
        return content

    def report(
        self,
        content: "Content | None" = None,
        *,
        signers: PublicPassport | Iterable[PublicPassport] = (),
        trust: TrustStore | None = None,
        hmac_key: "Buffer | Passport | None" = None,
        secret: "Buffer | None" = None,
        roots: Roots | None = None,
        now: int | None = None,
        require: Iterable[LayerName] = (),
        progress: Progress | None = None,
    ) -> Report:
        """Checks all layers and signers, and reports on all, also if the package is bad.

        `content` is where the files beside the package are. All of `signers` must have signed;
        signers that `trust` has approved count too. `hmac_key` is that of the layer `hmac`, or the
        signer's own passport, `secret` that of the layer `keys`; each requires its layer. `roots`
        certify timestamps. `now` is the time in seconds since 1970, by default the clock's.
        `require` adds layers to those that the signer requires. `progress(done, total)` counts
        bytes; it cancels by raising.

        Raises `OSError` if a named file cannot be read, `ValueError` for an unknown layer.
        """
        checks = {
            "content": self._content(content),
            "signers": public("signers", signers),
            "trust": trust,
            "hmac_key": hmac_key,
            "secret": secret,
            "roots": roots,
            "now": now,
            "require": list(require),
        }
        return report_of(_native.package_check(self._package, checks, progress))

    def verify(
        self,
        content: "Content | None" = None,
        *,
        signers: PublicPassport | Iterable[PublicPassport] = (),
        trust: TrustStore | None = None,
        hmac_key: "Buffer | Passport | None" = None,
        secret: "Buffer | None" = None,
        roots: Roots | None = None,
        now: int | None = None,
        require: Iterable[LayerName] = (),
        progress: Progress | None = None,
    ) -> Report:
        """Returns the report if the package is good, and raises otherwise.

        The arguments are those of `report`. Raises `NotVerified`, whose field `report` says which
        layer or signer is bad.
        """
        report = self.report(
            content,
            signers=signers,
            trust=trust,
            hmac_key=hmac_key,
            secret=secret,
            roots=roots,
            now=now,
            require=require,
            progress=progress,
        )
        if not report.good:
            raise NotVerified(report.reason, report)
        return report

    def _content(self, content: "Content | None") -> tuple[str, str | None] | list[tuple[str, object]] | None:
        return None if content is None else _content_of(content, self._path)

    def cosign(
        self,
        passport: Passport,
        content: "Content | None" = None,
        *,
        time: int | None = None,
        progress: Progress | None = None,
    ) -> "Package":
        """The package with the signature of one more signer that it names.

        A signature says that its maker stands for the content, so this checks the package with
        `content` before; `progress` is that of `report`. Raises `NotVerified` if a layer is bad,
        `ValueError` if the package does not name the passport, or it has signed already.
        """
        return self._with_signature(passport, content, False, time, progress)

    def countersign(
        self,
        passport: Passport,
        content: "Content | None" = None,
        *,
        time: int | None = None,
        progress: Progress | None = None,
    ) -> "Package":
        """The package with the attestation of one more passport to have seen it, as `cosign`."""
        return self._with_signature(passport, content, True, time, progress)

    def _with_signature(
        self,
        passport: Passport,
        content: "Content | None",
        counter: bool,
        time: int | None,
        progress: Progress | None,
    ) -> "Package":
        report = self.report(content, progress=progress)
        assert report.checked is not None, "the report was made here"
        prevents = report.checked.prevents_signing()
        if prevents is not None:
            raise NotVerified(f"{prevents}; it was not signed", report)
        return Package(self._package.with_signature(passport, counter, time))

    def to_stamp(self) -> bytes:
        """The bytes that a timestamp has to cover: see `sealstone.timestamps.request`."""
        return self._package.to_stamp()

    def with_timestamp(self, response: "Buffer") -> "Package":
        """The package with the response of a time-stamping authority over `to_stamp`.

        Check it before with `sealstone.timestamps.check_answer`, or verify the new package with
        `roots`. Raises `ValueError` if it is longer than 1 MiB, or there are 32 already.
        """
        return Package(self._package.with_timestamp(response))

    @overload
    def derived_key(self, secret: "Buffer", label: str, *, into: None = None) -> bytes: ...
    @overload
    def derived_key(self, secret: "Buffer", label: str, *, into: "Buffer") -> int: ...
    @overload
    def derived_key(
        self, secret: "Buffer", label: str, *, into: "Buffer | None"
    ) -> bytes | int: ...
    def derived_key(
        self, secret: "Buffer", label: str, *, into: "Buffer | None" = None
    ) -> bytes | int:
        """32 bytes, derived from a secret and bound to this package, its policy and the label.

        Verify the package first. Nobody can wipe `bytes`: give a writable buffer of 32 bytes or
        more as `into`. The key goes to its begin, and its length is returned.

        Raises `Altered` if the secret is not the signer's, `ValueError` if the label has not 1 to
        255 bytes or the buffer is too short, `TypeError` if it is read-only.
        """
        return self._package.derived_key(secret, label, into)

    def evidence(self, report: Report | None = None) -> dict[str, bytes]:
        """Everything that others need to check the package with OpenSSL: names and contents.

        `report` adds the certificates of timestamps. `README.txt` explains the files, `check.sh`
        checks them. Nothing is checked here.
        """
        return dict(self._package.evidence(None if report is None else report.checked))

    def export(
        self, directory: Path, report: Report | None = None, *, progress: Progress | None = None
    ) -> None:
        """Writes the evidence to a new directory, which appears whole or not at all.

        `progress(done, total)` counts bytes, a file at a time; it cancels by raising, until the
        directory appears.

        Raises `FileExistsError` if the directory is there.
        """
        self._package.export(directory, None if report is None else report.checked, progress)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Package):
            return NotImplemented
        return self.to_bytes() == other.to_bytes()

    def __hash__(self) -> int:
        return hash(self.to_bytes())

    def __reduce__(self) -> tuple[Any, ...]:
        return Package.load, (self.to_bytes(),)

    def __repr__(self) -> str:
        files = "1 file" if len(self.files) == 1 else f"{len(self.files)} files"
        return f"<Package, {files}, {len(self.signatures)} of {self.threshold} signatures, not verified>"


def sign(
    passport: Passport,
    content: "Content | None" = None,
    *,
    embed: "Mapping[str, Buffer]" = {},
    digest: Literal["sha3-256", "skein-tree"] = "sha3-256",
    author: str = "",
    media_type: str | None = None,
    policy: object = None,
    metadata: Mapping[str, object] | None = None,
    cosigners: PublicPassport | Iterable[PublicPassport] = (),
    threshold: int | None = None,
    require: Iterable[OptionalLayer] = (),
    hmac_key: "Buffer | Passport | None" = None,
    secret: "Buffer | None" = None,
    times: bool = True,
    time: int | None = None,
    exclude: Path | None = None,
    progress: Progress | None = None,
) -> Package:
    """Signs files with a passport.

    `content` is a directory, all files of which are signed, or the source of each file under its
    name; the files stay beside the package. `embed` is content that the package contains, up to
    64 MiB. `digest` `skein-tree` is quicker, also for one large file. `times` records modification
    times of a directory's files, `exclude` is a file of the directory that is left out.

    `policy` is any JSON value, `metadata` a JSON object; both are signed. `cosigners` are to sign
    later with `Package.cosign`; `threshold` is how many of all have to, by default all. `hmac_key`
    and `secret` of 32 to 1024 bytes make the layers `hmac` and `keys`, which `require` makes
    obligatory. `time` is in seconds since 1970, by default the clock's.

    Raises `ValueError` for arguments out of range, with the path if it is about a file, and
    `OSError` if a file cannot be read.

    >>> from sealstone import Passport
    >>> alice = Passport.generate("Alice")
    >>> package = sign(alice, embed={"model.bin": bytes(1000)}, policy={"use": "research only"})
    >>> package.verify(signers=alice.public).good, package.policy
    (True, {'use': 'research only'})
    """
    wanted = {
        "content": None if content is None else _content_of(content, exclude),
        "embed": list(embed.items()),
        "digest": digest,
        "author": author,
        "media_type": media_type,
        "policy": None if policy is None else _json(policy),
        "metadata": None if metadata is None else _json(metadata),
        "cosigners": public("cosigners", cosigners),
        "threshold": threshold,
        "require": list(require),
        "hmac_key": hmac_key,
        "secret": secret,
        "times": times,
        "time": time,
    }
    return Package(_native.package_sign(passport, wanted, progress))


def _content_of(
    content: "Content", exclude: Path | None
) -> tuple[str, str | None] | list[tuple[str, object]]:
    if isinstance(content, str | os.PathLike):
        return os.fspath(content), None if exclude is None else os.fspath(exclude)
    if not hasattr(content, "items"):
        name = type(content).__name__
        raise TypeError(f"content is a directory or a mapping of names to sources, not '{name}'")
    return list(content.items())


def _json(value: object) -> str:
    return json.dumps(value, allow_nan=False, ensure_ascii=False)
