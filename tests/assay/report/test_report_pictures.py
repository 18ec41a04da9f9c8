"""Pictures hold what they are given, to scale, and say it in words."""

from __future__ import annotations

import re

from assay.report.markup import Element, render
from assay.report.svg.bars import Bar, bar_chart
from assay.report.svg.canvas import fitted, ticks, time_ticks
from assay.report.svg.intervals import Dot, interval_plot
from assay.report.svg.timeline import Span, timeline


def shapes(picture: Element, tag: str, class_: str) -> list[dict[str, str]]:
    found = [child for child in picture.children if isinstance(child, Element) and child.tag == tag]
    return [dict(shape.attributes) for shape in found if class_ in dict(shape.attributes).get("class", "").split()]


def test_parallel_calls_lie_in_lanes_and_bars_are_to_scale() -> None:
    spans = [Span("a", 0, 50, "c0", ""), Span("a", 25, 100, "c0", ""), Span("b", 50, 100, "red", "", faded=True)]
    picture = timeline(["a", "b"], spans, "Title", "In words")
    first, second = shapes(picture, "rect", "c0")
    assert first["y"] != second["y"]
    assert abs(float(second["width"]) - 1.5 * float(first["width"])) < 0.1
    assert shapes(picture, "rect", "faded")
    text = render(picture)
    assert "<title>Title</title><desc>In words</desc>" in text and 'role="img"' in text


def test_calls_that_follow_each_other_share_a_lane() -> None:
    picture = timeline(["a"], [Span("a", 0, 5, "c0", ""), Span("a", 5, 9, "c0", "")], "", "")
    assert len({bar["y"] for bar in shapes(picture, "rect", "c0")}) == 1


def test_bars_and_dots_are_to_scale() -> None:
    bars = shapes(bar_chart([Bar("a", 1, "1"), Bar("b", 2, "2")], "T", "D"), "rect", "c0")
    assert float(bars[1]["width"]) == 2 * float(bars[0]["width"])
    dots = interval_plot([Dot("a", 0.5, 0.25, 0.75), Dot("b", 1.0, 1.0, 1.0)], "T", "D", write=str)
    low, high = (float(dot["cx"]) for dot in shapes(dots, "circle", "c0"))
    reach, _ = shapes(dots, "rect", "faded")
    assert abs(float(reach["width"]) - (high - low)) < 0.1


def test_a_picture_without_anything_is_still_a_picture() -> None:
    for picture in (timeline([], [], "T", "D"), bar_chart([], "T", "D")):
        assert re.match(r'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 [\d.]+ [\d.]+"', render(picture))


def test_scales_have_round_numbers() -> None:
    assert ticks(1.0, 5) == [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]
    assert ticks(0) == [0.0]
    assert time_ticks(52_000) == [0.0, 10_000.0, 20_000.0, 30_000.0, 40_000.0, 50_000.0]
    assert len(time_ticks(86_400_000 * 30)) <= 8
    assert fitted("a long name of a seat", 60) == "a long…"
