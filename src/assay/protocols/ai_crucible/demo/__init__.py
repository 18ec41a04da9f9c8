"""The recorded trial: three solvers written as tool calls, in real boxes, with real grading and a signed ledger."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.demo import PreparedDemo
from assay.registry import read_run

if TYPE_CHECKING:
    from ai_crucible.workshop import TrialReport
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
        """What the solver of this task does in a turn; after its last step it has nothing more to say."""
        steps = self.steps[next(puzzle for title, puzzle in self.titles.items() if f"\n{title}\n" in task)]
        return steps[turn] if turn < len(steps) else "That is all."


def load() -> RecordedTrial:
    """Read ``solvers.toml``."""
    text = resources.files("assay.protocols.ai_crucible.demo").joinpath("solvers.toml").read_text(encoding="utf-8")
    data = tomllib.loads(text)
    solvers = data.pop("solver")
    steps = {
        solver["puzzle"]: tuple(call for step in solver["step"] for call in _calls(step)) for solver in solvers
    }
    return RecordedTrial(data, steps)


def demo(folder: Path, speed: float) -> PreparedDemo:
    """Make the recorded trial ready; its logs and its ledger go into ``folder``."""
    manifest = load().manifest
    run = read_run(
        "ai_crucible.trial", {"demo": True, "speed": speed}, {"folder": str(folder / "trials"), "k": manifest["k"]}
    )
    return PreparedDemo(run, manifest["title"], manifest["seed"], manifest["statement"])


def _calls(step: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """A step as one call, or one for each of its values."""
    arguments: dict[str, Any] = step["arguments"]
    if "each" not in step:
        return [(step["tool"], arguments)]
    return [
        (step["tool"], {**arguments, "argv": [word.replace("{each}", value) for word in arguments["argv"]]})
        for value in step["each"]
    ]


def play(out: Path, *, speed: float = 1.0, quiet: bool = False) -> int:
    """Run the recorded trial, say what it came to, and write its report.

    Args:
        out: the report; logs and ledger go into a folder beside it, of the same name without its ending.
        speed: how fast the solvers are; 0 does not wait.
        quiet: no progress.

    Returns:
        The exit code: 0, or 1 where an attempt has no verdict.

    Raises:
        MissingExtraError: Inspect is not installed.
        CannotIsolate: this machine gives no box.
    """
    import click

    from ai_crucible.workshop import Workshop
    from assay.protocols.ai_crucible.commands.progress import TrialProgress
    from assay.protocols.ai_crucible.commands.run import summary
    from assay.protocols.ai_crucible.inspect.trials import used_by_this_attempt
    from assay.protocols.ai_crucible.report import read_book
    from assay.protocols.ai_crucible.report.files import check_report_place, write_trials_report
    from assay.protocols.ai_crucible.trials import need_box, need_inspect

    need_inspect("the recorded trial")
    need_box()
    out.parent.mkdir(parents=True, exist_ok=True)
    check_report_place(str(out))
    recorded = load()
    shop = Workshop.at(out.absolute().with_suffix(""))
    total = len(recorded.steps) * recorded.manifest["k"]
    with TrialProgress(total, limit=None, used=used_by_this_attempt, quiet=quiet) as progress:
        report = _run(recorded, shop, speed, progress)
    book = read_book(shop, [report.trial])
    for line in (*summary(book.models), *_endings(report)):
        click.echo(line)
    found = shop.verify()
    click.echo(f"ledger: {found.length} events, {'as signed' if found.ok else 'NOT as signed'}")
    click.echo(f"report: {write_trials_report(book, out, recorded.manifest['title'])}", err=True)
    click.echo("\n" + click.wrap_text(recorded.manifest["statement"]), err=True)
    return 1 if report.errors or not found.ok else 0


def _run(recorded: RecordedTrial, shop: Any, speed: float, progress: Any) -> TrialReport:
    from assay.protocols.ai_crucible.inspect.trials import scripted_model

    manifest = recorded.manifest
    seconds = manifest["pace_s"] / speed if speed > 0 else 0.0
    return shop.run(
        list(recorded.steps),
        model=scripted_model(manifest["name"], recorded.step, seconds),
        k=manifest["k"],
        seed=manifest["seed"],
        on_attempt=progress,
    )


def _endings(report: TrialReport) -> list[str]:
    from assay.protocols.ai_crucible.report.words import ending, verdict_word

    firsts = [attempt for attempt in report.attempts if attempt.epoch == 1]
    return [
        f"  {attempt.puzzle}: {verdict_word(attempt.passed)}, {ending(attempt)}"
        + (f" ({', '.join(attempt.failed)})" if attempt.failed else "")
        for attempt in firsts
    ]
