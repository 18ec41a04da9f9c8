"""The report on one prompt: the verdict, the prompt with its marked places, how the seats moved, what each said.

Its sections stand in ``circle.toml``; here is what their names mean, and how things are written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache, partial
from typing import Any

from assay.protocols.fire_circle.report.marking import marked_layer
from assay.protocols.fire_circle.report.pictures import moves_picture, rounds_picture
from assay.protocols.fire_circle.report.state import Circle, CircleState, seat_names
from assay.protocols.fire_circle.task import hidden_of, kind_words
from assay.report.clean import escaped
from assay.report.frame import cost_section, ending, ending_notes, head_facts, provenance_section
from assay.report.outline import Forms, Own, Scope, Writing, read_outline
from assay.report.story import Block, Note, Plain, Prose, Quote, Story, Voice
from assay.report.units import in_words
from fire_circle.empty_chair import influence_by_round
from fire_circle.hidden import visible
from fire_circle.measurement.groupthink import groupthink_map
from fire_circle.patterns import Sighting, sightings
from fire_circle.results import UNCLASSIFIED, NeutrosophicEvaluation, PatternClaim
from fire_circle.transcript import Round
from llm_runtime.toml import own_table

_LONGEST_TITLE = 240
_WORDS = own_table(__package__ or "", "words.toml")
_outline = cache(partial(read_outline, __package__ or "", "circle.toml"))


def circle_story(state: CircleState) -> Story:
    """Return the story of a run in whatever state it is: finished, under way, stopped, failed or broken off."""
    circle = state.circle if state.options.mode == "fire_circle" else None
    scope = {**_asked(state, circle), **_judged(circle)}
    told = _outline().story(Writing(scope, _forms(state, circle), _own(state, circle)))
    return Story(
        title=visible(state.run.title).text[:_LONGEST_TITLE] or "A prompt before a circle",
        subtitle=f"Fire Circle · {_WORDS['modes'].get(state.options.mode, state.options.mode)}",
        facts=(*told.facts, *head_facts(state.run)),
        sections=(*told.sections, *filter(None, (cost_section(state.run), provenance_section(state.run)))),
    )


def _asked(state: CircleState, circle: Circle | None) -> Scope:
    """Return what there is without a circle."""
    result = state.result
    layers = [_layer(one) for one in state.circles.values()]
    return {
        "dialogue": state.options.mode == "fire_circle",
        "circle": circle,
        "result": result,
        "highest": result and max(result.evaluations, key=lambda e: (e.falsehood, -e.seat), default=None),
        "how": result and _WORDS["modes"][result.mode].capitalize(),
        "layers": layers if circle and len(layers) > 1 else (),
        "prompt": state.layers,
        "told": f"turn {circle.turn}" if circle and circle.turn else "turn unknown",
        "history": state.task.history or (),
        "hidden": hidden_of(state.task),
        "settled": _WORDS["settled"][circle.guard.settles] if circle and circle.guard else "",
    }


def _layer(circle: Circle) -> tuple[str, ...]:
    """Return a layer's verdict, of a run with a circle a layer."""
    if (verdict := circle.verdict) is None:
        return circle.layer, "no verdict", circle.fault, ""
    by = verdict.consensus
    return circle.layer, f"{by.falsehood:.2f}", circle.seat(by.model).short, str(len(verdict.patterns))


def _judged(circle: Circle | None) -> Scope:
    """Return what is told of a circle; under the same names nothing where there is none."""
    circle = circle or Circle("user")
    verdict, history, answers = circle.verdict, circle.history(), circle.answered()
    last = [e.falsehood for e in history[-1].evaluations] if verdict else []
    movement = groupthink_map(circle.record())
    left = circle.partial()
    return {
        "verdict": verdict,
        "by": verdict and verdict.consensus,
        "turn": "the turn is unknown" if circle.turn is None else f"turn {circle.turn}",
        "answers": answers,
        "last_highest": max(last, default=None),
        "last_mean": sum(last) / len(last) if last else None,
        "patterns": dict(enumerate(verdict.patterns, start=1)) if verdict else {},
        "lone": list(_lone(circle)),
        "movement": len(history) > 1,
        "given_up": [move for move in movement.moves if move.gave_up_alarm],
        "spread": list(zip(history, movement.spread, strict=True)),
        "spoken": list(_spoken(circle)),
        "rounds": [held for _, held in sorted(circle.rounds.items())],
        "counts": {said: getattr(left.counts, name) for name, said in _WORDS["counts"].items()},
        "dropped": left.dropped_claims,
        "claims": left.history_claims,
    }


def _lone(circle: Circle) -> Iterator[Sighting]:
    """Yield the first sighting of each pattern that too few seats saw."""
    seen = {pattern.pattern_type for pattern in circle.verdict.patterns} if circle.verdict else set[str]()
    keys = set[str]()
    for sighting in sightings(circle.history()):
        if sighting.key.partition(":")[0] not in seen and sighting.key not in keys:
            keys.add(sighting.key)
            yield sighting


def _spoken(circle: Circle) -> Iterator[Scope]:
    """Yield what was said from the empty chair, and which patterns it was the first to see."""
    seen, shares = sightings(circle.history()), influence_by_round(circle.history())
    for held in circle.rounds.values():
        if (answer := held.answers.get(held.chair)) is not None:
            before = {s.key for s in seen if s.round_number < held.number}
            now = [s.key for s in seen if s.round_number == held.number and s.model == answer.model]
            first = dict.fromkeys(_kind(key.partition(":")[0]).lower() for key in now if key not in before)
            share = shares.get(held.number, 0.0)
            yield {"chair": held.chair, "number": held.number, "share": share, "answer": answer, "first": first}


def _own(state: CircleState, circle: Circle | None) -> Own:
    """Return what is more than a text or a table."""

    def trouble(_: Any) -> Iterable[Block]:
        faults = [circle.fault for circle in state.circles.values() if circle.fault]
        return ending_notes(state.run, f"{ending(state.run, why='; '.join(faults))} There is no verdict.")

    def prompt(_: Any) -> Iterable[Block]:
        patterns = circle.verdict.patterns if circle and circle.verdict else ()
        for name, text in state.layers.items():
            yield marked_layer(text, name, patterns, judged=circle is not None and name == circle.layer)

    def none(_: Any) -> Iterable[Block]:
        return trouble(_) or (Note("There is no verdict."),)

    made: Own = {"trouble": trouble, "none": none, "reasons": _reasons, "prompt": prompt}
    if circle:
        made |= {
            "rounds_picture": lambda _: filter(None, (rounds_picture(circle),)),
            "moves_picture": lambda _: (moves_picture(circle) or Plain("No seat changed its F by 0.1 or more."),),
            "round": partial(_round, circle),
        }
    return made


def _reasons(answer: NeutrosophicEvaluation) -> Iterator[Block]:
    """Yield what a seat gave as reasons, what it was asked about, and what it gave up for it."""
    yield Prose(visible(answer.reasoning).text)
    if answer.doubt:
        yield Note(f"Asked again, it did not become clear: {answer.doubt}. The gravest of it counts.", "warning")
    if answer.given_up is not None:
        yield Note(f"It gave F {answer.given_up:.2f} first, and another score when asked.", "warning")


def _round(circle: Circle, held: Round) -> Iterator[Block]:
    """Yield what each seat said in a round, in seat order; who gave no score stands apart."""
    for seat in circle.shown:
        if (answer := held.answers.get(seat.label)) is not None:
            marks = [name for name in ("salvaged", "repaired", "reasked") if getattr(answer, name)]
            remark = _score(answer) + (f" ({', '.join(marks)})" if marks else "")
            name = seat.short + (", for the absent" if seat.label == held.chair else "")
            claims = (Quote(_quote(claim), visible(_claim(claim)).text) for claim in answer.claims)
            yield Voice(name, (*_reasons(answer), *claims), seat.accent, remark)
        elif failure := held.failed.get(seat.label):
            yield Note(f"{seat.short} gave no score: {failure.kind}: {failure.detail}", "warning")
        elif abstained := held.abstained.get(seat.label):
            yield Voice(seat.short, (Prose(abstained.reasoning),), seat.accent, "abstained")
    if fault := circle.fallbacks.get(held.number):
        yield Note(f"Patterns were classified by keywords, the model failed: {fault}", "warning")
    if (stop := circle.stopped_early) and stop.round == held.number:
        agree = f"standard deviation {stop.stddev:.3f} < {stop.threshold:g}"
        yield Note(f"The seats agree ({agree}): no further round.")


def _forms(state: CircleState, circle: Circle | None) -> Forms:
    """Return how things are written in a report with these seats."""
    models = [evaluation.model for evaluation in state.result.evaluations] if state.result else []
    names = dict(zip(models, seat_names(models), strict=True))

    def seat(model: str) -> str:
        return circle.seat(model).short if circle else names[model]

    def sighting(one: Sighting) -> str:
        kind = _kind(one.key.partition(":")[0])
        return visible(f"{kind}, {seat(one.model)}, round {one.round_number}: {one.claim.description}").text

    return {
        **_FORMS,
        "seat": seat,
        "seats": lambda models: in_words(list(map(seat, models))),
        "escaped": lambda model: escaped(seat(model)),
        "colour": lambda model: circle.seat(model).accent if circle else "quiet",
        "sighting": sighting,
    }


def _score(evaluation: NeutrosophicEvaluation) -> str:
    """Return the triple in one line."""
    return f"T {evaluation.truth:.2f}, I {evaluation.indeterminacy:.2f}, F {evaluation.falsehood:.2f}"


def _quote(claim: PatternClaim) -> str:
    return visible(claim.quote or "–").text


def _claim(claim: PatternClaim) -> str:
    description = claim.description.lower().replace("_", " ")
    kinds = ", ".join(name for kind in claim.types if (name := kind_words(kind.value)) not in description)
    dropped = f" (does not count: {_WORDS['dropped'][claim.dropped]})" if claim.dropped else ""
    return f"{claim.description}{f' [{kinds}]' if kinds else ''}{dropped}"


def _kind(name: str) -> str:
    words = "not one of the eight kinds" if name == UNCLASSIFIED else kind_words(name)
    return words[:1].upper() + words[1:]


_FORMS: Forms = {
    "attacks": lambda kinds: in_words([f"{kind_words(kind)} ({', '.join(kind.references)})" for kind in kinds]),
    "claim": lambda claim: visible(_claim(claim)).text,
    "dropped": _WORDS["dropped"].__getitem__,
    "hidden": _WORDS["hidden"].__getitem__,
    "kind": _kind,
    "named": lambda patterns: in_words([kind_words(pattern.pattern_type) for pattern in patterns]),
    "place": lambda answer: f"c{(answer.seat - 1) % 6}",
    "quote": _quote,
    "score": _score,
    "sentence": lambda text: text[:1].upper() + text[1:].rstrip(".") + ".",
    "status": _WORDS["status"].__getitem__,
    "title": lambda held: f"Round {held.number}: {held.phase}" if held.phase else f"Round {held.number}",
    "turn": lambda number: f"c{(number - 1) % 6}",
    "turn_named": lambda claim: "" if claim.claimed_turn is None else str(claim.claimed_turn),
    "visible": lambda text: visible(text).text,
    "where": lambda place: "in the earlier turns" if place == "earlier" else f"in the {place} layer",
}
