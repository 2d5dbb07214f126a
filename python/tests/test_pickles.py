"""Pickles between processes: public passports, and exceptions with all their attributes."""

import copy
import inspect
import pickle
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import sealstone
from sealstone import Passport, PublicPassport, errors
from sealstone.argon2 import exceptions
from sealstone.packages import Report, sign

ALICE, BOB, EVE = Passport.generate("Alice"), Passport.generate("Bob"), Passport.generate("Eve")
CHEAP = (7168, 5, 1)
SEALED = sealstone.seal(b"text", to=BOB.public, sender=ALICE)
VALUES = {"str": "text", "int": 7, "str | None": None, "int | None": 9, "object": (1, 2), "tuple": ("a", "b")}


def copied(it: Any) -> Any:
    return pickle.loads(pickle.dumps(it))


def classes(module: ModuleType) -> list[type[Exception]]:
    return [it for it in vars(module).values() if isinstance(it, type) and issubclass(it, Exception)]


def named(annotation: Any) -> str:
    """`tuple` for any tuple. Python 3.14 calls every union `Union`."""
    text = str(annotation)
    return text if isinstance(annotation, str) or "|" in text else str(getattr(annotation, "__name__", text))


@pytest.mark.parametrize("kind", [*classes(errors), *classes(exceptions)])
def test_exceptions_keep_their_fields(kind: type[Exception]) -> None:
    parameters = inspect.signature(kind.__init__).parameters.values()
    names = [named(it.annotation) for it in parameters]
    values = [VALUES[name] for it, name in zip(parameters, names, strict=True) if it.name != "self" and it.kind is it.POSITIONAL_OR_KEYWORD]
    made = kind(*values) if values else kind("text")
    again = copied(made)
    assert type(again) is kind and again.args == made.args and vars(again) == vars(made) and str(again) == str(made)
    assert len(vars(again)) == max(0, len(values) - 1)


def test_who_could_open_it() -> None:
    """The recipients that the file names, for which no key is needed, and the keys tried."""
    several: list[dict[str, Any]] = [{}, {"anonymous": True}, {"passphrase": "passphrase", "profile": CHEAP}]
    for other in several:
        sealed = sealstone.seal(b"text", to=BOB.public, **other)
        with pytest.raises(errors.NotARecipient, match="sealed for somebody else") as refused:
            sealstone.open(sealed, keys=[ALICE, EVE], sender="any")
        again = copied(refused.value)
        assert isinstance(again, errors.NotARecipient) and again.given == (ALICE.fingerprint, EVE.fingerprint)
        assert again.recipients == tuple(sealstone.recipients(sealed)) and len(again.recipients) == 1 + ("passphrase" in other)
        assert (BOB.fingerprint in str(again.recipients)) == ("anonymous" not in other)
    sealed = sealstone.seal(b"text", to=BOB.public, **several[-1])
    with pytest.raises(errors.WrongPassphrase) as wrong:
        sealstone.open(sealed, passphrase="another", sender="any")
    failed = copied(wrong.value)
    assert isinstance(failed, errors.WrongPassphrase)
    assert (failed.recipients, failed.fingerprint) == (tuple(sealstone.recipients(sealed)), None)
    with pytest.raises(errors.NotARecipient) as reader:
        sealstone.SealedFile(sealed, keys=ALICE, sender="any")
    assert reader.value.given == (ALICE.fingerprint,) and len(reader.value.recipients) == 2


def test_which_passport_stays_locked() -> None:
    with pytest.raises(errors.WrongPassphrase) as wrong:
        Passport.unlock(ALICE.lock("passphrase", profile=CHEAP).encode(), "another")
    failed = copied(wrong.value)
    assert isinstance(failed, errors.WrongPassphrase)
    assert (failed.recipients, failed.fingerprint) == ((), ALICE.fingerprint)


def test_an_opened_file_shows_and_pickles_no_content(tmp_path: Path) -> None:
    sealed = sealstone.seal(b"attack at dawn", to=BOB.public, name="plan.txt", note="for Bob alone")
    opened = sealstone.open(sealed, keys=BOB, sender="unsigned")
    assert "attack" not in repr(opened) + str(opened) + f"{opened}"
    assert repr(opened) == "Opened(content=<14 bytes>, sender=None, name='plan.txt', modified=None, note=<13 characters>, length=14)"
    assert "note=None" in repr(opened._replace(note=None))
    with pytest.raises(TypeError, match="hold the content"):
        pickle.dumps(opened)
    assert copy.copy(opened) is copy.deepcopy(opened) is opened
    to_path = sealstone.open(sealed, tmp_path / "opened", keys=BOB, sender="unsigned")
    assert copied(to_path) == to_path == opened._replace(content=None) and "content=None" in repr(to_path)
    assert copied(to_path).note == "for Bob alone"


def test_a_public_passport() -> None:
    for same in (copied(ALICE.public), copy.deepcopy(ALICE.public), copied({"key": ALICE.public})["key"]):
        assert same == ALICE.public and hash(same) == hash(ALICE.public) and same.text == ALICE.public.text
        assert (same.label, same.created) == ("Alice", ALICE.created)
        assert sealstone.open(SEALED, keys=BOB, sender=same).sender == ALICE.public


def test_the_keys_that_a_file_carried() -> None:
    carried = sealstone.open(SEALED, keys=BOB, sender="any").sender
    assert isinstance(carried, PublicPassport) and carried.text == ""
    same = copied(carried)
    assert same == ALICE.public and (same.text, same.label, same.created) == ("", "Alice", ALICE.created)
    assert sealstone.open(SEALED, keys=BOB, sender=same).content == b"text"


def test_a_changed_public_passport() -> None:
    """A pickle is no way around the check of its signatures."""
    make, (text, carried) = ALICE.public.__reduce__()
    assert make(text, carried) == ALICE.public
    at = text.index(b"\n") + 200
    with pytest.raises(errors.SealstoneError):
        make(text[:at] + bytes([text[at] ^ 1]) + text[at + 1 :], False)
    for data in (b"", b"\xa0", text):
        with pytest.raises(errors.Malformed):
            make(data, True)


def test_a_sender_who_is_not_approved() -> None:
    with pytest.raises(errors.SenderNotApproved) as refused:
        sealstone.open(SEALED, keys=BOB, sender=BOB.public)
    again = copied(refused.value)
    assert isinstance(again, errors.SenderNotApproved)
    assert (again.fingerprint, again.status, again.passport) == (ALICE.fingerprint, "another", ALICE.public)


def test_a_package_that_is_not_good() -> None:
    package = sign(ALICE, {"a": b"text"})
    with pytest.raises(errors.NotVerified) as refused:
        package.verify({"a": b"changed"}, signers=ALICE.public)
    again, report = copied(refused.value), refused.value.report
    assert isinstance(again, errors.NotVerified) and isinstance(again.report, Report) and isinstance(report, Report)
    assert str(again) == str(refused.value)
    assert again.report == report and again.report.to_dict() == report.to_dict()
    assert package.evidence(again.report) == package.evidence()
    with pytest.raises(TypeError, match="not a proof"):
        pickle.dumps(package.report({"a": b"text"}, signers=ALICE.public))
