"""RSS 2.0, RSS 1.0 and Atom, from a file: titles, dates, links and the fullest text an entry has."""

from __future__ import annotations

from collections import Counter
from datetime import UTC
from email.utils import parsedate_to_datetime
from xml.etree import ElementTree

from crux.personas.corpus import CorpusItem
from crux.personas.source import CorpusError, iso_date, readable
from llm_runtime.documents.markup import one_line

_TEXTS = ("encoded", "content", "description", "summary")
_DATES = ("published", "pubDate", "post_date", "date", "updated")


def read_feed(
    text: str, name: str, author: str = "", *, drafts: bool = False
) -> tuple[list[CorpusItem], list[str]]:
    """Read the entries of a feed, or of a WordPress export; those left out are listed with the reason.

    Of a WordPress export that is what is no post or page, drafts, and what others wrote than the one who wrote
    most, or than ``author``.

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
    rows = [_fields(entry) for entry in entries]
    wordpress = any("post_type" in fields for fields in rows)
    writers = Counter(fields.get("creator", "").strip() for fields in rows if _published(fields))
    chosen = author or (writers.most_common(1)[0][0] if wordpress and writers else "")
    items: list[CorpusItem] = []
    skipped: list[str] = []
    for number, fields in enumerate(rows, start=1):
        title = one_line(fields.get("title")) or f"entry {number}"
        if why := _left_out(fields, chosen, wordpress=wordpress, drafts=drafts):
            skipped.append(f"{name}, {title}: {why}")
            continue
        body, quoted = readable(next((fields[key] for key in _TEXTS if fields.get(key, "").strip()), ""))
        if not body:
            skipped.append(f"{name}, {title}: no text")
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
                quoted=quoted,
            )
        )
    return items, skipped


def _published(fields: dict[str, str]) -> bool:
    return fields.get("post_type", "").strip() in ("post", "page") and fields.get("status", "").strip() == "publish"


def _left_out(fields: dict[str, str], author: str, *, wordpress: bool, drafts: bool) -> str:
    """Return why an entry is not the author's published text; empty where it is."""
    writer, kind = fields.get("creator", "").strip(), fields.get("post_type", "").strip()
    if wordpress and kind not in ("post", "page"):
        return f"no post but {kind or 'something else'}"
    status = fields.get("status", "publish").strip()
    if wordpress and status != "publish" and not drafts:
        return f"not published ({status}); --drafts takes it too"
    if author and writer and writer.casefold() != author.casefold():
        return f"by {writer}; --author says whose texts are meant"
    return ""


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
    if date := iso_date(text):
        return date
    try:
        moment = parsedate_to_datetime(text.strip())
    except (TypeError, ValueError, IndexError):
        return ""
    return (moment.astimezone(UTC) if moment.tzinfo else moment).date().isoformat()


def _web(link: str) -> str:
    link = link.strip()
    return link[:300] if link.startswith(("https://", "http://")) else ""
