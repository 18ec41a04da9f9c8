"""Synthesis: from all that was said to one answer in one voice."""

from __future__ import annotations

from collections.abc import Sequence

from crucible.openrouter.client import OpenRouterClient
from crucible.schemas import TriageOutput
from crucible.transcript import Loop
from llm_runtime.messages import CallLabel, Message
from llm_runtime.prompts import Fence, load_prompt

_LABEL = CallLabel("crucible", "synthesis")


async def synthesize(
    client: OpenRouterClient,
    model: str,
    triage: TriageOutput,
    user_query: str,
    loops: Sequence[Loop],
    seed: int,
) -> str:
    """Write the final response.

    Args:
        client: makes the call.
        model: writes the answer.
        triage: the reconstructed query and the instruction for the answer.
        user_query: what the user typed.
        loops: every loop, oldest first.
        seed: the fences are drawn from it.
    """
    fence = Fence(seed, _LABEL)
    task = load_prompt("crucible.executor", "synthesis").render(
        user_query=fence("ORIGINAL USER QUERY", user_query),
        reconstructed_query=fence("RECONSTRUCTED QUERY", triage.reconstructed_query),
        deliberation=build_deliberation_summary(loops, fence),
        instruction=fence("SYNTHESIS INSTRUCTION", triage.synthesis_instruction),
    )
    return await client.call_openrouter(model, [Message("user", task)], label=_LABEL)


def build_deliberation_summary(loops: Sequence[Loop], fence: Fence) -> str:
    """Return every loop's positions and critiques, each behind its own fence."""
    blocks: list[str] = []
    for loop in loops:
        blocks += [fence(f"LOOP {loop.number} POSITION of {seat}", text) for seat, text in loop.positions.items()]
        of = len(loop.critiques)
        blocks += [
            fence(f"LOOP {loop.number} RED TEAM CRITIQUE {one.step} of {of}", one.text)
            for one in loop.critiques.values()
        ]
    return "\n\n".join(blocks)
