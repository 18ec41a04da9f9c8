"""Reading what is to be attached: files, folders, patterns, standard input, addresses of the web."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from glob import has_magic
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from crucible.material import MOST_CHARACTERS, MOST_ITEMS, MOST_PICTURES, Attachment
from llm_runtime.documents import DocumentError, read_bytes, read_document
from llm_runtime.documents.pictures import is_picture, picture_at, read_picture, scanned_pages
from llm_runtime.documents.reading import ENDINGS, NoTextError
from llm_runtime.errors import ConfigurationError
from llm_runtime.messages import Picture

MOST_BYTES = 20 * 2**20
STDIN = "standard input"
_MOST_PIPED = 4_000_000
#: Folders that hold nobody's own text.
_PASSED_OVER = {"node_modules", "__pycache__", "venv", "target", "dist", "build"}
#: What hides or reorders what a reader sees: shown as a code, so that a council can name it.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
)
_DIFF = re.compile(r"\A\s*(?:diff --git |--- \S)[\s\S]*?^@@ ", re.MULTILINE)


def is_diff(text: str) -> bool:
    """Tell whether a text is the output of ``git diff`` and nothing else."""
    return _DIFF.match(text[:100_000]) is not None


def attachment(name: str, text: str) -> Attachment:
    """Make an attachment of a text, in which what cannot be seen is written as its code, or of a picture's address.

    Raises:
        ConfigurationError: there is no text, or no picture that models take.
    """
    if text[:11].lower() == "data:image/":
        return _shown(name, picture_at(name, text.strip()))
    if not text.strip():
        raise ConfigurationError(f"{name} has no text; attach something to read")
    # A lone surrogate is no text: JSON cannot hold it, and neither can a log.
    whole = text.encode("utf-8", "replace").decode().replace("\r\n", "\n").rstrip("\n")
    plain = _HIDDEN.sub(lambda sign: f"⟨U+{ord(sign[0]):04X}⟩", whole.lstrip("\ufeff"))
    return Attachment(name=_plain(name), text=plain)


def _shown(name: str, picture: Picture) -> Attachment:
    return Attachment(name=_plain(name), text="", picture=picture.address)


def _plain(name: str) -> str:
    return " ".join(_HIDDEN.sub("", name).split())[:300] or "attachment"


def _attachments(name: str, data: bytes, ending: str, whole: str) -> list[Attachment]:
    """Return what is in a file: its text, a picture, or pictures of scanned pages.

    Args:
        name: of the file, which says what it is where ``ending`` is empty.
        whole: what the attachment is called.
    """
    if is_picture(name, data):
        return [_shown(whole, read_picture(name, data))]
    try:
        return [attachment(whole, read_document(name, data, ending).text)]
    except NoTextError:
        return [_shown(f"{whole}, page {number}", page) for number, page in scanned_pages(name, data, MOST_PICTURES)]


def read_attachments(sources: Iterable[str]) -> tuple[list[Attachment], list[str]]:
    """Read every source once, in order.

    Args:
        sources: each a path, a folder, a pattern (``docs/*.md``), an https address, a picture as a ``data:``
            address, or ``-``.

    Returns:
        The attachments, and a line for each file of a folder or pattern that is none.

    Raises:
        ConfigurationError: a source cannot be read, or they are too many; nothing was asked.
        MissingExtraError: a kind of file needs the extra ``import``.
    """
    attachments: list[Attachment] = []
    left_out: list[str] = []
    seen: set[str] = set()
    for source in dict.fromkeys(sources):
        if source == "-":
            attachments += _standard_input()
        elif source.startswith("data:"):
            attachments.append(attachment("picture", source))
        elif "://" in source:
            attachments += _page(source)
        else:
            named = Path(source).is_file()
            for path in _files(source):
                if (key := str(path.resolve())) in seen:
                    continue
                seen.add(key)
                try:
                    attachments += _attachments(path.name, read_bytes(path, MOST_BYTES), "", path.as_posix())
                except DocumentError as fault:
                    if named:
                        raise
                    left_out.append(str(fault))
        if len(attachments) > MOST_ITEMS:
            raise ConfigurationError(f"--attach {source} makes more than {MOST_ITEMS} attachments; name fewer")
    if not attachments and left_out:
        raise ConfigurationError(f"nothing of what is attached can be read: {left_out[0]}")
    return attachments, left_out


def _standard_input() -> list[Attachment]:
    if sys.stdin is None or sys.stdin.isatty():
        raise ConfigurationError("--attach - reads standard input, and nothing is piped into it")
    data = sys.stdin.buffer.read(_MOST_PIPED + 1)
    if len(data) > 4 * MOST_CHARACTERS and not is_picture("", data):
        raise ConfigurationError(f"standard input is longer than {4 * MOST_CHARACTERS:,} bytes; attach a part of it")
    return _attachments(STDIN, data, "", STDIN)


def _page(url: str) -> list[Attachment]:
    from llm_runtime.http.public import read_page

    # A door may have an event loop of its own, and waits here in a thread of the loop.
    with ThreadPoolExecutor(1) as thread:
        page = thread.submit(asyncio.run, read_page(url, other_hosts=False)).result()
    if page is None:
        raise DocumentError(f"{url[:200]} gave nothing")
    ending = ENDINGS.get(page.kind) or PurePosixPath(urlsplit(url).path).suffix.lower()
    return _attachments(url.partition("?")[0][:200], page.body, ending, url)


def _files(source: str) -> Iterator[Path]:
    path = Path(source).expanduser()
    if path.is_dir():
        yield from _some(_below(path), source)
    elif path.exists() or not has_magic(source):
        if not path.exists():
            raise ConfigurationError(f"--attach {source}: there is no such file or folder")
        yield path
    else:
        start = Path(path.anchor)
        matches = [one for one in sorted(start.glob(str(path.relative_to(start)))) if one.is_file()]
        if not matches:
            raise ConfigurationError(f"--attach {source}: nothing matches")
        yield from _some(matches, source)


def _some(paths: Iterable[Path], source: str) -> list[Path]:
    """Return the paths, where they are not too many to be meant."""
    some: list[Path] = []
    for path in paths:
        some.append(path)
        if len(some) > 4 * MOST_ITEMS:
            raise ConfigurationError(
                f"--attach {source} holds more than {4 * MOST_ITEMS} files, and {MOST_ITEMS} attachments are the "
                "limit; name the ones that matter"
            )
    if not some:
        raise ConfigurationError(f"--attach {source}: there is no file in it")
    return some


def _below(folder: Path) -> Iterator[Path]:
    """Yield a folder's files in order; hidden ones, links and what tools have made are passed over."""
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _PASSED_OVER)
        for name in sorted(files):
            path = Path(root, name)
            if not name.startswith(".") and not path.is_symlink() and path.is_file():
                yield path
