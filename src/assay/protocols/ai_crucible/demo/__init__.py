"""The recorded trial: three solvers written as tool calls, in real boxes, with real grading and a signed ledger."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.demo import PreparedDemo
from assay.protocols.ai_crucible.trials import need_box
from assay.registry import read_run

if TYPE_CHECKING:
    from assay.protocols.ai_crucible.inspect.trials import Step


@dataclass(frozen=True)
class RecordedTrial:
    """The recording.

    Args:
        manifest: title, name of the solvers, seed, attempts, and the statement of where it comes from.
        steps: by puzzle, the tool calls in order.
    """

    manifest: dict[str, Any]
    steps: dict[str, tuple[tuple[str, dict[str, Any]], ...]]

    @cached_property
    def titles(self) -> dict[str, str]:
        """The puzzle that a task is about, by its title."""
        from ai_crucible.catalog_paths import resolve_puzzles
        from ai_crucible.puzzle_loader import load_puzzles

        return {puzzle.meta.title: puzzle.meta.id for puzzle in load_puzzles(resolve_puzzles(list(self.steps)))}

    def step(self, task: str, turn: int) -> Step:
        """Return what the solver of this task does in a turn; after its last step it has nothing more to say."""
        steps = self.steps[next(puzzle for title, puzzle in self.titles.items() if f"\n{title}\n" in task)]
        return steps[turn] if turn < len(steps) else "That is all."


def load() -> RecordedTrial:
    """Read ``solvers.toml``."""
    text = resources.files("assay.protocols.ai_crucible.demo").joinpath("solvers.toml").read_text(encoding="utf-8")
    data = tomllib.loads(text)
    solvers = data.pop("solver")
    steps = {solver["puzzle"]: tuple(call for step in solver["step"] for call in _calls(step)) for solver in solvers}
    return RecordedTrial(data, steps)


def demo(folder: Path, speed: float) -> PreparedDemo:
    """Make the recorded trial ready; its logs and its ledger go into ``folder``.

    Raises:
        CannotIsolate: this machine gives no box.
    """
    need_box()
    manifest = load().manifest
    run = read_run(
        "ai_crucible.trial", {"demo": True, "speed": speed}, {"folder": str(folder / "trials"), "k": manifest["k"]}
    )
    return PreparedDemo(run, manifest["title"], manifest["seed"], manifest["statement"])


def _calls(step: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return a step as one call, or one for each of its values."""
    arguments: dict[str, Any] = step["arguments"]
    if "each" not in step:
        return [(step["tool"], arguments)]
    argvs = ([word.replace("{each}", value) for word in arguments["argv"]] for value in step["each"])
    return [(step["tool"], {**arguments, "argv": argv}) for argv in argvs]
