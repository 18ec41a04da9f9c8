"""A council's report: the answer first, then how it got there, loop by loop, and what it cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from typing import Any

from assay.protocols.crucible.report.objections import (
    answer_quotations,
    checked,
    footnotes,
    gist,
    ledger_table,
    moves,
    shown_lines,
    signs,
)
from assay.protocols.crucible.report.pictures import conclusions_picture, objections_picture
from assay.protocols.crucible.report.pins import Pins, pinned
from assay.protocols.crucible.report.state import CouncilState, NamedSeat, title, words
from assay.report.changes import changes
from assay.report.clean import one_line
from assay.report.frame import cost_section, ending, ending_notes, head_facts, provenance_section
from assay.report.outline import Forms, Own, Writing, read_outline
from assay.report.story import Block, Details, Note, Plain, Prose, Section, Story, Voice
from assay.report.units import count_noun, in_words
from crucible.ledger import EFFECTS, Ledger, headline
from crucible.passages import ANSWER
from crucible.transcript import Critique, Loop

_LONGEST_TITLE, _CUT_TITLE = 400, 200
_outline = cache(partial(read_outline, __package__ or "", "story.toml"))


def council_story(state: CouncilState) -> Story:
    """Tell the story of a council in whatever state it is: finished, under way, stopped, failed or cut off."""
    answer, quoted, pins = state.answer or "", answer_quotations(state), pinned(state)
    behind = tuple(replace(pin, start=pin.end) for pin in pins.by_text.get(ANSWER, ()))
    own: Own = {
        "trouble": lambda _: _trouble(state),
        # What the reader came for is read undisturbed: signs, and no marks.
        "answer": lambda _: [Prose(answer, lead=True, notes=signs(quoted, answer), pins=behind)],
        "ledger": lambda _: [*filter(None, [objections_picture(state)]), *ledger_table(state)],
        "footnotes": lambda _: footnotes(state, quoted),
        "conclusions": lambda _: filter(None, [conclusions_picture(state)]),
        "loop": lambda loop: _loop_blocks(state, loop, pins),
    }
    forms: Forms = {
        "effect": EFFECTS.__getitem__,
        "hint": lambda seat: seat.hint or "no preference",
        "seat": state.named,
        "seats": lambda seats: in_words(list(map(state.named, seats))),
        "failed": lambda ones: "; ".join(f"{state.named(one.seat)} in loop {one.loop} ({one.message})" for one in ones),
        "lettered": lambda pairs: in_words([f"{letter} ({state.named(key)})" for letter, key in pairs]),
        "lines": "\n".join,
        "shown": shown_lines,
        "yes": lambda one: "yes" if one else "no",
    }
    nowhere = sum(one.found == "nowhere" for one in quoted)
    story = _outline().story(Writing({**_told(state), "nowhere": nowhere}, forms, own))
    spend = cost_section(state.run, lambda seat, phase: state.seat(seat).name if seat else title(phase))
    sections, provenance = list(story.sections), provenance_section(state.run)
    at = next((n for n, one in enumerate(sections) if one.heading == "How it got there"), len(sections))
    if state.answer is not None and at < len(sections):
        # Who reads on wants the answer and what it rests on; how it came about is there when asked for.
        path, *rest = sections[at:]
        folded = (Details(one.heading, one.blocks) for one in (*rest, provenance) if one)
        ordered = [*sections[:at], spend, Section(path.heading, (*path.blocks, *folded))]
    else:
        ordered = [*sections, provenance, spend]
    return replace(story, facts=(*story.facts, *head_facts(state.run)), sections=tuple(one for one in ordered if one))


def _told(state: CouncilState) -> dict[str, Any]:
    """Return the names that the outline tells of."""
    asked, seats, loop = state.question or state.run.title, state.deliberating, state.loop
    ledger = None if state.short_circuited else state.ledger
    if len(asked) > _LONGEST_TITLE:
        asked = one_line(asked, _CUT_TITLE).rstrip("…").rpartition(" ")[0] + " …"
    held = [(seat, loop.standing(seat.key) or state.before(loop, seat.key)) for seat in seats if loop]
    return {
        "state": state,
        "title": asked or "A council without a question",
        "long": len(state.question) > _LONGEST_TITLE,
        "task": state.run.started.task if state.run.started else {},
        "council": f"{len(seats)} + red team" if state.red_team and not state.short_circuited else "none",
        "loops_of": f"{len(state.loops)} of {state.limit()}" if state.loops else "0",
        "loops": state.in_order(),
        "still_open": [f"• {one.id}: {gist(one.text.words)}" for one in (ledger.still_open if ledger else ())],
        "voices": [(seat, text) for seat, text in held if text],
        "ledger": ledger,
        "headline": headline(ledger or Ledger()),
        "moves": moves(state),
        "summary": _summary(state),
        "silent": [one for each in state.in_order() for one in each.left_out],
        "shortened": list(dict.fromkeys(one.phase for one in state.shortened)),
        "letters": sorted((letter, key) for key, letter in state.letters.items()),
        "how": words("grammars").get(state.grammar, ""),
        "limit": state.limit(),
        # The red team is asked in words of the specification, and never sees what triage wrote for it.
        "told": [seat for seat in seats if seat.prompt],
    }


def _ended(state: CouncilState) -> str:
    """Why the loops ended where they did, as a sentence."""
    complete = [loop for loop in state.loops.values() if loop.ended]
    loops = count_noun(len(complete), "complete loop" if len(complete) < len(state.loops) else "loop")
    if state.run.state in ("stopped", "failed"):
        return ending(state.run, after=f" after {loops}")
    if state.answer is None:
        return f"There are {loops} so far."
    if state.short_circuited:
        return "The question was simple enough for one model; no council sat."
    if state.early_exit:
        return (
            f"It ended early, after {loops} of at most {state.limit()}: in the last one nothing of substance changed."
        )
    return f"It used all {count_noun(state.limit(), 'loop')} it was given."


def _trouble(state: CouncilState) -> tuple[Note, ...]:
    if state.run.state == "finished" and state.answer is None:
        return (Note("The run ended without an answer.", "warning"),)
    return ending_notes(state.run, _ended(state))


def _summary(state: CouncilState) -> str:
    if state.short_circuited or state.triage is None:
        return _ended(state)
    seats, flavor = [seat.name.lower() for seat in state.deliberating], state.triage.red_team_flavor.value
    return (
        f"{len(seats)} seats ({in_words(seats)}) deliberated against a red team that attacked on {flavor} grounds. "
        f"In each loop {words('grammars').get(state.grammar, state.grammar)}. {_ended(state)}"
    )


def _loop_blocks(state: CouncilState, loop: Loop, pins: Pins) -> Iterator[Block]:
    critiques = [loop.critiques[step] for step in sorted(loop.critiques)]
    for index, (key, kind, text) in enumerate(state.spoken(loop)):
        while critiques and critiques[0].after <= index:
            yield _critique(state, loop, critiques.pop(0), pins)
        yield _answer(state, loop, state.seat(key), kind, text, pins)
    yield from (_critique(state, loop, critique, pins) for critique in critiques)
    for failure in loop.failures.values():
        silent = "gave no answer and was left out" if failure in loop.left_out else "did not defend its position"
        yield Note(f"{state.named(failure.seat)} {silent}: {failure.message}", "warning")
    yield _verdict(state, loop)


def _answer(state: CouncilState, loop: Loop, seat: NamedSeat, kind: str, text: str, pins: Pins) -> Voice:
    before = loop.answers.get((seat.key, "position")) if kind == "defence" else state.before(loop, seat.key)
    notes, own = checked(state, text), pins.by_text.get(f"{loop.number}/{seat.key}/{kind}", ())
    if before is None:
        return Voice(seat.name, (Prose(text, notes=notes, pins=own),), seat.accent, kind)
    change = changes(before, text)
    if not change.share and not change.dropped and not change.gone:
        same = Details("The same as before", (Prose(text, pins=own),))
        return Voice(seat.name, (same,), seat.accent, f"{kind}, unchanged")
    blocks: list[Block] = [Prose(text, change.marks, notes=notes, gone=change.gone, pins=own)]
    why = {sentence: pins.attacking(sentence) for sentence in change.dropped}
    attacked = tuple(sentence for sentence in change.dropped if why[sentence])
    ids = dict.fromkeys(one for sentence in attacked for one in why[sentence])
    rest = tuple(sentence for sentence in change.dropped if not why[sentence])
    for lost, by in ((attacked, f", attacked by {in_words(list(ids))}"), (rest, "")):
        if lost:
            blocks.append(Details(f"{count_noun(len(lost), 'sentence')} given up{by}", tuple(map(Plain, lost))))
    aimed = pins.aimed(loop.number if kind == "defence" else loop.number - 1, seat.key)
    remark = f"{kind}, revised after {in_words(aimed)}" if aimed else kind
    return Voice(seat.name, tuple(blocks), seat.accent, remark)


def _critique(state: CouncilState, loop: Loop, critique: Critique, pins: Pins) -> Voice:
    name = state.red_team.name if state.red_team else "Red team"
    aimed = in_words([state.named(target) for target in critique.targets])
    own = pins.by_text.get(f"critique/{loop.number}/{critique.step}", ())
    said = Prose(critique.text, notes=checked(state, critique.text), pins=own)
    return Voice(name, (said,), "red", f"attacks {aimed}" if aimed else "critique")


def _verdict(state: CouncilState, loop: Loop) -> Note:
    if not loop.ended:
        return Note("This loop was not completed.", "warning")
    if loop.note:
        return Note(f"The comparison with the loop before failed, so the council went on: {loop.note}", "warning")
    if not loop.judged:
        first = "The first loop: there was nothing to compare it with yet."
        return Note(first if loop.number == 1 else "Whether positions moved in this loop was not measured.")
    if loop.delta_detected:
        return Note("Compared with the loop before: positions changed in substance.")
    after = " The council could stop here." if loop.number == max(state.loops) else ""
    return Note(f"Compared with the loop before: nothing of substance changed.{after}", "good")
