"""The report on trials: how reliable, puzzle by puzzle, where attempts ended, framings, one attempt followed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any

from ai_crucible.observability import ModelRollup, PuzzleHistory
from ai_crucible.types import AttemptRecord
from assay.protocols.ai_crucible.report import pictures
from assay.protocols.ai_crucible.report.attempt import attempt_blocks
from assay.protocols.ai_crucible.report.compared import compared_blocks
from assay.protocols.ai_crucible.report.trial_records import Attempt, TrialRecords
from assay.protocols.ai_crucible.report.words import (
    ARM_NAMES,
    CONDITIONS,
    ENDINGS,
    HOW_MEASURED,
    dollars,
    ending,
    grouped,
    in_all,
    outcome,
    percent,
    reach,
    signed,
    verdict_word,
)
from assay.report.frame import judged
from assay.report.outline import Writing, read_outline
from assay.report.story import (
    Block,
    Details,
    Figure,
    Plain,
    Story,
    Table,
    columns,
)
from assay.report.svg.bars import Bar, bar_chart
from assay.report.units import count, count_noun, duration, in_words, short_count

_FEW = 3
_MOST_FOLLOWED = 60
_MOST_ROWS = 2000


def trials_story(trials: TrialRecords, title: str = "") -> Story:
    """Tell the story of trials that no run tells, with their verdict."""
    without = sum(attempt.log.record.passed is None for attempt in trials.attempts)
    return judged(sealed_story(trials, title), outcome({**trials.data(), "without": without}))


def sealed_story(trials: TrialRecords, title: str = "") -> Story:
    """Tell the story of trials, finished or not.

    Args:
        trials: what was read.
        title: a heading of one's own.
    """
    records, models = [attempt.log.record for attempt in trials.attempts], trials.models
    costs, ok = [model.cost for model in models], trials.verification.ok
    endings = Counter(map(ending, records))
    won = Counter(ending(record) for record in records if record.passed is True)
    scope = {
        "title": title or _title(trials),
        "trials": trials,
        "how": HOW_MEASURED,
        "records": records,
        "passed": sum(record.passed is True for record in records),
        "puzzles": {record.puzzle for record in records},
        "tokens": sum(record.input_tokens + record.output_tokens for record in records),
        "seconds": sum(record.seconds for record in records),
        "cost": sum(cost or 0 for cost in costs),
        "priced": None not in costs,
        "wrong": [_solver(model) for model in models if model.anchors_as_expected is False],
        "endings": {how: (n, won[how]) for how, n in endings.most_common()},
        "shown": any(effect.shown for _, effect in trials.arms),
        "many": len(models) > 1,
        "listed": trials.attempts[:_MOST_ROWS],
        "unlisted": max(len(trials.attempts) - _MOST_ROWS, 0),
        "attested": ok and trials.head,
        "unsigned": ok and not trials.head,
        "sittings": [f"{trial} in {n} sittings" for trial, n in trials.sittings.items()],
        "signed": _signed_head(trials),
    }
    failed = Counter(name for record in records for name in record.failed).most_common()
    own: dict[str, Callable[[Any], Iterable[Block]]] = {
        "rates": lambda _: filter(None, (pictures.rates_picture(models), pictures.reliability_picture(models))),
        "puzzles": lambda _: _puzzles(models),
        "attempts": lambda _: _attempts(trials),
        "conditions": lambda _: [_conditions(failed)] if failed else [],
        "compared": lambda _: compared_blocks(trials),
        "arms": lambda _: filter(None, [pictures.arms_picture(trials)]),
        "followed": lambda _: _followed(trials),
    }
    return _outline().story(Writing(scope, _FORMS, own))


def _title(trials: TrialRecords) -> str:
    names = list(dict.fromkeys(model.model for model in trials.models))
    if len(names) > _FEW:
        return f"How reliably do {len(names)} models solve sealed puzzles?"
    verb = "does" if len(names) == 1 else "do"
    return f"How reliably {verb} {in_words(names)} solve sealed puzzles?"


def _summary(models: Sequence[ModelRollup]) -> str:
    names = (_literal(pictures.solver_name(model.model, model.arm, model.edition)) for model in models[:_FEW])
    return "\n\n".join(f"{name}: {in_all(model, '**')}." for name, model in zip(names, models, strict=False))


def _literal(text: str) -> str:
    """Write a name inside our own Markdown: as code, so that nothing in it acts."""
    return f"`{text.replace('`', chr(39))}`"


def _solver(made: ModelRollup | AttemptRecord) -> str:
    return pictures.solver_name(made.model, made.arm, getattr(made, "edition", 1))


def _at(model: ModelRollup) -> str:
    tried = [history for history in model.puzzles if not history.anchor and history.attempts]
    if not model.reliability:
        return "–"
    return percent(sum(h.pass_at(model.reliability[0]) for h in tried) / len(tried))


def _puzzles(models: Sequence[ModelRollup]) -> Iterator[Block]:
    for model in models:
        inner = (*filter(None, [pictures.puzzles_picture(model.puzzles)]), _puzzles_table(model.puzzles))
        yield from inner if len(models) == 1 else [Details(_solver(model), inner)]


def _puzzles_table(histories: Sequence[PuzzleHistory]) -> Table:
    heads = columns("Puzzle", "Kind", "Ended by", numbers=("Passed", "95% interval", "pass@k", "pass^k"))
    rows: list[tuple[str, ...]] = []
    for h in histories:
        k = h.attempts
        rows.append(
            (
                h.puzzle + (" (anchor)" if h.anchor else ""),
                h.kind,
                ", ".join(f"{n}× {ENDINGS.get(name, name)}" for name, n in h.endings.items()),
                f"{h.passed} of {k}",
                reach(h.rate) if h.rate else "–",
                percent(h.pass_at(k)) if k else "–",
                percent(h.pass_hat(k)) if k else "–",
            )
        )
    return Table(heads, tuple(rows), caption="k is the number of graded attempts at the puzzle.")


def _attempts(trials: TrialRecords) -> Iterator[Block]:
    for model in trials.models:
        figure = pictures.attempts_picture([(h.puzzle, trials.of(h)) for h in model.puzzles])
        if figure and len(trials.models) > 1:
            yield Plain(_solver(model))
        yield from filter(None, [figure])


def _conditions(failed: Sequence[tuple[str, int]]) -> Figure:
    words = "; ".join(f"{name} ({CONDITIONS.get(name, '')}): {count_noun(n, 'attempt')}" for name, n in failed)
    bars = [Bar(name, n, str(n), "red") for name, n in failed]
    svg = bar_chart(bars, "Conditions of the gate that failed", f"{words}.")
    return Figure(svg, "Conditions of the gate that failed; an attempt may fail several.", f"{words}.")


def _followed(trials: TrialRecords) -> Iterator[Block]:
    chosen = _chosen(trials)
    if chosen is None:
        return
    record = chosen.log.record
    yield Plain(f"{chosen.name}, by {_solver(record)}: {verdict_word(record.passed)}.")
    yield from attempt_blocks(chosen, trials)
    others = [attempt for attempt in trials.attempts if attempt is not chosen][: _MOST_FOLLOWED - 1]
    if others:
        yield Plain(f"The others, in the same way{_left_out(trials, others)}:")
    yield from (Details(_line(attempt), attempt_blocks(attempt, trials)) for attempt in others)


def _left_out(trials: TrialRecords, others: Sequence[Attempt]) -> str:
    left = len(trials.attempts) - 1 - len(others)
    return f"; {count_noun(left, 'further attempt')} are in the logs" if left else ""


def _chosen(trials: TrialRecords) -> Attempt | None:
    """Return an attempt that shows all of the way: one that passed, else the first that was graded."""
    graded = [attempt for attempt in trials.attempts if attempt.gate is not None]
    passed = [attempt for attempt in graded if attempt.log.record.passed]
    counted = [attempt for attempt in passed if attempt.log.record.anchor is None]
    return next(iter(counted or passed or graded or list(trials.attempts)), None)


def _line(attempt: Attempt) -> str:
    record = attempt.log.record
    return f"{attempt.name}: {verdict_word(record.passed)}, {ending(record)}"


def _failed(record: AttemptRecord) -> str:
    return ", ".join(record.failed) or (record.error.splitlines()[0][:200] if record.error else "")


def _signed_head(trials: TrialRecords) -> dict[str, str]:
    if trials.head is None:
        return {}
    return {
        "Events": count(trials.head.head.length),
        "Head": grouped(trials.head.head.digest.hex()),
        "Signature (ed25519)": grouped(trials.head.signature.hex()),
        "Public key": grouped(trials.head.public_key.hex()),
        **{
            f"Log of {trial}, SHA-256": grouped(trials.logged.get(trial, "")) or "not attested"
            for trial in trials.trials
        },
    }


_FORMS: Mapping[str, Callable[[Any], str]] = {
    "amount": lambda held: count(len(held)),
    "at": _at,
    "bare": lambda model: pictures.solver_name(model.model, "neutral", model.edition),
    "cost": lambda made: dollars(made.cost),
    "dollars": dollars,
    "ending": ending,
    "failed": _failed,
    "framing": lambda made: ARM_NAMES.get(str(made.arm), str(made.arm)),
    "grouped": grouped,
    "lines": lambda held: "\n".join(map(str, held)),
    "list": ", ".join,
    "number": count,
    "passed": lambda model: f"{model.passed} of {model.attempts}",
    "percent": percent,
    "reach": reach,
    "says": lambda effect: "a difference" if effect.shown else "no difference shown",
    "short": short_count,
    "signed": signed,
    "solver": _solver,
    "summary": _summary,
    "time": lambda seconds: duration(round(seconds * 1000)),
    "verdict": lambda record: verdict_word(record.passed),
}
_outline = cache(partial(read_outline, __package__ or "", "trials.toml"))
