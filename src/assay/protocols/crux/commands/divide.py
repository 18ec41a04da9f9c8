"""`assay debate divide PLACE`: from a thread, a folder or a pull request to the few questions that divide it."""

from __future__ import annotations

from typing import cast

from assay.console.declared import declares
from assay.console.running import RunCommand, run_command
from assay.protocols.crux.commands.asking import announce_comparison
from assay.protocols.crux.commands.compare import present_compared
from assay.protocols.crux.divide import Options, calls_of


@run_command("crux.divide", "divide", trace="Show all of it, whatever is folded.", noun="cruxes")
@declares(__package__ or "", "options.toml")("divide")
def divide(command: RunCommand, yes: bool, people: str | None) -> int:
    """Name what divides the people who speak in PLACE: three to seven questions, ranked.

    PLACE is a folder, a file, or the export of a thread: an issue or a pull request as gh or glab write it, mails,
    a chat, a transcript, minutes. Of each crux you get both sides' sentences, what both take for true, what would
    settle it, and proposals that each side's own claims bear. Nobody's voice is imitated. Into a pipe goes a
    Markdown comment for the thread. What was read is kept: the next time only what is new is read.

    \b
    gh issue view 12 --comments --json title,author,body,comments > issue.json
    assay debate divide issue.json --topic "Should the cache go?" --out cruxes.html
    """
    command.task["people"] = people
    options = cast("Options", command.prepared.options)
    announce_comparison(command, options.fast, *calls_of(options), yes=yes)
    return present_compared(command, command.go())
