"""Accounts and transfers in Rust, from recorded answers to a crate that `cargo test` accepts."""

from __future__ import annotations

import account_system as system

from criticality.languages import language

rust = language("rust")


def test_a_newtype_has_a_private_field_and_a_constructor_that_may_refuse() -> None:
    source = rust.sources(system.spec(), system.plan(), {})["src/domain.rs"]
    assert "pub struct Cents(i64);" in source
    assert "pub fn new(value: i64) -> Result<Self, Invalid> {\n        if value < 0 {" in source
    assert "if source.get() == target.get() {" in source, "a record's invariant is checked when it is made"


def test_a_skeleton_holds_nothing_but_what_is_to_do() -> None:
    tree = rust.sources(system.spec(), system.plan(), {})
    for module in system.plan():
        assert rust.leaked_logic(tree[rust.module_path(system.spec(), module.name)]) == []
