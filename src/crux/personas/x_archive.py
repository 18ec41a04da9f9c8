"""An X (Twitter) archive: the posts in ``data/tweets.js``, from the folder, the file, or inside the ZIP."""

from __future__ import annotations

import html
import zipfile
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from pydantic_core import from_json

from crux.personas.corpus import CorpusItem, clean
from crux.personas.importing import MAX_FILE_BYTES, CorpusError, iso_date, read_text

_NAMES = ("data/tweets.js", "data/tweet.js")
#: A ZIP member that unpacks to more than this many times its size is a bomb.
_MOST_RATIO = 200


def is_archive(path: Path) -> bool:
    """Whether ``path`` is an archive's folder, its ZIP file, or its ``tweets.js``."""
    if path.is_dir():
        return any((path / name).is_file() for name in _NAMES)
    return path.suffix.lower() == ".zip" or path.name in ("tweets.js", "tweet.js")


def read_x_archive(path: Path) -> list[CorpusItem]:
    """Own posts, without reposts; links and media addresses stay as they were written.

    Raises:
        CorpusError: there is no ``data/tweets.js``, it is too large, or not what such a file is.
    """
    if path.is_dir():
        return read_tweets(read_text(next(path / name for name in _NAMES if (path / name).is_file())), path.name)
    if path.suffix.lower() == ".zip":
        return read_tweets(_member(path), path.name)
    return read_tweets(read_text(path), path.name)


def read_tweets(text: str, name: str) -> list[CorpusItem]:
    """The posts of a ``tweets.js``: an assignment to ``window.YTD...`` whose value is a JSON array.

    Raises:
        CorpusError: it is not.
    """
    start = text.find("[")
    try:
        entries: Any = from_json(text[start:].rstrip().rstrip(";")) if start >= 0 else None
    except ValueError as fault:
        raise CorpusError(f"{name}: tweets.js is damaged: {fault}; download the archive again") from None
    if not isinstance(entries, list):
        raise CorpusError(f"{name}: tweets.js holds no list of posts")
    items: list[CorpusItem] = []
    for entry in cast("list[Any]", entries):
        post = _post(entry)
        body = clean(html.unescape(str(post.get("full_text") or post.get("text") or "")))
        if not body or body.startswith("RT @"):
            continue
        key = str(post.get("id_str") or post.get("id") or len(items) + 1)[:40]
        items.append(
            CorpusItem(id=f"x-{key}", source="x", date=_date(str(post.get("created_at") or "")), text=body)
        )
    return items


def _post(entry: Any) -> dict[str, Any]:
    if not isinstance(entry, dict):
        return {}
    fields = cast("dict[str, Any]", entry)
    inner = fields.get("tweet", fields)
    return cast("dict[str, Any]", inner) if isinstance(inner, dict) else {}


def _member(path: Path) -> str:
    try:
        with zipfile.ZipFile(path) as archive:
            infos = [info for info in archive.infolist() if info.filename.endswith(_NAMES)]
            if not infos:
                raise CorpusError(f"{path.name} has no data/tweets.js; is it an X archive?")
            info = infos[0]
            if info.file_size > MAX_FILE_BYTES or info.file_size > _MOST_RATIO * max(info.compress_size, 1):
                raise CorpusError(f"{path.name}: data/tweets.js would unpack to {info.file_size / 2**20:.0f} MiB")
            with archive.open(info) as member:
                data = member.read(MAX_FILE_BYTES + 1)
    except (zipfile.BadZipFile, OSError, NotImplementedError, RuntimeError) as fault:
        raise CorpusError(f"{path.name} is not a readable ZIP file: {fault}") from None
    if len(data) > MAX_FILE_BYTES:
        raise CorpusError(f"{path.name}: data/tweets.js unpacks to more than {MAX_FILE_BYTES // 2**20} MiB")
    return data.decode("utf-8", errors="replace")


def _date(text: str) -> str:
    try:
        return datetime.strptime(text, "%a %b %d %H:%M:%S %z %Y").date().isoformat()
    except ValueError:
        return iso_date(text)
