"""What a council's report shows first below its answer: the ledger, who moved and why, and the sources."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from assay.protocols.crucible.report.state import CouncilState
from assay.report.clean import one_line
from assay.report.columns import columns
from assay.report.story import Block, Details, Footnotes, Sign, Table
from assay.report.units import count_noun, in_words
from crucible.ledger import EFFECTS, Objection
from crucible.material import Attachment
from crucible.quotations import Quotation, quotations
from crucible.sums import stated_sums
from llm_runtime.grouping import grouped

#: Rows that fit one screen; the rest is folded.
_SCREEN = 12
_DRESS = re.compile(r"^(?:[-#*>` ]++|\d++[.)] )++")
_LEAST = 30
_OBJECTION, _CHANGE, _CONCLUSION = 120, 110, 140
_WORDS = {"exact": "", "folded": " (but for case, blanks or signs)", "nowhere": "stands nowhere"}
_WORDS["picture"] = ", a picture: not checked"


def gist(text: str, most: int = _OBJECTION) -> str:
    """Return the first sentence of a text without its Markdown dress, on one line."""
    line = _DRESS.sub("", one_line(text[:2_000], 2_000)).replace("*", "").replace("`", "")
    ends = [at for end in (". ", "? ", "! ") if _LEAST <= (at := line.find(end)) < most]
    return line[: min(ends) + 1] if ends else one_line(line, most)


def ledger_table(state: CouncilState) -> Iterator[Block]:
    """Yield the ledger as a table that fits one screen, and what is left of it folded."""
    last = "In the answer" if state.of_records else "What changed"
    heads = columns("Objection", "It strikes", "What the seat did", last)
    listed: Sequence[Objection] = state.ledger.objections if state.ledger else ()
    for later, part in enumerate(filter(None, (listed[:_SCREEN], listed[_SCREEN:]))):
        links = tuple((f"ledger-{one.id}", f"claim-{one.id}" if one.claim else one.id) for one in part)
        table = Table(heads, tuple(_row(state, one) for one in part), links=links)
        yield Details(count_noun(len(part), "more objection"), (table,)) if later else table


def _row(state: CouncilState, one: Objection) -> tuple[str, ...]:
    aimed = in_words(list(map(state.named, one.targets))) or ("The earlier answer" if state.of_records else "all")
    struck = f"{aimed}: {one_line(one.claim.words, _CHANGE)}" if one.claim else aimed
    became = "; ".join(one_line(change.after.words, _CHANGE) for change in one.changes)
    if one.effect:
        became = EFFECTS[one.effect] + (f": {one_line(one.said.words, _CHANGE)}" if one.said else "")
    did = f"{one.outcome} by {state.named(one.by)}" if one.by else one.outcome
    return f"{one.id} {gist(one.text.words)}", struck, did, became


def moves(state: CouncilState) -> list[tuple[str, ...]]:
    """Return for each seat what it concluded first and concludes now, and which objections moved it."""
    if state.ledger is None and not state.conclusions:
        return []
    objections, rows = state.ledger.objections if state.ledger else (), list[tuple[str, ...]]()
    for seat in state.deliberating:
        judged = [state.conclusions[place] for place in sorted(state.conclusions) if place[1] == seat.role]
        did = grouped((one.outcome, one.id) for one in objections if one.by == seat.key)
        why = in_words(did.get("conceded", [])) or "nothing that it conceded"
        why += f"; refuted {in_words(did['refuted'])}" if "refuted" in did else ""
        first = one_line(judged[0].before, _CONCLUSION) if judged else "–"
        moved = any(not one.same for one in judged)
        now = one_line(judged[-1].after, _CONCLUSION) if moved else "the same" if judged else "–"
        rows.append((seat.name, first, now, why))
    return rows


def answer_quotations(state: CouncilState) -> list[Quotation]:
    """Return what the answer quotes, looked for in the attachments, the question and the council's texts."""
    return quotations(state.answer or "", state.attachments, [("the question", state.question), *state.texts()])


def signs(quoted: list[Quotation], text: str) -> tuple[Sign, ...]:
    """Return a number behind each quotation of a text, and what is so behind each sum."""
    return (*((one.end, str(number)) for number, one in enumerate(quoted, 1)), *stated_sums(text))


def checked(state: CouncilState, text: str) -> tuple[Sign, ...]:
    """Return a sign behind each quotation of a seat, found or nowhere, and behind each sum."""
    others = [(who, other) for who, other in state.texts() if other != text]
    quoted = quotations(text, state.attachments, [("the question", state.question), *others])
    found = [(one.end, {"nowhere": "nowhere", "picture": "not checked"}.get(one.found, "✓")) for one in quoted]
    return (*found, *stated_sums(text))


def footnotes(state: CouncilState, quoted: list[Quotation]) -> list[Footnotes]:
    """Return the sources of the answer's quotations, with their lines."""
    entries = tuple((str(number), _source(state, one)) for number, one in enumerate(quoted, 1))
    return [Footnotes(entries)] if entries else []


def shown_lines(one: Attachment) -> str:
    """Say which lines of an attachment were shown."""
    if one.picture:
        return "as a picture: what is quoted from it is not checked"
    if one.shown is None:
        return "whole"
    return "lines " + ", ".join(f"{first}–{last}" for first, last in one.shown) if one.shown else "nothing"


def _source(state: CouncilState, one: Quotation) -> str:
    attachment = state.attachments.get(one.source)
    words = f"“{one_line(one.words, 200)}” " if one.words else ""
    if one.found == "nowhere":
        return f"{words or one.place + ' '}{_WORDS['nowhere']}"
    return f"{words}{one.place}{f' of {attachment.name}' if attachment else ''}{_WORDS[one.found]}"
