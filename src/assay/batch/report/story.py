"""What a batch's report says, from its progress and the fold over its results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import Any

from assay.batch.ledger import Batch, Result
from assay.batch.progress import BatchProgress
from assay.batch.report.fold import BatchFold, Sum
from assay.registry import known, protocol_of
from assay.report.columns import columns
from assay.report.outline import Own, Writing, read_outline
from assay.report.story import Block, Figure, Story, Table, Tone
from assay.report.svg.intervals import Dot, interval_plot
from assay.report.units import count, money

_TONES: dict[str, Tone] = {"finished": "good", "running": "info", "loading": "info"}


def batch_story(progress: BatchProgress, results: Iterable[Result]) -> Story:
    """Return the report of a batch, whatever its state.

    Args:
        progress: how it stands.
        results: of the ledger; taken one after another.
    """
    batch, fold, status = progress.batch, BatchFold(progress.batch.protocol), progress.status
    for result in results:
        fold.apply(result)
    names, failed, cap = labels(batch), sum(status.failed.values()), progress.purse.caps.cost
    scope = {
        "batch": batch,
        "protocol": protocol_of(batch.protocol).title if known(batch.protocol) else batch.protocol,
        "progress": progress,
        "status": status,
        "purse": progress.purse,
        "reason": f": {batch.reason}" if batch.reason else "",
        "cap": "" if cap is None else f" of {money(cap)}",
        "done": status.states.get("done", 0),
        "running": status.states.get("running", 0),
        "failed": failed,
        "failures": dict(sorted(fold.failures.items())),
        "dead": sum(failures.count for failures in fold.failures.values()),
    }
    own: Own = {"results": lambda _: _results(fold, names), "puzzles": lambda _: _puzzles(fold, names)}
    tone = _TONES.get(progress.state, "warning") if not failed else "warning"
    return replace(_outline().story(Writing(scope, _FORMS, own)), tone=tone)


def labels(batch: Batch) -> list[str]:
    """Return a name for each configuration: what it has that not all have."""
    flat = [dict(_flat(configuration)) for configuration in batch.configurations]
    names = dict.fromkeys(name for each in flat for name in each)
    varying = [name for name in names if len({str(each.get(name)) for each in flat}) > 1]
    if len(varying) == 1:
        return [str(each.get(varying[0])) for each in flat]
    return [", ".join(f"{name} {each.get(name)}" for name in varying) or "all" for each in flat]


def _flat(configuration: dict[str, Any], path: str = "") -> Iterable[tuple[str, Any]]:
    for name, value in configuration.items():
        if name in ("added", "personas"):
            continue
        if isinstance(value, dict):
            # What configurations are mostly made of needs no name.
            plain = not path and name in ("options", "terms", "engine")
            yield from _flat(value, "" if plain else f"{path}{name}.")  # pyright: ignore[reportUnknownArgumentType]
        else:
            yield f"{path}{name}", value


def _results(fold: BatchFold, names: list[str]) -> Iterable[Block]:
    measured = fold.measured
    if not measured:
        return
    rows = tuple(_row(names[at], sums, measured) for at, sums in sorted(fold.sums.items()) if sums)
    heads = columns("Configuration", numbers=("Jobs", *(name[0].upper() + name[1:] for name in measured)))
    caption = "In brackets 95% intervals, each job counted by itself."
    if fold.repeated:
        caption += " Repetitions of one row resemble each other, so the true intervals are wider."
    yield Table(heads, rows, caption=caption)
    numbers = (name for name in measured if not any(name in s and s[name].kinds for s in fold.sums.values()))
    leading = next(numbers, "")
    if len(rows) > 1 and leading:
        yield _plot(fold, names, leading)


def _row(name: str, sums: Mapping[str, Sum], measured: list[str]) -> tuple[str, ...]:
    jobs = max(total.count for total in sums.values())
    return (name, count(jobs), *(_written(sums.get(each)) for each in measured))


def _plot(fold: BatchFold, names: list[str], leading: str) -> Figure:
    totals = [(names[at], sums[leading]) for at, sums in sorted(fold.sums.items()) if leading in sums]
    share = all(total.yes_or_no for _, total in totals)

    def write(value: float) -> str:
        return f"{value:.0%}" if share else f"{value:.3g}"

    dots = [Dot.of(name, total.interval()) for name, total in totals]
    described = "; ".join(f"{dot.name}: {write(dot.value)} [{write(dot.low)}, {write(dot.high)}]" for dot in dots)
    svg = interval_plot(dots, leading, described, write=write, high=1.0 if share else None)
    return Figure(svg, f"{leading[0].upper()}{leading[1:]}, by configuration.", described)


def _written(total: Sum | None) -> str:
    if total is None:
        return ""
    if total.kinds:
        return ", ".join(f"{name} {number / total.count:.0%}" for name, number in total.kinds.most_common(4))
    interval = total.interval()
    if total.yes_or_no:
        return f"{interval.estimate:.0%} ({interval.low:.0%} to {interval.high:.0%})"
    return f"{interval.estimate:.3g} ({interval.low:.3g} to {interval.high:.3g})"


def _puzzles(fold: BatchFold, names: list[str]) -> Iterable[Block]:
    if not fold.tasks:
        return
    used = sorted({configuration for by in fold.tasks.values() for configuration in by})
    rows = tuple(
        (puzzle, *(f"{by[each][0]} of {by[each][1]}" if each in by else "" for each in used))
        for puzzle, by in sorted(fold.tasks.items())
    )
    heads = columns("Puzzle", numbers=(names[each] for each in used))
    yield Table(heads, rows, caption="Attempts that passed, of those that were graded.")


_FORMS: Mapping[str, Callable[[Any], str]] = {
    "rows": lambda failures: ", ".join(map(str, failures.rows)) + (", …" if failures.more else "")
}
_outline = cache(partial(read_outline, __package__ or "", "batch.toml"))
