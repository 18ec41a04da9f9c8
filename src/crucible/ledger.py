"""The ledger of a council: each objection, what the seats did with it, and what the answer does with its claim.

The two are kept apart. What a seat says that it did is told; what the answer does is computed from the answer, and
only that is counted in the headline (CR27).
"""

from __future__ import annotations

from collections import Counter
from typing import Literal, TypeAlias

from crucible.passages import Span
from llm_runtime.models import Model

Outcome: TypeAlias = Literal["conceded", "refuted", "open"]
Effect: TypeAlias = Literal["absent", "restated", "weakened", "changed", "named", "unclear"]
"""What the answer does with an attacked claim: it is not there; stands as it was; stands with less certainty or
scope; something else is said in its place; is named as open or disputed; nobody could show which."""

EFFECTS: dict[Effect, str] = {
    "absent": "gone from the answer",
    "changed": "changed in it",
    "weakened": "weakened in it",
    "named": "named in it as open",
    "restated": "still stated in it",
    "unclear": "not settled",
}


class Change(Model, use_attribute_docstrings=False):
    """A sentence that changed: what stood there before, where that is known, and what stands there after."""

    before: Span | None = None
    after: Span


class Objection(Model, use_attribute_docstrings=False):
    """One objection of the red team.

    Args:
        id: ``"O1"``, counted through the run.
        targets: labels of the seats it is aimed at; empty where it names none.
        text: its own words.
        claim: the words that it attacks.
        outcome: what the seats did with it.
        by: the seat that conceded or refuted it, or ``"answer"``.
        reply: in which words.
        changes: what changed because of it.
        pressed: the loops in which the critic, shown what became of it, raised it again.
        effect: what the answer does with the claim; ``None`` where nobody has looked.
        said: the words of the answer that show it; ``None`` where the claim is absent.
    """

    id: str
    loop: int
    step: int
    targets: tuple[str, ...] = ()
    text: Span
    claim: Span | None = None
    outcome: Outcome = "open"
    by: str = ""
    reply: Span | None = None
    changes: tuple[Change, ...] = ()
    pressed: tuple[int, ...] = ()
    effect: Effect | None = None
    said: Span | None = None


class Ledger(Model, use_attribute_docstrings=False):
    """All objections of a run. ``note`` says what of them nobody has looked at, where that is so."""

    objections: tuple[Objection, ...] = ()
    note: str = ""

    @property
    def still_open(self) -> tuple[Objection, ...]:
        """What the answer names as open, or neither the seats nor the answer dealt with."""
        left = (None, "restated", "unclear")
        return tuple(
            one for one in self.objections if one.effect == "named" or (one.outcome == "open" and one.effect in left)
        )


def headline(ledger: Ledger) -> str:
    """Return it in a line: ``"7 objections; of the claims attacked: 3 gone from the answer, 4 changed in it"``.

    Where nobody has looked at the answer, it tells what the seats did: ``"2 objections: 1 conceded, 1 open"``.
    """
    total = len(ledger.objections)
    if not total:
        return "no objections"
    noun = f"{total} objection{'' if total == 1 else 's'}"
    effects = Counter(one.effect for one in ledger.objections)
    if effects[None] == total:
        outcomes = Counter(one.outcome for one in ledger.objections)
        kinds: tuple[Outcome, ...] = ("conceded", "refuted", "open")
        return f"{noun}: {', '.join(f'{outcomes[kind]} {kind}' for kind in kinds if outcomes[kind])}"
    told = ", ".join(f"{effects[effect]} {words}" for effect, words in EFFECTS.items() if effects[effect])
    return f"{noun}; of the claims attacked: {told}"
