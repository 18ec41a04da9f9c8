"""Accounts and transfers in Go, from recorded answers to a module that `go test` accepts."""

from __future__ import annotations

import account_system as system

from criticality.languages.go import adapter, names
from criticality.spec.spec import Spec

go = adapter.adapter()


def test_a_newtype_hides_its_value_and_its_constructor_may_refuse() -> None:
    source = go.sources(system.spec(), system.plan(), {})["domain/domain.go"]
    assert "type Cents struct{ value int }" in source
    assert "func NewCents(value int) (Cents, error) {\n\tif !(value >= 0) {" in source
    assert "func NewTransfer(source AccountId, target AccountId, amount Amount) (Transfer, error) {" in source


def test_a_skeleton_holds_nothing_but_what_is_to_do() -> None:
    tree = go.sources(system.spec(), system.plan(), {})
    for module in system.plan():
        assert go.leaked_logic(tree[go.module_path(system.spec(), module.name)]) == []


def test_imports_are_those_that_the_code_uses_and_no_others() -> None:
    code = 'func F() string {\n\treturn strings.ToUpper("fmt.Sprint") // slices.Clone\n}\n'
    assert names.with_imports("package p\n", code).startswith('package p\n\nimport (\n\t"strings"\n)\n')


def test_a_specification_that_go_cannot_carry_is_refused_in_one_line() -> None:
    spec = Spec.model_validate(
        {**system.SPEC, "newtypes": {**system.SPEC["newtypes"], "Odd": {"base": "Set<List<Int>>"}}}
    )
    assert go.spec_fault(system.spec()) == ""
    assert "Go cannot look up a List<Int>" in go.spec_fault(spec)


def test_a_function_whose_name_the_system_builds_for_one_machine_only_is_not_usable() -> None:
    assert go.usable("transfer")
    assert not any(go.usable(name) for name in ("type", "state_linux", "money_test"))
