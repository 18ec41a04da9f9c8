"""The answers on their way, drawn for a terminal: a line a call, its last words at the end of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.text import Text

from assay.report.clean import clean, one_line
from assay.report.screen import WIDE, beside, column_of
from assay.report.units import clock, count_noun

if TYPE_CHECKING:
    from assay.launch import CallWords

_MOST = 6
"""Lines: more calls than that are counted."""
_NAME = 34
_NARROWEST = 16
_LINES = 4
"""Of the latest words, where answers stand beside each other."""


def words_lines(calls: Sequence[CallWords], now: int, width: int, *, ascii_only: bool = False) -> list[RenderableType]:
    """Draw the calls in flight: a line each, or on a wide terminal beside each other with several lines each.

    Args:
        calls: oldest first.
        now: milliseconds since the epoch.
        width: of the terminal, in columns.
        ascii_only: draw without Unicode symbols.
    """
    queued = sum(call.stage == "queued" for call in calls)
    shown = [call for call in calls if call.stage != "queued"][:_MOST]
    names = min(max((len(call.label.words) for call in shown), default=0), _NAME)
    lines: list[RenderableType] = [_line(call, now, names, width, ascii_only) for call in shown]
    if width >= WIDE and len(shown) > 1:
        lines = [beside([_block(call, now, column_of(len(shown), width), ascii_only) for call in shown], width)]
    rest = len(calls) - queued - len(shown)
    more = [f"{count_noun(queued, 'call')} waiting for a place"] if queued else []
    more += [f"{count_noun(rest, 'call')} more in flight"] if rest else []
    if more:
        lines.append(Text(f"    {', '.join(more)}", style="dim", no_wrap=True, overflow="ellipsis"))
    return lines


def _line(call: CallWords, now: int, names: int, width: int, ascii_only: bool) -> Text:
    head = f"    {one_line(call.label.words, _NAME):<{names}}  "
    pace = f"{pace_words(call, now)}  "
    room = width - len(head) - len(pace) - 1
    tail = _end_of(call.tail, room, ascii_only) if room >= _NARROWEST else ""
    style = "italic dim" if call.stage == "reasoning" else ""
    return Text.assemble((head, "dim"), (pace, "cyan"), (tail, style), no_wrap=True, overflow="ellipsis")


def _block(call: CallWords, now: int, width: int, ascii_only: bool) -> Group:
    """Draw a call as some lines of one width: its name, its pace, its latest words."""
    head = Text(one_line(call.label.words, _NAME), style="bold", no_wrap=True, overflow="ellipsis")
    tail = Text(_end_of(call.tail, width * _LINES - width // 4, ascii_only))
    tail.stylize("italic dim" if call.stage == "reasoning" else "")
    return Group(head, Text(pace_words(call, now), style="cyan"), tail)


def pace_words(call: CallWords, now: int) -> str:
    """Write what a call does and how quickly: ``"reasoning, 132 tokens, 14.2 a second"``."""
    if call.first is None:
        doing = "reads its prompt" if call.stage == "reading" else "no word yet"
        return f"{doing}, {clock(now - call.began)}"
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
