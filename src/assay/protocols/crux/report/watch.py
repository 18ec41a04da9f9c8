"""What moved between authors since the last look, as a report and as an Atom feed."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from assay.report.story import Block, Details, Fact, Plain, Quote, Section, Story, Voice
from assay.report.units import in_words
from crux.comparison import SideView
from crux.watching import CruxChange

_ATOM = "http://www.w3.org/2005/Atom"
_HEADS = {"moved": "Moved", "new": "New", "gone": "Gone"}


def watch_story(names: Sequence[str], changes: Sequence[CruxChange], *, first_look: bool) -> Story:
    """Return what moved, with both sides' newest sentences."""
    sections = [
        Section(head, tuple(_details(change, list(names)) for change in changes if change.kind == kind))
        for kind, head in _HEADS.items()
        if any(change.kind == kind for change in changes)
    ]
    if not sections:
        sections = [Section("Nothing moved", (Plain("Every crux stands as it stood at the last look."),))]
    return Story(
        f"{in_words(list(names))}, watched",
        "Crux · the first look: everything is new" if first_look else "Crux · since the last look",
        facts=tuple(
            Fact(head, str(sum(change.kind == kind for change in changes))) for kind, head in _HEADS.items()
        ),
        sections=tuple(sections),
    )


def _details(change: CruxChange, names: Sequence[str]) -> Details:
    blocks: list[Block] = [Plain(f"{line}.") for line in change.what]
    for side in change.sides:
        quotes = [Quote(place.quote, ", ".join(filter(None, (place.title, place.date)))) for place in side.places]
        accent = f"c{names.index(side.author) % 6}"
        blocks.append(Voice(side.author, (Plain(side.words), *quotes), accent, side.answer))
    return Details(change.question, tuple(blocks))


def feed_entries(changes: Sequence[CruxChange], run_id: str, now: str) -> list[dict[str, str]]:
    """Return an entry of the feed for each change."""
    return [
        {
            "id": f"urn:assay:{run_id}:{change.key}",
            "title": f"{_HEADS[change.kind]}: {change.question}",
            "updated": now,
            "content": "\n".join([*change.what, *map(_said, change.sides)]),
        }
        for change in changes
    ]


def _said(side: SideView) -> str:
    quotes = "; ".join(f"“{place.quote}”{f' ({place.date})' if place.date else ''}" for place in side.places)
    return f"{side.author}: {side.words}. {quotes}"


def atom(title: str, entries: Sequence[dict[str, str]]) -> str:
    """Return the feed (RFC 4287)."""
    feed = ElementTree.Element("feed", xmlns=_ATOM)
    ElementTree.SubElement(feed, "title").text = title
    ElementTree.SubElement(feed, "id").text = f"urn:assay:watch:{title}"
    ElementTree.SubElement(feed, "updated").text = entries[0]["updated"] if entries else "1970-01-01T00:00:00+00:00"
    ElementTree.SubElement(ElementTree.SubElement(feed, "author"), "name").text = "Assay"
    for entry in entries:
        element = ElementTree.SubElement(feed, "entry")
        for key in ("id", "title", "updated", "content"):
            ElementTree.SubElement(element, key).text = entry[key]
    ElementTree.indent(feed)
    return ElementTree.tostring(feed, encoding="unicode", xml_declaration=True) + "\n"
