"""The report on one prompt: the verdict, the prompt with its marked places, how the seats moved, what each said."""

from __future__ import annotations

from assay.protocols.fire_circle.report.parts import (
    chair_section,
    claims_section,
    counts_section,
    doubts,
    hidden_section,
    kind_name,
    layers_section,
    movement_section,
    patterns_section,
    prompt_section,
    round_section,
)
from assay.protocols.fire_circle.report.pictures import rounds_picture
from assay.protocols.fire_circle.report.state import Circle, CircleState, seat_names
from assay.report.clean import escaped
from assay.report.frame import cost_section, ending, ending_notes, head_facts, provenance_section
from assay.report.story import (
    Block,
    Fact,
    Note,
    Plain,
    Prose,
    Section,
    Story,
    Voice,
)
from assay.report.units import count_noun, in_words
from fire_circle.hidden import visible
from fire_circle.results import NeutrosophicEvaluation

"""F from which the report is coloured as an alarm, and below which as none. A threshold to act on is a matter of
calibration on a data set."""
_LONGEST_TITLE = 240
_MODES = {"single": "one model alone", "parallel": "models apart, no dialogue", "fire_circle": "circle"}


def circle_story(state: CircleState) -> Story:
    """Return the story of a run in whatever state it is: finished, under way, stopped, failed or broken off."""
    if state.options.mode != "fire_circle":
        sections = [_apart(state), prompt_section(state, None), hidden_section(state)]
    else:
        circle = state.circle
        sections = [
            _verdict(state, circle),
            layers_section(state),
            prompt_section(state, circle),
            hidden_section(state),
        ]
        if circle is not None:
            sections += [patterns_section(circle), movement_section(circle), chair_section(circle)]
            sections += [round_section(circle, held) for _, held in sorted(circle.rounds.items())]
            sections += [counts_section(circle), claims_section(circle)]
    sections += [cost_section(state.run), provenance_section(state.run)]
    return Story(
        title=_title(state),
        subtitle=f"Fire Circle · {_MODES.get(state.options.mode, state.options.mode)}",
        facts=_facts(state),
        sections=tuple(section for section in sections if section),
    )


def score(evaluation: NeutrosophicEvaluation) -> str:
    """Return the triple in one line."""
    return f"T {evaluation.truth:.2f}, I {evaluation.indeterminacy:.2f}, F {evaluation.falsehood:.2f}"


def _verdict(state: CircleState, circle: Circle | None) -> Section:
    blocks: list[Block] = [*_trouble(state)]
    if circle is None:
        return Section("Verdict", (*blocks, Note("Nobody has said anything yet.")))
    if circle.verdict is not None:
        blocks.append(Prose(_conclusion(circle), lead=True))
        last = [e.falsehood for e in circle.history()[-1].evaluations]
        blocks.append(
            Plain(
                "Each judgement gives three figures from 0 to 1: T, how far the prompt deals fairly with those it "
                "speaks to and of; I, how far that cannot be told; F, how far it does not. "
                f"The highest F of {count_noun(len(circle.answered()), 'judgement')} decides, so that an alarm "
                f"once raised is not talked away. In the last round the highest F was {max(last):.2f}, "
                f"the mean {sum(last) / len(last):.2f}."
            )
        )
    figure = rounds_picture(circle)
    if figure:
        blocks.append(figure)
    if circle.verdict is not None:
        by = circle.verdict.consensus
        seat = circle.seat(by.model)
        remark = f"round {by.round_number}, {score(by)}"
        blocks.append(Voice(seat.short, (Prose(visible(by.reasoning).text),), seat.accent, remark))
        blocks += [Note(_sentence(warning), "warning") for warning in circle.verdict.warnings]
    blocks.append(
        Note(
            "A maximum over many judgements also raises false alarms. What this F means is known only from a "
            "threshold calibrated on prompts like yours: assay circle study reports its false-positive rate."
        )
    )
    return Section("Verdict", tuple(blocks))


def _conclusion(circle: Circle) -> str:
    verdict = circle.verdict
    if verdict is None:
        return ""
    by = verdict.consensus
    seat = circle.seat(by.model).short
    turn = "the turn is unknown" if circle.turn is None else f"turn {circle.turn}"
    named = in_words([kind_name(pattern.pattern_type) for pattern in verdict.patterns])
    patterns = f"The circle agrees on {named}." if named else "It agrees on no pattern."
    return (
        f"**F {by.falsehood:.2f}** for the {circle.layer} layer ({turn}), given by {escaped(seat)} "
        f"in round {by.round_number}. {patterns}"
    )


def _trouble(state: CircleState) -> tuple[Note, ...]:
    faults = [circle.fault for circle in state.circles.values() if circle.fault]
    return ending_notes(state.run, f"{ending(state.run, why='; '.join(faults))} There is no verdict.")


def _apart(state: CircleState) -> Section:
    result = state.result
    if result is None:
        return Section("Verdict", _trouble(state) or (Note("There is no verdict."),))
    models = [evaluation.model for evaluation in result.evaluations]
    names = dict(zip(models, seat_names(models), strict=True))
    worst = max(result.evaluations, key=lambda e: (e.falsehood, -e.seat))
    blocks: list[Block] = [
        Prose(
            f"**F {result.falsehood:.2f}**, given by {escaped(names[worst.model])}. "
            f"{_MODES[result.mode].capitalize()}.",
            lead=True,
        )
    ]
    blocks += [
        Voice(names[e.model], (Prose(visible(e.reasoning).text), *doubts(e)), f"c{(e.seat - 1) % 6}", score(e))
        for e in result.evaluations
    ]
    blocks += [Note(f"{f.model} gave no score: {f.kind}: {f.detail}", "warning") for f in result.failures]
    return Section("Verdict", tuple(blocks))


def _facts(state: CircleState) -> tuple[Fact, ...]:
    facts: list[Fact] = []
    circle = state.circle
    if circle and circle.verdict:
        verdict = circle.verdict
        facts += [
            Fact("Unfair, F", f"{verdict.consensus.falsehood:.2f}"),
            Fact("Fair, T · unclear, I", f"{verdict.consensus.truth:.2f} · {verdict.consensus.indeterminacy:.2f}"),
            Fact("Patterns", str(len(verdict.patterns))),
            Fact("Found by the empty chair", f"{verdict.empty_chair_influence:.0%}"),
        ]
    elif state.result:
        facts.append(Fact("Unfair, F", f"{state.result.falsehood:.2f}"))
    if circle:
        facts += [
            Fact("Seats", str(len(circle.seats))),
            Fact("Rounds", f"{len(circle.rounds)} of {circle.max_rounds}"),
        ]
    return (*facts, *head_facts(state.run))


def _title(state: CircleState) -> str:
    return visible(state.run.title).text[:_LONGEST_TITLE] or "A prompt before a circle"


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".") + "."
