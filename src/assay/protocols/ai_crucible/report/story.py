"""The report on trials: how reliable, puzzle by puzzle, where attempts ended, framings, one attempt followed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ai_crucible.observability import ModelRollup, PuzzleHistory
from assay.protocols.ai_crucible.report import pictures
from assay.protocols.ai_crucible.report.book import Attempt, Book
from assay.protocols.ai_crucible.report.following import followed
from assay.protocols.ai_crucible.report.words import (
    ARM_NAMES,
    CONDITIONS,
    ENDINGS,
    HOW_MEASURED,
    dollars,
    ending,
    grouped,
    percent,
    reach,
    signed,
    verdict_word,
)
from assay.report.story import Block, Column, Details, Fact, Figure, Note, Plain, Prose, Section, Story, Table, Tone
from assay.report.svg import Bar, bar_chart
from assay.report.units import count, duration, in_words, several, short_count

_FEW = 3
_MOST_FOLLOWED = 60
_MOST_ROWS = 2000


def trials_story(book: Book, title: str = "") -> Story:
    """The story of trials, finished or not.

    Args:
        book: what was read.
        title: a heading of one's own.
    """
    sections = [
        _reliability(book),
        _puzzles(book),
        _endings(book),
        _arms(book),
        _one_attempt(book),
        _every_attempt(book),
        _attestation(book),
        _how(book),
    ]
    subtitle, tone = _state(book)
    return Story(
        title or _title(book),
        subtitle,
        tone,
        _facts(book),
        tuple(section for section in sections if section),
    )


def _title(book: Book) -> str:
    names = list(dict.fromkeys(model.model for model in book.models))
    if len(names) > _FEW:
        return f"How reliably do {len(names)} models solve sealed puzzles?"
    verb = "does" if len(names) == 1 else "do"
    return f"How reliably {verb} {in_words(names)} solve sealed puzzles?"


def _state(book: Book) -> tuple[str, Tone]:
    if not book.verification.ok:
        return "AI Crucible · the ledger does not verify", "bad"
    errors = [attempt for attempt in book.attempts if attempt.log.record.passed is None]
    if errors:
        return f"AI Crucible · {several(len(errors), 'attempt')} without a verdict", "warning"
    attested = "attested and verified" if book.head else "not attested"
    return f"AI Crucible · {several(len(book.attempts), 'attempt')}, {attested}", "good" if book.head else "warning"


def _facts(book: Book) -> tuple[Fact, ...]:
    records = [attempt.log.record for attempt in book.attempts]
    costs = [model.cost for model in book.models]
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


def _reliability(book: Book) -> Section:
    models = book.models
    blocks: list[Block] = [Prose(_summary(models), lead=True)]
    blocks += [f for f in (pictures.rates_picture(models), pictures.reliability_picture(models)) if f]
    blocks.append(_models_table(models))
    wrong = [model for model in models if model.anchors_as_expected is False]
    if wrong:
        names = in_words([pictures.solver_name(model.model, model.arm) for model in wrong])
        blocks.append(
            Note(f"Calibration anchors were not as expected for {names}: read the other figures with care.", "bad")
        )
    return Section("How reliable", tuple(blocks))


def _summary(models: Sequence[ModelRollup]) -> str:
    lines: list[str] = []
    for model in models[:_FEW]:
        name = _literal(pictures.solver_name(model.model, model.arm))
        if model.rate is None:
            lines.append(f"{name} has no graded attempt at a puzzle that counts.")
            continue
        passed = sum(h.passed for h in model.puzzles if not h.anchor)
        attempts = sum(h.attempts for h in model.puzzles if not h.anchor)
        rate = f"{percent(model.rate.estimate)}, 95% interval {reach(model.rate)}"
        text = f"{name} passed **{passed} of {several(attempts, 'attempt')}** ({rate})"
        if model.reliability and model.reliability[0] > 1:
            k, value = model.reliability
            text += f"; the chance that all {k} attempts at one puzzle pass is put at {percent(value)}"
        lines.append(f"{text}.")
    return "\n\n".join(lines)


def _literal(text: str) -> str:
    """A name inside our own Markdown: code, so that nothing in it acts."""
    return f"`{text.replace('`', chr(39))}`"


def _models_table(models: Sequence[ModelRollup]) -> Table:
    number = "number"
    columns = (
        Column("Solver"),
        Column("Framing"),
        Column("Passed", number),
        Column("Rate", number),
        Column("95% interval", number),
        Column("pass@k", number),
        Column("pass^k", number),
        Column("k", number),
        Column("Tokens", number),
        Column("Cost", number),
    )
    caption = (
        "By model. pass@k: at least one of k attempts at a puzzle passes; pass^k: all of them do. Anchors, puzzles "
        "whose outcome is known beforehand, are left out."
    )
    return Table(columns, tuple(_model_row(model) for model in models), caption=caption)


def _model_row(model: ModelRollup) -> tuple[str, ...]:
    counted = [h for h in model.puzzles if not h.anchor and h.attempts]
    passed, attempts = sum(h.passed for h in counted), sum(h.attempts for h in counted)
    k, hat = model.reliability or (0, 0.0)
    at = sum(h.pass_at(k) for h in counted) / len(counted) if k else 0.0
    return (
        model.model,
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


def _puzzles(book: Book) -> Section:
    blocks: list[Block] = []
    for model in book.models:
        inner: list[Block] = []
        figure = pictures.puzzles_picture(model.puzzles)
        if figure:
            inner.append(figure)
        inner.append(_puzzles_table(model.puzzles))
        if len(book.models) == 1:
            blocks += inner
        else:
            blocks.append(Details(pictures.solver_name(model.model, model.arm), tuple(inner)))
    return Section("Puzzle by puzzle", tuple(blocks))


def _puzzles_table(histories: Sequence[PuzzleHistory]) -> Table:
    number = "number"
    columns = (
        Column("Puzzle"),
        Column("Kind"),
        Column("Ended by"),
        Column("Passed", number),
        Column("95% interval", number),
        Column("pass@k", number),
        Column("pass^k", number),
    )
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
    return Table(columns, tuple(rows), caption="k is the number of graded attempts at the puzzle.")


def _endings(book: Book) -> Section:
    blocks: list[Block] = []
    for model in book.models:
        rows = [(h.puzzle, book.of(h)) for h in model.puzzles]
        figure = pictures.attempts_picture(rows)
        if figure is None:
            continue
        if len(book.models) > 1:
            blocks.append(Plain(pictures.solver_name(model.model, model.arm)))
        blocks.append(figure)
    records = [attempt.log.record for attempt in book.attempts]
    endings = Counter(ending(record) for record in records).most_common()
    blocks.append(
        Table(
            (Column("Ended by"), Column("Attempts", "number"), Column("Passed", "number")),
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
    said = "; ".join(f"{name} ({CONDITIONS.get(name, '')}): {several(n, 'attempt')}" for name, n in failed)
    bars = [Bar(name, n, str(n), "red") for name, n in failed]
    svg = bar_chart(bars, "Conditions of the gate that failed", f"{said}.")
    return Figure(svg, "Conditions of the gate that failed; an attempt may fail several.", f"{said}.")


def _arms(book: Book) -> Section | None:
    figure = pictures.arms_picture(book)
    if figure is None:
        return None
    number = "number"
    columns = (
        Column("Solver"),
        Column("Framing"),
        Column("Passed", number),
        Column("Neutral", number),
        Column("Difference", number),
        Column("95% interval", number),
        Column("Says"),
    )
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
        for name, e in book.arms
    )
    none = all(not e.shown for _, e in book.arms)
    said = "No difference shown between the framings; that is not the same as no difference."
    blocks: list[Block] = [Note(said), figure] if none else [figure]
    return Section("Framings compared", (*blocks, Table(columns, rows)))


def _one_attempt(book: Book) -> Section | None:
    chosen = _chosen(book)
    if chosen is None:
        return None
    record = chosen.log.record
    head = f"{chosen.name}, by {pictures.solver_name(record.model, record.arm)}: {verdict_word(record.passed)}."
    others = [attempt for attempt in book.attempts if attempt is not chosen][: _MOST_FOLLOWED - 1]
    blocks: list[Block] = [Plain(head), *followed(chosen, book)]
    if others:
        blocks.append(Plain(f"The others, in the same way{_left_out(book, others)}:"))
    blocks += [Details(_line(attempt), followed(attempt, book)) for attempt in others]
    return Section("One attempt, from prompt to signed head", tuple(blocks))


def _left_out(book: Book, others: Sequence[Attempt]) -> str:
    left = len(book.attempts) - 1 - len(others)
    return f"; {several(left, 'further attempt')} are in the logs" if left else ""


def _chosen(book: Book) -> Attempt | None:
    """An attempt that shows all of the way: one that passed, else the first that was graded."""
    graded = [attempt for attempt in book.attempts if attempt.gate is not None]
    passed = [attempt for attempt in graded if attempt.log.record.passed]
    counted = [attempt for attempt in passed if attempt.log.record.anchor is None]
    return next(iter(counted or passed or graded or list(book.attempts)), None)


def _line(attempt: Attempt) -> str:
    record = attempt.log.record
    return f"{attempt.name}: {verdict_word(record.passed)}, {ending(record)}"


def _every_attempt(book: Book) -> Section:
    number = "number"
    many = len(book.models) > 1
    columns = (
        *((Column("Solver"),) if many else ()),
        Column("Attempt"),
        Column("Gate"),
        Column("Ended by"),
        Column("Failed conditions"),
        Column("Turns", number),
        Column("Tool calls", number),
        Column("Time", number),
        Column("Cost", number),
    )
    rows = tuple(_attempt_row(attempt, many) for attempt in book.attempts[:_MOST_ROWS])
    left = len(book.attempts) - len(rows)
    blocks: list[Block] = [Table(columns, rows)]
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


def _attestation(book: Book) -> Section:
    found = book.verification
    blocks: list[Block] = []
    if found.ok and book.head:
        said = f"The ledger's {several(found.length, 'event')} and every log it speaks of are as they were signed."
        blocks.append(Note(said, "good"))
    elif found.ok:
        blocks.append(Note("Nothing is attested here: no signed head vouches for these figures.", "warning"))
    else:
        blocks.append(Note("The ledger does not verify. What follows was found:", "bad"))
        blocks.append(Plain("\n".join(str(finding) for finding in found.findings)))
    if book.unfinished:
        blocks.append(
            Note(
                f"Planned and never finished, cut off or dropped: {', '.join(book.unfinished)}. Ask why before you "
                "rely on the figures.",
                "warning",
            )
        )
    if book.sittings:
        taken = in_words([f"{trial} in {n} sittings" for trial, n in book.sittings.items()])
        blocks.append(
            Note(
                f"Cut off and gone on with: {taken}. Attempts that were in flight were made again; none that had a "
                "verdict was. The logs of all sittings are kept.",
                "info",
            )
        )
    if book.head:
        head = book.head
        rows = (
            ("Events", count(head.head.length)),
            ("Head", grouped(head.head.digest.hex())),
            ("Signature (ed25519)", grouped(head.signature.hex())),
            ("Public key", grouped(head.public_key.hex())),
            *(
                (f"Log of {trial}, SHA-256", grouped(book.logged.get(trial, "")) or "not attested")
                for trial in book.trials
            ),
        )
        blocks.append(Table((Column("Signed head"), Column("")), rows))
    return Section("Attestation", tuple(blocks))


def _how(book: Book) -> Section:
    return Section("How it was measured", (Plain(HOW_MEASURED), Plain(f"Trials: {', '.join(book.trials)}.")))
