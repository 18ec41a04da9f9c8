"""What moved between authors since the last look, as a report and as an Atom feed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from xml.etree import ElementTree

from assay.report.outline import Forms, Writing, read_outline
from assay.report.story import Story
from crux.comparison import SideView
from crux.watching import CruxChange

_ATOM = "http://www.w3.org/2005/Atom"
_HEADS = {"moved": "Moved", "new": "New", "gone": "Gone"}
_outline = cache(partial(read_outline, __package__ or "", "watch.toml"))


def watch_story(names: Sequence[str], changes: Sequence[CruxChange], *, first_look: bool) -> Story:
    """Return what moved, with both sides' newest sentences."""
    scope = {
        "names": names,
        "look": "the first look: everything is new" if first_look else "since the last look",
        "moved": changes,
        "changes": {head: [one for one in changes if one.kind == kind] for kind, head in _HEADS.items()},
    }
    forms: Forms = {
        "accent": lambda author: f"c{names.index(author) % 6}",
        "dated": lambda place: ", ".join(filter(None, (place.title, place.date))),
    }
    return _outline().story(Writing(scope, forms))


def feed_entries(changes: Sequence[CruxChange], run_id: str, now: str) -> list[dict[str, str]]:
    """Return an entry of the feed for each change."""
    entries: list[dict[str, str]] = []
    for one in changes:
        about = {"id": f"urn:assay:{run_id}:{one.key}", "title": f"{_HEADS[one.kind]}: {one.question}"}
        entries.append({**about, "updated": now, "content": "\n".join([*one.what, *map(_said, one.sides)])})
    return entries


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
