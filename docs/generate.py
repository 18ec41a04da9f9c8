"""Writes docs/cli.md, docs/glossary.md and the picture of the architecture from what they tell of: `make docs`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import click
from docs.picture import PICTURE, architecture

from assay.cli import assay
from assay.report.glossary import glossary

PREFACE = """# The command line

Written from the commands' own help by `make docs`; a test holds the two equal.

Results go to standard output, progress and errors to standard error. `-` and pipes are read where a text is wanted.
`NO_COLOR` and `FORCE_COLOR` are obeyed. Exit codes:

| code | meaning |
|---|---|
| 0 | fine |
| 1 | a gate failed: a result differs, a log was changed, a check found a fault |
| 2 | the command or its input is at fault; nothing was asked |
| 3 | the budget or the deadline ended the run; `assay runs resume` goes on with it |
| 4 | the provider failed, after retries and fallbacks |
| 5 | the run store, or a recording that does not fit |
| 6 | a model's answer was of no use |
| 78 | no model is configured |
| 130 | interrupted at the keyboard |
"""


def cli_page() -> str:
    """The whole page."""
    return PREFACE + "".join(_section(assay, "assay", None))


def _section(command: click.Command, name: str, parent: click.Context | None) -> Iterator[str]:
    context = click.Context(command, info_name=name.rpartition(" ")[2], parent=parent, max_content_width=100)
    yield f"\n## {name}\n\n```\n{command.get_help(context)}\n```\n"
    if isinstance(command, click.Group):
        for child in command.list_commands(context):
            found = command.get_command(context, child)
            if found is not None:
                yield from _section(found, f"{name} {child}", context)


def glossary_page() -> str:
    """Return the glossary as a page."""
    words, reports = (glossary()[name] for name in ("words", "reports"))
    return (
        "# Glossary\n\nWritten from `src/assay/report/glossary.toml` by `make docs`.\n\n"
        "Words that Assay uses with a meaning of their own. A protocol's own steps are explained on its page.\n"
        f"\n{_table('word', words)}\n## Headings and figures of reports\n\n"
        f"On the pages a `?` beside each of them says the same.\n\n{_table('heading or figure', reports)}"
    )


def _table(head: str, meanings: Mapping[str, str]) -> str:
    return "".join(
        f"| {word} | {about} |\n" for word, about in ((head, "meaning"), ("---", "---"), *meanings.items())
    )


if __name__ == "__main__":
    Path(__file__).with_name("glossary.md").write_text(glossary_page(), encoding="utf-8")
    Path(__file__).with_name("cli.md").write_text(cli_page(), encoding="utf-8")
    PICTURE.write_text(architecture(), encoding="utf-8")
