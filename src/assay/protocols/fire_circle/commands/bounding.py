"""`--max-tokens` for a circle, whose calls name a bound of their own."""

from __future__ import annotations

from assay.console.running import RunCommand


def bound_answers(command: RunCommand) -> None:
    """Let ``--max-tokens`` hold in place of the circle's own bound, which every call names."""
    if command.terms.max_tokens is not None:
        command.options["calls"] = {"max_tokens": command.terms.max_tokens}
