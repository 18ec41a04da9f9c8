"""`assay ask`: a question to a council."""

from __future__ import annotations

from assay.console.running import RunCommand, run_command


@run_command("crucible.council", trace="Show the deliberation, loop by loop, after the answer.", noun="answer")
def ask(command: RunCommand) -> int:
    """Put QUESTION to a council of models with a red team.

    The question may also come with --file or on standard input. The answer goes to standard output, progress
    to standard error; the whole run is kept (see: assay runs).

    \b
    assay ask "Should we migrate to microservices?"
    git diff | assay ask --attach - --as review --budget 0.50 --out review.html
    assay ask "What would reverse this?" --attach notes/ --attach plan.pdf --as decision
    assay ask --follow RUN "And with twice the people?"
    assay ask -f question.md --model ollama:qwen3 --seat red_team=terminal:
    """
    return command.finish(command.go())
