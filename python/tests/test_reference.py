"""The reference is that of the stubs and the sources."""

import ast

import reference


def test_the_reference_is_up_to_date() -> None:
    assert reference.PAGE.read_text(encoding="utf-8") == reference.page(), "run: python tests/reference.py"


def test_a_changed_signature_is_noticed() -> None:
    known = reference.definitions()
    node = known["packages.sign"]
    assert isinstance(node, ast.FunctionDef)
    before = reference.signature(node)
    node.args.kwonlyargs[0].arg = "other"
    assert reference.signature(node) != before and f"sign{before}" in reference.PAGE.read_text(encoding="utf-8")
