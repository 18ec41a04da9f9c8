"""What a council's report shows first below its answer: the ledger, who moved and why, and the sources."""

from __future__ import annotations

import re

from assay.protocols.crucible.report.state import CouncilState
from assay.report.clean import one_line
from assay.report.story import Block, Column, Details, Footnotes, Note, Plain, Quote, Section, Sign, Table
from assay.report.units import count_noun, in_words
from crucible.ledger import EFFECTS, Objection, headline
from crucible.passages import ANSWER
from crucible.quotations import Quotation, quotations

_OF_RECORDS = ("It strikes", "What the seat did", "In the answer")
#: Rows that fit one screen; the rest is folded.
_SCREEN = 12
_FIRST = re.compile(r".{20,}?[.!?](?=\s)")
#: The number of an objection, and whom it names as struck with all that was copied along: a column tells that.
_HEADING = re.compile(
    r"(?:\(?\d{1,2}[.):]+\s+)?(?:(?:attack|objection|critique|strikes)\b[^:.!?“\"]{0,60}:\s*)?(?:[-–•]\s+)?",
    re.IGNORECASE,
)
#: What fails, where an objection is a list of parts under names; the claim stands in a place of its own.
_FAILS = re.compile(
    r"^claim\s*:.*?[-–•]\s+(?:why it |what )?(?:fails|failure|fault|flaw|objection|problem|refuted?|why)\s*:\s*",
    re.IGNORECASE,
)
_OBJECTION, _CHANGE, _CONCLUSION = 120, 110, 140
_WORDS = {"exact": "", "folded": " (but for case, blanks or signs)", "nowhere": "stands nowhere"}


def still_open(state: CouncilState) -> Block | None:
    """Return the objections that the answer leaves open, for below it."""
    left = state.ledger.still_open if state.ledger else ()
    if not left:
        return None
    lines = [f"• {one.id}: {gist(one)}" for one in left]
    return Plain("\n".join(["Still open:", *lines]))


def ledger_section(state: CouncilState) -> Section | None:
    """Return the ledger as a table that fits one screen, and each objection whole below it, folded."""
    ledger = state.ledger
    if ledger is None or state.short_circuited:
        return None
    rows = [_row(state, one) for one in ledger.objections]
    heads = ("Objection", *(_OF_RECORDS if state.of_records else ("Aimed at", "What the seat did", "What changed")))
    columns = tuple(map(Column, heads))
    blocks: list[Block] = [Plain(f"{headline(ledger)}.")]
    if ledger.note:
        blocks.append(Note(ledger.note, "warning"))
    links = [(f"ledger-{one.id}", f"claim-{one.id}" if one.claim else one.id) for one in ledger.objections]
    if rows:
        blocks.append(Table(columns, tuple(rows[:_SCREEN]), links=tuple(links[:_SCREEN])))
    if rows[_SCREEN:]:
        more = Table(columns, tuple(rows[_SCREEN:]), links=tuple(links[_SCREEN:]))
        blocks.append(Details(count_noun(len(more.rows), "more objection"), (more,)))
    if ledger.objections:
        whole = tuple(block for one in ledger.objections for block in _whole(state, one))
        blocks.append(Details("Each objection in its own words, with what was written about it", whole))
    return Section("Objections", tuple(blocks))


def gist(one: Objection) -> str:
    """Return the beginning of an objection on a line: what fails, without its number and heading."""
    line = one_line(one.text.words.replace("*", "").replace("#", ""), 1_000).strip()
    for heading in (_HEADING, _FAILS):
        line = line[match.end() :] if (match := heading.match(line)) and match.end() < len(line) else line
    first = _FIRST.match(line)
    return one_line(first[0] if first else line, _OBJECTION)


def _row(state: CouncilState, one: Objection) -> tuple[str, ...]:
    by = f" by {_name(state, one.by)}" if one.by else ""
    aimed = in_words([_name(state, seat) for seat in one.targets]) or "all"
    if state.of_records:
        who = aimed if one.targets else "The earlier answer"
        struck = f"{who}: {one_line(one.claim.words if one.claim else '', _CHANGE)}"
        said = f": {one_line(one.said.words, _CHANGE)}" if one.said else ""
        return f"{one.id} {gist(one)}", struck, f"{one.outcome}{by}", f"{EFFECTS[one.effect or 'unclear']}{said}"
    changed = "; ".join(one_line(change.after.words, _CHANGE) for change in one.changes)
    return f"{one.id} {gist(one)}", aimed, f"{one.outcome}{by}", changed


def _name(state: CouncilState, seat: str) -> str:
    return "the answer" if seat == ANSWER else state.seat(seat).name


def _whole(state: CouncilState, one: Objection) -> list[Block]:
    blocks: list[Block] = [Quote(one.text.words, f"{one.id}, loop {one.loop}: {one.outcome}")]
    if one.claim:
        blocks.append(Quote(one.claim.words, f"attacked: {in_words([_name(state, s) for s in one.targets])}"))
    if one.reply:
        blocks.append(Quote(one.reply.words, f"{one.outcome} by {_name(state, one.by)}"))
    if one.effect:
        words = EFFECTS[one.effect]
        blocks.append(
            Quote(one.said.words, f"in the answer: {words}") if one.said else Plain(f"The claim: {words}.")
        )
    for change in one.changes:
        if change.before:
            blocks.append(Quote(change.before.words, "gone because of it"))
        if one.reply is None or change.after.words != one.reply.words:
            blocks.append(Quote(change.after.words, "new because of it"))
    return blocks


def moves_section(state: CouncilState) -> Section | None:
    """Return who moved and why: conclusions where a judge compared them, and what each seat conceded."""
    if state.ledger is None and not state.conclusions:
        return None
    rows = [_move(state, seat.key, seat.role, seat.name) for seat in state.deliberating]
    if not rows:
        return None
    columns = (Column("Seat"), Column("Concluded first"), Column("Concludes now"), Column("Moved by"))
    return Section("Who moved and why", (Table(columns, tuple(rows)),))


def _move(state: CouncilState, key: str, role: str, name: str) -> tuple[str, ...]:
    judged = [state.conclusions[place] for place in sorted(state.conclusions) if place[1] == role]
    objections = state.ledger.objections if state.ledger else ()
    moved_by = [one.id for one in objections if one.by == key and one.outcome == "conceded"]
    held = [one.id for one in objections if one.by == key and one.outcome == "refuted"]
    why = in_words(moved_by) if moved_by else "nothing that it conceded"
    if held:
        why += f"; refuted {in_words(held)}"
    if not judged:
        return name, "–", "–", why
    moved = any(not one.same for one in judged)
    now = one_line(judged[-1].after, _CONCLUSION) if moved else "the same"
    return name, one_line(judged[0].before, _CONCLUSION), now, why


def answer_quotations(state: CouncilState) -> list[Quotation]:
    """Return what the answer quotes, looked for in the attachments, the question and the council's texts."""
    return quotations(state.answer or "", state.attachments, [("the question", state.question), *state.texts()])


def signs(quoted: list[Quotation]) -> tuple[Sign, ...]:
    """Return a number behind each quotation."""
    return tuple((one.end, str(number)) for number, one in enumerate(quoted, 1))


def checked(state: CouncilState, text: str) -> tuple[Sign, ...]:
    """Return a sign behind each quotation of a seat: found, or nowhere."""
    others = [(who, other) for who, other in state.texts() if other != text]
    quoted = quotations(text, state.attachments, [("the question", state.question), *others])
    return tuple((one.end, "nowhere" if one.found == "nowhere" else "✓") for one in quoted)


def sources_section(state: CouncilState, quoted: list[Quotation]) -> Section | None:
    """Return the sources of the answer's quotations with their lines, and the attachments."""
    attachments = state.attachments
    blocks: list[Block] = []
    if quoted:
        blocks.append(Footnotes(tuple((str(n), _source(state, one)) for n, one in enumerate(quoted, 1))))
    nowhere = sum(one.found == "nowhere" for one in quoted)
    if nowhere:
        blocks.append(Note(f"{count_noun(nowhere, 'quotation')} of the answer cannot be found.", "warning"))
    if attachments:
        rows = tuple((name, one.name, str(one.lines), _shown(one.shown)) for name, one in attachments.items())
        heads = (Column("Id"), Column("Attached"), Column("Lines", "number"), Column("Shown"))
        blocks.append(Table(heads, rows))
    started = state.run.started
    left_out = started.task.get("left_out", ()) if started else ()
    if left_out:
        blocks.append(Details(f"{count_noun(len(left_out), 'file')} left out", tuple(map(Plain, left_out))))
    return Section("Sources", tuple(blocks)) if blocks else None


def _shown(spans: tuple[tuple[int, int], ...] | None) -> str:
    if spans is None:
        return "whole"
    return "lines " + ", ".join(f"{first}–{last}" for first, last in spans) if spans else "nothing"


def _source(state: CouncilState, one: Quotation) -> str:
    attachment = state.attachments.get(one.source)
    words = f"“{one_line(one.words, 200)}” " if one.words else ""
    if one.found == "nowhere":
        return f"{words or one.place + ' '}{_WORDS['nowhere']}"
    name = f" of {attachment.name}" if attachment else ""
    return f"{words}{one.place}{name}{_WORDS[one.found]}"
