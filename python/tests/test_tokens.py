"""Tokens: published vectors, the whole way, and everything that is refused."""

import base64
import hashlib
import json
import pickle
from typing import Any, Literal, TypeAlias

import pytest

from sealstone import errors, tokens
from sealstone.tokens import Challenge, IssuerKey, IssuerPublicKey, Pending, Token

Type: TypeAlias = Literal["p384", "rsa", "ristretto255", "p256"]
TYPES: list[Type] = ["p384", "rsa", "ristretto255", "p256"]
KEYS = {token_type: IssuerKey.generate(token_type) for token_type in TYPES}
# The first challenge of RFC 9577, appendix A.1.
RFC_CHALLENGE = bytes.fromhex(
    "0002000e6973737565722e6578616d706c65208e7acc900e393381e8810b7c9e4a68b5163f1f880ab6688a6ffe780923609e88"
    "000e6f726967696e2e6578616d706c65"
)


def challenge(token_type: Type, **options: Any) -> Challenge:
    return Challenge(token_type, "issuer.example", origins=["shop.example"], **options)


def fresh(token_type: Type) -> tuple[Token, Challenge]:
    asked = challenge(token_type, context=bytes(32))
    pending = Pending(KEYS[token_type].public, asked)
    [token] = pending.finalize(KEYS[token_type].issue(pending.request))
    return token, asked


@pytest.mark.parametrize("token_type", TYPES)
def test_the_whole_way(token_type: Type) -> None:
    token, asked = fresh(token_type)
    shown = Token.from_header(token.header)
    assert shown == token == Token.decode(token.encode()) and hash(shown) == hash(token)
    issuer = IssuerKey.decode(token_type, KEYS[token_type].encode())
    mark = issuer.redeem(shown, asked)
    assert len(mark) == 32 and mark == token.nullifier
    assert (token.token_type, token.key_id) == (token_type, issuer.public.id)
    assert issuer.public.id == hashlib.sha256(issuer.public.encode()).digest()
    assert IssuerPublicKey.decode(token_type, issuer.public.encode()) == issuer.public
    if token_type == "rsa":
        assert issuer.public.redeem(shown, asked) == mark
    else:
        with pytest.raises(ValueError, match="only the issuer"):
            issuer.public.redeem(shown, asked)


@pytest.mark.parametrize("token_type", ["p384", "ristretto255", "p256"])
def test_batches(token_type: Type) -> None:
    asked, issuer = challenge(token_type), KEYS[token_type]
    pending = Pending(issuer.public, asked, 20)
    with pytest.raises(ValueError, match="batch of 20"):
        issuer.issue_batch(pending.request, 19)
    got = pending.finalize(issuer.issue_batch(pending.request, 20))
    assert len({issuer.redeem(token, asked) for token in got}) == 20
    for count in (0, 70_000):
        with pytest.raises(ValueError, match=f"batch of {count}"):
            Pending(issuer.public, asked, count)


def test_a_request_is_kept_until_the_answer_comes() -> None:
    asked, issuer = challenge("p384"), KEYS["p384"]
    pending = Pending(issuer.public, asked)
    again = Pending.restore(pending.save())
    assert again.request == pending.request
    response = issuer.issue(again.request)
    assert again.finalize(response) == pending.finalize(response)
    for call in (lambda: pending.request, pending.save, lambda: pending.finalize(response)):
        with pytest.raises(ValueError, match="ask for new tokens"):
            call()


def test_challenges() -> None:
    read = Challenge.decode(RFC_CHALLENGE)
    assert (read.token_type, read.issuer, read.origins) == ("rsa", "issuer.example", ["origin.example"])
    assert read.context == RFC_CHALLENGE[19:51] and read.encode() == RFC_CHALLENGE
    assert read.digest() == hashlib.sha256(RFC_CHALLENGE).digest()
    made = Challenge("rsa", "issuer.example", origins=["origin.example"], context=RFC_CHALLENGE[19:51])
    assert made == read and hash(made) == hash(read) and made != challenge("rsa")
    value = tokens.www_authenticate(made, KEYS["rsa"].public, max_age=60)
    assert tokens.read_challenges(f"Basic realm=x, {value}") == ((made, KEYS["rsa"].public.encode(), 60),)
    assert tokens.read_challenges("Basic realm=x") == ()


def test_a_directory() -> None:
    key = KEYS["ristretto255"].public
    entry = {"token-type": 5, "token-key": base64.urlsafe_b64encode(key.encode()).decode(), "not-before": 100}
    unknown = {"token-type": 77, "token-key": "AA=="}
    text = json.dumps({"issuer-request-uri": "/token-request", "token-keys": [unknown, entry]})
    directory = tokens.read_directory(text)
    assert (directory.request_uri, directory.keys) == ("/token-request", ((key, 100),))
    assert directory.key("ristretto255", 100) == key
    for token_type, now in [("ristretto255", 99), ("p384", 100)]:
        with pytest.raises(LookupError, match=token_type):
            directory.key(token_type, now)
    for hostile in ("", "{", "[]", text.replace('"token-key": "', '"token-key": "A'), " " * (1 << 19)):
        with pytest.raises((errors.Malformed, ValueError)):
            tokens.read_directory(hostile)


@pytest.mark.parametrize("token_type", TYPES)
def test_what_is_refused(token_type: Type) -> None:
    token, asked = fresh(token_type)
    issuer, other = KEYS[token_type], IssuerKey.generate(token_type)

    def name(call: Any, *arguments: Any) -> str:
        with pytest.raises(errors.TokenRefused) as raised:
            call(*arguments)
        assert str(raised.value)
        return str(raised.value.name)

    assert name(other.redeem, token, asked) == "wrong-key"
    assert name(issuer.redeem, token, challenge(token_type)) == "wrong-challenge"
    forged = bytearray(token.encode())
    forged[-1] ^= 1
    assert name(issuer.redeem, Token.decode(forged), asked) == "forged"
    another: Type = "rsa" if token_type != "rsa" else "p384"
    assert name(KEYS[another].redeem, token, asked) == "wrong-type"
    with pytest.raises(errors.TokenRefused):
        Pending(KEYS[another].public, asked)
    pending = Pending(issuer.public, asked)
    assert name(KEYS[another].issue, pending.request) == "wrong-type"
    changed = bytearray(issuer.issue(pending.request))
    changed[-1] ^= 1
    saved = pending.save()
    with pytest.raises((errors.TokenRefused, errors.Malformed)):
        pending.finalize(changed)
    for cut in (b"", pending_request(saved)[:-1], pending_request(saved) + b"x"):
        with pytest.raises(errors.Malformed):
            issuer.issue(cut)


def pending_request(saved: bytes) -> bytes:
    return Pending.restore(saved).request


def test_hostile_bytes() -> None:
    token, _ = fresh("p384")
    saved = Pending(KEYS["p384"].public, challenge("p384")).save()
    readers: list[tuple[Any, bytes]] = [
        (Token.decode, token.encode()),
        (Challenge.decode, RFC_CHALLENGE),
        (Pending.restore, saved),
        (lambda data: IssuerPublicKey.decode("p384", data), KEYS["p384"].public.encode()),
        (lambda data: IssuerKey.decode("p384", data), KEYS["p384"].encode()),
        (lambda data: IssuerKey.decode("rsa", data), KEYS["rsa"].encode()),
    ]
    for read, good in readers:
        read(good)
        for hostile in (b"", b"\xff" * len(good), good + b"\0", *(good[:n] for n in range(1, len(good), 17))):
            with pytest.raises((errors.Malformed, errors.Unsupported)):
                read(hostile)
    for value in ("", "PrivateToken", 'PrivateToken token="="', "Basic x", 'PrivateToken token="AAEA"'):
        with pytest.raises(errors.Malformed):
            Token.from_header(value)
    with pytest.raises(errors.Unsupported, match="unknown token type 0x0000"):
        Token.from_header('PrivateToken token="AAAA"')
    with pytest.raises(ValueError, match="the types of token are 'p384', 'rsa'"):
        IssuerKey.generate("p521")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="32 bytes"):
        challenge("p384", context=b"short")
    for issuer in ("", "a\nb", "\u20ac"):
        with pytest.raises(errors.Malformed):
            Challenge("p384", issuer)


def test_secrets_are_not_shown() -> None:
    with IssuerKey.generate("p384") as issuer:
        secret = issuer.encode()
        assert secret.hex() not in repr(issuer)
        pending = Pending(issuer.public, challenge("p384"))
        assert repr(pending) == "Pending(...)"
        for it in (issuer, pending):
            with pytest.raises(TypeError, match="pickle"):
                pickle.dumps(it)
    assert issuer.closed
    with pytest.raises(ValueError, match="closed"):
        issuer.issue(pending.request)
