"""`assay trial run`: a model attempts puzzles, each attempt in a box of its own."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import click

from assay.console.declared import declares
from assay.console.options import open_runs
from assay.console.queueing import QueueOptions, put_into_queue, queue_option
from assay.protocols.ai_crucible.commands.trying import Trying, present_trials, running_options, try_model
from assay.registry import prepared
from llm_runtime.errors import ConfigurationError

_declares = declares(__package__ or "", "options.toml")


@click.command("run")
@running_options()
@_declares("run")
@queue_option
def run_(trial: str | None, fresh: bool, queueing: QueueOptions, **flags: Any) -> int:
    """Let MODEL attempt each PUZZLE k times: ids, folders, or `all`.

    What each attempt came to is told with its interval; the report shows every attempt from prompt to signed head.
    A trial that was cut off goes on when the same command is given again, and repeats no finished attempt. It is a
    run like any other: see assay runs.

    \b
    assay trial run all --model openrouter/vendor/model --k 5 --max-cost 4 --out trial.html
    assay trial run ./my-puzzle --model ollama:qwen3 --protocol text
    assay trial run all --model assay/crucible/vendor/model --k 3
    assay trial run all --model ollama:qwen3 --against ollama:llama3 --k 20 --early
    assay trial run all --model openrouter/vendor/model --agent claude --agent codex
    """
    asked = Trying(**flags)
    arm = asked.options.arm
    asked.check("running a trial")
    if trial and fresh:
        raise ConfigurationError("--trial goes on with a trial and --fresh begins one; choose one")
    if trial:
        asked = asked.planned(trial)
    known = trial or ("" if fresh else asked.unfinished(arm))
    if queueing.queue:
        put_into_queue(prepared(asked.run(arm, known)), asked.terms, asked.store_path, queueing)
    with closing(open_runs(asked.store_path)) as store:
        return present_trials([try_model(asked, arm, known, store)], asked)
