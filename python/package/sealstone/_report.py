"""The report of the verification of a package."""

from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from itertools import starmap
from typing import TYPE_CHECKING, Any, NamedTuple

from sealstone import _native
from sealstone.timestamps import Timestamp, timestamp_of


class Layer(NamedTuple):
    """One of the six layers."""

    number: int
    """From 1 to 6."""
    name: str
    """`content`, `hmac`, `ed25519`, `ml-dsa-65`, `keys` or `timestamp`."""
    verdict: str
    """`good`, `bad`, `unchecked` (a key, roots or files were not given) or `absent`."""
    required: bool
    """Whether the package is bad unless this layer is good."""
    missing: bool
    """Whether it is bad only because it is required and not there."""
    reason: str
    """One line for people."""


class Signer(NamedTuple):
    """One signature."""

    fingerprint: str
    role: str
    """`signer` or `counter-signer`."""
    time: int
    """By the signer's clock: seconds since 1970."""
    proved_time: int | None
    """When it existed at the latest, by timestamps: seconds since 1970."""
    ed25519: bool
    """Whether the Ed25519 signature is right."""
    ml_dsa_65: bool
    """Whether the ML-DSA-65 signature is right."""
    named: bool
    """Whether the caller named this signer."""
    standing: str
    """In the trust store: `unknown`, `pending`, `approved`, `denied`, `revoked`, `compromised`."""
    since: int | None
    """From when it is revoked or compromised: seconds since 1970."""
    counts: bool
    """Whether the signature counts."""


class Finding(NamedTuple):
    """A file that is not as it was signed."""

    path: str
    kind: str
    """`missing`, `altered`, `additional`, `unreadable` or `another kind of object`."""


@dataclass(frozen=True)
class Report:
    """Everything that was found. Its truth value is that of `good`."""

    good: bool
    reason: str
    """One line: why the package is bad, or how many signatures count."""
    layers: tuple[Layer, ...]
    """The six layers, in order."""
    signers: tuple[Signer, ...]
    findings: tuple[Finding, ...]
    """In the order of their paths."""
    timestamps: tuple[Timestamp, ...]
    """The first one first; empty unless that layer is good."""
    checked: _native.Checked | None = field(repr=False, compare=False)
    """For `Package.evidence`; `None` in a copy from another process."""

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            """Fields are made when they are asked for first: most callers only ask for `good`."""
            make, checked = _MADE_LATE.get(name), self.__dict__.get("checked")
            if make is None or checked is None:
                raise AttributeError(f"'Report' object has no attribute {name!r}")
            return self.__dict__.setdefault(name, make(checked))

    def __bool__(self) -> bool:
        return self.good

    def layer(self, name: str) -> Layer:
        """The layer of this name. Raises `KeyError` if there is none."""
        for layer in self.layers:
            if layer.name == name:
                return layer
        raise KeyError(name)

    def to_dict(self) -> dict[str, Any]:
        """For JSON. `sealstone verify --json` has the same keys, with the same meaning, and more.

        Only here are `timestamps`, and `since` of a signer. Only the command has `package`, which
        says what `Package` says, and `label` of a signer, which comes from its trust store.
        """
        layers = {it.name: it._asdict() for it in self.layers}
        for layer in layers.values():
            del layer["name"], layer["number"], layer["missing"]
        return {
            "verdict": "good" if self.good else "bad",
            "reason": self.reason,
            "layers": layers,
            "signers": [it._asdict() for it in self.signers],
            "findings": [it._asdict() for it in self.findings],
            "timestamps": [it.to_dict() for it in self.timestamps],
        }

    def __reduce__(self) -> tuple[Any, ...]:
        if self.good:
            raise TypeError("a report is the result of a check, not a proof: store to_dict(), and check again")
        # Of a bad package: exceptions hand it from process to process.
        return Report, (False, self.reason, self.layers, self.signers, self.findings, self.timestamps, None)

    def __str__(self) -> str:
        lines = [f"  {it.number} {it.name:<10} {it.verdict:<9} {it.reason}" for it in self.layers]
        lines += [f"  {it.role} {it.fingerprint} {_word(it)}" for it in self.signers]
        lines += [f"  {it.kind:<10} {it.path!r}" for it in self.findings]
        return "\n".join([*lines, f"{'GOOD' if self.good else 'BAD'}: {self.reason}"])

    def _repr_html_(self) -> str:
        """For notebooks. Everything from the package is escaped."""
        rows = "".join(_row(it.name, it.verdict, it.reason) for it in self.layers)
        rows += "".join(_row(it.role, _word(it), it.fingerprint) for it in self.signers)
        rows += "".join(_row("file", it.kind, it.path) for it in self.findings)
        title = escape(f"{'GOOD' if self.good else 'BAD'}: {self.reason}")
        return f"<table><caption>{title}</caption>{rows}</table>"


def _row(*cells: str) -> str:
    return "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"


def _word(signer: Signer) -> str:
    return "counts" if signer.counts else f"does not count ({signer.standing})"


_MADE_LATE: dict[str, Callable[[_native.Checked], object]] = {
    "layers": lambda checked: tuple(starmap(Layer, checked.layers())),
    "signers": lambda checked: tuple(starmap(Signer, checked.signers())),
    "findings": lambda checked: tuple(starmap(Finding, checked.findings())),
    "timestamps": lambda checked: tuple(timestamp_of(row) for row in checked.timestamps()),
}


def report_of(checked: _native.Checked) -> Report:
    """The report of what was checked."""
    report = object.__new__(Report)
    report.__dict__.update(good=checked.good, reason=checked.reason, checked=checked)
    return report
