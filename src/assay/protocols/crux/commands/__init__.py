"""`assay debate`, and `crux`: authors argue from their own texts. Each command is loaded when it is named."""

from __future__ import annotations

import click

from assay.console.lazy import HELP, lazy_group

#: What each command is for, and where it is.
COMMANDS = {
    "debate": ("Hold a debate; `assay debate TOPIC` is the same.", f"{__name__}.run:debate"),
    "compare": (
        "Compare what two authors wrote: shared, opposed, one-sided claims; candidate cruxes.",
        f"{__name__}.compare:compare",
    ),
    "watch": ("Look at two authors again: which cruxes moved, appeared or went.", f"{__name__}.watch:watch"),
    "personas": ("Import, build, show, check and list those who debate.", f"{__name__}.personas:personas"),
    "cards": ("Print the crux cards of a debate.", f"{__name__}.read:cards"),
    "map": (
        "Show who clashes with whom, and which cruxes come back over several debates.",
        f"{__name__}.judge:map_",
    ),
    "judge": (
        "Judge pairs of sentences: does one support, contradict, or say the same as the other?",
        f"{__name__}.judge:judge",
    ),
    "fork": ("Hold a debate again with evidence read out, and compare the cards.", f"{__name__}.fork:fork"),
    "bench": ("Measure a debate.", f"{__name__}.bench:bench"),
    "export": ("Write a debate as JSON, Markdown, Argdown, AIF, CSV or HTML.", f"{__name__}.read:export"),
}


@click.group(
    cls=lazy_group(COMMANDS, default="debate"), context_settings=HELP, subcommand_metavar="TOPIC | COMMAND ..."
)
def debate() -> None:
    """Let authors argue from their own texts, down to what divides them and what would change their minds.

    \b
    assay debate "Should software decide who waits?" --personas maud-tarrowby,ilario-fennimast
    """
