"""`assay trial`, and `ai-crucible`: sealed puzzles on Inspect AI. Each command is loaded when it is named."""

from __future__ import annotations

import click

from assay.console.lazy import HELP, lazy_group

#: What each command is for, and where it is.
COMMANDS = {
    "run": ("Let a model attempt puzzles k times each.", f"{__name__}.run:run_"),
    "probe": ("Run the framings one after another and compare them, with intervals.", f"{__name__}.probe:probe_"),
    "report": ("Write the report on trials: HTML, Markdown or JSON.", f"{__name__}.report:report_"),
    "verify": ("Check a bundle, or the ledger, its signed head and its logs.", f"{__name__}.report:verify_"),
    "bundle": ("Write trials into one file that anybody can verify.", f"{__name__}.bundling:bundle_"),
    "publish": ("Write a folder for any web server: report, bundle, viewer.", f"{__name__}.bundling:publish_"),
    "check": ("Run each puzzle's gold, no-op and wrong solutions.", f"{__name__}.puzzles:check_"),
    "new": ("Write a small puzzle to start from.", f"{__name__}.puzzles:new_"),
    "import": ("Make puzzles of a checkout of programs, tests and fixed programs.", f"{__name__}.puzzles:import_"),
    "catalog": ("List, show and graduate puzzles.", f"{__name__}.catalog:catalog_"),
}


@click.group(cls=lazy_group(COMMANDS), context_settings=HELP)
def trial() -> None:
    """Measure how reliably a model solves sealed puzzles.

    A model works in a locked box without a network; what it leaves behind is graded in a second box, which alone
    holds the answer. Trials run on Inspect AI and need a sandbox (bubblewrap, podman or docker).
    """
