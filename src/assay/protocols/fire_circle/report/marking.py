"""A layer of the prompt with the quotes of its patterns marked, and what is far from any mark left out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from assay.report.story import Mark, Marked
from assay.report.units import count
from fire_circle.hidden import visible
from fire_circle.results import PatternObservation

_WHOLE = 6_000
"""Characters up to which a layer is shown whole."""
_AROUND = 400
"""Characters kept on each side of a mark in a longer one."""


def marked_layer(text: str, name: str, patterns: Sequence[PatternObservation], *, judged: bool) -> Marked:
    """Return the layer's text; each mark carries the 1-based numbers of the patterns that quote it."""
    shown = visible(text)
    marks = [Mark(shown.at(mark.start), shown.at(mark.end), mark.sign) for mark in _segments(text, name, patterns)]
    text = shown.text
    by = f"{name} layer" + (", which was judged" if judged else "")
    if len(text) <= _WHOLE:
        return Marked(text, tuple(marks), by)
    short, moved = _shortened(text, marks)
    return Marked(short, tuple(moved), f"{by}: {count(len(text))} characters, shown in part")


def _segments(text: str, name: str, patterns: Sequence[PatternObservation]) -> list[Mark]:
    """Return marks where quotes may overlap: every stretch with the same patterns over it is one mark."""
    located = ((example.span, number) for number, pattern in enumerate(patterns, 1) for example in pattern.located)
    own, most = ((span, number) for span, number in located if span.layer == name), len(text)
    spans = [(min(span.start, most), min(span.end, most), number) for span, number in own]
    edges = sorted({edge for start, end, _ in spans for edge in (start, end)})
    marks: list[Mark] = []
    for start, end in pairwise(edges):
        over = sorted({number for first, last, number in spans if first <= start and end <= last})
        sign = ",".join(map(str, over))
        if not over:
            continue
        if marks and marks[-1].end == start and marks[-1].sign == sign:
            marks[-1] = Mark(marks[-1].start, end, sign)
        else:
            marks.append(Mark(start, end, sign))
    return marks


def _shortened(text: str, marks: Sequence[Mark]) -> tuple[str, list[Mark]]:
    windows: list[tuple[int, int]] = [(0, _AROUND)]
    for mark in marks:
        start, end = max(mark.start - _AROUND, 0), min(mark.end + _AROUND, len(text))
        if start <= windows[-1][1]:
            windows[-1] = windows[-1][0], max(windows[-1][1], end)
        else:
            windows.append((start, end))
    short, moved, at = "", list[Mark](), 0
    for start, end in windows:
        if start > at:
            short += _left_out(start - at)
        shift = len(short) - start
        moved += [Mark(m.start + shift, m.end + shift, m.sign) for m in marks if start <= m.start and m.end <= end]
        short, at = short + text[start:end], end
    return short + (_left_out(len(text) - at) if at < len(text) else ""), moved


def _left_out(characters: int) -> str:
    return f"\n[… {count(characters)} characters left out …]\n"
