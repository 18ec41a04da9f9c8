"""`assay compare`: the same tasks by several methods at equal spend."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from assay.console.options import read_text
from assay.console.running import RunCommand, run_command

#: Bytes: ten thousand questions with their choices, or a thousand of pages.
_LARGEST = 8 << 20


@run_command("compare.tasks", "compare", trace="Show every answer after the figures.", noun="figures")
@click.argument("questions")
def compare(command: RunCommand, questions: str) -> int:
    """Put every task of QUESTIONS to several methods and compare, with paired intervals.

    QUESTIONS is JSONL, one task a line: {"question": "..."} with, where there is a right answer, "expected" (a
    text, a number, a date, a list), "choices", a "scorer" or "regex"; or JSON, CSV, TSV, and rows as Inspect, HELM
    and lm-eval write them. `-` reads standard input. A council's spend on a task sets how many samples
    self-consistency draws there. It is a run like any other: see assay runs.

    \b
    assay compare questions.jsonl --model openrouter:vendor/model --budget 2 --out compare.html
    assay compare questions.jsonl --methods single,self-consistency --samples 9
    assay compare mmlu.csv --repeat 3 --methods single,council
    """
    command.task = read_questions(questions)
    return command.finish(command.go())


def read_questions(place: str) -> dict[str, Any]:
    """Return the task that a file of questions is."""
    from assay.protocols.compare.datasets import read_tasks

    name = "standard input" if place == "-" else Path(place).name
    tasks = read_tasks(read_text(None, place, "file of questions", most=_LARGEST), name)
    return {"tasks": [task.model_dump(mode="json") for task in tasks], "source": name}
