"""Texts in the forms of other programs: PDF, DOCX, EPUB, and subtitles with their voices.

Nothing is run, unpacked to disk or fetched; what cannot be read is refused with one line.
"""

from __future__ import annotations

import importlib
import posixpath
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

from crux.personas.corpus import CorpusItem, clean
from crux.personas.markup import quoted_text
from crux.personas.source import MAX_FILE_BYTES, CorpusError, iso_date, one_line
from llm_runtime.errors import MissingExtraError

DOCUMENTS = frozenset({".pdf", ".docx", ".epub", ".srt", ".vtt"})
#: A line on this share of a document's pages is its running head or foot.
_ON_PAGES, _LEAST_PAGES = 0.6, 4
_MAX_MEMBERS, _MOST_RATIO = 20_000, 200
_NO_TEXT = "scanned, or empty: it has no text; run OCR on it first"


def read_document(path: Path, speaker: str = "") -> CorpusItem:
    """Read one document.

    Args:
        path: with one of the endings of :data:`DOCUMENTS`.
        speaker: of a transcript with several voices, the one whose words they are.

    Raises:
        CorpusError: it is too large, encrypted, damaged, without text, or has voices and no speaker is named.
        MissingExtraError: the extra ``import`` is not installed.
    """
    if (size := path.stat().st_size) > MAX_FILE_BYTES:
        raise CorpusError(
            f"{path.name} is {size / 2**20:.0f} MiB, the limit is {MAX_FILE_BYTES // 2**20}; split it"
        )
    kind = path.suffix.lower()
    if kind in (".srt", ".vtt"):
        item = _transcript(path, speaker)
    else:
        item = {".pdf": _pdf, ".docx": _docx, ".epub": _epub}[kind](path)
    if not item.text:
        raise CorpusError(f"{path.name}: {_NO_TEXT}")
    return item


def _item(path: Path, source: str, text: str, title: object = "", date: object = "", **more: Any) -> CorpusItem:
    return CorpusItem(
        id=path.stem,
        source=source,
        title=one_line(title) or path.stem,
        date=iso_date(path.stem) or iso_date(str(date or "")),
        text=text,
        **more,
    )


def _library(module: str, path: Path) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise MissingExtraError(f"reading {path.suffix.lower()} files", "import") from None


def _pdf(path: Path) -> CorpusItem:
    pdfium = _library("pypdfium2", path)
    try:
        document = pdfium.PdfDocument(path)
    except pdfium.PdfiumError as fault:
        why = "it is encrypted; save it without a password" if "password" in str(fault).lower() else "it is damaged"
        raise CorpusError(f"{path.name} cannot be read: {why}") from None
    try:
        pages = [page.get_textpage().get_text_bounded().replace("\r\n", "\n") for page in document]
        about = document.get_metadata_dict()
    finally:
        document.close()
    lines = [[line.strip() for line in page.split("\n")] for page in pages]
    heads = _heads(lines)
    bodies = [[line for line in page if line not in heads] for page in lines]
    whole = "\n\n".join(_joined(body) for body in bodies)
    created = str(about.get("CreationDate") or "").removeprefix("D:")
    date = f"{created[:4]}-{created[4:6]}-{created[6:8]}" if created[:8].isdigit() else ""
    return _item(path, "pdf", clean(whole), about.get("Title"), date)


def _heads(pages: list[list[str]]) -> set[str]:
    """Return the running heads and feet: what stands at the edge of most pages, and page numbers there."""
    edges = [{line for line in (*page[:2], *page[-2:]) if line} for page in pages]
    counts = Counter(line for edge in edges for line in edge)
    many = len(pages) >= _LEAST_PAGES
    repeated = {line for line, count in counts.items() if many and count >= _ON_PAGES * len(pages)}
    return repeated | {line for line in counts if line.isdigit()}


def _joined(lines: list[str]) -> str:
    """Return the lines of a page as paragraphs: an empty line ends one, and a short one that ends a sentence."""
    width = max(map(len, lines), default=0)
    text = ""
    for line in lines:
        if not line:
            text = text.rstrip() + "\n\n"
        elif text.endswith("-\n") and line[:1].islower():
            text = text[:-2] + line + "\n"
        else:
            text += line + ("\n\n" if line[-1] in '.!?”"' and len(line) < 0.8 * width else "\n")
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n") if part.strip())


def _docx(path: Path) -> CorpusItem:
    docx = _library("docx", path)
    _members(path)
    try:
        document = docx.Document(str(path))
    except Exception:  # the library raises what its parsers raise
        raise CorpusError(f"{path.name} cannot be read: it is damaged, encrypted, or no .docx") from None
    parts: list[str] = []
    quoted: list[tuple[int, int]] = []
    at = 0
    for paragraph in document.paragraphs:
        text = clean(paragraph.text)
        if not text:
            continue
        if "quote" in str(getattr(paragraph.style, "name", "")).lower():
            quoted.append((at, at + len(text)))
        parts.append(text)
        at += len(text) + 2
    about = document.core_properties
    return _item(path, "docx", "\n\n".join(parts), about.title, about.created or "", quoted=tuple(quoted) or None)


def _epub(path: Path) -> CorpusItem:
    with _members(path) as archive:
        names = set(archive.namelist())
        if "META-INF/rights.xml" in names or "META-INF/license.lcpl" in names:
            raise CorpusError(f"{path.name} is encrypted for one reader (DRM); save it without")
        try:
            container = _xml(archive, "META-INF/container.xml", path)
            package = next(e.get("full-path", "") for e in container.iter() if _local(e) == "rootfile")
            book = _xml(archive, package, path)
            hrefs = {e.get("id"): e.get("href", "") for e in book.iter() if _local(e) == "item"}
            spine = [hrefs.get(e.get("idref"), "") for e in book.iter() if _local(e) == "itemref"]
            folder = posixpath.dirname(package)
            pages = [posixpath.normpath(posixpath.join(folder, unquote(href))) for href in spine if href]
            raw = [archive.read(page).decode("utf-8", "replace") for page in pages if page in names]
        except (KeyError, StopIteration, RuntimeError, zipfile.BadZipFile) as fault:
            raise CorpusError(f"{path.name} is no readable EPUB: {one_line(str(fault)) or 'no contents'}") from None
    text, quoted = "", list[tuple[int, int]]()
    for chapter, spans in map(quoted_text, raw):
        if chapter:
            text += "\n\n" if text else ""
            quoted += [(len(text) + start, len(text) + end) for start, end in spans]
            text += chapter
    title = next((e.text for e in book.iter() if _local(e) == "title"), "")
    date = next((e.text for e in book.iter() if _local(e) == "date"), "")
    return _item(path, "epub", text, title, date, quoted=tuple(quoted) or None)


def _members(path: Path) -> zipfile.ZipFile:
    """Open a ZIP file that is neither a bomb nor encrypted."""
    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, OSError) as fault:
        raise CorpusError(f"{path.name} is not a readable {path.suffix.lower()} file: {fault}") from None
    infos = archive.infolist()
    size, packed = sum(info.file_size for info in infos), sum(info.compress_size for info in infos)
    if len(infos) > _MAX_MEMBERS or size > MAX_FILE_BYTES or size > _MOST_RATIO * max(packed, 1):
        archive.close()
        raise CorpusError(
            f"{path.name} would unpack to {size / 2**20:.0f} MiB in {len(infos):,} files: it is refused"
        )
    if any(info.flag_bits & 1 for info in infos):
        archive.close()
        raise CorpusError(f"{path.name} is encrypted; save it without a password")
    return archive


def _xml(archive: zipfile.ZipFile, name: str, path: Path) -> ElementTree.Element:
    text = archive.read(name).decode("utf-8-sig", "replace")
    if "<!entity" in text.lower():
        raise CorpusError(f"{path.name} declares entities in {name}; a book has none, so it is refused")
    try:
        return ElementTree.fromstring(text)
    except (ElementTree.ParseError, ValueError) as fault:
        raise CorpusError(f"{path.name}: {name} is damaged: {fault}") from None


def _local(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _transcript(path: Path, speaker: str) -> CorpusItem:
    webvtt = _library("webvtt", path)
    try:
        captions: Any = webvtt.from_srt(str(path)) if path.suffix.lower() == ".srt" else webvtt.read(str(path))
    except Exception as fault:  # the library raises what its parsers raise
        raise CorpusError(f"{path.name} is no readable transcript: {one_line(str(fault))}") from None
    said = [(one_line(caption.voice or ""), " ".join(caption.text.split())) for caption in captions]
    voices = list(dict.fromkeys(voice for voice, _ in said if voice))
    chosen = next((voice for voice in voices if voice.casefold() == speaker.casefold()), "")
    if len(voices) > 1 and not chosen:
        raise CorpusError(f"{path.name} has several voices: name one with --speaker: {', '.join(voices[:8])}")
    turns: list[tuple[str, str]] = []
    for voice, words in said:
        if turns and turns[-1][0] == voice:
            turns[-1] = (voice, words if turns[-1][1].endswith(words) else f"{turns[-1][1]} {words}")
        elif words:
            turns.append((voice, words))
    text, quoted = "", list[tuple[int, int]]()
    for voice, words in turns:
        text += "\n\n" if text else ""
        if voice and chosen and voice != chosen:
            quoted.append((len(text), len(text) + len(clean(words))))
        text += clean(words)
    return _item(path, "transcript", text, quoted=tuple(quoted) or None)
