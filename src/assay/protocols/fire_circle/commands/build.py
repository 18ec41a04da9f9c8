"""What a build reads of a verdict: gates, SARIF and JUnit, whichever way the run ends."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.protocols.fire_circle.gate import COMPLETE, Gate, shortfalls
from llm_runtime.errors import ConfigurationError, LlmRuntimeError

if TYPE_CHECKING:
    from assay.console.running import RunCommand
    from assay.launch import Outcome
    from fire_circle import ReciprocityMetrics
    from fire_circle.hidden import Hidden

_INTERRUPTED = 130


@dataclass(frozen=True)
class Build:
    """One command in a build.

    Args:
        command: the command.
        gates: conditions that stop the build.
        allow_partial: whether a circle that was not complete may pass them.
        sarif, junit: files to write.
    """

    command: RunCommand
    gates: Sequence[Gate]
    allow_partial: bool
    sarif: Path | None
    junit: Path | None

    @contextmanager
    def reporting(self) -> Generator[None]:
        """Write the files also where an error leaves the command; not where it was used wrongly."""
        try:
            yield
        except LlmRuntimeError as fault:
            if fault.exit_code != ConfigurationError.exit_code:
                self.write_error(str(fault), fault.exit_code)
            raise
        except KeyboardInterrupt:
            self.write_error("interrupted", _INTERRUPTED)
            raise

    def conclude(self, outcome: Outcome, code: int) -> int:
        """Try the gates and write the files; return the exit code, ``code`` where the run has no verdict."""
        from fire_circle import ReciprocityMetrics

        if code:
            self.write_error(str(outcome.error), code, outcome.run_id)
            return code
        metrics = ReciprocityMetrics.model_validate(outcome.result)
        fired = self._fired(metrics)
        self._write(metrics, outcome.run_id, fired)
        for gate, why in fired.items():
            click.echo(f"assay: gate {gate} {why}", err=True)
        return 1 if fired else 0

    def _fired(self, metrics: ReciprocityMetrics) -> dict[str, str]:
        values = {
            "F": metrics.falsehood,
            "T": metrics.truth,
            "I": metrics.indeterminacy,
            "patterns": float(len(metrics.patterns)),
            "hidden": float(len(self._hidden)),
        }
        shown = f"F {metrics.falsehood:g}, {len(metrics.patterns)} patterns"
        fired = {str(gate): f"holds: {shown}" for gate in self.gates if gate.fires(values)}
        lacking = shortfalls(metrics, self._seats) if self._complete else []
        if lacking:
            fired[COMPLETE] = f"fails: {'; '.join(lacking)} (--allow-partial lets it pass)"
        return fired

    @property
    def _hidden(self) -> tuple[Hidden, ...]:
        from assay.protocols.fire_circle.task import Task, hidden_of

        task = self.command.prepared.task
        return hidden_of(task) if isinstance(task, Task) else ()

    @property
    def _complete(self) -> bool:
        return bool(self.gates) and not self.allow_partial

    @property
    def _names(self) -> list[str]:
        return [*map(str, self.gates), *([COMPLETE] if self._complete else [])]

    def _write(self, metrics: ReciprocityMetrics, run_id: str, fired: dict[str, str]) -> None:
        from assay.protocols.fire_circle.report.junit import junit_xml
        from assay.protocols.fire_circle.report.sarif import sarif_log, write_sarif
        from assay.report.places import write_whole

        if self.sarif is not None:
            write_sarif(self.sarif, sarif_log(metrics, self._task, run_id, list(fired), self._hidden))
        if self.junit is not None:
            took = self.command.store.summary(run_id)
            milliseconds = took.updated_at - took.started_at
            write_whole(self.junit, junit_xml(metrics, run_id, self._names, fired, milliseconds, self._hidden))

    def write_error(self, message: str, code: int, run_id: str = "") -> None:
        """Write files that say why there is no verdict."""
        from assay.protocols.fire_circle.report.junit import junit_error
        from assay.protocols.fire_circle.report.sarif import sarif_error, write_sarif
        from assay.report.places import write_whole

        if self.sarif is not None:
            write_sarif(self.sarif, sarif_error(message, code, run_id))
        if self.junit is not None:
            write_whole(self.junit, junit_error(message, code, run_id, self._names))

    @property
    def _seats(self) -> int:
        from assay.protocols.fire_circle.task import Options

        options = self.command.prepared.options
        models = options.models if isinstance(options, Options) else ()
        return 1 if isinstance(options, Options) and options.mode == "single" else len(models)

    @property
    def _task(self) -> dict[str, Any]:
        return self.command.prepared.task.model_dump(mode="json", exclude_defaults=True)
