"""A story as Markdown for a pull request: what a model wrote stays readable and loses its powers."""

from __future__ import annotations

import re

from assay.report.clean import clean, one_line
from assay.report.prose import markdown_parser, signed
from assay.report.story import (
    Block,
    Details,
    Figure,
    Footnotes,
    Marked,
    Note,
    Plain,
    Prose,
    Quote,
    Section,
    Story,
    Table,
    Voice,
)

_TONES = {"info": "NOTE", "good": "TIP", "warning": "WARNING", "bad": "CAUTION"}
_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|<>~$^-])")
_NUMBERED = re.compile(r"^(\d+)([.)])")
_SIGN = re.compile("\ue002([^\ue002\ue003]*)\ue003")
_MENTION = re.compile(r"([@#])(?=\w)")


def story_markdown(story: Story) -> str:
    """Return the whole report as text."""
    facts = " · ".join(f"{plain_text(fact.label)} **{plain_text(fact.value)}**" for fact in story.facts)
    parts = [f"# {plain_text(story.title)}", plain_text(story.subtitle), plain_text(story.origin), facts]
    parts += [_section(section) for section in story.sections]
    return "\n\n".join(part for part in parts if part) + "\n"


def plain_text(text: str) -> str:
    """Return text on one line, with nothing left that Markdown, HTML or a forge would act on.

    An empty comment splits mentions and issue numbers: a report notifies nobody.
    """
    line = _SPECIAL.sub(r"\\\1", one_line(text).replace("&", "&amp;"))
    line = line.replace("\\<", "&lt;").replace("\\>", "&gt;")
    return _NUMBERED.sub(r"\1\\\2", _MENTION.sub(r"\1<!-- -->", line))


def prose_text(text: str) -> str:
    """Quote a model's Markdown: keep its emphasis, lists, tables and code blocks, and defuse the rest.

    The rest is HTML, pictures, named links and mentions. The quotation ends whatever the text leaves open.
    Fenced code stays as it is, for nothing acts in there. Inline code shows ``&lt;`` for ``<``.
    """
    lines = clean(text).expandtabs(4).split("\n")  # a tab would be another indentation behind the quotation mark
    code = _fenced_lines("\n".join(lines))
    return "\n".join(f"> {line if at in code else _harmless(line)}".rstrip() for at, line in enumerate(lines))


def _reference(sign: re.Match[str]) -> str:
    return f"[^{sign[1]}]" if sign[1].isdigit() else f" <sup>{plain_text(sign[1])}</sup>"


def _harmless(line: str) -> str:
    line = line.replace("<", "&lt;").replace("![", "!\\[")
    line = line.replace("](", "]\\(").replace("][", "]\\[").replace("]:", "]\\:")
    return _MENTION.sub(r"\1<!-- -->", line)


def _fenced_lines(text: str) -> set[int]:
    fences = [token.map for token in markdown_parser().parse(text) if token.type == "fence" and token.map]
    return {line for first, end in fences for line in range(first, end)}


def _section(section: Section) -> str:
    return "\n\n".join([f"## {plain_text(section.heading)}", *[block_markdown(block) for block in section.blocks]])


def block_markdown(block: Block) -> str:
    """Return one block."""
    match block:
        case Prose():
            return _SIGN.sub(_reference, prose_text(signed(block.text, block.signs)))
        case Plain():
            return "  \n".join(plain_text(line) for line in clean(block.text).split("\n"))
        case Marked() | Quote():
            head = f"**{plain_text(block.by)}**\n\n" if block.by else ""
            quote = isinstance(block, Quote)
            lines = map(plain_text, clean(block.text).split("\n")) if quote else _marked_lines(block)
            return head + "\n".join(f"> {line}".rstrip() for line in lines)
        case Note():
            return f"> [!{_TONES[block.tone]}]\n> {plain_text(block.text)}"
        case Table():
            return _table(block)
        case Footnotes():
            return "\n".join(f"[^{sign}]: {plain_text(text)}" for sign, text in block.entries)
        case Figure():
            return f"*{plain_text(block.caption)}* {plain_text(block.alternative)}"
        case Details():
            return _folded(plain_text(block.summary), block.blocks)
        case Voice():
            remark = f" ({plain_text(block.remark)})" if block.remark else ""
            return _folded(f"<b>{plain_text(block.name)}</b>{remark}", block.blocks)


def _marked_lines(block: Marked) -> list[str]:
    """Write marked words in bold, each with its sign; a mark over a line end is bold on both lines."""
    lines = [""]
    for text, mark in block.pieces():
        for number, line in enumerate(clean(text).split("\n")):
            if number:
                lines.append("")
            written = plain_text(line)
            before, after = (" " if line[:1].isspace() else ""), (" " if line[-1:].isspace() else "")
            lines[-1] += f"{before}**{written}**{after}" if mark and written else f"{before}{written}{after}"
        if mark and mark.sign:
            lines[-1] += f" <sup>{plain_text(mark.sign)}</sup>"
    return lines


def _folded(summary: str, blocks: tuple[Block, ...]) -> str:
    inner = "\n\n".join(block_markdown(block) for block in blocks)
    return f"<details><summary>{summary}</summary>\n\n{inner}\n\n</details>"


def _table(table: Table) -> str:
    def row(cells: tuple[str, ...]) -> str:
        return f"| {' | '.join(plain_text(cell) for cell in cells)} |"

    ruler = "|" + "|".join("---:" if column.kind == "number" else "---" for column in table.columns) + "|"
    total = [f"| {' | '.join(f'**{plain_text(cell)}**' for cell in table.total)} |"] if table.total else []
    lines = [row(tuple(column.head for column in table.columns)), ruler, *map(row, table.rows), *total]
    return (f"*{plain_text(table.caption)}*\n\n" if table.caption else "") + "\n".join(lines)
