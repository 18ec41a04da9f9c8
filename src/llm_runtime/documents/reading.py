"""The bytes of a file as the text that a reader would read, by what its name ends with."""

from __future__ import annotations

import importlib
import posixpath
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from io import BytesIO
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

from llm_runtime.documents.markup import Composed, Piece, clean, composed, one_line, page_of_html, text_of_html
from llm_runtime.documents.word import blocks, local_name, value
from llm_runtime.errors import ConfigurationError
from llm_runtime.extras import needing
from llm_runtime.files import saying
from llm_runtime.rewording import reworded
from llm_runtime.structs import Struct
from llm_runtime.toml import own_table

MAX_BYTES = 256 * 2**20
#: A line on this share of a document's pages is its running head or foot.
_ON_PAGES, _LEAST_PAGES = 0.6, 4
#: Characters of the lines of a narrow column, and how an item of a list begins.
_NARROW, _ITEM = 40, re.compile(r"(?:[•◦▪‣*–-]|\(?(?:\d{1,3}|[a-z])[.)])\s")
_MAX_MEMBERS, _MOST_RATIO = 20_000, 200
_TRIES = 3
_TEMPLATE = "2013-12-23"
#: What a web server calls a kind of document, and the ending of its files.
ENDINGS: Mapping[str, str] = own_table("llm_runtime.documents", "endings.toml")
#: What a ZIP and the files in it raise where they are not what they should be.
_DAMAGED = (LookupError, StopIteration, ValueError, RuntimeError, EOFError, zipfile.BadZipFile, zlib.error)
_NOTES = ("footnotes", "endnotes")
_PARTS = frozenset(("officeDocument", "core-properties", "styles", "comments", *_NOTES))
#: How a page, an XML file, a mail or a source names the older character set that it is written in.
_CHARSET = re.compile(
    rb"(?:charset|coding)\s*[:=]\s*[\"']?((?:windows-|iso-?8859-|koi8-|gb|big5|shift|euc-|cp|latin|us-ascii)[\w-]*)",
    re.I,
)
#: Names that browsers read more widely, as their writers did.
_AS_BROWSERS = {
    **dict.fromkeys(("iso-8859-1", "latin1", "latin-1", "us-ascii"), "windows-1252"),
    **{"gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932", "euc-kr": "cp949"},
}
_LOGIN = 'type="password"'


class DocumentError(ConfigurationError):
    """A document cannot be read; one line with its name and the fault. Exit code 2."""


class NoTextError(DocumentError):
    """A document has no text: its pages may be pictures. Exit code 2."""


class Document(Struct):
    """What stands in a document.

    Args:
        text: of a program's own format without what cannot be seen; of a text file as it is, line by line.
        kind: ``"pdf"``, ``"docx"``, ``"epub"``, ``"table"``, ``"html"`` or ``"text"``.
        title: as the document gives it; may be empty.
        date: likewise, in the document's own form.
        author: likewise.
        parts: its chapters or the whole as composed text, which says what is quoted; empty where ``text`` is all.
        notes: remarks at its margin: who, when, what.
        left: characters that are left out, by reason.
    """

    text: str
    kind: str
    title: str = ""
    date: str = ""
    author: str = ""
    parts: tuple[Composed, ...] = ()
    notes: tuple[tuple[str, str, str], ...] = ()
    left: tuple[tuple[str, int], ...] = ()


def read_bytes(path: Path, most: int = MAX_BYTES) -> bytes:
    """Read a file that does not change meanwhile.

    Args:
        most: bytes.

    Raises:
        DocumentError: it is no file, too large, unreadable, or goes on changing.
    """
    with saying(f"{path.name} cannot be read", DocumentError):
        for _ in range(_TRIES):
            before = path.stat()
            if not path.is_file():
                raise DocumentError(f"{path.name} is no file; give a file or a folder")
            if before.st_size > most:
                raise DocumentError(
                    f"{path.name} is {before.st_size / 2**20:.0f} MiB, the limit is {most / 2**20:.0f}; split it"
                )
            with path.open("rb") as file:
                data = file.read(most + 1)
            after = path.stat()
            if (before.st_mtime_ns, len(data)) == (after.st_mtime_ns, after.st_size):
                return data
    raise DocumentError(f"{path.name} changes while it is read; copy it first, and give the copy")


def read_document(name: str, data: bytes, kind: str = "") -> Document:
    """Return what stands in a document.

    Args:
        name: of the file; its ending says what it is, and refusals name it.
        data: its bytes.
        kind: an ending (``".html"``) in place of the name's.

    Raises:
        DocumentError: it is encrypted, damaged, binary, not UTF-8, a bomb, or has no text.
        MissingExtraError: the extra ``import`` is not installed.
    """
    ending = kind or PurePath(name).suffix.lower()
    document = _READERS.get(ending, _text)(name, data)
    if not document.text.strip():
        why = "scanned, or empty: it has no text; run OCR on it first" if ending == ".pdf" else "it has no text"
        raise (NoTextError if ending == ".pdf" else DocumentError)(f"{name}: {why}")
    return document


def library(module: str, name: str) -> Any:
    """Return a library that reads a file of this name."""
    with needing(f"reading {PurePath(name).suffix.lower()} files", "import"):
        return importlib.import_module(module)


def _text(name: str, data: bytes) -> Document:
    charset = _charset(data)
    if b"\0" in data[:65_536] and charset != "utf-16":
        raise DocumentError(f"{name} is binary, and nothing here reads its kind; give it as text or PDF")
    try:
        text = data.decode("utf-16" if charset == "utf-16" else "utf-8-sig")
    except UnicodeDecodeError as fault:
        if charset.startswith("utf"):
            raise DocumentError(f"{name} is not UTF-8 at byte {fault.start}; convert it first") from None
        with reworded(f"{name} says that it is of another character set", LookupError, kind=DocumentError):
            text = data.decode(charset, "replace")
    return Document(text.replace("\r\n", "\n").replace("\r", "\n"), "text")


def _charset(data: bytes) -> str:
    """Return the character set of a text by its mark, else by its own word where that is one of the older ones."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    said = _CHARSET.search(data[:4096])
    charset = said[1].decode().lower() if said else "utf-8-sig"
    return _AS_BROWSERS.get(charset, charset)


def _html(name: str, data: bytes) -> Document:
    markup = _text(name, data).text
    text = text_of_html(markup)
    if _LOGIN in markup.lower() and len(text) < 2_000:
        raise DocumentError(f"{name} shows a login form and not the page; save the page, and give the file")
    return Document(clean(text), "html")


def _pdf(name: str, data: bytes) -> Document:
    pdfium = library("pypdfium2", name)
    try:
        document = pdfium.PdfDocument(data)
    except pdfium.PdfiumError as fault:
        why = "it is encrypted; save it without a password" if "password" in str(fault).lower() else "it is damaged"
        raise DocumentError(f"{name} cannot be read: {why}") from None
    try:
        pages = [page.get_textpage().get_text_bounded().replace("\r\n", "\n") for page in document]
        about = document.get_metadata_dict()
    finally:
        document.close()
    lines = [[line.strip() for line in page.split("\n")] for page in pages]
    heads = _heads(lines)
    texts = [clean(_joined([line for line in page if line not in heads])) for page in lines]
    left = sum(len(line) for page in lines for line in page if line in heads)
    created = str(about.get("CreationDate") or "").removeprefix("D:")
    date = f"{created[:4]}-{created[4:6]}-{created[6:8]}" if created[:8].isdigit() else ""
    whole, gone = "\n\n".join(filter(None, texts)), (("running heads and page numbers", left),)
    return Document(whole, "pdf", one_line(about.get("Title")), date, one_line(about.get("Author")), left=gone)


def _heads(pages: list[list[str]]) -> set[str]:
    """Return the running heads and feet: what stands at the edge of most pages, and page numbers there."""
    edges = [{line for line in (*page[:2], *page[-2:]) if line} for page in pages]
    counts = Counter(line for edge in edges for line in edge)
    repeated = {line for line, count in counts.items() if count >= _ON_PAGES * len(pages) >= _ON_PAGES * _LEAST_PAGES}
    return repeated | {line for line in counts if line.isdigit()}


def _joined(lines: list[str]) -> str:
    """Return the lines of a page as paragraphs: an empty line ends one, and a short one that ends a sentence.

    A line that its writer ended stays a line: a heading, a row of a table, an item of a list.
    """
    lengths = sorted(map(len, filter(None, lines)))
    width, usual = max(lengths, default=0), max([_NARROW, *lengths[len(lengths) * 3 // 4 :][:1]])
    text = ""
    for line, after in zip(lines, [*lines[1:], ""], strict=False):
        if not line:
            text = text.rstrip() + "\n\n"
            continue
        text = (text[:-2] if text.endswith(("-\n", "-\f")) and line[:1].islower() else text) + line
        ended = line[-1] in '.!?”"' and len(line) < 0.8 * width
        text += "\n\n" if ended else "\f" if _stays(line, after, usual) else "\n"
    return "\n\n".join(filter(None, map(_one_paragraph, text.split("\n\n"))))


def _one_paragraph(text: str) -> str:
    return "\n".join(" ".join(line.split()) for line in text.split("\f")).strip()


def _stays(line: str, after: str, usual: int) -> bool:
    """Tell whether the first word of the line after had room on a line, or begins an item."""
    return bool(_ITEM.match(after)) or len(f"{line} {after.partition(' ')[0]}") < 0.8 * usual


def _docx(name: str, data: bytes) -> Document:
    with _members(name, data) as archive:
        try:
            package = _related(archive, "", name)
            main = package["officeDocument"]
            beside = {kind: _xml(archive, path, name) for kind, path in _related(archive, main, name).items()}
            about = _xml(archive, package.get("core-properties", main), name)
            styles = beside.get("styles", ())
            quoted = {value(style, "styleId") for style in styles for one in style if "quote" in value(one).lower()}
            notes = {f"{local_name(one)} {value(one, 'id')}": one for kind in _NOTES for one in beside.get(kind, ())}
            read = list(blocks(_xml(archive, main, name), quoted, notes))
            remarks = [(one, "\n".join(text for text, _ in blocks(one, (), {}))) for one in beside.get("comments", ())]
        except _DAMAGED:
            raise DocumentError(f"{name} cannot be read: it is damaged, encrypted, or no .docx") from None
    whole = composed(Piece(clean(text), "quoted" if said else "own", opens=True) for text, said in read)
    title, created, author = _told(about, "title", "created", "creator")
    # A document that a program wrote has the date of that program's template.
    created, author = "" if created.startswith(_TEMPLATE) else created, author.removeprefix("python-docx")
    margin = tuple((one_line(value(one, "author")), value(one, "date"), clean(text)) for one, text in remarks)
    return Document(whole.text, "docx", title, created, author, (whole,), margin)


def _related(archive: zipfile.ZipFile, part: str, name: str) -> dict[str, str]:
    """Return where the parts lie that a part of a Word document names, by their kind."""
    folder, file = posixpath.split(part)
    listed, names = posixpath.join(folder, "_rels", f"{file}.rels"), set(archive.namelist())
    found: dict[str, str] = {}
    for one in _xml(archive, listed, name) if listed in names else ():
        kind, path = PurePath(one.get("Type", "")).name, posixpath.join("/", folder, one.get("Target", ""))
        if kind in _PARTS and (path := posixpath.normpath(path)[1:]) in names:
            found[kind] = path
    return found


def _epub(name: str, data: bytes) -> Document:
    with _members(name, data) as archive:
        names = set(archive.namelist())
        if "META-INF/rights.xml" in names or "META-INF/license.lcpl" in names:
            raise DocumentError(f"{name} is encrypted for one reader (DRM); save it without")
        try:
            container = _xml(archive, "META-INF/container.xml", name)
            package = next(e.get("full-path", "") for e in container.iter() if local_name(e) == "rootfile")
            book = _xml(archive, package, name)
            hrefs = {e.get("id"): e.get("href", "") for e in book.iter() if local_name(e) == "item"}
            spine = [hrefs.get(e.get("idref"), "") for e in book.iter() if local_name(e) == "itemref"]
            folder = posixpath.dirname(package)
            pages = [posixpath.normpath(posixpath.join(folder, unquote(href))) for href in spine if href]
            raw = [(data := archive.read(page)).decode(_charset(data), "replace") for page in pages if page in names]
        except _DAMAGED as fault:
            raise DocumentError(f"{name} is no readable EPUB: {one_line(str(fault)) or 'no contents'}") from None
    read = [page_of_html(markup) for markup in raw]
    parts = [one for chapter in read if (one := composed(chapter.pieces)).text]
    title, date, author = _told(list(book.iter()), "title", "date", "creator")
    left = sum((Counter(chapter.left) for chapter in read), Counter[str]())
    text = "\n\n".join(one.text for one in parts)
    return Document(text, "epub", title, date, author, tuple(parts), left=tuple(left.items()))


def _sheets(name: str, data: bytes) -> Document:
    calamine = library("python_calamine", name)
    if data.startswith(b"PK"):
        _members(name, data).close()
    try:
        book = calamine.CalamineWorkbook.from_filelike(BytesIO(data))
        sheets = [(title, book.get_sheet_by_name(title).to_python()) for title in book.sheet_names]
    except Exception:  # the library raises what its parsers raise
        raise DocumentError(f"{name} cannot be read: it is damaged, encrypted, or no spreadsheet") from None
    tables = [f"Sheet {title}\n{_table(rows)}" for title, rows in sheets if any(any(row) for row in rows)]
    return Document("\n\n".join(tables), "table")


def _table(rows: Any) -> str:
    """Return rows of cells as lines, cells apart by bars."""
    return "\n".join(" | ".join(" ".join(clean(_cell(cell)).split()) for cell in row) for row in rows)


def _cell(value: object) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _told(about: Iterable[ElementTree.Element], *names: str) -> list[str]:
    """Return what elements of these names say, each in one line."""
    return [next((one_line(one.text) for one in about if local_name(one) == name), "") for name in names]


def _members(name: str, data: bytes) -> zipfile.ZipFile:
    """Open a ZIP file that is neither a bomb nor encrypted."""
    try:
        archive = zipfile.ZipFile(BytesIO(data))
    except (zipfile.BadZipFile, OSError) as fault:
        raise DocumentError(f"{name} is not a readable {PurePath(name).suffix.lower()} file: {fault}") from None
    infos = archive.infolist()
    size, packed = sum(info.file_size for info in infos), sum(info.compress_size for info in infos)
    fault = "is encrypted; save it without a password" if any(info.flag_bits & 1 for info in infos) else ""
    if len(infos) > _MAX_MEMBERS or size > MAX_BYTES or size > _MOST_RATIO * max(packed, 1):
        fault = f"would unpack to {size / 2**20:.0f} MiB in {len(infos):,} files: it is refused"
    if fault:
        archive.close()
        raise DocumentError(f"{name} {fault}")
    return archive


def _xml(archive: zipfile.ZipFile, member: str, name: str) -> ElementTree.Element:
    text = archive.read(member).decode("utf-8-sig", "replace")
    if "<!entity" in text.lower():
        raise DocumentError(f"{name} declares entities in {member}; a book has none, so it is refused")
    with reworded(f"{name}: {member} is damaged", ElementTree.ParseError, ValueError, kind=DocumentError):
        return ElementTree.fromstring(text)


_READERS: dict[str, Callable[[str, bytes], Document]] = {
    ".pdf": _pdf,
    ".docx": _docx,
    ".epub": _epub,
    **dict.fromkeys((".html", ".htm", ".xhtml"), _html),
    **dict.fromkeys((".xlsx", ".xlsm", ".xls", ".xlsb", ".ods"), _sheets),
}
