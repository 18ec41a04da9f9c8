"""The cross-family panel: no model judges its own family, a missing vote abstains, and votes are recorded."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel

from ai_crucible.families import families_of
from ai_crucible.types import AttemptState, Line, PanelVerdict, Prompting
from llm_runtime.errors import CallError, ConfigurationError, StructuredOutputError
from llm_runtime.messages import CallLabel
from llm_runtime.prompts import Fence, load_prompt
from llm_runtime.structs import Struct
from llm_runtime.structured import parse
from llm_runtime.tasks import gather

_MOST_DIFF = 24_000

Reducer: TypeAlias = Literal["majority", "median"]


class PanelEmpty(ConfigurationError):
    """No judge is left once those of the solver's family are excluded; nothing is graded by a compromised panel."""


class JudgeUntagged(ConfigurationError):
    """A judge's family is not known, and nobody said that this is all right."""


class Judge(Struct):
    """One seat of the panel: the way to its model, and the model's id."""

    generate: Prompting
    model: str


class Ballot(Struct):
    """What one judge said; ``None`` is an abstention."""

    score: float | None
    novelty: bool | None
    reason: str


async def convene(
    judges: Sequence[Judge], state: AttemptState, *, family: str, allow_untagged: bool = False,
    reducer: Reducer = "median",
) -> PanelVerdict:  # fmt: skip
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
    names, excluded = eligible([judge.model for judge in judges], family, allow_untagged=allow_untagged)
    seated = [judge for judge in judges if judge.model in names]
    ballots = await gather(_ask(judge, state, number) for number, judge in enumerate(seated))
    return tally(seated, ballots, excluded, reducer)


def eligible(
    judges: Sequence[str], family: str, *, allow_untagged: bool = False
) -> tuple[list[str], list[dict[str, str]]]:
    """Return the judges that may sit, by their models, and those that may not with the reason; of none, none.

    Raises:
        PanelEmpty, JudgeUntagged: as :func:`convene`.
    """
    if not judges:
        return [], []
    own = families_of(family) or frozenset({family.casefold()} if family else ())
    if not own and not allow_untagged:
        raise JudgeUntagged(
            "the solver's family is unknown, so no judge can be excluded; seat all the same with --untagged"
        )
    shared = {judge: own & families_of(judge) for judge in judges}
    if not allow_untagged and (unknown := next((judge for judge in judges if not families_of(judge)), "")):
        raise JudgeUntagged(f"judge {unknown}: its family is unknown; seat it all the same with --untagged")
    seated = [judge for judge in judges if not shared[judge]]
    if not seated:
        raise PanelEmpty(f"no judge is left for a solver of {', '.join(sorted(own)) or 'no known family'}; add one")
    why = {judge: f"of the solver's family: {', '.join(sorted(kin))}" for judge, kin in shared.items() if kin}
    return seated, [{"model": judge, "reason": why[judge]} for judge in judges if judge in why]


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
                "families": sorted(families_of(judge.model)),
                "score": ballot.score,
                "novelty_validated": ballot.novelty,
                "reason": ballot.reason,
            }
            for judge, ballot in zip(judges, ballots, strict=True)
        ),
        excluded=tuple(excluded),
    )


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
