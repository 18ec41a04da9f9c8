"""`assay mcp`: councils, circles and debates for an agent."""

from __future__ import annotations

from contextlib import closing

import click

from assay.console.options import open_runs, store_option
from llm_runtime.extras import needing


@click.command()
@store_option
def mcp(store_path: str | None) -> None:
    """Serve an agent by the Model Context Protocol, on standard input and output.

    Its tools begin runs of every kind that programs may ask for (ask, judge_prompt, debate, criticality_build and
    more, those of installed protocols too) and look after them: run_status, run_result, cancel_run, answer. Each
    call returns within 50 seconds. The same tools are at /mcp of assay serve, with a key.

    \b
    claude mcp add assay -- assay mcp
    """
    with needing("serving agents", "mcp"):
        from assay.api.mcp.serving import serve_stdio
    with closing(open_runs(store_path)) as store:
        serve_stdio(store)
