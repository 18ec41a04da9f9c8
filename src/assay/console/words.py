"""The answers on their way, drawn for a terminal: beside each other, each with its last words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from assay.report.clean import clean, one_line
from assay.report.screen import abreast, beside, column_of
from assay.report.units import clock, count_noun

if TYPE_CHECKING:
    from assay.launch import CallWords

_MOST = 6
"""Lines: more calls than that are counted."""
_NAME = 34
_LINES = 8
"""Of the latest words of a call at most."""


def words_lines(
    calls: Sequence[CallWords], now: int, width: int, height: int = 24, *, ascii_only: bool = False
) -> list[RenderableType]:
    """Draw the calls in flight beside each other, each with as many of its latest words as the rows hold.

    Args:
        calls: oldest first.
        now: milliseconds since the epoch.
        width: of the terminal, in columns.
        height: rows that are left for them.
        ascii_only: draw without Unicode symbols.
    """
    queued = sum(call.stage == "queued" for call in calls)
    shown = [call for call in calls if call.stage != "queued"][:_MOST]
    most = max(1, min(height // max(math.ceil(len(shown) / abreast(len(shown), width)), 1) - 2, _LINES))
    blocks = [_block(call, now, column_of(len(shown), width), most, ascii_only) for call in shown]
    lines: list[RenderableType] = [beside(blocks, width)] if blocks else []
    rest = len(calls) - queued - len(shown)
    more = [f"{count_noun(queued, 'call')} waiting for a place"] if queued else []
    more += [f"{count_noun(rest, 'call')} more in flight"] if rest else []
    if more:
        lines.append(Text(f"    {', '.join(more)}", style="dim", no_wrap=True, overflow="ellipsis"))
    return lines


def _block(call: CallWords, now: int, width: int, lines: int, ascii_only: bool) -> Group:
    """Draw a call as some lines of one width: its name, its pace, its latest words."""
    head = Text(one_line(call.label.words, _NAME), style="bold", no_wrap=True, overflow="ellipsis")
    tail = Text(_end_of(call.said, width * lines - width // 4, ascii_only))
    tail.stylize("italic dim" if call.stage == "reasoning" else "")
    return Group(head, Text(pace_words(call, now), style="cyan"), tail)


def pace_words(call: CallWords, now: int) -> str:
    """Write what a call does and how quickly: ``"reasoning, 132 tokens, 14.2 a second"``."""
    if call.first is None:
        return f"{'reads its prompt' if call.stage == 'reading' else 'no word yet'}, {clock(now - call.began)}"
    parts = [count_noun(call.tokens, "token")]
    if call.pace is not None:
        parts.append(f"{call.pace:.1f} a second")
    if call.stage == "reasoning":
        parts.insert(0, "reasoning")
    return ", ".join(parts)


def _end_of(text: str, room: int, ascii_only: bool) -> str:
    line = " ".join(clean(text).split())
    mark = "..." if ascii_only else "…"
    return line if len(line) <= room else mark + line[len(mark) - room :]
