"""Bringing one person's texts in: a place is read, and what that person says in it is kept (CX15)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import field
from pathlib import Path

from crux.personas.corpus import Corpus, in_parts, make_corpus
from crux.sources.file import CorpusError
from crux.sources.place import read_place
from crux.sources.utterance import Balance, PlaceReading, Utterance
from llm_runtime.structs import Struct


class Gathered(Struct):
    """What an import found.

    Args:
        corpus: the texts.
        author: whose they are, as the place names that person; empty where it does not.
        aliases: other names the texts are signed with.
        skipped: one line for each file, entry or speaker that was left out, and why.
        balance: what became of every character.
    """

    corpus: Corpus
    author: str = ""
    aliases: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    balance: Balance = field(default_factory=Balance)


def import_corpus(path: Path, *, speaker: str = "", drafts: bool = False, name: str = "") -> Gathered:
    """Read whatever ``path`` is, and keep one person's words.

    Args:
        path: a place that :func:`crux.sources.read_place` reads.
        speaker: whose entries of a feed or WordPress export, or whose words of a talk or a thread, are meant.
        drafts: take what was never published too.
        name: whose words are meant if the place names such a person, and else of no weight.

    Raises:
        CorpusError: the place cannot be read, holds no text at all, or has several speakers and none is named.
    """
    reading = read_place(path, drafts=drafts)
    chosen = _chosen(path, reading, speaker, name)
    # Whoever signs some texts of a shelf is taken to have written those that nobody signs; in a talk nobody is.
    meant = {chosen} if speaker or not reading.authored else {chosen, ""}
    kept = [one for one in reading.utterances if not chosen or (one.speaker or "") in meant]
    corpus = make_corpus(part for one in kept for part in in_parts(one))
    if not corpus.items:
        why = f" ({reading.notes[0]})" if reading.notes else ""
        raise CorpusError(f"{path.name} holds no text{why}; a persona needs at least one")
    split = ((one, len(in_parts(one))) for one in kept)
    cut = [f"{one.id}: {len(one.text):,} characters, kept whole, in {parts} parts" for one, parts in split if parts > 1]
    others = [] if not chosen else [one for one in reading.utterances if (one.speaker or "") not in meant]
    aliases = tuple(one for one in reading.aliases if one != chosen)
    return Gathered(corpus, chosen, aliases, (*reading.notes, *cut, *_others(others)), reading.balance)


def _chosen(path: Path, reading: PlaceReading, wanted: str, name: str) -> str:
    """Return whose words are meant; empty where nobody is named.

    Raises:
        CorpusError: nobody of that name speaks, or several do and none is named.
    """
    speakers = [one for one in reading.speakers if one]
    folded = {one.casefold(): one for one in speakers}
    if wanted and (speakers or not reading.authored) and wanted.casefold() not in folded:
        there = ", ".join(speakers[:8]) or "no names at all"
        raise CorpusError(f"{path.name}: nobody in it is called {wanted[:60]}; there are: {there}")
    for one in (wanted, name):
        if one.casefold() in folded:
            return folded[one.casefold()]
    if len(speakers) > 1 and not reading.authored:
        raise CorpusError(f"{path.name} has several voices: name one with --speaker: {', '.join(speakers[:8])}")
    texts = Counter(one.speaker for one in reading.utterances if one.speaker)
    return texts.most_common(1)[0][0] if texts else ""


def _others(left_out: Sequence[Utterance]) -> Iterator[str]:
    """Yield a line for each speaker whose words are left out, those with most texts first."""
    titles = {one.speaker: one.title for one in reversed(left_out)}
    for speaker, count in Counter(one.speaker for one in left_out).most_common():
        what = f"{count} text{'s' if count != 1 else ''}{f', {titles[speaker]}' if titles[speaker] else ''}"
        yield f"{what}: by {speaker or 'nobody who is named'}; --speaker says whose words are meant"
