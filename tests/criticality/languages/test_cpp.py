"""Accounts and transfers in C++, from recorded answers to a project that CMake builds and CTest accepts."""

from __future__ import annotations

import account_system as system

from criticality.languages import language

cpp = language("cpp")


def test_a_newtype_has_a_private_value_and_a_constructor_that_may_throw() -> None:
    source = cpp.sources(system.spec(), system.plan(), {})["include/account_transfer/domain.hpp"]
    assert "explicit Cents(std::int64_t value) : value_(value) {\n    if (value_ < 0) throw Invalid(" in source
    assert "if (source.get() == target.get()) throw Invalid(" in source, "a record checks its invariant"


def test_a_skeleton_holds_nothing_but_what_is_to_do() -> None:
    tree = cpp.sources(system.spec(), system.plan(), {})
    for module in system.plan():
        assert cpp.leaked_logic(tree[cpp.module_path(system.spec(), module.name)]) == []
