"""Going on with a run that the same command began and that did not end well."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from llm_runtime.errors import LlmRuntimeError

if TYPE_CHECKING:
    from assay.console.running import RunCommand
    from assay.registry import Prepared

_BOUNDS = ("budget", "max_calls", "deadline")


def unfinished(command: RunCommand, kind: str, same: Callable[[RunCommand, Prepared, int], bool]) -> str | None:
    """Return the unfinished run that the same command began.

    A run that has bounds which the command leaves out is another: bounds can be raised and not taken back. So is
    one that was resumed with other models.

    Args:
        kind: of the run.
        same: tells whether a run with this seed is of what the command asks for.
    """
    from assay.console.running import launcher_of
    from assay.registry import opened
    from assay.terms import configured, in_force

    launcher = launcher_of(command.store)
    for summary in command.store.runs(protocol=kind, limit=1000):
        if summary.state == "finished":
            continue
        started = launcher.first_event(summary.run_id)
        try:
            if not same(command, opened(started), started.seed):
                continue
        except LlmRuntimeError:  # an imported log may hold anything
            continue
        earlier = in_force(event for _, event in command.store.events(summary.run_id))
        bounds = [bound for bound in _BOUNDS if getattr(earlier, bound) is not None]
        bounded = all(getattr(command.terms, bound) is not None for bound in bounds)
        if bounded and earlier.routes == configured(command.settings).routes:
            return summary.run_id
    return None
