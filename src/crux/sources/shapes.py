"""Messages in records: the exports of trackers, chats and feeds as JSON, rows with a speaker, an X archive.

A table says for each program which fields tell it apart and what they mean; one walk reads them all.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

from pydantic_core import from_json

from crux.sources.file import CorpusError, SourceFile, iso_date
from crux.sources.forms import Form, chat, markdown, web
from crux.sources.utterance import PlaceReading, Utterance, uttered
from llm_runtime.documents.markup import composed, one_line
from llm_runtime.models import Model
from llm_runtime.rewording import reworded
from llm_runtime.tables import divider
from llm_runtime.toml import parse_toml

Record: TypeAlias = Mapping[str, Any]
_DEEPEST = 40


class Shape(Model):
    """What the fields of one program's messages mean; of several names the first that has a value counts.

    Args:
        source: the program.
        needs: fields that only its messages have.
        who: by which two of one name are told apart.
        times: whether a date keeps its time.
        kinds: the values of the field ``kind`` with which a message is somebody's; others are notices.
        talk: whether its messages are a talk of several people.
    """

    source: str
    needs: list[str] = []
    text: list[str]
    speaker: list[str] = []
    who: list[str] = []
    id: list[str] = ["id"]
    date: list[str] = ["date"]
    parent: list[str] = []
    title: list[str] = ["title"]
    url: list[str] = ["url"]
    form: Literal["chat", "markdown", "web"] = "chat"
    times: bool = True
    kind: str = ""
    kinds: list[str] = []
    talk: bool = True


class _Table(Model):
    """All of them, and what a message says of itself for which it is left out."""

    shapes: list[Shape]
    row: Shape
    feed: Shape
    remark: Shape
    flags: dict[str, list[str]]
    bots: dict[str, str]
    deleted: list[str]


_TABLE = _Table.model_validate(parse_toml(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")))
FEED, REMARK = _TABLE.feed, _TABLE.remark
_FORMS: dict[str, Form] = {"chat": chat, "markdown": markdown, "web": web}


def read_json(file: SourceFile) -> PlaceReading:
    """Read the export of a tracker or a chat, as its own program writes it.

    Raises:
        CorpusError: it is no JSON, or of a program that is not known here.
    """
    start = file.text.find("[") if file.name.endswith(".js") else 0
    with reworded(f"{file.name} is damaged", ValueError, kind=CorpusError, then="; download it again"):
        data: Any = from_json(file.text[start:].rstrip().rstrip(";")) if start >= 0 else None
    found = list(_messages(data, "", "", 0))
    if not found:
        known = ", ".join(dict.fromkeys(shape.source for shape in _TABLE.shapes))
        raise CorpusError(f"{file.name} holds no list of posts or messages of {known}")
    file.authored = not found[0][0].talk
    return file.finished(utterances(file, found))


def read_rows(file: SourceFile) -> PlaceReading:
    """Read one message a line of JSON, or a row of CSV: a column of texts, and best one of speakers.

    Raises:
        CorpusError: no row has a text.
    """
    rows = list(_csv_rows(file) if file.name.lower().endswith((".csv", ".tsv")) else _json_rows(file))
    if not rows and file.notes:
        raise CorpusError(f'{"; ".join(file.notes[:2])}; call the column of texts "text", that of names "speaker"')
    file.authored = not any(_first(row, _TABLE.row.speaker) for row in rows)
    return file.finished(utterances(file, [(_TABLE.row, row, "", "") for row in rows]))


def _csv_rows(file: SourceFile) -> Iterator[Record]:
    first, _, rest = file.text.partition("\n")
    # A spreadsheet may be told in a line above the head what divides its cells; the head shows it too.
    text = rest if first.strip(' "\r').lower()[:-1] == "sep=" else file.text
    csv.field_size_limit(2**31 - 1)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=divider(text.partition("\n")[0], file.name))
    for row in reader:
        named = {str(key).strip().lower(): value for key, value in row.items() if key and isinstance(value, str)}
        if not _first(named, _TABLE.row.text):
            file.notes.append(f"{file.name}, line {reader.line_num}: no text")
            continue
        yield {"source": "csv", **named}


def _json_rows(file: SourceFile) -> Iterator[Record]:
    for number, line in enumerate(file.text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row: Any = from_json(line)
            if not isinstance(row, dict) or not isinstance(_value(cast("Record", row), _TABLE.row.text), str):
                raise TypeError
        except (ValueError, TypeError):
            file.notes.append(f'{file.name}, line {number}: no JSON object with a "text"')
            continue
        yield {"source": "jsonl", "id": f"{file.stem}-{number}"} | cast("dict[str, Any]", row)


def _messages(data: Any, parent: str, title: str, depth: int) -> Iterator[tuple[Shape, Record, str, str]]:
    """Yield every message below a value, with the one that it is written under and the title of the thread."""
    if isinstance(data, list) and depth < _DEEPEST:
        for one in listed(data):
            yield from _messages(one, parent, title, depth + 1)
    if not isinstance(data, dict) or depth >= _DEEPEST:
        return
    record = cast("dict[str, Any]", data)
    shape = next((one for one in _TABLE.shapes if all(name in record for name in one.needs)), None)
    if shape is not None and _text(record, shape):
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
        if shape.needs and shape.source + key in seen:
            continue
        seen.add(shape.source + key)
        if (one := message(file, shape, record, key, parent=parent, title=title)) is not None:
            yield one


def message(
    file: SourceFile, shape: Shape, record: Record, key: str = "", *, parent: str = "", title: str = ""
) -> Utterance | None:
    """Return what a record says; None where it is left out, which is counted, or says nothing."""
    raw = _text(record, shape)
    if why := left_out(shape, record, raw):
        file.leave(why, raw)
        return None
    form = markdown if _at(record, "body.contentType") == "text" else _FORMS[shape.form]
    body = composed(file.enter(form(file, raw)))
    if not body.text:
        return None
    key = key or _first(record, shape.id)
    parents = [one_line(one) for one in listed(_value(record, shape.parent))] or [parent]
    return uttered(
        body,
        id=f"x-{key}" if shape.source == "x" else key,
        source=(one_line(record.get("source")) if shape is _TABLE.row else "") or shape.source,
        speaker=_first(record, shape.speaker) or None,
        speaker_id=_first(record, shape.who) or None,
        title=title or _first(record, shape.title),
        date=iso_date(_first(record, shape.date), day=not shape.times),
        url=address(_first(record, shape.url)),
        replies_to=tuple(one for one in parents if one and one != key),
    )


def left_out(shape: Shape, record: Record, raw: str) -> str:
    """Return why a message is nobody's, or not there any more; empty where it counts."""
    for why, names in _TABLE.flags.items():
        if any(_at(record, name) for name in names):
            return why
    speaker = _first(record, shape.speaker)
    if speaker.endswith("[bot]") or any(_at(record, name) == value for name, value in _TABLE.bots.items()):
        return "a bot"
    if shape.source == "x" and raw.startswith("RT @"):
        return "a repost"
    if shape.kind and str(_at(record, shape.kind) or "") not in shape.kinds:
        return "a notice of the program"
    return "deleted or hidden" if raw.strip().lower() in _TABLE.deleted else ""


def address(link: str) -> str:
    """Return a link to the web, and nothing else."""
    link = link.strip()
    return link[:300] if link.startswith(("https://", "http://")) else ""


def _at(record: Any, path: str) -> Any:
    for name in path.split("."):
        record = cast("Record", record).get(name) if isinstance(record, Mapping) else None
    return record


def _value(record: Record, paths: Sequence[str]) -> Any:
    return next((value for path in paths if (value := _at(record, path)) not in (None, "", [], {})), None)


def _text(record: Record, shape: Shape) -> str:
    """Return the text of a message, whole or in runs; of runs that are quoted each line begins with ``>``."""
    text = ""
    for one in listed(_value(record, shape.text)):
        run = one if isinstance(one, str) else str(_at(one, "text") or "")
        text += "\n> " + run.replace("\n", "\n> ") + "\n" if _at(one, "type") == "blockquote" else run
    return text


def _first(record: Record, paths: Sequence[str]) -> str:
    """Return the first of some fields that holds a text or a number."""
    values = (one_line(value) for path in paths if not isinstance(value := _at(record, path), bool))
    return next((value for value in values if value), "")


def listed(value: Any) -> list[Any]:
    """Return the entries of a list; what is none is the only one, and nothing has none."""
    return cast("list[Any]", value) if isinstance(value, list) else [] if value is None else [value]
