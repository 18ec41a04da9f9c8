"""Bringing a person's texts in: a folder, an RSS or Atom file, an X archive, JSONL (CX15).

What is imported is data: nothing is run, extracted to disk or fetched. Files beyond the limits are refused with
one line that says which, and how large.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from pydantic_core import from_json

from crux.personas.corpus import Corpus, CorpusItem, in_parts, make_corpus
from crux.personas.documents import DOCUMENTS, read_document
from crux.personas.feeds import read_feed
from crux.personas.front_matter import split_front_matter
from crux.personas.posts import read_posts
from crux.personas.source import CorpusError, iso_date, plain, read_text, readable
from crux.personas.x_archive import is_archive, read_x_archive
from llm_runtime.documents.markup import one_line

MAX_FILES = 20_000
_TEXTS = {".md", ".markdown", ".txt", ".html", ".htm"}
_FEEDS = {".xml", ".rss", ".atom"}


@dataclass(frozen=True, slots=True)
class Gathered:
    """What an import found.

    Args:
        corpus: the texts.
        author: the name that most texts give as their author, or empty.
        aliases: other names the texts are signed with.
        skipped: one line for each file or entry that was left out, and why.
    """

    corpus: Corpus
    author: str = ""
    aliases: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()


def import_corpus(path: Path, *, author: str = "", speaker: str = "", drafts: bool = False) -> Gathered:
    """Read whatever ``path`` is.

    Args:
        path: a folder of Markdown, text or HTML files; an unpacked X archive (a folder with ``data/tweets.js``) or
            its ZIP file; ``tweets.js`` itself; a Substack or Medium export, unpacked; a WordPress export; an RSS or
            Atom file; a JSONL file; a PDF, DOCX, EPUB or subtitle file; or one text.
        author: whose entries of a feed or WordPress export are meant, as it names them.
        speaker: whose words of a transcript with several voices are meant.
        drafts: take what was never published too.

    Raises:
        CorpusError: it does not exist, is no such thing, is too large, or holds no text at all.
    """
    if not path.exists():
        raise CorpusError(f"{path.name}: there is no such file or folder")
    if is_archive(path):
        imported = Gathered(make_corpus(read_x_archive(path)))
    elif path.is_dir():
        imported = read_folder(path, speaker, drafts=drafts)
    elif path.suffix.lower() in _FEEDS:
        notes: list[str] = []
        entries, left_out = read_feed(read_text(path, notes), path.name, author, drafts=drafts)
        imported = Gathered(make_corpus(entries), skipped=(*notes, *left_out))
    elif path.suffix.lower() in DOCUMENTS:
        imported = Gathered(make_corpus([read_document(path, speaker)]))
    elif path.suffix.lower() in {".jsonl", ".ndjson"}:
        imported = read_jsonl(path)
    elif path.suffix.lower() in _TEXTS:
        imported = _gather([path], path.parent)
    else:
        raise CorpusError(
            f"{path.name} is no source of texts; give a folder, .md, .txt, .html, .pdf, .docx, .epub, .srt, .vtt, "
            "an RSS, Atom or WordPress .xml, an X archive, or a .jsonl file"
        )
    if not imported.corpus.items:
        why = f" ({imported.skipped[0]})" if imported.skipped else ""
        raise CorpusError(f"{path.name} holds no text{why}; a persona needs at least one")
    return _parted(imported)


def _parted(imported: Gathered) -> Gathered:
    """Cut texts that are too long for one item into parts, and say so."""
    items: list[CorpusItem] = []
    lines: list[str] = []
    for item in imported.corpus.items:
        parts = in_parts(item)
        items += parts
        if len(parts) > 1:
            lines.append(f"{item.id}: {len(item.text):,} characters, kept whole, in {len(parts)} parts")
    if not lines:
        return imported
    return replace(imported, corpus=make_corpus(items), skipped=(*imported.skipped, *lines))


def read_folder(folder: Path, speaker: str = "", *, drafts: bool = False) -> Gathered:
    """Read all texts below a folder, links not followed; a Substack or Medium export is known by its files.

    Raises:
        CorpusError: too many files, or one that is too large.
    """
    files = sorted(
        file
        for file in folder.rglob("*")
        if file.suffix.lower() in _TEXTS | DOCUMENTS and file.is_file() and not file.is_symlink()
    )
    if len(files) > MAX_FILES:
        raise CorpusError(f"{folder.name} has {len(files):,} texts, the limit is {MAX_FILES:,}; split it")
    return _gather(files, folder, speaker, drafts=drafts)


def read_jsonl(path: Path) -> Gathered:
    """Read one text a line: ``{"text": ..., "id"?, "source"?, "title"?, "date"?, "url"?, "replies_to"?}``.

    A line that is no such object is skipped, and said.

    Raises:
        CorpusError: the file is too large, or no text.
    """
    items: list[CorpusItem] = []
    skipped: list[str] = []
    for number, line in enumerate(read_text(path, skipped).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            data: Any = from_json(line)
            text = data["text"]
            if not isinstance(text, str):
                raise TypeError
        except (ValueError, KeyError, TypeError):
            skipped.append(f'{path.name}, line {number}: no JSON object with a "text"')
            continue
        fields = cast("dict[str, Any]", data)
        items.append(
            CorpusItem(
                id=one_line(fields.get("id")) or f"{path.stem}-{number}",
                source=one_line(fields.get("source")) or "jsonl",
                title=one_line(fields.get("title")),
                date=iso_date(str(fields.get("date") or "")),
                url=one_line(fields.get("url")),
                text=plain(text),
                replies_to=tuple(map(str, fields.get("replies_to") or ())),
            )
        )
    return Gathered(make_corpus(items), skipped=tuple(skipped))


def _gather(files: list[Path], root: Path, speaker: str = "", *, drafts: bool = False) -> Gathered:
    items: list[CorpusItem] = []
    skipped: list[str] = []
    posts = read_posts(root)
    authors: dict[str, int] = {}
    signed: dict[str, None] = {}
    for file in files:
        post = posts.get(file.stem)
        if not drafts and (file.name.startswith("draft_") or (post is not None and not post.published)):
            skipped.append(f"{file.name}: not published; --drafts takes it too")
            continue
        try:
            if file.suffix.lower() in DOCUMENTS:
                items.append(read_document(file, speaker))
                continue
            head, body = split_front_matter(read_text(file, skipped).replace("\r\n", "\n"))
        except CorpusError as fault:
            skipped.append(str(fault))
            continue
        text, quoted = readable(body)
        if not text:
            skipped.append(f"{file.name}: empty")
            continue
        if post is not None:
            head = {"title": post.title, "date": post.date, **head}
        for name in _listed(head.get("author")):
            authors[name] = authors.get(name, 0) + 1
        signed.update(dict.fromkeys(_listed(head.get("signed")) + _listed(head.get("aliases"))))
        items.append(_item(file, root, head, text).model_copy(update={"quoted": quoted}))
    author = max(authors, key=lambda name: authors[name], default="")
    return Gathered(make_corpus(items), author, tuple(name for name in signed if name != author), tuple(skipped))


def _item(file: Path, root: Path, head: dict[str, str | list[str]], text: str) -> CorpusItem:
    title = one_line(head.get("title"))
    if not title and text.startswith("# "):
        title = one_line(text[2:].partition("\n")[0])
    return CorpusItem(
        id=one_line(head.get("id")) or "/".join(file.relative_to(root).with_suffix("").parts),
        source=one_line(head.get("source")) or "essay",
        title=title,
        date=iso_date(one_line(head.get("date"))) or iso_date(file.stem),
        url=one_line(head.get("url")),
        text=text,
        replies_to=tuple(_listed(head.get("replies_to")) or _listed(head.get("linked"))),
    )


def _listed(value: str | list[str] | None) -> list[str]:
    entries = value if isinstance(value, list) else [value or ""]
    return [word for entry in entries if (word := one_line(entry))]
