"""Two to four rebuttals between two personas who disagree (CX2)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence

from crux.history import View
from crux.results import DebateAspect, DialogueMessage, DisagreementCandidate
from crux.turns import DebateContext, Skipped, Spoken, TurnAnswer, TurnPlan
from crux.words import WORDS
from llm_runtime.messages import CallLabel
from llm_runtime.prompts import Fence

_STAGES: list[str] = WORDS["stages"]


async def clash(
    debate: DebateContext, aspect: DebateAspect, pair: DisagreementCandidate, takes: Sequence[DialogueMessage],
    name: str,
) -> AsyncGenerator[Spoken[TurnAnswer] | Skipped]:  # fmt: skip
    """Yield the rebuttals, in turns, first the first of the pair; each sees all before it.

    Whoever takes a turn posts it before asking for the next. After the least number it ends as soon as one of the
    two has changed position for an earned reason.

    Args:
        name: of the clash, unique in the debate; part of its calls' labels.
    """
    least, most = debate.config.rebuttals
    own = [take for take in takes if take.persona in pair.personas]
    posted = len(debate.transcript.messages)
    entered = len(debate.transcript.ledger)
    for number in range(1, most + 1):
        if number > least and any(entry.earned for entry in debate.transcript.ledger[entered:]):
            return
        speaker = pair.personas[(number - 1) % 2]
        shown = [*own, *debate.transcript.messages[posted:]]
        yield await debate.speak(_plan(debate, aspect, pair, speaker, shown, f"clash-{name}", number))


def _plan(
    debate: DebateContext, aspect: DebateAspect, pair: DisagreementCandidate, speaker: str,
    shown: Sequence[DialogueMessage], name: str, number: int,
) -> TurnPlan[TurnAnswer]:  # fmt: skip
    transcript = debate.transcript
    panel = transcript.panel
    mask = panel.mask(speaker)
    label = CallLabel("crux", "clash", f"{panel.seat(speaker)}@{name}", number)
    fence = Fence(transcript.seed, label)

    def context(view: View, tokens: int) -> tuple[list[str], list[str]]:
        return view.panel_context(shown, tokens)

    return TurnPlan(
        persona=speaker,
        task="rebuttal",
        label=label,
        answer=TurnAnswer,
        question=name,
        claim=f"{pair.claim} {shown[-1].text if shown else ''}",
        about=(pair.claim, f"{aspect.label} {aspect.description}"),
        context=context,
        fills={
            "opponent": panel.alias(next(one for one in pair.personas if one != speaker)),
            "aspect": fence("ASPECT", mask.others(f"{aspect.label}\n{aspect.description}")),
            "claim": fence("CLAIM", mask(pair.claim)),
            "stage": _STAGES[number - 1],
        },
    )
