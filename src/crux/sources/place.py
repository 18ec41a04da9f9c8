"""A place with texts: a file, a folder, or a ZIP file, read by what each name ends with; nothing is run."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from crux.sources.documents import read_essay, read_feed, read_mail, read_office, read_page
from crux.sources.file import MAX_FILE_BYTES, CorpusError, SourceFile, iso_date
from crux.sources.shapes import read_json, read_rows
from crux.sources.talk import read_subtitles
from crux.sources.utterance import PlaceReading, Utterance
from llm_runtime.documents import DocumentError, read_bytes
from llm_runtime.documents.markup import one_line
from llm_runtime.grouping import grouped
from llm_runtime.rewording import reworded
from llm_runtime.structs import Struct
from llm_runtime.toml import own_table

MAX_FILES = 20_000
_DAMAGED = (zipfile.BadZipFile, OSError, NotImplementedError)
#: A ZIP member that unpacks to more than this many times its size is a bomb.
_MOST_RATIO = 200
_ANSWERED = 240
#: By ending: who reads it. What the records of a file are, their fields say.
FORMATS: dict[str, Callable[[SourceFile], PlaceReading]] = {
    **dict.fromkeys((".md", ".markdown", ".rst", ".txt"), read_essay),
    **dict.fromkeys((".html", ".htm"), read_page),
    **dict.fromkeys((".pdf", ".docx", ".epub"), read_office),
    **dict.fromkeys((".eml", ".mbox"), read_mail),
    **dict.fromkeys((".json", ".js"), read_json),
    **dict.fromkeys((".jsonl", ".ndjson", ".csv", ".tsv"), read_rows),
    **dict.fromkeys((".vtt", ".srt"), read_subtitles),
    **dict.fromkeys((".xml", ".rss", ".atom"), read_feed),
}
_POSTS = re.compile(r"(?:.*/)?data/tweets?(?:-part(\d{1,4}))?\.js|tweets?(?:-part(\d{1,4}))?\.js", re.DOTALL)
#: Lists beside the messages of an export, not messages.
_LISTS = frozenset(own_table("crux.sources", "names.toml")["lists"])


class _Member(Struct):
    """A file of a place: its name in it, and what gives its bytes."""

    name: str
    load: Callable[[], bytes]


def read_place(path: Path, *, drafts: bool = False) -> PlaceReading:
    """Read whatever stands in a place as utterances, with an account of every character.

    Args:
        path: a file of a known format, a folder or a ZIP file of such files: of texts, or the export of a program.
        drafts: take what was never published too.

    Raises:
        CorpusError: it does not exist, is of no known kind, is too large or damaged.
        MissingExtraError: the extra ``import`` is not installed.
    """
    if not path.exists():
        raise CorpusError(f"{path.name}: there is no such file or folder")
    alone = not path.is_dir() and path.suffix.lower() != ".zip"
    if alone and path.suffix.lower() not in FORMATS:
        raise CorpusError(f"{path.name} is no source of texts; give a folder, a ZIP file, or {', '.join(FORMATS)}")
    members = [_member(path, path.name)] if alone else _members(path)
    posts = sorted((one for one in members if _POSTS.fullmatch(one.name)), key=lambda one: _number(one.name))
    wanted = posts or [one for one in members if _known(one)]
    if path.suffix.lower() == ".zip" and not wanted:
        raise CorpusError(f"{path.name} has no data/tweets.js, and no other file that is read; is it an archive?")
    published = {} if alone or posts else _published(path, members)
    reading = PlaceReading()
    for member in wanted:
        try:
            reading += _read(member, path, alone, published, drafts=drafts)
        except CorpusError as fault:
            if alone or posts:
                raise
            reading += PlaceReading(notes=(str(fault),))
    if not posts:
        reading += PlaceReading(notes=_unknown(members))
    return _named(reading, _people(members))


def _unknown(members: list[_Member]) -> tuple[str, ...]:
    names = [one.name for one in members if not _known(one) and not _is_list(one.name)]
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return (f"of no kind that is read here: {', '.join(names[:5])}{more}",) if names else ()


def _read(
    member: _Member, path: Path, alone: bool, published: dict[str, dict[str, str]], *, drafts: bool
) -> PlaceReading:
    pure = PurePosixPath(member.name)
    post = published.get(pure.stem)
    if not drafts and not alone and (pure.name.startswith("draft_") or (post and post["is_published"] != "true")):
        return PlaceReading(notes=(f"{pure.name}: not published; --drafts takes it too",))
    name = f"{path.name}/{pure.name}" if (path.is_dir() or not alone) and pure.suffix == ".js" else pure.name
    file = SourceFile(name, member.load(), str(pure.with_suffix("")))
    reader = FORMATS[pure.suffix.lower()]
    reading = partial(read_feed, drafts=drafts)(file) if reader is read_feed else reader(file)
    if post is None:
        return reading
    update = {"title": one_line(post.get("title")), "date": iso_date(post.get("post_date"), day=True)}
    return replace(reading, utterances=tuple(one.model_copy(update=update) for one in reading.utterances))


def _known(member: _Member) -> bool:
    suffix = PurePosixPath(member.name).suffix.lower()
    return suffix in FORMATS and suffix != ".js" and not _is_list(member.name)


def _is_list(name: str) -> bool:
    return PurePosixPath(name).name in _LISTS


def _number(name: str) -> int:
    match = _POSTS.fullmatch(name)
    return int((match[1] or match[2] or 0) if match else 0)


def _member(path: Path, name: str) -> _Member:
    def load() -> bytes:
        with reworded("", DocumentError, kind=CorpusError):
            return read_bytes(path, MAX_FILE_BYTES)

    return _Member(name, load)


def _members(path: Path) -> list[_Member]:
    """Return the files of a folder, links not followed, or of a ZIP file, in order.

    Raises:
        CorpusError: there are too many; or the ZIP file is damaged, or a bomb.
    """
    if path.is_dir():
        files = sorted(one for one in path.rglob("*") if one.is_file() and not one.is_symlink())
        members = [_member(one, one.relative_to(path).as_posix()) for one in files if not one.name.startswith(".")]
    else:
        members = _zipped(path)
    if len(members) > MAX_FILES:
        raise CorpusError(f"{path.name} has {len(members):,} files, the limit is {MAX_FILES:,}; split it")
    return members


def _zipped(path: Path) -> list[_Member]:
    unreadable = reworded(f"{path.name} is not a readable ZIP file", *_DAMAGED, kind=CorpusError)
    with unreadable, zipfile.ZipFile(path) as archive:
        infos = [one for one in archive.infolist() if not one.is_dir() and ".." not in one.filename]
    for info in [one for one in infos if PurePosixPath(one.filename).suffix.lower() in FORMATS]:
        if info.file_size > MAX_FILE_BYTES or info.file_size > _MOST_RATIO * max(info.compress_size, 1):
            raise CorpusError(f"{path.name}: {info.filename} would unpack to {info.file_size / 2**20:.0f} MiB")
    return [_Member(one.filename, partial(_unpacked, path, one)) for one in infos]


def _unpacked(path: Path, info: zipfile.ZipInfo) -> bytes:
    packed = reworded(f"{path.name}: {info.filename} cannot be unpacked", *_DAMAGED, RuntimeError, kind=CorpusError)
    with packed, zipfile.ZipFile(path) as archive, archive.open(info) as member:
        # The size that a member declares may be a lie.
        data = member.read(info.file_size + 1)
    if len(data) > info.file_size:
        raise CorpusError(f"{path.name}: {info.filename} unpacks to more than it says; download it again")
    return data


def _published(path: Path, members: list[_Member]) -> dict[str, dict[str, str]]:
    """Return what the list of a Substack export says of its pages, by their names; nothing where there is none."""
    beside = path.parent / "posts.csv"
    lists = [one for one in members if PurePosixPath(one.name).name == "posts.csv"]
    lists += [_member(beside, beside.name)] if path.is_dir() and beside.is_file() else []
    try:
        rows = list(csv.DictReader(io.StringIO(lists[0].load().decode("utf-8-sig", "replace")))) if lists else []
    except (CorpusError, csv.Error):
        return {}
    named = (row for row in rows if row.get("post_id"))
    return {row["post_id"].strip(): {**row, "is_published": (row.get("is_published") or "").lower()} for row in named}


def _people(members: list[_Member]) -> dict[str, str]:
    """Return names by id, as the export of a Slack lists them, and the name of an X archive's owner."""
    lists = [one for one in members if PurePosixPath(one.name).name == "users.json"]
    try:
        users: list[dict[str, Any]] = json.loads(lists[0].load()) if lists else []
        return {str(one["id"]): one_line(one.get("profile", {}).get("real_name") or one.get("name")) for one in users}
    except (CorpusError, ValueError, TypeError, AttributeError, KeyError):
        return {}


def _spelled(reading: PlaceReading, names: dict[str, str]) -> dict[str, str]:
    """Return each speaker's name as it was first written: elsewhere the family's may stand first, or capitals."""
    first: dict[str, str] = {}
    told = ((one.speaker, names.get(one.speaker, one.speaker)) for one in reading.utterances if one.speaker)
    return {key: first.setdefault(" ".join(reversed(name.casefold().split(", "))), name) for key, name in told}


def _named(reading: PlaceReading, names: dict[str, str]) -> PlaceReading:
    """Return a reading whose speakers bear names, two of one name told apart; and with what each text answers."""
    names = _spelled(reading, names)
    known = ((one.speaker, one.speaker_id) for one in reading.utterances if one.speaker and one.speaker_id)
    ids = grouped((names[speaker], own) for speaker, own in known)
    twice = {name: sorted(set(own)) for name, own in ids.items() if len(set(own)) > 1}
    by_id = {one.id: one for one in reversed(reading.utterances)}

    def told(one: Utterance) -> Utterance:
        name = names.get(one.speaker or "", one.speaker)
        answered = next(filter(None, map(by_id.get, one.replies_to)), None)
        update: dict[str, Any] = {"speaker": f"{name} ({one.speaker_id})" if name in twice else name}
        if answered is not None:
            update["answers"] = " ".join(answered.text.split())[:_ANSWERED]
        return one.model_copy(update=update)

    notes = [
        f"{len(own)} people are called {name}: {', '.join(f'{name} ({key})' for key in own)}"
        for name, own in sorted(twice.items())
    ]
    return replace(reading, utterances=tuple(map(told, reading.utterances)), notes=(*reading.notes, *notes))
