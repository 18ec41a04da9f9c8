"""A council's report: the answer first, then how it got there, loop by loop, and what it cost."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from assay.protocols.crucible.report.objections import (
    answer_quotations,
    checked,
    ledger_section,
    moves_section,
    signs,
    sources_section,
    still_open,
)
from assay.protocols.crucible.report.pictures import calls_picture
from assay.protocols.crucible.report.pins import Pins, pinned
from assay.protocols.crucible.report.state import CouncilState, NamedSeat, title
from assay.report.changes import changes
from assay.report.clean import one_line
from assay.report.frame import cost_section, ending, ending_notes, head_facts, provenance_section
from assay.report.story import (
    Block,
    Column,
    Details,
    Fact,
    Note,
    Plain,
    Prose,
    Quote,
    Section,
    Story,
    Table,
    Voice,
)
from assay.report.units import count_noun, in_words
from crucible.passages import ANSWER
from crucible.quotations import Quotation
from crucible.transcript import Critique, Loop

_GRAMMARS = {
    "parallel": "all seats answer at once, then the red team attacks them all",
    "sequential": "one draft passes from seat to seat, attacked after each",
    "debate": "all seats take positions, the red team attacks the weakest, those attacked defend",
}
_GUESSED = (
    "A number leads to the sentence under attack. It has a question mark where no clerk has read the objection: "
    "it then stands at the words that the objection quotes."
)
_UNATTACKED = "Not attacked: no critic found anything to object to, so nothing tested this answer. {}"
_LONGEST_TITLE, _CUT_TITLE = 400, 200


def council_story(state: CouncilState) -> Story:
    """Tell the story of a council in whatever state it is: finished, under way, stopped, failed or cut off."""
    quoted, pins = answer_quotations(state), pinned(state)
    loops = [_loop_section(state, loop, pins) for loop in state.in_order()]
    spend = cost_section(state.run, lambda seat, phase: state.seat(seat).name if seat else title(phase))
    rest = [*loops, _configuration(state), provenance_section(state.run)]
    path = _path(state)
    if state.answer is not None and path is not None:
        # Who reads on wants the answer and what it rests on; how it came about is there when asked for.
        folded = tuple(Details(one.heading, one.blocks) for one in rest if one)
        path, rest = Section(path.heading, (*path.blocks, *folded)), []
    sections = [
        _outcome(state, quoted, pins),
        ledger_section(state),
        moves_section(state),
        sources_section(state, quoted),
        spend if state.answer is not None else None,
        _question(state),
        path,
        *rest,
        spend if state.answer is None else None,
    ]
    return Story(
        title=_title(state) or "A council without a question",
        subtitle="Crucible",
        facts=_facts(state),
        sections=tuple(section for section in sections if section),
    )


def how_it_ended(state: CouncilState) -> str:
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
            f"It ended early, after {loops} of at most {state.limit()}: "
            "in the last one nothing of substance changed."
        )
    return f"It used all {count_noun(state.limit(), 'loop')} it was given."


def _outcome(state: CouncilState, quoted: list[Quotation], pins: Pins) -> Section | None:
    if state.answer is not None:
        # What the reader came for is read undisturbed: signs, and no marks.
        behind = tuple(replace(pin, start=pin.end) for pin in pins.by_text.get(ANSWER, ()))
        blocks: list[Block] = [Prose(state.answer, lead=True, notes=signs(quoted), pins=behind)]
        if state.not_attacked:
            blocks.insert(0, Note(_UNATTACKED.format(state.not_attacked), "warning"))
        if (left := still_open(state)) is not None:
            blocks.append(left)
        if state.run.state in ("stopped", "failed"):
            blocks[:0] = _trouble(state)
        return Section("Answer", tuple(blocks))
    blocks = [*_trouble(state)]
    loop = state.loop
    voices = [
        Voice(seat.name, (Prose(text),), seat.accent)
        for seat in state.deliberating
        if loop and (text := loop.standing(seat.key) or state.before(loop, seat.key))
    ]
    if voices:
        blocks += [Note("There is no answer. This is where the council stands:"), *voices]
    return Section("How far it got", tuple(blocks)) if blocks else None


def _trouble(state: CouncilState) -> tuple[Note, ...]:
    if state.run.state == "finished":
        return (Note("The run ended without an answer.", "warning"),)
    return ending_notes(state.run, how_it_ended(state))


def _path(state: CouncilState) -> Section | None:
    if state.triage is None:
        return None
    blocks: list[Block] = [Plain(_summary(state))]
    left_out = [
        f"{state.seat(failure.seat).name} in loop {loop.number} ({failure.error}: {failure.message})"
        for loop in state.loops.values()
        for failure in loop.left_out
    ]
    if left_out:
        blocks.append(Note(f"Left out: {'; '.join(left_out)}.", "warning"))
    if state.shortened:
        calls = in_words(list(dict.fromkeys(one.phase for one in state.shortened)))
        sentence = "Earlier texts of the council were cut, for the model reads no longer prompt, in the calls for"
        blocks.append(Note(f"{sentence} {calls}.", "warning"))
    if state.letters:
        by_letter = sorted((letter, state.seat(key).name) for key, letter in state.letters.items())
        seats = in_words([f"{letter} ({name})" for letter, name in by_letter])
        blocks.append(Plain(f"The red team and the synthesis knew the seats by letters: {seats}."))
    if (figure := calls_picture(state)) is not None:
        blocks.append(figure)
    return Section("How it got there", tuple(blocks))


def _summary(state: CouncilState) -> str:
    if state.short_circuited:
        return how_it_ended(state)
    seats = in_words([seat.name.lower() for seat in state.deliberating])
    flavor = state.triage.red_team_flavor.value if state.triage else ""
    how = _GRAMMARS.get(state.grammar, state.grammar)
    return (
        f"{len(state.deliberating)} seats ({seats}) deliberated against a red team that attacked on {flavor} "
        f"grounds. In each loop {how}. {how_it_ended(state)}"
    )


def _loop_section(state: CouncilState, loop: Loop, pins: Pins) -> Section:
    blocks: list[Block] = []
    critiques = [loop.critiques[step] for step in sorted(loop.critiques)]
    for index, (key, kind, text) in enumerate(state.spoken(loop)):
        while critiques and critiques[0].after <= index:
            blocks.append(_critique(state, loop, critiques.pop(0), pins))
        blocks.append(_answer(state, loop, state.seat(key), kind, text, pins))
    blocks += [_critique(state, loop, critique, pins) for critique in critiques]
    for failure in loop.failures.values():
        silent = "gave no answer and was left out" if failure in loop.left_out else "did not defend its position"
        sentence = f"{state.seat(failure.seat).name} {silent}: {failure.error}: {failure.message}"
        blocks.append(Note(sentence, "warning"))
    blocks.append(_verdict(state, loop))
    return Section(f"Loop {loop.number}", tuple(blocks))


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
    aimed = in_words([state.seat(target).name for target in critique.targets])
    own = pins.by_text.get(f"critique/{loop.number}/{critique.step}", ())
    blocks: list[Block] = [Prose(critique.text, notes=checked(state, critique.text), pins=own)]
    if pins.guessed and any(pin.leads for pin in own):
        blocks.append(Note(_GUESSED))
    return Voice(name, tuple(blocks), "red", f"attacks {aimed}" if aimed else "critique")


def _verdict(state: CouncilState, loop: Loop) -> Note:
    if not loop.ended:
        return Note("This loop was not completed.", "warning")
    last = loop.number == max(state.loops)
    if loop.note:
        return Note(f"The comparison with the loop before failed, so the council went on: {loop.note}", "warning")
    if not loop.judged:
        first = "The first loop: there was nothing to compare it with yet."
        return Note(first if loop.number == 1 else "Whether positions moved in this loop was not measured.")
    if loop.delta_detected:
        return Note("Compared with the loop before: positions changed in substance.")
    after = " The council could stop here." if last else ""
    return Note(f"Compared with the loop before: nothing of substance changed.{after}", "good")


def _configuration(state: CouncilState) -> Section | None:
    triage = state.triage
    if triage is None:
        return None
    settings = (
        ("Complexity", triage.complexity.value),
        (
            "Grammar",
            f"{state.grammar}: {_GRAMMARS[state.grammar]}" if state.grammar in _GRAMMARS else state.grammar,
        ),
        ("Loops", f"at most {state.limit()}, {'may' if triage.allow_early_exit else 'must not'} end early"),
        ("Red team", triage.red_team_flavor.value),
        ("Short circuit", "allowed" if triage.short_circuit_allowed else "not allowed"),
    )
    seats = tuple((seat.name, seat.hint or "no preference") for seat in state.seats)
    # The red team is asked in words of the specification, and never sees what triage wrote for it.
    prompts = tuple(Quote(seat.prompt, seat.name) for seat in state.deliberating if seat.prompt)
    blocks: list[Block] = [
        Quote(triage.reconstructed_query, "The question as the triage understood it"),
        Table((Column("Setting"), Column("Chosen")), settings),
        Table((Column("Seat"), Column("Model hint")), seats),
        Details("What each seat was told to be", prompts),
        Details("How the answer was to be written", (Plain(triage.synthesis_instruction),)),
    ]
    return Section("Configuration", tuple(blocks))


def _facts(state: CouncilState) -> tuple[Fact, ...]:
    council = f"{len(state.deliberating)} + red team" if state.red_team else "none"
    return (
        Fact("Council", "none" if state.short_circuited else council),
        Fact("Loops", f"{len(state.loops)} of {state.limit()}" if state.loops else "0"),
        *head_facts(state.run),
    )


def _title(state: CouncilState) -> str:
    """Return the question; a long one up to a word's end, with a mark."""
    asked = state.question or state.run.title
    if len(asked) <= _LONGEST_TITLE:
        return asked
    return one_line(asked, _CUT_TITLE).rstrip("…").rpartition(" ")[0] + " …"


def _question(state: CouncilState) -> Section | None:
    """Return the whole question, where the title does not hold it, and what the council was to know beside it."""
    task: dict[str, Any] = state.run.started.task if state.run.started else {}
    blocks: list[Block] = []
    if len(state.question) > _LONGEST_TITLE:
        blocks.append(Plain(state.question))
    if task.get("purpose"):
        blocks.append(Plain(f"Asked as: {task['purpose']}."))
    if earlier := task.get("earlier"):
        blocks.append(Details(f"It goes on from run {task.get('follow', '')}".rstrip(), (Plain(earlier),)))
    return Section("The question", tuple(blocks)) if blocks else None
