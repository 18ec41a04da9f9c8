"""A story for a terminal: rich renderables of its blocks, every text cleaned on its way in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TextIO

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table as Grid
from rich.text import Text

from assay.report.clean import clean, one_line, unheard
from assay.report.screen import COLOURS
from assay.report.standing import RunStanding
from assay.report.story import (
    Block,
    Column,
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
from llm_runtime.toml import own_table

_LONGEST_LINE = 100
_LONGEST_WORD = 16
_JUSTIFY: dict[str, Literal["left", "right"]] = {"text": "left", "number": "right"}
_COMMANDS: dict[str, str] = own_table("assay.report", "terminal.toml")["commands"]
_TEXTS = (Prose, Plain, Quote, Note)
_TONES = {"info": "blue", "good": "green", "warning": "yellow", "bad": "red"}


def story_view(story: Story) -> Group:
    """Return the whole report, for a pager."""
    ways = [Text(f"To go on: {command}") for command in commands(story.standing)]
    return Group(_head(story), *[_section(section) for section in story.sections], *ways)


def commands(standing: RunStanding | None) -> list[str]:
    """Return what can be done next, as commands."""
    if standing is None:
        return []
    written = (_COMMANDS.get(step.what or step.kind, "") for step in standing.next)
    return [command.format(run=standing.run_id) for command in written if command]


def summary_view(story: Story) -> Group:
    """Return the summary for the end of a run: the first section, how it ended, and the facts."""
    outcome = [block_view(_shut(block)) for section in story.sections[:1] for block in section.blocks]
    return Group(*outcome, Text(), _ending(story), _facts(story))


def _shut(block: Block) -> Block:
    """Keep folded parts of a block folded: a line says what is in them."""
    if isinstance(block, Details):
        return Details(f"▸ {block.summary}", ())
    return replace(block, blocks=tuple(map(_shut, block.blocks))) if isinstance(block, Voice) else block


def print_story(story: Story, stream: TextIO, *, whole: bool = False) -> None:
    """Write a story: set for a terminal, plain and without escapes for a pipe.

    Args:
        story: the run's.
        stream: where to.
        whole: all of it; else what a person asked for, and to a pipe nothing but its text.
    """
    console = Console(file=stream, highlight=False)
    if console.is_terminal:
        # Longer lines nobody reads.
        console.width = min(console.width, _LONGEST_LINE)
    if whole and console.is_terminal:
        console.print(story_view(story))
    elif whole:
        with console.capture() as held:
            console.print(story_view(story))
        stream.write(unheard(held.get()))
    elif console.is_terminal:
        console.print(summary_view(story))
    else:
        texts = [text for section in story.sections[:1] for text in _texts(section.blocks)]
        stream.write("\n\n".join(unheard(text).strip() for text in texts) + "\n")


def _texts(blocks: Iterable[Block]) -> Iterator[str]:
    """Yield the texts of ``blocks``, each participant's under a name."""
    for block in blocks:
        if isinstance(block, _TEXTS):
            yield block.text
        elif isinstance(block, Voice):
            yield f"{block.name}:"
            yield from _texts(block.blocks)


def block_view(block: Block) -> RenderableType:
    """Return one block; a picture becomes its description in words."""
    from rich.markdown import Markdown  # to a pipe nothing needs it, and it is slow to load

    match block:
        case Prose():
            return Group(Markdown(clean(block.text), hyperlinks=False), Text())
        case Plain():
            return Text(clean(block.text))
        case Marked() | Quote():
            by = [Text(one_line(block.by), style="dim")] if block.by else []
            text = _marked(block) if isinstance(block, Marked) else Text(clean(block.text), style="italic")
            return Group(*by, Padding(text, (0, 0, 1, 2)))
        case Note():
            return Text.assemble(("▌ ", _TONES[block.tone]), clean(block.text))
        case Table():
            return _Fitted(block, tuple(tuple(map(clean, row)) for row in (*block.rows, block.total or ()) if row))
        case Footnotes():
            return Text("\n".join(f"[{one_line(sign)}] {one_line(text)}" for sign, text in block.entries) + "\n")
        case Figure():
            return Text(f"{one_line(block.caption)}\n{clean(block.alternative)}\n", style="dim")
        case Details():
            opened = (_indented(block.blocks),) if block.blocks else ()
            return Group(Text(one_line(block.summary), style="dim"), *opened)
        case Voice():
            colour = COLOURS.get(block.accent, "white")
            name = Text.assemble((one_line(block.name), f"bold {colour}"), "  ", (one_line(block.remark), "dim"))
            return Group(name, _indented(block.blocks))


def _indented(blocks: tuple[Block, ...]) -> RenderableType:
    return Padding(Group(*[block_view(block) for block in blocks]), (0, 0, 0, 2))


def _head(story: Story) -> RenderableType:
    return Group(Text(one_line(story.title), style="bold"), _ending(story), _facts(story), Text())


def _facts(story: Story) -> RenderableType:
    return Text(" · ".join(f"{one_line(fact.label)} {one_line(fact.value)}" for fact in story.facts), style="dim")


def _ending(story: Story) -> RenderableType:
    origin = f"\n{story.origin}" if story.origin else ""
    lamp = ("● ", _TONES[story.tone]) if not story.standing or story.standing.verdict else ""
    return Text.assemble(lamp, one_line(story.subtitle), (origin, "dim"))


def _section(section: Section) -> RenderableType:
    rule = Rule(Text(one_line(section.heading), style="bold"), align="left", style="dim")
    return Group(rule, *[block_view(block) for block in section.blocks], Text())


def _marked(block: Marked) -> RenderableType:
    pieces: list[tuple[str, str]] = []
    for text, mark in block.pieces():
        pieces.append((clean(text), "reverse" if mark else ""))
        if mark and mark.sign:
            pieces.append((f"[{one_line(mark.sign)}]", "bold"))
    return Text.assemble(*pieces)


@dataclass(frozen=True, slots=True)
class _Fitted:
    """A table that is broken between words and in no number; where that does not fit, its rows one below another."""

    table: Table
    lines: tuple[tuple[str, ...], ...]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        table, caption = self.table, Text(one_line(self.table.caption))
        heads, rows = tuple(one_line(column.head) for column in table.columns), list(self.lines)
        cells = zip(table.columns, heads, *rows, strict=True)
        widths = _shared(options.max_width - 1, [_span(*column) for column in cells])
        if not widths:
            yield Group(caption, *[_record(heads, row) for row in rows])
            return
        feet = rows.pop() if table.total else heads
        grid = Grid(box=box.SIMPLE, title=caption or None, show_footer=table.total is not None)
        for column, head, foot, width in zip(table.columns, heads, feet, widths, strict=True):
            grid.add_column(Text(head), Text(foot), justify=_JUSTIFY[column.kind], overflow="fold", width=width)
        for row in rows:
            grid.add_row(*map(Text, row))
        yield grid


def _shared(room: int, spans: list[tuple[int, int]]) -> list[int]:
    """Return the columns' widths, what is over shared out by need; nothing where the least does not fit."""
    spare = room - sum(least + 3 for least, _ in spans)
    over = max(sum(whole - least for least, whole in spans), spare, 1)
    return [least + (whole - least) * spare // over for least, whole in spans] if spare >= 0 else []


def _span(column: Column, head: str, *cells: str) -> tuple[int, int]:
    """Return the least width at which neither a word nor a number is broken, and the one at which nothing is."""
    words = [word[:_LONGEST_WORD] for cell in (head, *cells) for word in cell.split()]
    unbroken = [*head.split(), *cells] if column.kind == "number" else words
    lines = [line for cell in (head, *cells) for line in cell.splitlines()]
    return max(map(cell_len, unbroken), default=0), max(map(cell_len, lines), default=0)


def _record(heads: Sequence[str], row: Sequence[str]) -> RenderableType:
    """Return a row as lines: its first cell, and below it the others, each after its column's head."""
    first, *others = [f"{head} {one_line(cell)}".strip() for head, cell in zip(heads, row, strict=True) if cell] or [""]
    return Group(Text(first, style="bold"), Padding(Text(" · ".join(others)), (0, 0, 1, 2)))
