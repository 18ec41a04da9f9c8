"""The report on trials: how reliable, puzzle by puzzle, where attempts ended, framings, one attempt followed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ai_crucible.observability import ModelRollup, PuzzleHistory
from assay.protocols.ai_crucible.report import pictures
from assay.protocols.ai_crucible.report.attempt import attempt_blocks
from assay.protocols.ai_crucible.report.compared import compared_section
from assay.protocols.ai_crucible.report.trial_records import Attempt, TrialRecords
from assay.protocols.ai_crucible.report.words import (
    ARM_NAMES,
    CONDITIONS,
    ENDINGS,
    HOW_MEASURED,
    dollars,
    ending,
    grouped,
    outcome,
    percent,
    reach,
    signed,
    verdict_word,
)
from assay.report.frame import judged
from assay.report.story import (
    Block,
    Column,
    Details,
    Fact,
    Figure,
    Note,
    Plain,
    Prose,
    Section,
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
    sections = [
        _reliability(trials),
        _puzzles(trials),
        _endings(trials),
        compared_section(trials),
        _arms(trials),
        _one_attempt(trials),
        _every_attempt(trials),
        _attestation(trials),
        _how(trials),
    ]
    return Story(
        title or _title(trials),
        "AI Crucible",
        facts=_facts(trials),
        sections=tuple(section for section in sections if section),
    )


def _title(trials: TrialRecords) -> str:
    names = list(dict.fromkeys(model.model for model in trials.models))
    if len(names) > _FEW:
        return f"How reliably do {len(names)} models solve sealed puzzles?"
    verb = "does" if len(names) == 1 else "do"
    return f"How reliably {verb} {in_words(names)} solve sealed puzzles?"


def _facts(trials: TrialRecords) -> tuple[Fact, ...]:
    records = [attempt.log.record for attempt in trials.attempts]
    costs = [model.cost for model in trials.models]
    known = None if any(cost is None for cost in costs) else sum(cost or 0 for cost in costs)
    passed = sum(record.passed is True for record in records)
    facts = [
        Fact("Attempts", count(len(records))),
        Fact("Passed", count(passed)),
        Fact("Puzzles", str(len({record.puzzle for record in records}))),
        Fact("Tokens", short_count(sum(record.input_tokens + record.output_tokens for record in records))),
        Fact("Solvers' time", duration(round(sum(record.seconds for record in records) * 1000))),
    ]
    return (*facts, Fact("Cost", dollars(known))) if known is not None else tuple(facts)


def _reliability(trials: TrialRecords) -> Section:
    models = trials.models
    blocks: list[Block] = [Prose(_summary(models), lead=True)]
    blocks += [f for f in (pictures.rates_picture(models), pictures.reliability_picture(models)) if f]
    blocks.append(_models_table(models))
    wrong = [model for model in models if model.anchors_as_expected is False]
    if wrong:
        names = in_words([pictures.solver_name(model.model, model.arm, model.edition) for model in wrong])
        blocks.append(
            Note(f"Calibration anchors were not as expected for {names}: read the other figures with care.", "bad")
        )
    return Section("How reliable", tuple(blocks))


def _summary(models: Sequence[ModelRollup]) -> str:
    lines: list[str] = []
    for model in models[:_FEW]:
        name = _literal(pictures.solver_name(model.model, model.arm, model.edition))
        if model.rate is None:
            lines.append(f"{name} has no graded attempt at a puzzle that counts.")
            continue
        passed = sum(h.passed for h in model.puzzles if not h.anchor)
        attempts = sum(h.attempts for h in model.puzzles if not h.anchor)
        rate = f"{percent(model.rate.estimate)}, 95% interval {reach(model.rate)}"
        text = f"{name} passed **{passed} of {count_noun(attempts, 'attempt')}** ({rate})"
        if model.reliability and model.reliability[0] > 1:
            k, value = model.reliability
            text += f"; the chance that all {k} attempts at one puzzle pass is put at {percent(value)}"
        lines.append(f"{text}.")
    return "\n\n".join(lines)


def _literal(text: str) -> str:
    """Write a name inside our own Markdown: as code, so that nothing in it acts."""
    return f"`{text.replace('`', chr(39))}`"


def _models_table(models: Sequence[ModelRollup]) -> Table:
    numbers = ("Passed", "Rate", "95% interval", "pass@k", "pass^k", "k", "Tokens", "Cost")
    caption = (
        "By model. pass@k: at least one of k attempts at a puzzle passes; pass^k: all of them do. Anchors, puzzles "
        "whose outcome is known beforehand, are left out."
    )
    rows = tuple(_model_row(model) for model in models)
    return Table(columns("Solver", "Framing", numbers=numbers), rows, caption=caption)


def _model_row(model: ModelRollup) -> tuple[str, ...]:
    counted = [h for h in model.puzzles if not h.anchor and h.attempts]
    passed, attempts = sum(h.passed for h in counted), sum(h.attempts for h in counted)
    k, hat = model.reliability or (0, 0.0)
    at = sum(h.pass_at(k) for h in counted) / len(counted) if k else 0.0
    return (
        pictures.solver_name(model.model, "neutral", model.edition),
        ARM_NAMES.get(model.arm, model.arm),
        f"{passed} of {attempts}",
        percent(model.rate.estimate) if model.rate else "–",
        reach(model.rate) if model.rate else "–",
        percent(at) if k else "–",
        percent(hat) if k else "–",
        str(k) if k else "–",
        short_count(model.tokens),
        dollars(model.cost),
    )


def _puzzles(trials: TrialRecords) -> Section:
    blocks: list[Block] = []
    for model in trials.models:
        inner: list[Block] = []
        figure = pictures.puzzles_picture(model.puzzles)
        if figure:
            inner.append(figure)
        inner.append(_puzzles_table(model.puzzles))
        if len(trials.models) == 1:
            blocks += inner
        else:
            blocks.append(Details(pictures.solver_name(model.model, model.arm, model.edition), tuple(inner)))
    return Section("Puzzle by puzzle", tuple(blocks))


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


def _endings(trials: TrialRecords) -> Section:
    blocks: list[Block] = []
    for model in trials.models:
        rows = [(h.puzzle, trials.of(h)) for h in model.puzzles]
        figure = pictures.attempts_picture(rows)
        if figure is None:
            continue
        if len(trials.models) > 1:
            blocks.append(Plain(pictures.solver_name(model.model, model.arm, model.edition)))
        blocks.append(figure)
    records = [attempt.log.record for attempt in trials.attempts]
    endings = Counter(ending(record) for record in records).most_common()
    blocks.append(
        Table(
            columns("Ended by", numbers=("Attempts", "Passed")),
            tuple(
                (how, count(n), count(sum(r.passed is True and ending(r) == how for r in records)))
                for how, n in endings
            ),
        )
    )
    failed = Counter(name for record in records for name in record.failed).most_common()
    if failed:
        blocks.append(_conditions(failed))
    return Section("Where the attempts ended", tuple(blocks))


def _conditions(failed: Sequence[tuple[str, int]]) -> Figure:
    words = "; ".join(f"{name} ({CONDITIONS.get(name, '')}): {count_noun(n, 'attempt')}" for name, n in failed)
    bars = [Bar(name, n, str(n), "red") for name, n in failed]
    svg = bar_chart(bars, "Conditions of the gate that failed", f"{words}.")
    return Figure(svg, "Conditions of the gate that failed; an attempt may fail several.", f"{words}.")


def _arms(trials: TrialRecords) -> Section | None:
    figure = pictures.arms_picture(trials)
    if figure is None:
        return None
    figures = columns("Solver", "Framing", numbers=("Passed", "Neutral", "Difference", "95% interval"))
    rows = tuple(
        (
            name,
            ARM_NAMES[e.arm],
            f"{e.passed} of {e.attempts}",
            f"{e.neutral_passed} of {e.neutral_attempts}",
            signed(e.difference.estimate),
            f"{signed(e.difference.low)} to {signed(e.difference.high)}",
            "a difference" if e.shown else "no difference shown",
        )
        for name, e in trials.arms
    )
    none = all(not e.shown for _, e in trials.arms)
    words = "No difference shown between the framings; that is not the same as no difference."
    blocks: list[Block] = [Note(words), figure] if none else [figure]
    return Section("Framings compared", (*blocks, Table((*figures, Column("Says")), rows)))


def _one_attempt(trials: TrialRecords) -> Section | None:
    chosen = _chosen(trials)
    if chosen is None:
        return None
    record = chosen.log.record
    head = f"{chosen.name}, by {pictures.solver_name(record.model, record.arm)}: {verdict_word(record.passed)}."
    others = [attempt for attempt in trials.attempts if attempt is not chosen][: _MOST_FOLLOWED - 1]
    blocks: list[Block] = [Plain(head), *attempt_blocks(chosen, trials)]
    if others:
        blocks.append(Plain(f"The others, in the same way{_left_out(trials, others)}:"))
    blocks += [Details(_line(attempt), attempt_blocks(attempt, trials)) for attempt in others]
    return Section("One attempt, from prompt to signed head", tuple(blocks))


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


def _every_attempt(trials: TrialRecords) -> Section:
    many = len(trials.models) > 1
    texts = (*(("Solver",) if many else ()), "Attempt", "Gate", "Ended by", "Failed conditions")
    rows = tuple(_attempt_row(attempt, many) for attempt in trials.attempts[:_MOST_ROWS])
    left = len(trials.attempts) - len(rows)
    blocks: list[Block] = [Table(columns(*texts, numbers=("Turns", "Tool calls", "Time", "Cost")), rows)]
    if left > 0:
        blocks.append(Note(f"{count(left)} more are in the JSON report."))
    return Section("Every attempt", tuple(blocks))


def _attempt_row(attempt: Attempt, many: bool) -> tuple[str, ...]:
    record = attempt.log.record
    return (
        *((pictures.solver_name(record.model, record.arm),) if many else ()),
        f"{record.puzzle}, {record.epoch}",
        verdict_word(record.passed),
        ending(record),
        ", ".join(record.failed) or (record.error.splitlines()[0][:200] if record.error else ""),
        str(attempt.turns),
        str(record.tool_calls),
        duration(round(record.seconds * 1000)),
        dollars(record.cost),
    )


def _attestation(trials: TrialRecords) -> Section:
    verification = trials.verification
    blocks: list[Block] = []
    if verification.ok and trials.head:
        events = count_noun(verification.length, "event")
        words = f"The ledger's {events} and every log it speaks of are as they were signed."
        blocks.append(Note(words, "good"))
    elif verification.ok:
        blocks.append(Note("Nothing is attested here: no signed head vouches for these figures.", "warning"))
    else:
        blocks.append(Note("The ledger does not verify. What follows was found:", "bad"))
        blocks.append(Plain("\n".join(str(finding) for finding in verification.findings)))
    blocks += [Note(f"{remark}.", "info") for remark in verification.remarks]
    if trials.unfinished:
        blocks.append(
            Note(
                f"Planned and never finished, cut off or dropped: {', '.join(trials.unfinished)}. Ask why before "
                "you rely on the figures.",
                "warning",
            )
        )
    if trials.sittings:
        taken = in_words([f"{trial} in {n} sittings" for trial, n in trials.sittings.items()])
        blocks.append(
            Note(
                f"Cut off and gone on with: {taken}. Attempts that were in flight were made again; none that had a "
                "verdict was. The logs of all sittings are kept.",
                "info",
            )
        )
    if trials.head:
        head = trials.head
        rows = (
            ("Events", count(head.head.length)),
            ("Head", grouped(head.head.digest.hex())),
            ("Signature (ed25519)", grouped(head.signature.hex())),
            ("Public key", grouped(head.public_key.hex())),
            *(
                (f"Log of {trial}, SHA-256", grouped(trials.logged.get(trial, "")) or "not attested")
                for trial in trials.trials
            ),
        )
        blocks.append(Table((Column("Signed head"), Column("")), rows))
    for trial, parts in trials.rests_on.items():
        named = tuple((name, grouped(digest)) for name, digest in parts.items())
        blocks.append(
            Details(
                f"What the verdicts of {trial} rest on, as its signed plan has it",
                (Table((Column("Part"), Column("SHA-256")), named),),
            )
        )
    return Section("Attestation", tuple(blocks))


def _how(trials: TrialRecords) -> Section:
    return Section("How it was measured", (Plain(HOW_MEASURED), Plain(f"Trials: {', '.join(trials.trials)}.")))
