"""The reference is that of the stubs and the sources."""

import ast
import importlib
import re

import pytest

import reference


def test_the_reference_is_up_to_date() -> None:
    assert reference.PAGE.read_text(encoding="utf-8") == reference.page(), "run: python tests/reference.py"


def test_every_public_module_and_value_is_there() -> None:
    text = reference.PAGE.read_text(encoding="utf-8")
    private = {"_annotations", "_files", "_interpreter", "_passports", "_report", "_tasks", "_types", "__init__"}
    private |= {f"argon2.{name}" for name in ("__init__", "_encoded", "_hasher", "_legacy", "_memory", "_parameters")}
    paths = {path.relative_to(reference.PACKAGE).with_suffix("") for path in reference.PACKAGE.rglob("*.py")}
    names = {".".join(path.parts) for path in paths}
    assert names - private == set(reference.MODULES) - {"sealstone", "argon2"}
    entries = re.split(r"^###? .*$", text, flags=re.MULTILINE)
    assert len(entries) > 80 and all(entry.strip() for entry in entries)


def test_coroutines_have_the_arguments_of_their_methods() -> None:
    text = reference.PAGE.read_text(encoding="utf-8")
    assert "await cosign(package: Package, passport: Passport, content: Content | None=None, *, time" in text
    assert "await sealed_file(source: Buffer | Path | Readable, *, keys" in text and "-> SealedFile" in text
    assert "await unlock(source: Path | Buffer, passphrase: Text, *" in text


def test_nothing_private_is_there() -> None:
    """Neither constructors that nobody calls, nor private names. Values are numbers."""
    code = "".join(reference.PAGE.read_text(encoding="utf-8").split("```")[1::2])
    assert re.findall(r"\b_[A-Za-z]\w*", code) == [] and "\nPackage(" not in code
    assert "DEFAULT_MEMORY_COST = 65536\n" in code and "PIECE = 1 << 20\n" in code


def test_a_value_without_a_line_is_noticed() -> None:
    module = importlib.import_module("sealstone.argon2")
    assert "Memory in KiB" in " ".join(reference.constant("DEFAULT_MEMORY_COST", module))
    with pytest.raises(ValueError, match="says what it is"):
        reference.constant("_MOST_KIB", module)


def test_a_changed_signature_is_noticed() -> None:
    known = reference.definitions()
    node = known["packages.sign"]
    assert isinstance(node, ast.FunctionDef)
    before = reference.signature(node)
    node.args.kwonlyargs[0].arg = "other"
    assert reference.signature(node) != before and f"sign{before}" in reference.PAGE.read_text(encoding="utf-8")
