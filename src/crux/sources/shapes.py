"""Messages in records: the exports of trackers, chats and feeds as JSON, rows with a speaker, an X archive.

A table says for each program which fields tell it apart and what they mean; one walk reads them all.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

from pydantic_core import from_json

from crux.sources.file import CorpusError, SourceFile, iso_date
from crux.sources.forms import Form, chat, markdown, web
from crux.sources.utterance import Reading, Utterance, uttered
from llm_runtime.documents.markup import composed, one_line

Record: TypeAlias = Mapping[str, Any]
_DEEPEST = 40


@dataclass(frozen=True, slots=True)
class Shape:
    """What the fields of one program's messages mean; of several names the first that has a value counts.

    Args:
        source: the program.
        needs: fields that only its messages have.
        times: whether a date keeps its time.
        kinds: a field, and the values with which a message is somebody's; others are notices of the program.
    """

    source: str
    needs: tuple[str, ...]
    text: tuple[str, ...]
    speaker: tuple[str, ...]
    who: tuple[str, ...] = ()
    id: tuple[str, ...] = ("id",)
    date: tuple[str, ...] = ("date",)
    parent: tuple[str, ...] = ()
    title: tuple[str, ...] = ("title",)
    url: tuple[str, ...] = ("url",)
    form: Form = chat
    times: bool = True
    kinds: tuple[str, frozenset[Any]] = ("", frozenset())
    talk: bool = True


_SLACK = frozenset({None, "thread_broadcast", "file_share", "me_message", "bot_message", "tombstone"})
#: In this order: the first whose fields a record has.
SHAPES = (
    Shape(
        "x", ("full_text",), ("full_text",), (), id=("id_str", "id"), date=("created_at",), times=False, talk=False
    ),
    Shape(
        "teams",
        ("body", "from", "createdDateTime"),
        ("body.content",),
        ("from.user.displayName", "from.displayName"),
        ("from.user.id",),
        date=("createdDateTime",),
        parent=("replyToId",),
        title=("subject",),
        url=("webUrl",),
        form=web,
        kinds=("messageType", frozenset({None, "message"})),
    ),
    Shape(
        "discord",
        ("content", "author", "timestamp"),
        ("content",),
        ("author.nickname", "author.global_name", "author.name", "author.username"),
        ("author.id",),
        date=("timestamp",),
        parent=("reference.messageId", "message_reference.message_id"),
        kinds=("type", frozenset({None, 0, 19, "Default", "Reply"})),
    ),
    Shape(
        "slack",
        ("text", "ts"),
        ("text",),
        ("user_profile.real_name", "user_profile.display_name", "user", "username"),
        ("user",),
        ("ts",),
        ("ts",),
        ("thread_ts",),
        kinds=("subtype", _SLACK),
    ),
    *(
        Shape(
            source,
            needs,
            text,
            ("author.login", "user.login", "author.username", "author.name"),
            id=("id", "node_id", "url", "web_url"),
            date=("createdAt", "created_at", "submittedAt", "submitted_at"),
            parent=("replyTo.id", "in_reply_to_id"),
            url=("url", "html_url", "web_url"),
            form=markdown,
        )
        for source, needs, text in (
            ("github", ("body", "user"), ("body",)),
            ("gitlab", ("body", "noteable_type"), ("body",)),
            ("github", ("body", "author"), ("body",)),
            ("gitlab", ("description", "author", "iid"), ("description",)),
        )
    ),
)
ROW = Shape(
    "rows",
    (),
    ("text", "body", "content", "comment", "message", "comment-body", "utterance", "statement"),
    ("speaker", "author.name", "author", "name", "user", "username", "from", "sender", "participant", "interview"),
    ("speaker_id", "author_id", "user_id", "author-id", "email"),
    ("id", "comment-id", "comment_id"),
    ("date", "timestamp", "time", "created_at", "created"),
    ("replies_to", "reply_to", "in_reply_to", "parent", "parent_id"),
    form=markdown,
)
#: What a message says of itself, and why it is left out for it.
_FLAGS = (
    ("a bot", ("author.is_bot", "author.isBot", "author.bot", "bot_id", "from.application", "author.is_system")),
    ("a notice of the program", ("system",)),
    ("deleted or hidden", ("deletedDateTime", "isMinimized", "deleted", "hidden", "tombstone")),
)
_BOTS = (("user.type", "Bot"), ("author.__typename", "Bot"), ("author.type", "Bot"), ("subtype", "bot_message"))
_DELETED = frozenset({"", "[deleted]", "[removed]", "this message was deleted.", "deleted"})


def read_json(file: SourceFile) -> Reading:
    """Read the export of a tracker or a chat, as its own program writes it.

    Raises:
        CorpusError: it is no JSON, or of a program that is not known here.
    """
    start = file.text.find("[") if file.name.endswith(".js") else 0
    try:
        data: Any = from_json(file.text[start:].rstrip().rstrip(";")) if start >= 0 else None
    except ValueError as fault:
        raise CorpusError(f"{file.name} is damaged: {fault}; download it again") from None
    found = list(_messages(data, "", "", 0))
    if not found:
        known = ", ".join(dict.fromkeys(shape.source for shape in SHAPES))
        raise CorpusError(f"{file.name} holds no list of posts or messages of {known}")
    file.authored = not found[0][0].talk
    return file.finished(utterances(file, found))


def read_rows(file: SourceFile) -> Reading:
    """Read one message a line of JSON, or a row of CSV: a column of texts, and best one of speakers.

    Raises:
        CorpusError: no row has a text.
    """
    table = file.name.lower().endswith((".csv", ".tsv"))
    rows = list(_csv_rows(file) if table else _json_rows(file))
    talk = any(_first(row, ROW.speaker) for row in rows)
    file.authored = not talk
    found = [(ROW, row, "", "") for row in rows]
    return file.finished(utterances(file, found))


def _csv_rows(file: SourceFile) -> Iterator[Record]:
    tabs = file.name.lower().endswith(".tsv")
    csv.field_size_limit(2**31 - 1)
    reader = csv.DictReader(io.StringIO(file.text, newline=""), delimiter="\t" if tabs else ",")
    for row in reader:
        named = {str(key).strip().lower(): value for key, value in row.items() if key and isinstance(value, str)}
        if not _first(named, ROW.text):
            file.notes.append(f"{file.name}, line {reader.line_num}: no text")
            continue
        yield {"source": "csv", **named}


def _json_rows(file: SourceFile) -> Iterator[Record]:
    for number, line in enumerate(file.text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row: Any = from_json(line)
            if not isinstance(row, dict) or not isinstance(_value(cast("Record", row), ROW.text), str):
                raise TypeError
        except (ValueError, TypeError):
            file.notes.append(f'{file.name}, line {number}: no JSON object with a "text"')
            continue
        yield {"source": "jsonl", "id": f"{file.stem}-{number}"} | cast("dict[str, Any]", row)


def _messages(data: Any, parent: str, title: str, depth: int) -> Iterator[tuple[Shape, Record, str, str]]:
    """Yield every message below a value, with the one that it is written under and the title of the thread."""
    if isinstance(data, list) and depth < _DEEPEST:
        for one in cast("list[Any]", data):
            yield from _messages(one, parent, title, depth + 1)
    if not isinstance(data, dict) or depth >= _DEEPEST:
        return
    record = cast("dict[str, Any]", data)
    shape = next((one for one in SHAPES if all(name in record for name in one.needs)), None)
    if shape is not None and isinstance(_value(record, shape.text), str):
        title = _first(record, shape.title) or title
        yield shape, record, parent, title
        parent = _first(record, shape.id) or parent
    for name, value in record.items():
        if isinstance(value, dict | list) and name not in ("author", "user", "from", "body", "reactions"):
            yield from _messages(value, parent, title, depth + 1)


def utterances(file: SourceFile, found: list[tuple[Shape, Record, str, str]]) -> Iterator[Utterance]:
    """Yield what people say in messages; what is left out is counted with its reason, a copy is not."""
    seen: set[str] = set()
    for number, (shape, record, parent, title) in enumerate(found, start=1):
        key = _first(record, shape.id) or f"{file.stem}-{number}"
        if shape is not ROW and shape.source + key in seen:
            continue
        seen.add(shape.source + key)
        if (one := _message(file, shape, record, key, parent, title)) is not None:
            yield one


def _message(file: SourceFile, shape: Shape, record: Record, key: str, parent: str, title: str) -> Utterance | None:
    text = _value(record, shape.text)
    raw = text if isinstance(text, str) else ""
    at = file.locate(raw)
    if why := left_out(shape, record, raw):
        file.leave(why, raw)
        return None
    form: Form = markdown if _at(record, "body.contentType") == "text" else shape.form
    body = composed(file.enter(form(file, raw), at))
    if not body.text:
        return None
    parents = [one_line(one) for one in _many(record, shape.parent)] or [parent]
    return uttered(
        body,
        id=f"x-{key}" if shape.source == "x" else key,
        source=(one_line(record.get("source")) if shape is ROW else "") or shape.source,
        speaker=_first(record, shape.speaker) or None,
        speaker_id=_first(record, shape.who) or None,
        title=title or _first(record, shape.title),
        date=iso_date(_first(record, shape.date), day=not shape.times),
        url=address(_first(record, shape.url)),
        replies_to=tuple(one for one in parents if one and one != key),
    )


def left_out(shape: Shape, record: Record, raw: str) -> str:
    """Return why a message is nobody's, or not there any more; empty where it counts."""
    for why, names in _FLAGS:
        if any(_at(record, name) for name in names):
            return why
    speaker = _first(record, shape.speaker)
    if speaker.endswith("[bot]") or any(_at(record, name) == value for name, value in _BOTS):
        return "a bot"
    if shape.source == "x" and raw.startswith("RT @"):
        return "a repost"
    field, kinds = shape.kinds
    if field and _at(record, field) not in kinds:
        return "a notice of the program"
    gone = raw.strip().lower() in _DELETED or _at(record, "subtype") == "tombstone"
    return "deleted or hidden" if gone else ""


def address(link: str) -> str:
    """Return a link to the web, and nothing else."""
    link = link.strip()
    return link[:300] if link.startswith(("https://", "http://")) else ""


def _at(record: Any, path: str) -> Any:
    for name in path.split("."):
        record = cast("Record", record).get(name) if isinstance(record, Mapping) else None
    return record


def _value(record: Record, paths: tuple[str, ...]) -> Any:
    return next((value for path in paths if (value := _at(record, path)) not in (None, "", [], {})), None)


def _first(record: Record, paths: tuple[str, ...]) -> str:
    """Return the first of some fields that holds a text or a number."""
    values = (one_line(value) for path in paths if not isinstance(value := _at(record, path), bool))
    return next((value for value in values if value), "")


def _many(record: Record, paths: tuple[str, ...]) -> list[Any]:
    value = _value(record, paths)
    if isinstance(value, list):
        return cast("list[Any]", value)
    return [] if value is None else [value]
