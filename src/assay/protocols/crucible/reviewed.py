"""What a command shows of findings, with what tests showed of them, and the code that it ends with."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from llm_runtime.errors import ConfigurationError, LlmRuntimeError
from llm_runtime.events import CallStarted

if TYPE_CHECKING:
    from assay.console.running import RunCommand
    from assay.launch import Outcome
    from assay.protocols.crucible.proved import Shown
    from crucible.proving import ProvenChange

GRAVE = ("critical", "major", "minor")
PROVERS = ("prover", "blind")
"""The seats that a council does not have and a run of proofs has."""


@dataclass
class Reviewed:
    """What is to be shown of findings, wherever they come from.

    Args:
        command: that is carried out.
        outcome: of the run that found them, or proved those of others.
        ones: the findings, in the order in which they are shown.
        text: the comment.
        faults: what went wrong, a line each.
        proof: what came of the run that tried to prove them.
        unproved: why there is no such run, or why it did not come to its end.
    """

    command: RunCommand
    outcome: Outcome
    ones: list[Shown] = field(default_factory=list["Shown"])
    text: str = ""
    faults: list[str] = field(default_factory=list[str])
    proof: Outcome | None = None
    unproved: Exception | None = None

    def prove(
        self, task: dict[str, Any], change: Callable[[], ProvenChange], seats: str = "", **chosen: object
    ) -> None:
        """Try to prove the findings, in a run of its own; what cannot be done is said, and ends nothing."""
        from assay.registry import find

        terms, options = self.command.terms, self.command.options
        shared = {name: options[name] for name in ("models", "default_model") if name in options}
        terms = terms.model_copy(update={"seats": {k: v for k, v in terms.seats.items() if k in PROVERS}})
        run = replace(self.command, run=find("crucible.proof"), options={**shared, **chosen}, terms=terms)
        try:
            terms.seats.update(zip(PROVERS, self._others(seats), strict=False))
            if (cap := run.options.get("prove_budget")) is not None:
                run.terms = terms.model_copy(update={"budget": min(cap, cap if terms.budget is None else terms.budget)})
            run.task = {**task, "review": self.outcome.run_id, "change": change()}
            self.take(run.go())
        except LlmRuntimeError as fault:
            self.unproved = fault
            click.echo(f"assay: nothing was proved: {fault.told}", err=True)

    def _others(self, named: str) -> list[str]:
        """Return the models of a list that did not write the findings; refuse one that names nobody else."""
        events = [event for _, event in self.command.store.events(self.outcome.run_id)]
        calls = [one for one in events if isinstance(one, CallStarted) and one.request["label"]["phase"] == "synthesis"]
        wrote = "|".join({re.escape(getattr(one.by, "name", one.request["model"])) for one in calls})
        others = [one for one in re.findall(r"[^,\s]+", named) if not re.search(rf"(^|[:/#])({wrote})$", one)]
        if named and not others:
            raise ConfigurationError(f"--prove-seats {named}: that model wrote the findings; name another")
        return others

    def take(self, proof: Outcome) -> None:
        """Take in what a run of proofs came to, as far as it went."""
        from assay.protocols.crucible.proof import ProofFold

        fold = ProofFold()
        for _, event in self.command.store.events(proof.run_id):
            fold.apply(event, 0)
        self.proof, self.unproved, self.ones = proof, proof.error, fold.shown

    def present(self) -> int:
        """Show the findings, and how the run ended that found them; return its exit code."""
        from assay.console.showing import report_and_code, run_data, show_run

        output, store, proof = self.command.output, self.command.store, self.proof
        if proof is None and (self.outcome.error or output.as_json or output.jsonl or output.trace):
            return self.command.finish(self.outcome)
        if proof and output.as_json:
            told = run_data(store, self.outcome.run_id)
            told |= {} if proof is self.outcome else {"proof": run_data(store, proof.run_id)}
            click.echo(json.dumps(told, indent=1, ensure_ascii=False))
        elif proof and (output.trace or sys.stdout.isatty()):
            show_run(store, proof.run_id, trace=output.trace)
        elif not output.jsonl:
            # In place of the answer: the same, with places that a reader can open.
            click.echo(self.text if not sys.stdout.isatty() else self.text.replace("<!-- -->", ""))
        code = report_and_code(proof or self.outcome, store, output)
        # What could not be proved is still a review.
        return code if proof in (None, self.outcome) else 0

    def end(self, code: int, fail_on: str | None, comment_path: str | None, sarif: str | None) -> int:
        """Write the files that were asked for; return the exit code that the command ends with."""
        from assay.protocols.crucible import findings
        from assay.protocols.crucible.proved import failing
        from assay.report.places import write_whole

        if comment_path and self.text:
            write_whole(Path(comment_path), self.text)
        if sarif:
            write_whole(Path(sarif), findings.sarif(self.ones, self.outcome.run_id, self.faults, code or None))
        tested = fail_on not in (None, *GRAVE)
        if not code and tested and self.unproved is not None:
            return getattr(self.unproved, "exit_code", 1)
        grave = failing(self.ones, fail_on) if fail_on and not code else []
        if grave:
            what = fail_on if tested else f"{fail_on} or graver"
            click.echo(f"assay: {len(grave)} of {len(self.ones)} findings are {what}", err=True)
        return code or int(bool(grave))
