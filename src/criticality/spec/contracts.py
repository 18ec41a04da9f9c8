"""Micro-contracts: the grammar of the clauses that stand in a function's documentation."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Literal, TypeAlias, cast

from criticality.spec.predicates import Predicate, PredicateFault, one_line, parse_predicate
from llm_runtime.rewording import reworded
from llm_runtime.structs import Struct

Purity: TypeAlias = Literal["pure", "reads", "writes", "io"]
PURITIES = ("pure", "reads", "writes", "io")
CLAIM_ID = re.compile(r"(?<![a-z_])[a-z_]+_[0-9]+\Z")
_CLAUSE = re.compile(r"(REQUIRES|ENSURES|INVARIANT|COMPLEXITY|PURITY|CLAIM_REF):[ \t]*(\S.*)\Z")
_BIG_O = re.compile(r"O\((1|log n|n|n log n|n\^2|n\^3|2\^n)\)(?: where [a-z] = .{1,80})?\Z")
#: What a clause that is no predicate says, and what it is where it does not.
_WORDS = {
    "COMPLEXITY": (_BIG_O, "no class such as O(1), O(log n), O(n), O(n^2)"),
    "PURITY": (re.compile(rf"({'|'.join(PURITIES)})\Z"), f"none of {', '.join(PURITIES)}"),
    "CLAIM_REF": (re.compile(rf"({CLAIM_ID.pattern})"), "no claim id such as balance_001"),
}
MAX_CLAUSES = 40


class ContractFault(ValueError):
    """A clause is not in the grammar; one line says which and why."""


class Contract(Struct):
    """The clauses of one function, in the order they were written within each kind.

    ``complexity`` is the class of a big O: ``"log n"``. ``lines`` are the clauses as written.
    """

    lines: tuple[str, ...]
    requires: tuple[Predicate, ...] = ()
    ensures: tuple[Predicate, ...] = ()
    invariants: tuple[Predicate, ...] = ()
    complexity: str | None = None
    purity: Purity | None = None
    claims: tuple[str, ...] = ()

    @property
    def predicates(self) -> tuple[Predicate, ...]:
        """All predicates: what must hold before, after, and both."""
        return (*self.requires, *self.ensures, *self.invariants)


def parse_contract(lines: Iterable[str], *, known: Collection[str] | None = None) -> Contract:
    """Read the clauses of one function.

    Args:
        lines: one clause each.
        known: names that predicates may use, parameters above all; ``None`` leaves names unchecked.

    Raises:
        ContractFault: a clause is not in the grammar, stands twice where it may stand once, or there are none.
    """
    written = tuple(one_line(line) for line in lines if line.strip())
    if not written:
        raise ContractFault("there is no clause; a contract has at least one")
    if len(written) > MAX_CLAUSES:
        raise ContractFault(f"there are {len(written)} clauses; {MAX_CLAUSES} is the limit")
    read: dict[str, list[Predicate]] = defaultdict(list)
    words: dict[str, list[str]] = defaultdict(list)
    for line in written:
        match = _CLAUSE.match(line)
        if match is None:
            raise ContractFault(
                f"{line[:80]!r} is no clause; clauses begin with REQUIRES:, ENSURES:, INVARIANT:, COMPLEXITY:, "
                "PURITY: or CLAIM_REF:"
            )
        keyword, text = match[1], match[2].strip()
        if keyword in ("REQUIRES", "ENSURES", "INVARIANT"):
            read[keyword].append(_predicate(keyword, text, known))
        else:
            words[keyword].append(_word(keyword, text, known=words[keyword]))
    return Contract(
        written, *(tuple(read[keyword]) for keyword in ("REQUIRES", "ENSURES", "INVARIANT")),
        complexity=next(iter(words["COMPLEXITY"]), None),
        purity=cast("Purity | None", next(iter(words["PURITY"]), None)), claims=tuple(words["CLAIM_REF"]),
    )  # fmt: skip


def _predicate(keyword: str, text: str, known: Collection[str] | None) -> Predicate:
    with reworded(keyword, PredicateFault, kind=ContractFault):
        predicate = parse_predicate(text, known=known)
    if keyword == "REQUIRES" and (predicate.raised or predicate.olds or "result" in predicate.names):
        raise ContractFault(f"REQUIRES: {text!r} speaks of what comes after the call")
    return predicate


def _word(keyword: str, text: str, known: Collection[str]) -> str:
    pattern, what = _WORDS[keyword]
    match = pattern.match(text)
    if match is None:
        raise ContractFault(f"{keyword}: {text!r} is {what}")
    if known and keyword != "CLAIM_REF":
        raise ContractFault(f"{keyword}: stands twice")
    return match[1]
