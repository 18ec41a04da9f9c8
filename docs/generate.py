"""`make docs`: docs/cli.md, the man page, docs/glossary.md, the picture of the house, and tables of other pages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

import click
from docs.admission import admission_page
from docs.picture import PICTURE, architecture

from assay import __version__
from assay.cli import assay
from assay.registry import packages
from assay.report.glossary import glossary

_ABOUT = "structured adversarial pressure by several language models"
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
    return PREFACE + "".join(f"\n## {name}\n\n```\n{text}\n```\n" for name, text in _helps(assay, "assay", None))


def man_page() -> str:
    """The same for `man assay`."""
    prose, _, table = PREFACE.partition("\n\n")[2].partition("| code | meaning |\n|---|---|\n")
    blocks = [f'.TH ASSAY 1 "" "assay {__version__}"', ".SH NAME", f"assay \\- {_roff(_ABOUT)}"]
    described = prose.partition("\n\n")[2].replace("`", "").removesuffix("Exit codes:\n\n")
    blocks += [".SH DESCRIPTION", _roff(described.strip()), ".SH EXIT STATUS"]
    for row in table.splitlines():
        code, meaning = (cell.strip().replace("`", "") for cell in row.strip("|").split("|"))
        blocks += [".TP", f".B {code}", _roff(meaning)]
    blocks.append(".SH COMMANDS")
    for name, text in _helps(assay, "assay", None):
        blocks += [f".SS {_roff(name)}", ".nf", _roff(text), ".fi"]
    return "\n".join(blocks) + "\n"


def _roff(text: str) -> str:
    """A text as it is, whatever it holds."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join(f"\\&{line}" if line.startswith((".", "'")) else line for line in text.splitlines())


def _helps(command: click.Command, name: str, parent: click.Context | None) -> Iterator[tuple[str, str]]:
    context = click.Context(command, info_name=name.rpartition(" ")[2], parent=parent, max_content_width=100)
    yield name, command.get_help(context)
    if isinstance(command, click.Group):
        for child in command.list_commands(context):
            found = command.get_command(context, child)
            if found is not None:
                yield from _helps(found, f"{name} {child}", context)


SKILLS = tuple(sorted(Path(__file__).parents[1].glob("plugin/skills/*/SKILL.md")))
_OPTIONS = re.compile(r"(<!-- options: ([a-z ]+?)((?: --?[a-z-]+)+) -->\n).*?(<!-- /options -->)", re.DOTALL)
_CODES = re.compile(r"(<!-- exit codes -->\n).*?(<!-- /exit codes -->)", re.DOTALL)


def skill_page(text: str) -> str:
    """Return a skill for agents with the options that it names, in the commands' own words, and the exit codes.

    Raises:
        KeyError: a command or an option is not there.
    """
    codes = PREFACE[PREFACE.index("| code") :]
    text = _CODES.sub(lambda found: f"{found[1]}## Exit codes\n\n{codes}{found[2]}", text)
    return _OPTIONS.sub(lambda found: found[1] + _options(found[2].split(), found[3].split()) + found[4], text)


def _options(path: list[str], names: list[str]) -> str:
    command, context = cast("click.Command", assay), click.Context(assay)
    for name in path:
        found = command.get_command(context, name) if isinstance(command, click.Group) else None
        if found is None:
            raise KeyError(f"there is no command {name!r}")
        command, context = found, click.Context(found)
    records = {name: one.get_help_record(context) for one in command.params for name in one.opts}
    rows = [record for name in names if (record := records[name])]
    return _table("option", {f"`{option}`".replace("|", "\\|"): " ".join(about.split()) for option, about in rows})


def glossary_page() -> str:
    """Return the glossary as a page."""
    words, reports = (glossary(packages())[name] for name in ("words", "reports"))
    return (
        "# Glossary\n\nWritten by `make docs` from `glossary.toml` of `assay.report` and of each protocol.\n\n"
        "Words that Assay uses with a meaning of their own. A protocol's own steps are explained on its page.\n"
        f"\n{_table('word', words)}\n## Headings and figures of reports\n\n"
        f"On the pages a `?` beside each of them says the same.\n\n{_table('heading or figure', reports)}"
    )


def _table(head: str, meanings: Mapping[str, str]) -> str:
    return "".join(f"| {word} | {about} |\n" for word, about in ((head, "meaning"), ("---", "---"), *meanings.items()))


if __name__ == "__main__":
    Path(__file__).with_name("glossary.md").write_text(glossary_page(), encoding="utf-8")
    Path(__file__).with_name("cli.md").write_text(cli_page(), encoding="utf-8")
    Path(__file__).with_name("assay.1").write_text(man_page(), encoding="utf-8")
    admission = Path(__file__).with_name("admission.md")
    admission.write_text(admission_page(admission.read_text(encoding="utf-8")), encoding="utf-8")
    PICTURE.write_text(architecture(), encoding="utf-8")
    for skill in SKILLS:
        skill.write_text(skill_page(skill.read_text(encoding="utf-8")), encoding="utf-8")
