"""Micro-contracts: the grammar of the clauses that stand in a function's documentation."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, cast

from criticality.spec.predicates import Predicate, PredicateFault, parse_predicate

Purity: TypeAlias = Literal["pure", "reads", "writes", "io"]
PURITIES = ("pure", "reads", "writes", "io")
CLAIM_ID = re.compile(r"[a-z_]+_[0-9]+\Z")
_CLAUSE = re.compile(r"(REQUIRES|ENSURES|INVARIANT|COMPLEXITY|PURITY|CLAIM_REF):[ \t]*(\S.*)\Z")
_BIG_O = re.compile(r"O\((1|log n|n|n log n|n\^2|n\^3|2\^n)\)(?: where [a-z] = .{1,80})?\Z")
MAX_CLAUSES = 40


class ContractFault(ValueError):
    """A clause is not in the grammar; one line says which and why."""


@dataclass(frozen=True, slots=True)
class Contract:
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


@dataclass(slots=True)
class _Draft:
    requires: list[Predicate] = field(default_factory=list[Predicate])
    ensures: list[Predicate] = field(default_factory=list[Predicate])
    invariants: list[Predicate] = field(default_factory=list[Predicate])
    claims: list[str] = field(default_factory=list[str])
    complexity: str | None = None
    purity: str | None = None


def parse_contract(lines: Iterable[str], *, known: Collection[str] | None = None) -> Contract:
    """Read the clauses of one function.

    Args:
        lines: one clause each.
        known: names that predicates may use, parameters above all; ``None`` leaves names unchecked.

    Raises:
        ContractFault: a clause is not in the grammar, stands twice where it may stand once, or there are none.
    """
    written = tuple(" ".join(line.split()) for line in lines if line.strip())
    if not written:
        raise ContractFault("there is no clause; a contract has at least one")
    if len(written) > MAX_CLAUSES:
        raise ContractFault(f"there are {len(written)} clauses; {MAX_CLAUSES} is the limit")
    draft = _Draft()
    for line in written:
        match = _CLAUSE.match(line)
        if match is None:
            raise ContractFault(
                f"{line[:80]!r} is no clause; clauses begin with REQUIRES:, ENSURES:, INVARIANT:, COMPLEXITY:, "
                "PURITY: or CLAIM_REF:"
            )
        _read(draft, match[1], match[2].strip(), known)
    return Contract(
        lines=written,
        requires=tuple(draft.requires),
        ensures=tuple(draft.ensures),
        invariants=tuple(draft.invariants),
        complexity=draft.complexity,
        purity=cast("Purity | None", draft.purity),
        claims=tuple(draft.claims),
    )


def _read(draft: _Draft, keyword: str, text: str, known: Collection[str] | None) -> None:
    match keyword:
        case "REQUIRES" | "ENSURES" | "INVARIANT":
            try:
                predicate = parse_predicate(text, known=known)
            except PredicateFault as fault:
                raise ContractFault(f"{keyword}: {fault}") from None
            if keyword == "REQUIRES" and (predicate.raised or predicate.olds or "result" in predicate.names):
                raise ContractFault(f"REQUIRES: {text!r} speaks of what comes after the call")
            {"REQUIRES": draft.requires, "ENSURES": draft.ensures, "INVARIANT": draft.invariants}[keyword].append(
                predicate
            )
        case "COMPLEXITY":
            match = _BIG_O.match(text)
            if match is None:
                raise ContractFault(f"COMPLEXITY: {text!r} is no class such as O(1), O(log n), O(n), O(n^2)")
            _once(draft.complexity, keyword)
            draft.complexity = match[1]
        case "PURITY":
            if text not in PURITIES:
                raise ContractFault(f"PURITY: {text!r} is none of {', '.join(PURITIES)}")
            _once(draft.purity, keyword)
            draft.purity = text
        case _:
            if not CLAIM_ID.match(text):
                raise ContractFault(f"CLAIM_REF: {text!r} is no claim id such as balance_001")
            draft.claims.append(text)


def _once(value: object, keyword: str) -> None:
    if value is not None:
        raise ContractFault(f"{keyword}: stands twice")
