"""RSS 2.0, RSS 1.0 and Atom, from a file: titles, dates, links and the fullest text an entry has."""

from __future__ import annotations

from datetime import UTC
from email.utils import parsedate_to_datetime
from xml.etree import ElementTree

from crux.personas.corpus import CorpusItem
from crux.personas.source import CorpusError, iso_date, one_line, plain

_TEXTS = ("encoded", "content", "description", "summary")
_DATES = ("published", "pubDate", "date", "updated")


def read_feed(text: str, name: str) -> list[CorpusItem]:
    """Read the entries of a feed; those without text are left out.

    Document type declarations are refused: no feed needs one, and entities make large files of small ones.

    Raises:
        CorpusError: it is not well-formed XML, or no feed; says where.
    """
    head = text[:4096].lower()
    if "<!doctype" in head or "<!entity" in text.lower():
        raise CorpusError(f"{name} declares a document type or entities; a feed has none, so it is refused")
    try:
        root = ElementTree.fromstring(text.lstrip())
    except (ElementTree.ParseError, ValueError) as fault:
        raise CorpusError(f"{name} is not well-formed XML: {fault}; download it again") from None
    entries = [element for element in root.iter() if _local(element) in ("item", "entry")]
    if not entries:
        raise CorpusError(f"{name} has no <item> or <entry>; is it an RSS or Atom feed?")
    items: list[CorpusItem] = []
    for number, entry in enumerate(entries, start=1):
        fields = _fields(entry)
        body = plain(next((fields[key] for key in _TEXTS if fields.get(key, "").strip()), ""))
        if not body:
            continue
        items.append(
            CorpusItem(
                id=(fields.get("guid") or fields.get("id") or fields.get("link") or f"entry-{number}").strip()[
                    :300
                ],
                source="feed",
                title=one_line(fields.get("title")),
                date=_date(next((fields[key] for key in _DATES if key in fields), "")),
                url=_web(fields.get("link", "")),
                text=body,
            )
        )
    return items


def _fields(entry: ElementTree.Element) -> dict[str, str]:
    fields: dict[str, str] = {}
    for child in entry:
        name = _local(child)
        if name == "link" and child.get("href"):
            if child.get("rel", "alternate") == "alternate":
                fields.setdefault("link", child.get("href", ""))
            continue
        inner = "".join(ElementTree.tostring(part, encoding="unicode") for part in child)
        fields.setdefault(name, (child.text or "") + inner)
    return fields


def _local(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _date(text: str) -> str:
    if found := iso_date(text):
        return found
    try:
        moment = parsedate_to_datetime(text.strip())
    except (TypeError, ValueError, IndexError):
        return ""
    return (moment.astimezone(UTC) if moment.tzinfo else moment).date().isoformat()


def _web(link: str) -> str:
    link = link.strip()
    return link[:300] if link.startswith(("https://", "http://")) else ""
