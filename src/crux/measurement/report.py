"""All that can be computed from one run without asking anybody."""

from __future__ import annotations

from collections.abc import Sequence

from crux.measurement.card_quality import CardQuality, card_quality
from crux.measurement.debate_quality import DebateQuality, debate_quality
from crux.measurement.persona_quality import PersonaQuality, persona_quality
from crux.personas.persona import Persona
from crux.results import Baseline, CamelModel, DebateResult, Spend


class Measures(CamelModel):
    """The three tables of measures, and what the debate and the answers beside it cost."""

    debate: DebateQuality
    persona: PersonaQuality
    card: CardQuality
    spend: Spend
    baselines: tuple[Baseline, ...]


def measure(result: DebateResult, personas: Sequence[Persona]) -> Measures:
    """Measure a debate.

    Args:
        result: finished or not.
        personas: those who debated.
    """
    return Measures(
        debate=debate_quality(result),
        persona=persona_quality(result, personas),
        card=card_quality(result.cards),
        spend=result.spend,
        baselines=result.baselines,
    )
