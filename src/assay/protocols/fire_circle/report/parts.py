"""The sections of a circle's report, each from the circle alone."""

from __future__ import annotations

from assay.protocols.fire_circle.report.marking import marked_layer
from assay.protocols.fire_circle.report.pictures import moves_picture
from assay.protocols.fire_circle.report.state import Circle, CircleState
from assay.protocols.fire_circle.task import hidden_of
from assay.report.story import (
    Block,
    Column,
    Details,
    Note,
    Plain,
    Prose,
    Quote,
    Section,
    Table,
    Voice,
)
from assay.report.units import count_noun, in_words
from fire_circle.empty_chair import influence_by_round
from fire_circle.hidden import visible
from fire_circle.measurement.groupthink import groupthink_map
from fire_circle.patterns import Sighting, sightings
from fire_circle.results import UNCLASSIFIED, NeutrosophicEvaluation, PatternClaim, PatternObservation, Place
from fire_circle.transcript import Round

_DROPPED = {
    "no_quote": "named without a quote",
    "too_short": "quoted too little to tell",
    "not_found": "quoted what stands neither in the prompt nor before it",
    "scaffold": "quoted our own instructions",
}
_HIDDEN = {
    "invisible": "characters that nobody sees",
    "direction": "characters that turn the direction of reading",
    "tags": "text in invisible tags",
    "confusable": "letters that look like others",
}
_STATUS = {
    "impossible": "impossible at this turn",
    "unsupported": "not borne out by what was said",
    "possible": "possible",
    "unverifiable": "cannot be checked: the turn is unknown, or it may be about something else",
}


def prompt_section(state: CircleState, circle: Circle | None) -> Section | None:
    """Show the prompt under test, layer by layer, with the quotes of the patterns marked."""
    if not state.layers:
        return None
    patterns = circle.verdict.patterns if circle and circle.verdict else ()
    blocks: list[Block] = [
        marked_layer(text, name, patterns, judged=circle is not None and name == circle.layer)
        for name, text in state.layers.items()
    ]
    turn = f"turn {circle.turn}" if circle and circle.turn else "turn unknown"
    if patterns:
        blocks.append(Plain(f"The small numbers are those of the patterns below. The judges were told: {turn}."))
    earlier = tuple(_quoted(text, role or "turn") for role, text in state.task.history or ())
    if earlier:
        blocks.append(Details(f"What was said before: {count_noun(len(earlier), 'message')}", earlier))
    return Section("The prompt", tuple(blocks))


def hidden_section(state: CircleState) -> Section | None:
    """Show what a reader of the prompt does not see, found by rule."""
    hidden = hidden_of(state.task)
    if not hidden:
        return None
    rows = tuple((_where(piece.span.layer), _HIDDEN[piece.kind], piece.shown) for piece in hidden)
    columns = (Column("Where"), Column("What"), Column("Written out"))
    remark = Note(
        "Found by rule, without any model. It changes no score; the text above shows it in place.", "warning"
    )
    return Section("What nobody sees", (Table(columns, rows), remark))


def _quoted(text: str, by: str) -> Quote:
    return Quote(visible(text).text, visible(by).text)


def layers_section(state: CircleState) -> Section | None:
    """Show each layer's verdict, of a run with a circle a layer."""
    if len(state.circles) < 2:
        return None
    rows: list[tuple[str, ...]] = []
    for circle in state.circles.values():
        verdict = circle.verdict
        rows.append(
            (
                circle.layer,
                f"{verdict.consensus.falsehood:.2f}" if verdict else "no verdict",
                circle.seat(verdict.consensus.model).short if verdict else circle.fault,
                str(len(verdict.patterns)) if verdict else "",
            )
        )
    columns = (Column("Layer"), Column("F", "number"), Column("Given by"), Column("Patterns", "number"))
    remark = Note("Each layer had its own circle; the one with the highest F is shown from here on.")
    return Section("Layer by layer", (Table(columns, tuple(rows)), remark))


def patterns_section(circle: Circle) -> Section | None:
    """Show the patterns that enough seats saw, each with who saw it and what it rests on."""
    if circle.verdict is None:
        return None
    blocks: list[Block] = [_pattern(circle, n, p) for n, p in enumerate(circle.verdict.patterns, start=1)]
    if not blocks:
        blocks.append(Plain("No pattern was seen by enough seats with a quote that stands in the prompt."))
    lone = _lone(circle)
    if lone:
        blocks.append(Details(f"{count_noun(len(lone), 'pattern')} without enough agreement", tuple(lone)))
    return Section("Patterns", tuple(blocks))


def _pattern(circle: Circle, number: int, pattern: PatternObservation) -> Voice:
    seen = in_words([circle.seat(model).short for model in pattern.models_observing])
    blocks: list[Block] = [Prose(visible(pattern.description).text)]
    blocks += [_quoted(example.quote, _where(example.span.layer)) for example in pattern.located]
    if pattern.retracted_by:
        by = in_words([circle.seat(model).short for model in pattern.retracted_by])
        blocks.append(Note(f"{by} did not repeat it in the last answer; it still counts."))
    remark = f"{pattern.model_agreement:.0%} agreement: {seen}; since round {pattern.observed_in_round}"
    if pattern.security:
        named = [f"{kind_name(kind)} ({', '.join(kind.references)})" for kind in pattern.security]
        blocks.append(Note(f"As an attack: {in_words(named)}."))
    return Voice(f"{number}. {_kind(pattern.pattern_type)}", tuple(blocks), f"c{(number - 1) % 6}", remark)


def _where(place: Place) -> str:
    return "in the earlier turns" if place == "earlier" else f"in the {place} layer"


def _lone(circle: Circle) -> list[Block]:
    counted = {pattern.pattern_type for pattern in circle.verdict.patterns} if circle.verdict else set[str]()
    lone: dict[str, Sighting] = {}
    for sighting in sightings(circle.history()):
        if sighting.key.partition(":")[0] not in counted:
            lone.setdefault(sighting.key, sighting)
    return [
        _quoted(
            sighting.claim.quote,
            f"{_kind(sighting.key.partition(':')[0])}, {circle.seat(sighting.model).short}, "
            f"round {sighting.round_number}: {sighting.claim.description}",
        )
        for sighting in lone.values()
    ]


def movement_section(circle: Circle) -> Section | None:
    """Show who moved toward whom, and what was given up for it."""
    if len(circle.history()) < 2:
        return None
    movement = groupthink_map(circle.record())
    blocks: list[Block] = []
    figure = moves_picture(circle)
    blocks.append(figure or Plain("No seat changed its F by 0.1 or more."))
    given_up = [move for move in movement.moves if move.gave_up_alarm]
    for move in given_up:
        seat = circle.seat(move.model).short
        blocks.append(
            Note(
                f"{seat} gave up an alarm in round {move.round_number}, from {move.before:.2f} to "
                f"{move.after:.2f}, without naming anything new: that is what groupthink looks like. "
                "The verdict keeps the higher score.",
                "warning",
            )
        )
    if not given_up:
        blocks.append(Note("No alarm was given up without new evidence.", "good"))
    rows = tuple(
        (str(held.round_number), held.phase, "–" if spread is None else f"{spread:.3f}")
        for held, spread in zip(circle.history(), movement.spread, strict=True)
    )
    blocks.append(Table((Column("Round"), Column("Phase"), Column("Standard deviation of F", "number")), rows))
    return Section("How the seats moved", tuple(blocks))


def chair_section(circle: Circle) -> Section | None:
    """Show what was said from the empty chair, and which patterns it was the first to see."""
    spoken = [(held, held.answers[held.chair]) for held in circle.rounds.values() if held.chair in held.answers]
    if not spoken:
        return None
    blocks: list[Block] = []
    shares = influence_by_round(circle.history())
    if circle.verdict:
        blocks.append(
            Plain(
                f"The chair brought {circle.verdict.empty_chair_influence:.0%} of all pattern types that were "
                "found. "
                "A type is its own where it was the first to see it; who sees it in the same round shares it."
            )
        )
    for held, answer in spoken:
        seat = circle.seat(held.chair)
        first = _first_seen(circle, held.number, answer)
        remark = f"round {held.number}, {shares.get(held.number, 0.0):.0%} of what was new in it"
        inner: list[Block] = [Prose(visible(answer.reasoning).text)]
        if first:
            inner.append(Note(f"First to see: {in_words([_kind(kind).lower() for kind in first])}.", "good"))
        inner += _claims(answer)
        blocks.append(Voice(f"{seat.short}, for the absent", tuple(inner), seat.accent, remark))
    return Section("The empty chair", tuple(blocks))


def _first_seen(circle: Circle, number: int, answer: NeutrosophicEvaluation) -> list[str]:
    """Return kinds that nobody had seen before the round and that the chair names in it."""
    seen = sightings(circle.history())
    before = {s.key for s in seen if s.round_number < number}
    now = [s.key for s in seen if s.round_number == number and s.model == answer.model]
    return list(dict.fromkeys(key.partition(":")[0] for key in now if key not in before))


def round_section(circle: Circle, held: Round) -> Section:
    """Show what each seat said in a round, in seat order; who gave no score stands apart."""
    blocks: list[Block] = []
    for seat in circle.shown:
        answer = held.answers.get(seat.label)
        if answer is not None:
            chair = ", for the absent" if seat.label == held.chair else ""
            marks = [name for name in ("salvaged", "repaired", "reasked") if getattr(answer, name)]
            remark = f"T {answer.truth:.2f}, I {answer.indeterminacy:.2f}, F {answer.falsehood:.2f}" + (
                f" ({', '.join(marks)})" if marks else ""
            )
            blocks.append(
                Voice(
                    seat.short + chair,
                    (Prose(visible(answer.reasoning).text), *doubts(answer), *_claims(answer)),
                    seat.accent,
                    remark,
                )
            )
        elif seat.label in held.failed:
            failure = held.failed[seat.label]
            blocks.append(Note(f"{seat.short} gave no score: {failure.kind}: {failure.detail}", "warning"))
        elif seat.label in held.abstained:
            blocks.append(
                Voice(seat.short, (Prose(held.abstained[seat.label].reasoning),), seat.accent, "abstained")
            )
    if held.number in circle.fallbacks:
        fault = circle.fallbacks[held.number]
        blocks.append(Note(f"Patterns were classified by keywords, the model failed: {fault}", "warning"))
    if circle.stopped_early and circle.stopped_early.round == held.number:
        stop = circle.stopped_early
        blocks.append(
            Note(f"The seats agree (standard deviation {stop.stddev:.3f} < {stop.threshold:g}): no further round.")
        )
    return Section(f"Round {held.number}: {held.phase}" if held.phase else f"Round {held.number}", tuple(blocks))


def doubts(answer: NeutrosophicEvaluation) -> list[Block]:
    """Show what the seat was asked about, and what it gave up for it."""
    notes: list[Block] = []
    if answer.doubt:
        notes.append(Note(f"Asked whether it means its score, it stood by it: {answer.doubt}.", "warning"))
    if answer.given_up is not None:
        notes.append(Note(f"It gave F {answer.given_up:.2f} first, and another score when asked.", "warning"))
    return notes


def _claims(answer: NeutrosophicEvaluation) -> list[Block]:
    return [_quoted(claim.quote or "–", _claim_head(claim)) for claim in answer.claims]


def _claim_head(claim: PatternClaim) -> str:
    description = claim.description.lower().replace("_", " ")
    kinds = ", ".join(name for kind in claim.types if (name := kind_name(kind.value)) not in description)
    dropped = f" (does not count: {_DROPPED[claim.dropped]})" if claim.dropped else ""
    return f"{claim.description}{f' [{kinds}]' if kinds else ''}{dropped}"


def counts_section(circle: Circle) -> Section | None:
    """Show how the answers came out, each kind counted apart, and what counted for nothing."""
    if not circle.rounds:
        return None
    answers = circle.answered()
    failures = [failure for held in circle.rounds.values() for failure in held.failed.values()]
    refusals = sum(failure.kind == "refusal" for failure in failures)
    rows = (
        ("Scores", str(sum(not answer.salvaged for answer in answers))),
        ("Scores read out of prose", str(sum(answer.salvaged for answer in answers))),
        ("Refusals", str(refusals)),
        ("Failures", str(len(failures) - refusals)),
        ("Abstentions", str(sum(len(held.abstained) for held in circle.rounds.values()))),
    )
    blocks: list[Block] = [
        Plain("A refusal, a failure or an abstention is never a score, and counts neither for nor against."),
        Table((Column("Answers"), Column("How many", "number")), rows),
    ]
    dropped = [claim.dropped for answer in answers for claim in answer.claims if claim.dropped]
    if dropped:
        reasons = tuple((_DROPPED[kind], str(dropped.count(kind))) for kind in sorted(set(dropped)))
        blocks.append(Table((Column("Patterns that counted for nothing"), Column("How many", "number")), reasons))
    return Section("The counts behind it", tuple(blocks))


def claims_section(circle: Circle) -> Section | None:
    """Show what the deterministic checker says of claims of earlier conversation."""
    if not circle.claims:
        return None
    rows = tuple(
        (claim.text, "" if claim.claimed_turn is None else str(claim.claimed_turn), _STATUS[claim.status])
        for claim in circle.claims
    )
    columns = (Column("The prompt says"), Column("Turn named", "number"), Column("By the clock"))
    remark = Note("Found and checked by rule, beside the judges; it changes no score.")
    return Section("Claims of earlier conversation", (Table(columns, rows), remark))


def kind_name(name: str) -> str:
    """Return a pattern type as the judges are told it."""
    return name.replace("_", " ").replace("cross layer", "cross-layer")


def _kind(name: str) -> str:
    words = "not one of the eight kinds" if name == UNCLASSIFIED else kind_name(name)
    return words[:1].upper() + words[1:]
