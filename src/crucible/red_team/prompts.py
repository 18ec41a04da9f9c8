"""The red team's prompts: base frame and flavor (CR8), and the three forms of its task."""

from __future__ import annotations

from collections.abc import Mapping

from crucible.config import RedTeamFlavor
from llm_runtime.prompts import Fence, Prompt, load_prompt


def _load(name: str) -> Prompt:
    return load_prompt("crucible.red_team", name)


def system_prompt(flavor: RedTeamFlavor) -> str:
    """Return the base frame, then the flavor."""
    return f"{_load('base').render()}\n\n{_load(flavor.value).render()}"


def critique_positions(query: str, positions: Mapping[str, str], fence: Fence) -> str:
    """Return the task of a PARALLEL loop: attack what all seats hold.

    Args:
        query: the reconstructed query.
        positions: seat label -> position, in seat order.
        fence: of this call.
    """
    return _load("positions").render(query=fence("QUESTION", query), positions=_fenced(positions, fence))


def critique_targets(query: str, positions: Mapping[str, str], fence: Fence) -> str:
    """Return the task of a DEBATE loop: attack the weakest; name them on a last line ``TARGETS: LABEL, LABEL``."""
    held, labels = _fenced(positions, fence), ", ".join(positions)
    return _load("debate").render(query=fence("QUESTION", query), positions=held, labels=labels)


def critique_draft(query: str, author: str, draft: str, fence: Fence, *, final: bool) -> str:
    """Return the task within a SEQUENTIAL loop: attack the draft as it stands; ``final`` closes the loop."""
    task = _load("final_draft" if final else "draft")
    return task.render(query=fence("QUESTION", query), draft=fence(f"DRAFT by {author}", draft))


def _fenced(positions: Mapping[str, str], fence: Fence) -> str:
    return "\n\n".join(fence(f"POSITION of {label}", text) for label, text in positions.items())
