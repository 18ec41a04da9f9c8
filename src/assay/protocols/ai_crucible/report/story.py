"""The report on trials: how reliable, puzzle by puzzle, where attempts ended, framings, one attempt followed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from typing import Any

from ai_crucible.arms import ArmEffect
from ai_crucible.observability import ModelRollup
from ai_crucible.types import AttemptRecord
from assay.protocols.ai_crucible.report import pictures
from assay.protocols.ai_crucible.report.attempt import attempt_blocks
from assay.protocols.ai_crucible.report.compared import compared_lines
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
    verdict_word,
)
from assay.report.frame import judged
from assay.report.outline import Writing, read_outline
from assay.report.story import Block, Details, Plain, Story
from assay.report.units import count, count_noun, in_words, whole_percent

_FEW = 3
_MOST_FOLLOWED = 60
_MOST_ROWS = 2000


def trials_story(trials: TrialRecords, title: str = "") -> Story:
    """Tell the story of trials that no run tells, with their verdict."""
    without = sum(attempt.log.record.passed is None for attempt in trials.attempts)
    return judged(sealed_story(trials, title), outcome({**trials.data(), "without": without}))


def sealed_story(trials: TrialRecords, title: str = "", run_id: str = "") -> Story:
    """Tell the story of trials, finished or not.

    Args:
        trials: what was read.
        title: a heading of one's own.
        run_id: the run that they were.
    """
    records, models = [attempt.log.record for attempt in trials.attempts], trials.models
    named = len({name for name, _ in trials.arms})
    costs, ok = [model.cost for model in models], trials.seal.verification.ok
    endings = Counter(map(ending, records))
    won = Counter(ending(record) for record in records if record.passed is True)
    scope = {
        "title": title or _title(trials),
        "trials": trials,
        "run_id": run_id,
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
        "attested": ok and trials.seal.head,
        "unsigned": ok and not trials.seal.head,
        "sittings": [f"{trial} in {n} sittings" for trial, n in trials.seal.sittings.items()],
        "signed": _signed_head(trials),
        "failed": dict(Counter(name for record in records for name in record.failed).most_common()),
        "arms": {_framed(effect, name if named > 1 else ""): effect for name, effect in trials.arms},
    }
    own: dict[str, Callable[[Any], Iterable[Block]]] = {
        "reliability": lambda _: filter(None, [pictures.reliability_picture(models)]),
        "followed": lambda _: _followed(trials),
        "attempt": lambda attempt: attempt_blocks(attempt, trials),
    }
    compared = {trial: model for each in trials.seal.compared for trial, model in each.trials.items()}
    return _outline().story(Writing(scope, {**_FORMS, "compared": compared.__getitem__}, own))


def _title(trials: TrialRecords) -> str:
    names = list(dict.fromkeys(model.model for model in trials.models))
    if len(names) > _FEW:
        return f"How reliably do {len(names)} models solve sealed puzzles?"
    return f"How reliably {'does' if len(names) == 1 else 'do'} {in_words(names)} solve sealed puzzles?"


def _summary(models: Sequence[ModelRollup]) -> str:
    names = (_literal(pictures.solver_name(model.model, model.arm, model.edition)) for model in models[:_FEW])
    return "\n\n".join(f"{name}: {in_all(model, '**')}." for name, model in zip(names, models, strict=False))


def _literal(text: str) -> str:
    """Write a name inside our own Markdown: as code, so that nothing in it acts."""
    return f"`{text.replace('`', chr(39))}`"


def _solver(made: ModelRollup | AttemptRecord) -> str:
    return pictures.solver_name(made.model, made.arm, getattr(made, "edition", 1))


def _framed(effect: ArmEffect, whose: str) -> str:
    return f"{whose}: {ARM_NAMES[effect.arm]}" if whose else ARM_NAMES[effect.arm]


def _at(model: ModelRollup) -> str:
    tried = [history for history in model.puzzles if not history.anchor and history.attempts]
    if not model.reliability:
        return "–"
    return whole_percent(sum(h.pass_at(model.reliability[0]) for h in tried) / len(tried))


def _followed(trials: TrialRecords) -> Iterator[Block]:
    if (chosen := _chosen(trials)) is None:
        return
    record = chosen.log.record
    yield Plain(f"{chosen.name}, by {_solver(record)}: {verdict_word(record.passed)}.")
    yield from attempt_blocks(chosen, trials)
    # What did not pass is what somebody opens.
    others = sorted(trials.attempts, key=lambda attempt: attempt.log.record.passed is True)
    others.remove(chosen)
    left = len(others[_MOST_FOLLOWED - 1 :])
    further = f"; {count_noun(left, 'further attempt')} are in the logs" if left else ""
    if shown := others[: _MOST_FOLLOWED - 1]:
        folds = (Details(_line(attempt), attempt_blocks(attempt, trials)) for attempt in shown)
        yield Details(f"{count_noun(len(shown), 'other attempt')}, in the same way{further}", tuple(folds))


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
    if trials.seal.head is None:
        return {}
    return {
        "Events": count(trials.seal.head.head.length),
        "Head": grouped(trials.seal.head.head.digest.hex()),
        "Signature (ed25519)": grouped(trials.seal.head.signature.hex()),
        "Public key": grouped(trials.seal.head.public_key.hex()),
        **{
            f"Log of {trial}, SHA-256": grouped(trials.seal.logged.get(trial, "")) or "not attested"
            for trial in trials.trials
        },
    }


_FORMS: Mapping[str, Callable[[Any], str]] = {
    "accent": pictures.accent,
    "amount": lambda held: count(len(held)),
    "at": _at,
    "all_k": lambda history: whole_percent(history.pass_hat(history.attempts)) if history.attempts else "–",
    "any_k": lambda history: whole_percent(history.pass_at(history.attempts)) if history.attempts else "–",
    "bare": lambda model: pictures.solver_name(model.model, "neutral", model.edition),
    "cost": lambda made: dollars(made.cost),
    "dollars": dollars,
    "cause": lambda record: "" if record.passed else _failed(record) or ending(record),
    "came": lambda compared: f"{compared_lines(compared)[-1].capitalize()}.",
    "ending": ending,
    "endings": lambda held: ", ".join(f"{n}× {ENDINGS.get(name, name)}" for name, n in held.items()),
    "evidence": lambda value: f"{value:.3g}",
    "failed": _failed,
    "framing": lambda made: ARM_NAMES.get(str(made.arm), str(made.arm)),
    "grouped": grouped,
    "lines": lambda held: "\n".join(map(str, held)),
    "grey": lambda history: "quiet" if history.anchor else "c0",
    "means": lambda name: CONDITIONS.get(name, ""),
    "named": lambda model: pictures.short_name(model.model, model.arm),
    "passed": lambda model: f"{model.passed} of {model.attempts}",
    "says": lambda effect: "a difference" if effect.shown else "no difference shown",
    "solver": _solver,
    "standing": lambda record: "passed" if record.passed else "failed",
    "summary": _summary,
    "verdict": lambda record: verdict_word(record.passed),
}
_outline = cache(partial(read_outline, __package__ or "", "trials.toml"))
