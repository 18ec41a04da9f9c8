"""Synthesis: from all that was said to one answer in one voice."""

from __future__ import annotations

from collections.abc import Sequence

from crucible.executor.council import CouncilRun
from crucible.schemas import TriageOutput
from crucible.transcript import Loop
from llm_runtime.messages import CallLabel, Message
from llm_runtime.prompts import Fence, load_prompt

_LABEL = CallLabel("crucible", "synthesis")


async def synthesize(run: CouncilRun, triage: TriageOutput, user_query: str) -> str:
    """Write the final response.

    Args:
        run: whose loops are told, the oldest first.
        triage: the reconstructed query and the instruction for the answer.
        user_query: what the user typed.
    """
    fence = Fence(run.seed, _LABEL)
    task = load_prompt("crucible.executor", "synthesis").render(
        user_query=fence("ORIGINAL USER QUERY", user_query),
        reconstructed_query=fence("RECONSTRUCTED QUERY", triage.reconstructed_query),
        deliberation=build_deliberation_summary(run.transcript.in_order(), fence),
        instruction=fence("SYNTHESIS INSTRUCTION", triage.synthesis_instruction),
    )
    return await run.client.call_openrouter(run.config.default_model, [Message("user", task)], label=_LABEL)


def build_deliberation_summary(loops: Sequence[Loop], fence: Fence) -> str:
    """Return every loop's positions and critiques, each behind its own fence."""
    blocks: list[str] = []
    for loop in loops:
        blocks += [fence(f"LOOP {loop.number} POSITION of {seat}", text) for seat, text in loop.positions.items()]
        of = len(loop.critiques)
        attacks = loop.critiques.values()
        blocks += [fence(f"LOOP {loop.number} RED TEAM CRITIQUE {one.step} of {of}", one.text) for one in attacks]
    return "\n\n".join(blocks)
