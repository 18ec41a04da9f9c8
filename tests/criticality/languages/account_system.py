"""The protocol's own example, accounts and transfers, with recorded answers: one system, bodies in every language.

`recorded(bodies)` is a model that answers by label; `bodies` holds a body for each id of `FUNCTIONS`. Everything
else is neutral: what a language carries through from here is what it can do.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from criticality import Answers
from criticality.lattice_plan import ModulePlan
from criticality.spec.claims import StructuredClaim
from criticality.spec.spec import Spec
from llm_runtime.messages import Generate, Request
from llm_runtime.providers.scripted import scripted

SPEC: dict[str, Any] = {
    "system": {"name": "account-transfer", "description": "Accounts, and money that moves between them."},
    "enums": {"AccountStatus": ["active", "frozen"]},
    "newtypes": {
        "AccountId": {
            "base": "Text", "constraints": ["min_length(1)", "max_length(8)"], "description": "An account's name",
        },
        "Cents": {"base": "Int", "constraints": ["non_negative"], "description": "Money that is there, in cents"},
        "Amount": {"base": "Cents", "constraints": ["positive"], "description": "Money that moves, in cents"},
        "Instant": {"base": "Int", "constraints": ["non_negative"], "description": "Seconds since 1970"},
        "Seconds": {"base": "Int", "constraints": ["min(1)", "max(100000)"], "description": "A length of time"},
    },
    "errors": {
        "InsufficientFunds": "The account holds less than that",
        "UnknownAccount": "There is no account of that name",
    },
    "data_models": {
        "Account": {
            "fields": [
                {"name": "id", "type": "AccountId", "constraints": ["unique", "immutable"]},
                {"name": "balance", "type": "Cents"},
                {"name": "status", "type": "AccountStatus"},
            ],
            "description": "An account and what it holds",
        },
        "Transfer": {
            "fields": [
                {"name": "source", "type": "AccountId"},
                {"name": "target", "type": "AccountId"},
                {"name": "amount", "type": "Amount"},
            ],
            "invariants": ["source != target"],
            "description": "An order to move money",
        },
        "Hold": {
            "fields": [{"name": "amount", "type": "Amount"}, {"name": "held_until", "type": "Instant"}],
            "description": "Money that is set aside for a while",
        },
    },
    "interfaces": {
        "Accounts": {
            "methods": [
                {"name": "deposit", "params": ["account: Account", "amount: Amount"], "returns": "Account"},
                {
                    "name": "withdraw", "params": ["account: Account", "amount: Amount"],
                    "returns": "Result<Account, InsufficientFunds>",
                },
            ]
        },
        "Payments": {
            "methods": [
                {
                    "name": "transfer", "params": ["accounts: List<Account>", "order: Transfer"],
                    "returns": "Result<List<Account>, UnknownAccount>",
                },
                {"name": "total", "params": ["accounts: List<Account>"], "returns": "Cents"},
            ]
        },
    },
    "claims": {
        "balance_001": {"text": "Account balance never goes negative", "type": "invariant"},
        "balance_002": {"text": "Transfers never change the sum of all balances", "type": "invariant"},
        "transfer_001": {
            "text": "Successful transfer decrements source and increments destination by same amount",
            "type": "behavioral",
        },
        "funds_001": {"text": "A withdrawal cannot take more than the account holds", "type": "negative"},
        "hold_001": {"text": "After it is placed a hold lasts until its time has passed", "type": "temporal"},
        "lanes_001": {
            "text": "Concurrent withdrawals from one account all leave what is left", "type": "concurrent",
        },
        "speed_001": {"text": "The total of all accounts is computed in O(n)", "type": "performance"},
        "comfort_001": {"text": "Payments should feel trustworthy", "type": "behavioral", "testable": False},
    },
}  # fmt: skip

MODULES: list[dict[str, Any]] = [
    {
        "name": "accounts", "purpose": "Money in one account.", "interfaces": ["Accounts"],
        "functions": [
            {
                "name": "deposit", "params": ["account: Account", "amount: Amount"], "returns": "Account",
                "doc": "Put money into an account.",
                "contracts": [
                    "ENSURES: result == replace(account, balance=Cents(account.balance + amount))",
                    "PURITY: pure", "CLAIM_REF: balance_001",
                ],
            },
            {
                "name": "withdraw", "params": ["account: Account", "amount: Amount"],
                "returns": "Result<Account, InsufficientFunds>", "doc": "Take money out of an account.",
                "contracts": [
                    "ENSURES: amount > account.balance implies raises(InsufficientFunds)",
                    "ENSURES: amount <= account.balance implies not raises(InsufficientFunds)",
                    "ENSURES: result.balance == old(account.balance) - amount",
                    "ENSURES: result.id == account.id and result.status == account.status",
                    "PURITY: pure", "CLAIM_REF: balance_001", "CLAIM_REF: funds_001", "CLAIM_REF: lanes_001",
                ],
            },
        ],
    },
    {
        "name": "payments", "purpose": "Money that moves between accounts.", "interfaces": ["Payments"],
        "functions": [
            {
                "name": "find_account", "params": ["accounts: List<Account>", "wanted: AccountId"],
                "returns": "Option<Account>", "doc": "Find an account by its name.",
                "contracts": [
                    "ENSURES: result is None implies all(account.id != wanted for account in accounts)",
                    "ENSURES: result is not None implies result.id == wanted and result in accounts",
                    "PURITY: pure",
                ],
            },
            {
                "name": "total", "params": ["accounts: List<Account>"], "returns": "Cents",
                "doc": "Add up what all accounts hold.",
                "contracts": [
                    "ENSURES: result == sum(account.balance for account in accounts)",
                    "COMPLEXITY: O(n) where n = len(accounts)",
                    "PURITY: pure", "CLAIM_REF: balance_002", "CLAIM_REF: speed_001",
                ],
            },
            {
                "name": "transfer", "params": ["accounts: List<Account>", "order: Transfer"],
                "returns": "Result<List<Account>, UnknownAccount>",
                "doc": "Move money from one account to another; the order of accounts stays.",
                "contracts": [
                    "ENSURES: find_account(accounts, order.source) is None or find_account(accounts, order.target) "
                    "is None implies raises(UnknownAccount)",
                    "ENSURES: any(account.id == order.source and account.balance < order.amount for account in "
                    "accounts) and find_account(accounts, order.target) is not None implies "
                    "raises(InsufficientFunds)",
                    "ENSURES: any(account.id == order.source and account.balance >= order.amount for account in "
                    "accounts) and find_account(accounts, order.target) is not None implies "
                    "not (raises(UnknownAccount) or raises(InsufficientFunds))",
                    "ENSURES: total(result) == total(accounts)",
                    "ENSURES: [account.id for account in result] == [account.id for account in accounts]",
                    "ENSURES: all(before == after for before, after in zip(accounts, result) if before.id != "
                    "order.source and before.id != order.target)",
                    "PURITY: pure", "CLAIM_REF: balance_002", "CLAIM_REF: transfer_001",
                ],
                "calls": ["accounts.deposit", "accounts.withdraw", "payments.find_account"],
            },
        ],
    },
    {
        "name": "holds", "purpose": "Money that is set aside for a while.",
        "functions": [
            {
                "name": "place_hold", "params": ["amount: Amount", "at: Instant", "lasting: Seconds"],
                "returns": "Hold", "doc": "Set money aside from a moment on.",
                "contracts": [
                    "ENSURES: result == Hold(amount, Instant(at + lasting))", "PURITY: pure", "CLAIM_REF: hold_001",
                ],
            },
            {
                "name": "is_held", "params": ["hold: Hold", "at: Instant"], "returns": "Bool",
                "doc": "Whether a hold lasts still.",
                "contracts": [
                    "ENSURES: result == (at < hold.held_until)", "PURITY: pure", "CLAIM_REF: hold_001",
                ],
            },
        ],
    },
]  # fmt: skip

CLAIMS: list[dict[str, Any]] = [
    {
        "id": "balance_001", "type": "invariant", "subject": "balance", "predicate": ">= 0",
        "functions": ["accounts.deposit", "accounts.withdraw"],
        "tests": [
            {
                "name": "any_operations", "variables": ["account: Account", "amounts: List<Amount>"],
                "steps": [
                    "after = reduce(lambda state, amount: withdraw(state, amount) if amount <= state.balance else "
                    "deposit(state, amount), amounts, account)",
                ],
                "check": ["after.balance >= 0", "after.id == account.id"],
            },
        ],
    },
    {
        "id": "balance_002", "type": "invariant", "subject": "the sum of all balances", "predicate": "stays",
        "functions": ["payments.transfer", "payments.total", "accounts.deposit", "accounts.withdraw"],
        "tests": [
            {
                "name": "the_sum_stays", "variables": ["accounts: List<Account>", "amount: Amount"],
                "assume": ["len(accounts) >= 2", "amount <= accounts[0].balance"],
                "steps": ["after = transfer(accounts, Transfer(accounts[0].id, accounts[1].id, amount))"],
                "check": ["sum(account.balance for account in after) == total(accounts)"],
            },
        ],
    },
    {
        "id": "transfer_001", "type": "behavioral", "subject": "a transfer", "predicate": "moves the amount",
        "functions": ["payments.transfer", "payments.find_account"],
        "tests": [
            {
                "name": "fifty_of_two_hundred",
                "steps": [
                    "ann = Account(AccountId('ann'), Cents(200), AccountStatus.ACTIVE)",
                    "bob = Account(AccountId('bob'), Cents(0), AccountStatus.FROZEN)",
                    "after = transfer((ann, bob), Transfer(ann.id, bob.id, Amount(50)))",
                ],
                "check": ["[account.balance for account in after] == [150, 50]"],
            },
            {
                "name": "the_same_amount", "variables": ["accounts: List<Account>", "amount: Amount"],
                "assume": ["len(accounts) >= 2", "amount <= accounts[-1].balance"],
                "steps": [
                    "after = transfer(accounts, Transfer(accounts[-1].id, accounts[0].id, amount))",
                    "source = find_account(after, accounts[-1].id)",
                    "target = find_account(after, accounts[0].id)",
                ],
                "check": [
                    "source.balance == accounts[-1].balance - amount",
                    "target.balance == accounts[0].balance + amount",
                ],
            },
        ],
    },
    {
        "id": "funds_001", "type": "negative", "subject": "a withdrawal", "predicate": "never takes too much",
        "functions": ["accounts.withdraw"],
        "tests": [
            {
                "name": "one_more_than_there_is", "variables": ["account: Account"],
                "steps": ["after = withdraw(account, Amount(account.balance + 1))"], "raises": "InsufficientFunds",
            },
        ],
    },
    {
        "id": "hold_001", "type": "temporal", "subject": "a hold", "predicate": "lasts until its time has passed",
        "functions": ["holds.place_hold", "holds.is_held"], "requires_mocking": ["clock"],
        "tests": [
            {
                "name": "until_its_time", "variables": ["amount: Amount", "lasting: Seconds"],
                "steps": [
                    "hold = place_hold(amount, Instant(now()), lasting)",
                    "late = advance(lasting - 1)",
                    "held = is_held(hold, Instant(late))",
                    "over = advance(1)",
                    "gone = not is_held(hold, Instant(over))",
                ],
                "check": ["held", "gone"],
            },
        ],
    },
    {
        "id": "lanes_001", "type": "concurrent", "subject": "withdrawals", "predicate": "leave what is left",
        "functions": ["accounts.withdraw", "accounts.deposit"],
        "tests": [
            {
                "name": "side_by_side", "variables": ["account: Account", "amount: Amount"],
                "assume": ["amount <= account.balance"],
                "steps": ["once = withdraw(account, amount)", "back = deposit(once, amount)"],
                "check": ["once.balance + amount == account.balance", "back == account"],
            },
        ],
    },
    {
        "id": "speed_001", "type": "performance", "subject": "the total", "predicate": "takes O(n)",
        "functions": ["payments.total"],
        "tests": [
            {
                "name": "grows_with_the_list", "variables": ["accounts: List<Account>"],
                "steps": ["found = total(accounts)"], "check": ["found >= 0"],
            },
        ],
    },
]  # fmt: skip

FUNCTIONS = [f"{module['name']}.{function['name']}" for module in MODULES for function in module["functions"]]
ANSWERS = Answers(
    answers={
        "problem_users": "Money moves between accounts.", "success_criteria": "No cent is lost.",
        "core_features": "Deposits, withdrawals, transfers, holds.", "language_platform": "Any",
        "integrations": "None", "performance": "Totals grow with the list.", "security": "None.",
        "compliance": "None.",
    },
    delegate={"after": "constraints", "notes": "keep it small"},  # pyright: ignore[reportArgumentType]
)  # fmt: skip


def spec() -> Spec:
    """The specification, read."""
    return Spec.model_validate(SPEC)


def plan() -> tuple[ModulePlan, ...]:
    """The lattice, read."""
    return tuple(ModulePlan.model_validate(module) for module in MODULES)


def claims() -> dict[str, StructuredClaim]:
    """The claims, parsed, by id."""
    return {claim["id"]: StructuredClaim.model_validate(claim) for claim in CLAIMS}


def clock() -> int:
    """A clock that stands still, so that two runs can be compared byte by byte."""
    return 1_760_000_000_000


def recorded(bodies: Mapping[str, str]) -> Generate:
    """A model that answers each question from the record.

    Args:
        bodies: by function id, as the language writes them.
    """

    def answer(request: Request) -> Any:
        label = request.label
        found = _answer(bodies, label.phase, label.seat.partition(":")[0])
        return found if isinstance(found, str) else json.dumps(found)

    return scripted(answer)


def _answer(bodies: Mapping[str, str], phase: str, item: str) -> Any:
    match phase, item:
        case "ignition", "features":
            return {"features": []}
        case "ignition", "challenge":
            return {"challenges": []}
        case "ignition", _:
            return {"spec": SPEC, "decisions": ["Money is counted in whole cents"]}
        case "lattice", "structure":
            return {
                "modules": [
                    {
                        "name": module["name"], "purpose": module["purpose"],
                        "interfaces": module.get("interfaces", []),
                        "functions": [function["name"] for function in module["functions"]],
                    }
                    for module in MODULES
                ]
            }  # fmt: skip
        case "lattice", _:
            return next(module for module in MODULES if module["name"] == item)
        case "composition_audit", _:
            return {"contradictions_found": []}
        case "tests", _:
            return {"claims": CLAIMS}
        case "injection", _:
            return bodies[item]
        case "mesoscopic", _:
            return {"scenarios": []}
        case _:
            return {"decision": "skip", "guard": "nothing to gain"}
