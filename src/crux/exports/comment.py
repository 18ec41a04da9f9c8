"""What divides a group as a Markdown comment for the thread that it was read from; it calls nobody."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from crux.comparison import Common, Comparison, CruxCandidate, Settling, SideView
from crux.exports.markdown import plain

#: Of a side, how many people are quoted.
_QUOTED = 3
_HEADS = {"ground": "Both take for true", "proposal": "Both sides' own claims bear"}


def to_comment(comparison: Comparison) -> str:
    """Return the comment: a table of the cruxes, then each with its sentences folded; all of it escaped."""
    texts = sum(author.texts for author in comparison.authors)
    parts = [f"### What divides {len(comparison.authors)} people here"]
    if comparison.decision:
        parts.append(_told(comparison.decision))
    if not comparison.candidates:
        parts.append("No question was found to which some say YES and some say NO.")
    else:
        parts.append("\n".join(_table(comparison.candidates)))
        parts += ["\n\n".join(_folded(number, one)) for number, one in enumerate(comparison.candidates, start=1)]
    parts += [f"*{_told(line)}*" for line in comparison.warnings[:5]]
    parts.append(
        f"<sub>Read by a model from {texts} texts. Every quotation stands in them word for word; nobody's voice is "
        "imitated. Not what you said? Say so here, and it is struck.</sub>"
    )
    return "\n\n".join(parts) + "\n"


def _table(cruxes: Sequence[CruxCandidate]) -> Iterator[str]:
    yield "| | Question | YES | NO | Rests on it |"
    yield "|---|---|---|---|---|"
    for number, one in enumerate(cruxes, start=1):
        sides = (", ".join(_told(view.author) for view in one.side(answer)) for answer in ("YES", "NO"))
        doubt = "" if one.confirmed else " (not confirmed by their sentences)"
        yield f"| {number} | {_told(one.question)}{doubt} | {' | '.join(sides)} | {one.rests} |"


def _folded(number: int, crux: CruxCandidate) -> Iterator[str]:
    yield f"<details><summary>{number}. {_told(crux.question)}</summary>"
    for answer in ("YES", "NO"):
        views = crux.side(answer)
        yield f"**{answer}**"
        yield from (_said(view) for view in sorted(views, key=lambda view: not view.read)[:_QUOTED])
        if len(views) > _QUOTED:
            yield f"and {len(views) - _QUOTED} more"
    yield from (f"**{_HEADS[both.kind]}:** {_told(both.text)} ({_by(both)})" for both in crux.common)
    yield from (_settled(way) for way in crux.settled_by)
    yield "</details>"


def _said(view: SideView) -> str:
    claim = f"{_told(view.author)}: {_told(view.words)}{f' ({view.history})' if view.history else ''}"
    if not view.places:
        return claim
    place = view.places[-1]
    where = place.date[:10] or _told(place.title)
    link = f"[{where or 'there'}]({place.url})" if place.url.startswith("https://") else where
    return f"{claim}\n> {_told(place.quote)} {f'({link})' if link else ''}".rstrip()


def _by(both: Common) -> str:
    return "; ".join(f"{_told(view.author)}: {_told(view.words)}" for view in both.sides)


def _settled(way: Settling) -> str:
    named = ", ".join(dict.fromkeys(_told(view.author) for view in way.sources))
    return f"**Would settle it, {way.by}:** {_told(way.text)} ({f'asked for by {named}' if named else 'no source'})"


def _told(text: str) -> str:
    """Return a text escaped, in which no name calls a person and no number another thread."""
    return plain(text).replace("@", "@\u2060").replace("\\#", "\\#\u2060")
