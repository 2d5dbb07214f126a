"""Anonymous tokens (Privacy Pass, RFC 9577 and 9578): let people in without knowing who they are.

| step | side | use |
|---|---|---|
| challenge | origin | `Challenge`, `www_authenticate` |
| request | client | `Pending`: its `request` goes to the issuer |
| issue | issuer | `IssuerKey.issue`, `IssuerKey.issue_batch` |
| finalize | client | `Pending.finalize`, once; `Token.header` shows a token |
| redeem | origin | `Token.from_header`, then `IssuerKey.redeem` |

The types of token are `p384` (RFC 9578), `rsa` (RFC 9578; everybody can redeem, with
`IssuerPublicKey.redeem`), `ristretto255` (for batches) and `p256` (Sealstone's own).

`redeem` returns the token's mark, 32 bytes. The origin stores the marks of tokens that were spent,
and refuses a token whose mark it has: test and store in one step.

>>> from sealstone.tokens import Challenge, IssuerKey, Pending, Token
>>> issuer = IssuerKey.generate("p384")
>>> challenge = Challenge("p384", "issuer.example", origins=["shop.example"])
>>> pending = Pending(issuer.public, challenge)
>>> response = issuer.issue(pending.request)
>>> [token] = pending.finalize(response)
>>> spent = set()
>>> mark = issuer.redeem(Token.from_header(token.header), challenge)
>>> mark in spent
False
>>> spent.add(mark)

Failures raise `TokenRefused`, `Malformed` or `Unsupported` of `sealstone.errors`; arguments out of
range raise `ValueError`. A `Pending` and an `IssuerKey` are secret: their `repr` shows no secret,
they cannot be pickled, and their secrets are wiped with the last reference; those of a key also by
`close`. Ctrl-C and `progress` end work on a batch, and the making of an RSA key; `sealstone.aio`
says what of that goes on for a while. A `Pending` whose `finalize` they ended may be finalized
again. How much is left is not known: while they work, these calls say `progress(0, 1)`.
"""

from typing import NamedTuple

from sealstone import _native
from sealstone._native import Challenge, IssuerKey, IssuerPublicKey, Pending, Token

__all__ = [
    "Challenge",
    "Directory",
    "DirectoryKey",
    "IssuerKey",
    "IssuerPublicKey",
    "Offer",
    "Pending",
    "Token",
    "read_challenges",
    "read_directory",
    "www_authenticate",
]


class Offer(NamedTuple):
    """One challenge of a `WWW-Authenticate` header."""

    challenge: Challenge
    key: bytes | None
    """The issuer's public key, if the origin tells it. Pin the issuer: an origin that chooses the
    key of each visitor recognises visitors."""
    max_age: int | None
    """For how many seconds the challenge is good, if the origin tells it."""


class DirectoryKey(NamedTuple):
    """A key of an issuer's directory."""

    key: IssuerPublicKey
    not_before: int | None
    """The time before which no client should use the key, in seconds since 1970."""


class Directory(NamedTuple):
    """An issuer's directory."""

    request_uri: str
    """A URL, or a path on the host that the directory came from."""
    keys: tuple[DirectoryKey, ...]
    """The preferred one first. Keys of unknown types are left out."""

    def key(self, token_type: str, now: int) -> IssuerPublicKey:
        """The first key of this type that may be used at `now`, in seconds since 1970.

        Raises `LookupError` if there is none.
        """
        for it in self.keys:
            if it.key.token_type == token_type and (it.not_before is None or it.not_before <= now):
                return it.key
        raise LookupError(f"the directory has no {token_type} key for this time")


def www_authenticate(
    challenge: Challenge, key: IssuerPublicKey | None = None, *, max_age: int | None = None
) -> str:
    """The value of a `WWW-Authenticate` header; `max_age` is in seconds."""
    return _native.token_challenge_header(challenge, key, max_age)


def read_challenges(value: str) -> tuple[Offer, ...]:
    """The offers of a `WWW-Authenticate` header, in order.

    Other schemes, and challenges that cannot be read, are passed over. Raises `Malformed` if the
    value is not a list of challenges.
    """
    return tuple(Offer(*row) for row in _native.token_challenges(value))


def read_directory(json: str) -> Directory:
    """Reads an issuer's directory of up to 256 KiB, in JSON.

    Raises `Malformed` if it is anything else, or a key of a known type is malformed.
    """
    uri, keys = _native.token_directory(json)
    return Directory(uri, tuple(DirectoryKey(*row) for row in keys))
