"""Synthesis: from all that was said to one answer in one voice."""

from __future__ import annotations

from collections.abc import Sequence

from crucible.executor.council import LoopOutcome
from crucible.openrouter.client import OpenRouterClient
from crucible.schemas import TriageOutput
from llm_runtime.messages import CallLabel, Message
from llm_runtime.prompts import Fence, load_prompt

_LABEL = CallLabel("crucible", "synthesis")


async def synthesize(
    client: OpenRouterClient,
    model: str,
    triage: TriageOutput,
    user_query: str,
    outcomes: Sequence[LoopOutcome],
    seed: int,
) -> str:
    """Write the final response.

    Args:
        client: makes the call.
        model: writes the answer.
        triage: the reconstructed query and the instruction for the answer.
        user_query: what the user typed.
        outcomes: every loop, oldest first.
        seed: the fences are drawn from it.
    """
    fence = Fence(seed, _LABEL)
    task = load_prompt("crucible.executor", "synthesis").render(
        user_query=fence("ORIGINAL USER QUERY", user_query),
        reconstructed_query=fence("RECONSTRUCTED QUERY", triage.reconstructed_query),
        deliberation=build_deliberation_summary(outcomes, fence),
        instruction=fence("SYNTHESIS INSTRUCTION", triage.synthesis_instruction),
    )
    return await client.call_openrouter(model, [Message("user", task)], label=_LABEL)


def build_deliberation_summary(outcomes: Sequence[LoopOutcome], fence: Fence) -> str:
    """Return every loop's positions and critiques, each behind its own fence."""
    blocks: list[str] = []
    for loop, outcome in enumerate(outcomes, start=1):
        blocks += [fence(f"LOOP {loop} POSITION of {seat.label}", text) for seat, text in outcome.positions.items()]
        of = len(outcome.critiques)
        blocks += [
            fence(f"LOOP {loop} RED TEAM CRITIQUE {step} of {of}", text)
            for step, text in enumerate(outcome.critiques, start=1)
        ]
    return "\n\n".join(blocks)
