"""An X (Twitter) archive: the posts in ``data/tweets.js``, from the folder, the file, or inside the ZIP.

A large archive goes on in ``data/tweets-part1.js``, ``data/tweets-part2.js`` and so on; all of them are read.
"""

from __future__ import annotations

import html
import re
import zipfile
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from pydantic_core import from_json

from crux.personas.corpus import CorpusItem
from crux.personas.source import MAX_FILE_BYTES, CorpusError, iso_date, read_text
from llm_runtime.documents.markup import clean

_FILE = re.compile(r"tweets?(?:-part(\d{1,4}))?\.js")
_MEMBER = re.compile(r"(?:.*/)?data/(tweets?(?:-part\d{1,4})?\.js)", re.DOTALL)
#: A ZIP member that unpacks to more than this many times its size is a bomb.
_MOST_RATIO = 200


def is_archive(path: Path) -> bool:
    """Tell whether ``path`` is an archive's folder, its ZIP file, or its ``tweets.js``."""
    if path.is_dir():
        return bool(_parts(path))
    return path.suffix.lower() == ".zip" or _FILE.fullmatch(path.name) is not None


def read_x_archive(path: Path) -> list[CorpusItem]:
    """Read own posts, without reposts; links and media addresses stay as they were written.

    Raises:
        CorpusError: there is no ``data/tweets.js``, it is too large, or not what such a file is.
    """
    if path.is_dir():
        files = _parts(path)
        size = sum(file.stat().st_size for file in files)
        if size > MAX_FILE_BYTES:
            raise CorpusError(
                f"{path.name}: posts of {size / 2**20:.0f} MiB, the limit is {MAX_FILE_BYTES // 2**20}; split it"
            )
        return [item for file in files for item in read_tweets(read_text(file), f"{path.name}/{file.name}")]
    if path.suffix.lower() == ".zip":
        return _zipped(path)
    return read_tweets(read_text(path), path.name)


def read_tweets(text: str, name: str) -> list[CorpusItem]:
    """Read the posts of a ``tweets.js``: an assignment to ``window.YTD...`` whose value is a JSON array.

    Raises:
        CorpusError: it is not.
    """
    start = text.find("[")
    try:
        entries: Any = from_json(text[start:].rstrip().rstrip(";")) if start >= 0 else None
    except ValueError as fault:
        raise CorpusError(f"{name} is damaged: {fault}; download the archive again") from None
    if not isinstance(entries, list):
        raise CorpusError(f"{name} holds no list of posts")
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


def _parts(folder: Path) -> list[Path]:
    """Return the files of posts of an unpacked archive, in order of their numbers; links are not followed."""
    data = folder / "data"
    files = [file for file in data.glob("tweet*.js") if _FILE.fullmatch(file.name) and not file.is_symlink()]
    return sorted(files, key=lambda file: _number(file.name))


def _number(name: str) -> tuple[int, str]:
    match = _FILE.fullmatch(name)
    return (int(match[1] or 0) if match else 0, name)


def _zipped(path: Path) -> list[CorpusItem]:
    """Read the posts of all parts in a ZIP file, one in memory at a time, nothing unpacked to disk."""
    items: list[CorpusItem] = []
    try:
        with zipfile.ZipFile(path) as archive:
            members = {match[1]: info for info in archive.infolist() if (match := _MEMBER.fullmatch(info.filename))}
            if not members:
                raise CorpusError(f"{path.name} has no data/tweets.js; is it an X archive?")
            size = sum(info.file_size for info in members.values())
            packed = sum(info.compress_size for info in members.values())
            if size > MAX_FILE_BYTES or size > _MOST_RATIO * max(packed, 1):
                raise CorpusError(f"{path.name}: data/tweets.js would unpack to {size / 2**20:.0f} MiB")
            for name in sorted(members, key=_number):
                with archive.open(members[name]) as member:
                    # The size that a member declares may be a lie.
                    data = member.read(members[name].file_size + 1)
                if len(data) > members[name].file_size:
                    raise CorpusError(f"{path.name}: data/{name} unpacks to more than it says; download it again")
                items += read_tweets(data.decode("utf-8", errors="replace"), f"{path.name}/{name}")
    except (zipfile.BadZipFile, OSError, NotImplementedError, RuntimeError) as fault:
        raise CorpusError(f"{path.name} is not a readable ZIP file: {fault}") from None
    return items


def _date(text: str) -> str:
    try:
        return datetime.strptime(text, "%a %b %d %H:%M:%S %z %Y").date().isoformat()
    except ValueError:
        return iso_date(text)
