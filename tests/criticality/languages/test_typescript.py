"""TypeScript: what is written."""

from __future__ import annotations

import json

import account_system as example
import pytest

from criticality.catalog import patterns
from criticality.languages import language
from criticality.spec.spec import Spec

TYPESCRIPT = language("typescript")
SPEC, PLAN = example.spec(), example.plan()


def test_types_are_branded_and_made_by_the_function_of_their_name() -> None:
    domain = TYPESCRIPT.sources(SPEC, PLAN, {})["src/domain.ts"]
    assert 'export type Amount = Branded<Cents, "Amount">;' in domain
    assert 'if (!(value > 0)) throw new RangeError("Amount: must be positive");' in domain
    assert 'export const AccountStatus = { active: "active", frozen: "frozen" } as const;' in domain
    assert "class InsufficientFunds extends Error" in domain
    assert 'if (!(source !== target)) throw new RangeError("Transfer: source != target.");' in domain


def test_functions_say_what_they_do_and_throw_and_leave_their_contracts_to_a_page() -> None:
    skeleton = TYPESCRIPT.sources(SPEC, PLAN, {})["src/payments.ts"]
    assert 'throw new Error("not implemented");' in skeleton
    assert "ENSURES" not in skeleton and "CLAIM_REF" not in skeleton
    assert " * Find an account by its name.\n" in skeleton and " * @throws InsufficientFunds\n" in skeleton
    assert (
        "export function findAccount(accounts: readonly Account[], wanted: AccountId): Account | undefined" in skeleton
    )


@pytest.mark.parametrize(
    ("kind", "said"), [("Set<Account>", "apart by identity"), ("Map<Account, Cents>", "apart by identity")]
)
def test_what_javascript_would_compare_by_identity_is_refused_with_the_specification(kind: str, said: str) -> None:
    raw = json.loads(json.dumps(example.SPEC))
    raw["data_models"]["Hold"]["fields"].append({"name": "others", "type": kind})
    assert said in TYPESCRIPT.spec_fault(Spec.model_validate(raw))
    assert TYPESCRIPT.spec_fault(SPEC) == ""


def test_every_pattern_has_an_example_and_what_it_declares_is_accepted() -> None:
    assert set(TYPESCRIPT.examples) == set(patterns())
    for pattern in patterns().values():
        if pattern.declares:
            declared = TYPESCRIPT.examples[pattern.id].after.partition("export ")[0].splitlines()
            first = "\n".join(declared[: 1 if len(declared) == 2 else None])
            assert TYPESCRIPT.declaration_fault(first) == "", first
    name = "extract-explanatory-variable"
    assert "person.age" in patterns()[name].prompt(TYPESCRIPT.examples[name])
