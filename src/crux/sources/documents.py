"""Whole texts: essays in Markdown and other forms, pages, documents of other programs, mails, feeds."""

from __future__ import annotations

import email
import email.policy
import mailbox
import re
import tempfile
from collections.abc import Iterator, Mapping
from email.utils import getaddresses
from pathlib import PurePath
from typing import Any, cast
from xml.etree import ElementTree

import yaml

from crux.sources.file import CorpusError, SourceFile, iso_date
from crux.sources.forms import Form, mail, markdown, plain, restructured, web_mail
from crux.sources.shapes import FEED, REMARK, listed, message
from crux.sources.talk import minutes
from crux.sources.utterance import PlaceReading, Utterance, uttered
from llm_runtime.documents import DocumentError, read_document
from llm_runtime.documents.markup import Composed, composed, one_line, page_of_html
from llm_runtime.documents.reading import local_name
from llm_runtime.rewording import reworded

_HEAD = re.compile(r"\A---[ \t]*\r?\n(.*?\r?\n)?(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL)
#: The head of a proposal: fields like those of a mail, an author among them.
_FIELDS = re.compile(r"\A(?:[A-Z][\w-]*+:[ \t]*+\S[^\n]*+\n(?:[ \t]++\S[^\n]*+\n)*+){3,}+")
#: A sender whose name stands in brackets behind the address, as in the archives of lists.
_NAME_BEHIND = re.compile(rb"\A((?:.+\n)*?From: )([^\s@]++)(?: at |@)([^\s@]++) \((.+)\)(?=\r?\n)")
_MOST_HEAD = 20_000


def read_essay(file: SourceFile) -> PlaceReading:
    """Read Markdown, reStructuredText or plain text: minutes, or one text with what its head says."""
    form: Form = {".rst": restructured, ".txt": plain}.get(PurePath(file.name).suffix.lower(), markdown)
    head, start = _head(file)
    if not head and (talk := minutes(file, form)):
        return talk
    file.leave("the head of the file", file.text[:start])
    body = composed(file.enter(form(file, file.text[start:])))
    heading = re.match(r"#[ \t]+(.+)", body.text)
    file.aliases |= dict.fromkeys(_listed(head.get("signed")) + _listed(head.get("aliases")))
    return _whole(
        file,
        body,
        id=one_line(head.get("id")) or file.key,
        source=one_line(head.get("source")) or "essay",
        speaker=", ".join(_listed(head.get("author") or head.get("authors"))) or None,
        title=next(iter(_listed(head.get("title"))), one_line(heading[1]) if heading else ""),
        date=_dated(one_line(head.get("date") or head.get("created")), file),
        url=one_line(head.get("url")),
        replies_to=tuple(_listed(head.get("replies_to")) or _listed(head.get("linked"))),
    )


def _whole(file: SourceFile, body: Composed, **fields: Any) -> PlaceReading:
    if not body.text:
        file.notes.append(f"{file.name}: empty")
    return file.finished([uttered(body, **fields)] if body.text else [])


def _head(file: SourceFile) -> tuple[Mapping[str, Any], int]:
    """Return the fields at the head of a text, and where the text begins: YAML between lines, or a proposal's."""
    if (match := _HEAD.match(file.text)) and match.end() < _MOST_HEAD:
        try:
            data: Any = yaml.load(match[1] or "", yaml.BaseLoader)
        except yaml.YAMLError:
            data = None
        if isinstance(data, dict):
            return {str(key).lower(): value for key, value in cast("dict[Any, Any]", data).items()}, match.end()
    if match := _FIELDS.match(file.text):
        fields: dict[str, Any] = {key.lower(): value for key, value in email.message_from_string(match[0]).items()}
        if "author" in fields or "authors" in fields:
            people = re.sub(r"(?<!\s)\s*+<[^<>]*+>", "", fields.get("author") or fields.get("authors") or "")
            fields["author"] = people.split(",")
            return fields, match.end()
    return {}, 0


def _listed(value: Any) -> list[str]:
    return [word for entry in listed(value or "") if (word := one_line(entry))]


def read_page(file: SourceFile) -> PlaceReading:
    """Read a page of the web: its article, and each comment below it as its writer's."""
    page = page_of_html(file.text)
    found: list[Utterance] = []
    for number, (part, answered) in enumerate([(page, -2), *page.comments]):
        file.characters += part.left.total()
        file.left += part.left
        about: dict[str, str | tuple[str, ...]] = {"id": file.key, "source": "essay", "date": _dated(part.date, file)}
        if number:
            parent = file.key if answered < 0 else f"{file.key}-{answered + 1}"
            about = {"id": f"{file.key}-{number}", "source": "comment", "replies_to": (parent,)}
            about["date"] = iso_date(part.date)
        if (body := composed(file.enter(part.pieces))).text:
            found.append(uttered(body, title=page.title, speaker=part.author or None, **about))
    file.authored = not page.comments
    if not found:
        file.notes.append(f"{file.name}: empty")
    return file.finished(found)


def _dated(date: object, file: SourceFile) -> str:
    """Return the day of a text: the one that it names, else the one in the file's name."""
    return iso_date(date, day=True) or iso_date(file.stem, day=True)


def read_office(file: SourceFile) -> PlaceReading:
    """Read PDF, DOCX or EPUB: the text, a book's chapters one by one, and remarks at the margin as their writers'.

    Raises:
        CorpusError: it is encrypted, damaged, or without text.
        MissingExtraError: the extra ``import`` is not installed.
    """
    with reworded("", DocumentError, kind=CorpusError):
        document = read_document(file.name, file.data)
    bodies = document.parts or (Composed(document.text),)
    for why, count in document.left:
        file.characters += count
        file.left[why] += count
    about = {"source": document.kind, "title": document.title or file.stem}
    date = iso_date(file.stem, day=True) or iso_date(document.date, day=True)
    found: list[Utterance] = []
    for number, body in enumerate(bodies, start=1):
        file.characters += len(body.text)
        key = f"{file.key}-{number}" if len(bodies) > 1 else file.key
        found.append(uttered(body, id=key, speaker=document.author or None, date=date, **about))
    for number, (who, when, words) in enumerate(document.notes, start=1):
        file.characters += len(words)
        named = {"id": f"{file.key}-remark-{number}", "speaker": who or None, "date": iso_date(when)}
        found.append(uttered(Composed(words), replies_to=(file.key,), **about, **named))
    return file.finished(found)


def read_mail(file: SourceFile) -> PlaceReading:
    """Read a mail, or a box of mails: each under its sender, with what it answers apart."""
    raws = list(_mails(file.data)) if file.name.lower().endswith(".mbox") else [file.data]
    file.authored = False
    found = (_mail(file, raw, number) for number, raw in enumerate(raws, start=1))
    return file.finished(one for one in found if one is not None)


def _mails(data: bytes) -> Iterator[bytes]:
    with tempfile.NamedTemporaryFile(suffix=".mbox") as copy:
        copy.write(data)
        copy.flush()
        box = mailbox.mbox(copy.name, create=False)
        # A line of the text that begins as a mail does is marked in a box.
        yield from (re.sub(rb"(?m)^>(?=>*From )", b"", box.get_bytes(key)) for key in box.iterkeys())
        box.close()


def _mail(file: SourceFile, raw: bytes, number: int) -> Utterance | None:
    message: Any = email.message_from_bytes(_NAME_BEHIND.sub(rb"\1\4 <\2@\3>", raw), policy=email.policy.default)
    part: Any = message.get_body(("plain", "html"))
    file.notes += [
        f"{file.name}, mail {number}: the attachment {one_line(one.get_filename()) or 'without a name'} is not read"
        for one in message.iter_attachments()
    ]
    text = _content(part) if part is not None else ""
    name, address = (getaddresses([str(message.get("From", ""))]) or [("", "")])[0]
    # Where a list sends in somebody's name, the address is the list's.
    name, address = (match[1], "") if (match := re.match(r"'?(.+?)'? via ", name)) else (name, address)
    if str(message.get("Auto-Submitted", "no")).lower() != "no":
        file.leave("a bot", text)
        return None
    form: Form = web_mail if part is not None and part.get_content_type() == "text/html" else mail
    body = composed(file.enter(form(file, text)))
    if not body.text:
        file.notes.append(f"{file.name}, mail {number}: no text")
        return None
    return uttered(
        body,
        id=one_line(str(message.get("Message-ID") or "").strip()) or f"{file.key}-{number}",
        source="mail",
        speaker=one_line(name) or address or None,
        speaker_id=address or None,
        title=one_line(str(message.get("Subject") or "")),
        date=iso_date(str(message.get("Date") or "")),
        replies_to=tuple(str(message.get("In-Reply-To") or message.get("References") or "").split()[-1:]),
    )


def _content(part: Any) -> str:
    try:
        return str(part.get_content())
    except (LookupError, ValueError):  # an encoding that is named wrongly
        return bytes(part.get_payload(decode=True)).decode("utf-8", "replace")


def read_feed(file: SourceFile, *, drafts: bool = False) -> PlaceReading:
    """Read RSS, Atom, or a WordPress export: each entry as its author's, and the comments that an export has.

    Document type declarations are refused: no feed needs one, and entities make large files of small ones.

    Raises:
        CorpusError: it is not well-formed XML, or no feed; says where.
    """
    if "<!doctype" in file.text[:4096].lower() or "<!entity" in file.text.lower():
        raise CorpusError(f"{file.name} declares a document type or entities; a feed has none, so it is refused")
    try:
        root = ElementTree.fromstring(file.text.lstrip())
    except (ElementTree.ParseError, ValueError) as fault:
        raise CorpusError(f"{file.name} is not well-formed XML: {fault}; download it again") from None
    entries = [element for element in root.iter() if local_name(element) in ("item", "entry")]
    if not entries:
        raise CorpusError(f"{file.name} has no <item> or <entry>; is it an RSS or Atom feed?")
    signed = ElementTree.Element("feed")
    signed.extend(one for one in root if local_name(one) == "author")
    whole = _fields(signed)
    found: list[Utterance] = []
    for number, entry in enumerate(entries, start=1):
        fields = {"id": f"entry-{number}"} | whole | _fields(entry)
        title = one_line(fields.get("title")) or f"entry {number}"
        if why := _unpublished(fields, drafts=drafts):
            file.leave(why, next((fields[key] for key in FEED.text if key in fields), ""))
            file.notes.append(f"{file.name}, {title}: {why}")
        elif (one := message(file, FEED, fields, title=one_line(fields.get("title")))) is None:
            file.notes.append(f"{file.name}, {title}: no text")
        else:
            remarks = (_fields(child) for child in entry if local_name(child) == "comment")
            said = (message(file, REMARK, each, parent=one.id, title=one.title) for each in remarks)
            found += [one, *(each for each in said if each is not None)]
    return file.finished(found)


def _unpublished(fields: Mapping[str, str], *, drafts: bool) -> str:
    kind, status = fields.get("post_type", "post").strip(), fields.get("status", "publish").strip()
    if kind not in ("post", "page"):
        return f"no post but {kind or 'something else'}"
    return "" if status == "publish" or drafts else f"not published ({status}); --drafts takes it too"


def _fields(entry: ElementTree.Element) -> dict[str, str]:
    fields: dict[str, str] = {}
    for child in entry:
        name = local_name(child)
        if name == "link" and child.get("href"):
            if child.get("rel", "alternate") == "alternate":
                fields.setdefault("link", child.get("href", ""))
            continue
        named = next((part.text or "" for part in child if local_name(part) == "name"), "") if name == "author" else ""
        inner = "".join(ElementTree.tostring(part, encoding="unicode") for part in child)
        # Elements of XHTML are written with their name space before them.
        inner = re.sub(r"(</?)\w+:", r"\1", inner)
        text = named or (child.text or "") + inner
        if name == "author" and (match := re.match(r"[^(]*+\((.+)\)\s*+\Z", text)):
            text = match[1]
        fields.setdefault(name, text)
    return fields
