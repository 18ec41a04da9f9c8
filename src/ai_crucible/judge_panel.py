"""The cross-family panel: no model judges its own family, a missing vote abstains, and votes are recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

from pydantic import BaseModel

from ai_crucible.families import families_of
from ai_crucible.types import AttemptState, Line, PanelVerdict, Prompting
from llm_runtime.errors import CallError, ConfigurationError, StructuredOutputError
from llm_runtime.messages import CallLabel
from llm_runtime.prompts import Fence, load_prompt
from llm_runtime.structured import parse
from llm_runtime.tasks import gather

_MOST_DIFF = 24_000

Reducer: TypeAlias = Literal["majority", "median"]


class PanelEmpty(ConfigurationError):
    """No judge is left once those of the solver's family are excluded; nothing is graded by a compromised panel."""


class JudgeUntagged(ConfigurationError):
    """A judge's family is not known, and nobody said that this is all right."""


class OfFamilies(Protocol):
    """Whoever may be excluded for a family."""

    @property
    def model(self) -> str:
        """Its model id."""
        ...

    @property
    def families(self) -> frozenset[str]:
        """The families of its model; empty where they are not known."""
        ...


J = TypeVar("J", bound=OfFamilies)


@dataclass(frozen=True, slots=True)
class _Named:
    """A judge of whom nothing but the model is known."""

    model: str

    @property
    def families(self) -> frozenset[str]:
        return families_of(self.model)


@dataclass(frozen=True, slots=True)
class Judge:
    """One seat of the panel.

    Args:
        generate: the way to its model.
        model: its model id.
        family: where the id does not tell it.
        aliases: further names of models, with their families.
    """

    generate: Prompting
    model: str
    family: str = ""
    aliases: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def families(self) -> frozenset[str]:
        """Declared and recognised families: a declared one cannot hide what the id gives away."""
        declared = families_of(self.family) or frozenset({self.family.casefold()} if self.family else ())
        return declared | families_of(self.model, self.aliases)


@dataclass(frozen=True, slots=True)
class Ballot:
    """What one judge said; ``None`` is an abstention."""

    score: float | None
    novelty: bool | None
    reason: str


async def convene(
    judges: Sequence[Judge],
    state: AttemptState,
    *,
    family: str,
    allow_untagged: bool = False,
    reducer: Reducer = "median",
) -> PanelVerdict:
    """Have every eligible judge look at an attempt, and reduce what they say.

    Args:
        judges: the panel.
        state: a halted attempt.
        family: family or model id of the solver.
        allow_untagged: seat judges whose family is unknown.
        reducer: for the score: the median, or the majority of those that round to the same.

    Raises:
        PanelEmpty: no judge is left.
        JudgeUntagged: a judge's family, or the solver's, is unknown and that was not allowed.
    """
    seated, excluded = eligible(judges, family, allow_untagged=allow_untagged)
    ballots = await gather(_ask(judge, state, number) for number, judge in enumerate(seated))
    return tally(seated, ballots, excluded, reducer)


def eligible(
    judges: Sequence[J], family: str, *, allow_untagged: bool = False
) -> tuple[list[J], list[dict[str, str]]]:
    """Return the judges that may sit, and those that may not with the reason.

    Raises:
        PanelEmpty, JudgeUntagged: as :func:`convene`.
    """
    own = families_of(family) or frozenset({family.casefold()} if family else ())
    if not own and not allow_untagged:
        raise JudgeUntagged(
            "the solver's family is unknown, so no judge can be excluded; seat all the same with --untagged"
        )
    seated: list[J] = []
    excluded: list[dict[str, str]] = []
    for judge in judges:
        theirs = judge.families
        if not theirs and not allow_untagged:
            raise JudgeUntagged(f"judge {judge.model}: its family is unknown; seat it all the same with --untagged")
        if shared := own & theirs:
            excluded.append(
                {"model": judge.model, "reason": f"of the solver's family: {', '.join(sorted(shared))}"}
            )
        else:
            seated.append(judge)
    if not seated:
        raise PanelEmpty(f"no judge is left for a solver of {', '.join(sorted(own)) or 'no known family'}; add one")
    return seated, excluded


def tally(
    judges: Sequence[Judge],
    ballots: Sequence[Ballot],
    excluded: Sequence[dict[str, str]] = (),
    reducer: Reducer = "median",
) -> PanelVerdict:
    """Reduce ballots. Novelty needs more than half of the votes cast; a tie validates nothing."""
    scores = [ballot.score for ballot in ballots if ballot.score is not None]
    votes = [ballot.novelty for ballot in ballots if ballot.novelty is not None]
    value: float | None = None
    if scores and reducer == "median":
        value = float(median(scores))
    elif scores:
        value = next((float(s) for s in sorted(set(scores)) if 2 * scores.count(s) > len(scores)), None)
    return PanelVerdict(
        value=value,
        novelty_validated=2 * sum(votes) > len(votes) if votes else None,
        votes=len(votes),
        abstentions=len(ballots) - len(votes),
        judges=tuple(
            {
                "model": judge.model,
                "families": sorted(judge.families),
                "score": ballot.score,
                "novelty_validated": ballot.novelty,
                "reason": ballot.reason,
            }
            for judge, ballot in zip(judges, ballots, strict=True)
        ),
        excluded=tuple(excluded),
    )


def check_panel(judges: Sequence[str], family: str, *, allow_untagged: bool = False) -> None:
    """Refuse a panel that could not sit, before any attempt is made.

    Raises:
        PanelEmpty, JudgeUntagged: as :func:`convene`.
    """
    if judges:
        eligible([_Named(name) for name in judges], family, allow_untagged=allow_untagged)


async def _ask(judge: Judge, state: AttemptState, number: int) -> Ballot:
    fence = Fence(state.seed, CallLabel("ai_crucible", "judge", f"{number}:{judge.model}"))
    prompt = load_prompt("ai_crucible", "judge").render(
        task=fence("TASK", state.puzzle.prompt),
        change=fence("CHANGE", state.scores.get("change", "")[:_MOST_DIFF]),
        claim=fence("CLAIM", state.novelty_claim or "none"),
    )
    try:
        turn = await judge.generate([Line("user", prompt)], (), f"judge:{number}")
    except CallError as fault:
        return Ballot(None, None, f"no answer: {fault}")
    return read_ballot(turn.text, prompt)


class _Form(BaseModel):
    """What a ballot has; values that are none of its form abstain."""

    score: Any
    novelty_validated: Any = None
    reason: Any = ""


def read_ballot(text: str, shown: str = "") -> Ballot:
    """Read the last ballot of an answer; what is not of its form, or was ``shown`` to the judge, abstains."""
    try:
        form, _ = parse(text[-20_000:], _Form, repair=False, shown=shown)
    except StructuredOutputError as fault:
        return Ballot(None, None, f"the answer holds no ballot: {fault}")
    novelty = form.novelty_validated if isinstance(form.novelty_validated, bool) else None
    return Ballot(_unit(form.score), novelty, str(form.reason)[:500])


def _unit(score: object) -> float | None:
    if isinstance(score, bool) or not isinstance(score, int | float):
        return None
    return float(score) if 0 <= score <= 1 else None
