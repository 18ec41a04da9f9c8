"""Accounts and transfers in Java, from recorded answers to a project that `mvn test` accepts."""

from __future__ import annotations

import account_system as system

from criticality.languages.java import adapter
from criticality.spec.spec import Spec

java = adapter.adapter()


def test_a_newtype_is_a_record_that_refuses_to_be_made() -> None:
    tree = java.sources(system.spec(), system.plan(), {})
    cents = tree["src/main/java/accounttransfer/domain/Cents.java"]
    assert "public record Cents(long value) {\n    public Cents {\n        if (!(value >= 0L)) {" in cents
    transfer = tree["src/main/java/accounttransfer/domain/Transfer.java"]
    assert "keeps source != target" in transfer, "a record's invariant is checked when it is made"


def test_a_skeleton_holds_nothing_but_what_is_to_do() -> None:
    tree = java.sources(system.spec(), system.plan(), {})
    for module in system.plan():
        assert java.leaked_logic(tree[java.module_path(system.spec(), module.name)]) == []


def test_a_specification_that_java_cannot_carry_is_refused_in_one_line() -> None:
    newtypes = {**system.SPEC["newtypes"], "Optional": {"base": "Int"}}
    assert java.spec_fault(system.spec()) == ""
    assert java.spec_fault(Spec.model_validate({**system.SPEC, "newtypes": newtypes})) == (
        "Java has a Optional of its own; give the type another name"
    )
