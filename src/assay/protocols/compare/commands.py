"""`assay compare`: the same tasks by several methods at equal spend."""

from __future__ import annotations

from pathlib import Path

import click

from assay.console.options import (
    cap_options,
    caps_from,
    model_options,
    open_runs,
    read_text,
    settings_from,
    store_option,
)
from llm_runtime.errors import ConfigurationError


@click.command()
@click.argument("questions")
@click.option(
    "--methods",
    default="single,self-consistency,council",
    show_default=True,
    metavar="A,B",
    help="Of single, self-consistency and council, at least one.",
)
@model_options
@cap_options
@click.option(
    "--samples",
    type=click.IntRange(1, 64),
    default=5,
    show_default=True,
    help="Of self-consistency, where no council's spend sets them.",
)
@click.option("--at-once", type=click.IntRange(1, 64), default=4, show_default=True, help="Tasks at one time.")
@click.option("--out", metavar="PATH", help="Write a report: .html, .md or .json by its ending.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object in place of the figures.")
@click.option("--seed", type=click.IntRange(0, 2**53 - 1), help="The run's seed; drawn where left out.")
@click.option("-q", "--quiet", is_flag=True, help="No progress on standard error.")
@store_option
def compare(
    questions: str,
    methods: str,
    model: str | None,
    seats: tuple[str, ...],
    max_tokens: int | None,
    budget: float | None,
    max_calls: int | None,
    deadline: float | None,
    samples: int,
    at_once: int,
    out: str | None,
    as_json: bool,
    seed: int | None,
    quiet: bool,
    store_path: str | None,
) -> int:
    """Put every task of QUESTIONS to several methods and compare, with paired intervals.

    QUESTIONS is JSONL, one task a line: {"question": "..."} with, where there is a right answer, "expected" (a
    text, or a number with an optional "tolerance") or "regex". `-` reads standard input. A council's spend on a
    task sets how many samples self-consistency draws there. It is a run like any other: see assay runs.

    \b
    assay compare questions.jsonl --model openrouter:vendor/model --budget 2 --out compare.html
    assay compare questions.jsonl --methods single,self-consistency --samples 9
    """
    from assay.console.session import Presentation, present, start_run
    from assay.protocols.compare.tasks import read_tasks
    from assay.report.units import in_words

    chosen = _methods(methods)
    name = "standard input" if questions == "-" else Path(questions).name
    tasks = read_tasks(read_text(None, questions, "file of questions"), name)
    presentation = Presentation(out=out, as_json=as_json, quiet=quiet)
    presentation.check()
    settings = settings_from(model, seats, max_tokens)
    store = open_runs(store_path)
    try:
        outcome = start_run(
            protocol="compare",
            title=f"{in_words(chosen)} on {name}"[:200],
            task={"tasks": [task.model_dump(mode="json") for task in tasks]},
            engine={"methods": chosen, "samples": samples, "at_once": at_once},
            settings=settings,
            caps=caps_from(budget, max_calls, deadline),
            store=store,
            seed=seed,
            presentation=presentation,
        )
        return present(outcome, store, presentation)
    finally:
        store.close()


def _methods(text: str) -> list[str]:
    from assay.protocols.compare.methods import METHODS

    chosen = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    unknown = [name for name in chosen if name not in METHODS]
    if unknown or not chosen:
        raise ConfigurationError(f"--methods {text[:80]}: choose of {', '.join(METHODS)}")
    return chosen
