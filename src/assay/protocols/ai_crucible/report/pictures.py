"""The pictures of trials: rates with intervals, reliability over k, every attempt as a cell, effects of framing."""

from __future__ import annotations

from collections.abc import Sequence

from ai_crucible.observability import ModelRollup, PuzzleHistory
from assay.protocols.ai_crucible.report.trial_records import Attempt, TrialRecords
from assay.protocols.ai_crucible.report.words import ARM_NAMES, ending, percent, signed, verdict_word
from assay.report.markup import Element, element
from assay.report.story import Figure
from assay.report.svg.canvas import fitted, label, picture, text_width
from assay.report.svg.intervals import Dot, interval_figure
from assay.report.svg.lines import Polyline, line_chart
from assay.report.units import count_noun

_CELL, _ROW = 30.0, 30.0
_MOST_CELLS = 20
_MOST_K = 10
_FEWEST_STEPS = 3


def accent(index: int) -> str:
    """Return the colour class of the ``index``-th model."""
    return f"c{index % 6}"


def solver_name(model: str, arm: str, edition: int = 1) -> str:
    """Return a model under an arm; the neutral one, and the first edition, go without saying."""
    name = model if arm == "neutral" else f"{model}, {ARM_NAMES.get(arm, arm)}"
    return name if edition == 1 else f"{name}, version {edition} of what it was tried on"


def _short(model: str, arm: str) -> str:
    """Return the same for a picture, whose labels are cut at their end: what tells models apart comes first."""
    name = model.removeprefix("assay/single/").removeprefix("openrouter/")
    url, sharp, served = name.partition("#")
    return solver_name(f"{served} at {url.partition('//')[2]}" if sharp and served else name, arm)


def rates_picture(models: Sequence[ModelRollup]) -> Figure | None:
    """Draw the attempts passed by each model, with Wilson intervals."""
    dots = [Dot.of(_short(m.model, m.arm), m.rate, accent(index)) for index, m in enumerate(models) if m.rate]
    if not dots:
        return None
    caption = "Share of attempts that passed, meeting every condition, with its 95% Wilson interval."
    return interval_figure(dots, "Attempts passed", caption, write=percent, high=1.0)


def reliability_picture(models: Sequence[ModelRollup]) -> Figure | None:
    """pass@k rising and pass^k falling with k; what lies between them is luck."""
    lines: list[Polyline] = []
    most = min((m.reliability[0] for m in models if m.reliability), default=0)
    steps = range(1, min(most, _MOST_K) + 1)
    if len(steps) < _FEWEST_STEPS:
        return None
    for index, model in enumerate(models):
        counted = [h for h in model.puzzles if h.attempts and not h.anchor]
        if not counted:
            continue
        name = _short(model.model, model.arm) if len(models) > 1 else ""
        at = tuple(sum(h.pass_at(k) for h in counted) / len(counted) for k in steps)
        hat = tuple(sum(h.pass_hat(k) for h in counted) / len(counted) for k in steps)
        colour = accent(index)
        lines += [Polyline(f"{name} pass@k".strip(), at, colour, frozenset(range(len(steps))))]
        lines += [Polyline(f"{name} pass^k".strip(), hat, colour)]
    alternative = "; ".join(f"{line.name}: {', '.join(percent(v or 0) for v in line.values)}" for line in lines)
    svg = line_chart([f"k = {k}" for k in steps], lines, "Reliability over k attempts", f"{alternative}.")
    caption = (
        "Rings: at least one of k attempts passes (pass@k). Dots: all of k pass (pass^k). Means over puzzles of "
        "the unbiased estimates, anchors left out."
    )
    return Figure(svg, caption, f"{alternative}.")


def puzzles_picture(histories: Sequence[PuzzleHistory]) -> Figure | None:
    """Draw the attempts passed at each puzzle, with Wilson intervals, hardest first."""
    shown = sorted((h for h in histories if h.rate), key=lambda h: (h.rate.estimate if h.rate else 0, h.puzzle))
    if not shown:
        return None
    dots = [Dot.of(h.puzzle, h.rate, "quiet" if h.anchor else "c0") for h in shown if h.rate]
    alternative = "; ".join(f"{h.puzzle}: {h.passed} of {h.attempts}" for h in shown)
    caption = "Share of attempts passed, with its 95% Wilson interval, hardest first; grey are calibration anchors."
    title = "Attempts passed at each puzzle"
    return interval_figure(dots, title, caption, write=percent, high=1.0, words=f"{alternative}.")


def attempts_picture(rows: Sequence[tuple[str, Sequence[Attempt]]]) -> Figure | None:
    """Every attempt as a cell, a row for each puzzle: what the gate said, and how the attempt ended."""
    if not rows:
        return None
    most = min(max(len(attempts) for _, attempts in rows), _MOST_CELLS)
    gutter = min(max(text_width(name) for name, _ in rows), 230.0) + 18
    top = 22.0
    parts: list[Element] = [
        label(gutter + (n + 0.5) * _CELL, 9, str(n + 1), anchor="middle", class_="soft", size=11)
        for n in range(most)
    ]
    for down, (name, attempts) in enumerate(rows):
        y = top + down * _ROW
        parts.append(label(0, y + _ROW / 2, fitted(name, gutter - 14)))
        for across, attempt in enumerate(attempts[:most]):
            parts += _cell(gutter + across * _CELL, y, attempt)
        for text in _remarks(attempts):
            parts.append(label(gutter + most * _CELL + 10, y + _ROW / 2, text, class_="soft", size=11))
    legend = max((text_width(text, 11) for _, a in rows for text in _remarks(a)), default=0.0)
    width = max(gutter + most * _CELL + 20 + legend, 360.0)
    alternative = "; ".join(
        f"{name}: {', '.join(f'{verdict_word(a.log.record.passed)} ({ending(a.log.record)})' for a in attempts)}"
        for name, attempts in rows
    )
    svg = picture(width, top + len(rows) * _ROW + 4, "Every attempt", f"{alternative}.", *parts)
    caption = "A cell for each attempt: ✓ it passed, × it did not, ? there is no verdict."
    return Figure(svg, caption, f"{alternative}.")


def _cell(x: float, y: float, attempt: Attempt) -> list[Element]:
    record = attempt.log.record
    look = {True: "c1", False: "red", None: "quiet"}[record.passed]
    sign = {True: "✓", False: "×", None: "?"}[record.passed]
    tip = element("title", f"{attempt.name}: {verdict_word(record.passed)}, {ending(record)}")
    box = {"x": x + 2, "y": y + 3, "width": _CELL - 4, "height": _ROW - 6, "rx": 5.0}
    return [
        element("rect", class_="band", **box),
        element("rect", tip, class_=look, opacity=0.32, **box),
        label(x + _CELL / 2, y + _ROW / 2, sign, anchor="middle"),
    ]


def _remarks(attempts: Sequence[Attempt]) -> list[str]:
    """How the attempts that did not pass ended, the commonest first, as one line."""
    counted: dict[str, int] = {}
    for attempt in attempts:
        if attempt.log.record.passed is not True:
            how = ending(attempt.log.record)
            counted[how] = counted.get(how, 0) + 1
    parts = sorted(counted.items(), key=lambda pair: (-pair[1], pair[0]))
    alone = len(attempts) == 1
    text = ", ".join(how if alone else f"{number}× {how}" for how, number in parts)
    return [text] if text else []


def arms_picture(records: TrialRecords) -> Figure | None:
    """Success under each framing minus success under the neutral one, with Newcombe intervals."""
    if not records.arms:
        return None
    many = len({name for name, _ in records.arms}) > 1
    dots = [
        Dot.of(f"{name}: {ARM_NAMES[e.arm]}" if many else ARM_NAMES[e.arm], e.difference, accent(index))
        for index, (name, e) in enumerate(records.arms)
    ]
    caption = (
        "Success rate under the framing minus that under the neutral one, over the puzzles tried under both, with "
        f"its 95% Newcombe interval; {count_noun(len(dots), 'comparison')}. An interval that holds 0 shows no "
        "difference."
    )
    return interval_figure(dots, "Effect of the framing", caption, write=signed)
