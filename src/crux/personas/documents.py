"""A person's texts in the forms of other programs: PDF, DOCX, EPUB, and subtitles with their voices."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from crux.personas.corpus import CorpusItem
from crux.personas.source import MAX_FILE_BYTES, CorpusError, iso_date
from llm_runtime.documents import DocumentError, read_bytes
from llm_runtime.documents import read_document as read
from llm_runtime.documents.markup import clean, one_line
from llm_runtime.extras import needing

DOCUMENTS = frozenset({".pdf", ".docx", ".epub", ".srt", ".vtt"})


def read_document(path: Path, speaker: str = "") -> CorpusItem:
    """Read one document.

    Args:
        path: with one of the endings of :data:`DOCUMENTS`.
        speaker: of a transcript with several voices, the one whose words they are.

    Raises:
        CorpusError: it is too large, encrypted, damaged, without text, or has voices and no speaker is named.
        MissingExtraError: the extra ``import`` is not installed.
    """
    try:
        data = read_bytes(path, MAX_FILE_BYTES)
        if path.suffix.lower() in (".srt", ".vtt"):
            return _transcript(path, speaker)
        document = read(path.name, data)
    except DocumentError as fault:
        raise CorpusError(str(fault)) from None
    return CorpusItem(
        id=path.stem,
        source=document.kind,
        title=document.title or path.stem,
        date=iso_date(path.stem) or iso_date(document.date),
        text=document.text,
        quoted=document.quoted,
    )


def _transcript(path: Path, speaker: str) -> CorpusItem:
    with needing(f"reading {path.suffix.lower()} files", "import"):
        webvtt: Any = importlib.import_module("webvtt")
    try:
        captions: Any = webvtt.from_srt(str(path)) if path.suffix.lower() == ".srt" else webvtt.read(str(path))
    except Exception as fault:  # the library raises what its parsers raise
        raise CorpusError(f"{path.name} is no readable transcript: {one_line(str(fault))}") from None
    spoken = [(one_line(caption.voice or ""), " ".join(caption.text.split())) for caption in captions]
    voices = list(dict.fromkeys(voice for voice, _ in spoken if voice))
    chosen = next((voice for voice in voices if voice.casefold() == speaker.casefold()), "")
    if len(voices) > 1 and not chosen:
        raise CorpusError(f"{path.name} has several voices: name one with --speaker: {', '.join(voices[:8])}")
    turns: list[tuple[str, str]] = []
    for voice, words in spoken:
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
    if not text:
        raise CorpusError(f"{path.name} has no words")
    return CorpusItem(
        id=path.stem,
        source="transcript",
        title=path.stem,
        date=iso_date(path.stem),
        text=text,
        quoted=tuple(quoted) or None,
    )
