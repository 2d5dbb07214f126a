"""What goes from process to process: public passports and exceptions, with all that they say."""

import copy
import inspect
import pickle
from types import ModuleType
from typing import Any

import pytest

import sealstone
from sealstone import Passport, PublicPassport, errors
from sealstone.argon2 import exceptions
from sealstone.packages import Report, sign

ALICE, BOB = Passport.generate("Alice"), Passport.generate("Bob")
SEALED = sealstone.seal(b"text", to=BOB.public, sender=ALICE)
VALUES = {"str": "text", "int": 7, "str | None": None, "object": (1, 2)}


def copied(it: Any) -> Any:
    return pickle.loads(pickle.dumps(it))


def classes(module: ModuleType) -> list[type[Exception]]:
    return [it for it in vars(module).values() if isinstance(it, type) and issubclass(it, Exception)]


@pytest.mark.parametrize("kind", [*classes(errors), *classes(exceptions)])
def test_exceptions_keep_their_fields(kind: type[Exception]) -> None:
    parameters = inspect.signature(kind.__init__).parameters.values()
    names = [it.annotation if isinstance(it.annotation, str) else str(getattr(it.annotation, "__name__", it.annotation)) for it in parameters]
    values = [VALUES[name] for it, name in zip(parameters, names, strict=True) if it.name != "self" and it.kind is it.POSITIONAL_OR_KEYWORD]
    made = kind(*values) if values else kind("text")
    again = copied(made)
    assert type(again) is kind and again.args == made.args and vars(again) == vars(made) and str(again) == str(made)
    assert len(vars(again)) == max(0, len(values) - 1)


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
