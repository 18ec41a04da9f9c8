"""Talk that was written down: subtitles with their voices, minutes with a name before each turn."""

from __future__ import annotations

import importlib
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import date
from html import unescape
from typing import Any

from crux.sources.file import CorpusError, SourceFile, iso_date
from crux.sources.forms import Form
from crux.sources.utterance import PlaceReading, uttered
from llm_runtime.documents.markup import Piece, composed, one_line
from llm_runtime.extras import needing
from llm_runtime.toml import own_table

_VOICE = re.compile(r"<v(?:\.[\w.]+)?\s++([^>]{1,500})>")
_TAG = re.compile(r"</?[a-z][^<>]*>|<\d[\d:.]*>")
#: A time, after its day as chats write it.
_CLOCK = r"[\[(]?(?:\d[\d./-]{5,9},?[ T])?\d{1,2}:\d\d(?::\d\d)?(?:[ \u202f]?[AaPp][Mm])?[\])]?"
#: Letters, and the accents and vowels beside them, which are none to ``\w``.
LETTERS = r"\w\u0300-\u036f\u0900-\u0e7f"
_TURN = re.compile(
    rf"[ \t\u200e]*(?:(?:[-*•]|>>)[ \t]+)?(?:{_CLOCK}(?: -)?[ \t]+)?\*{{0,2}}"
    rf"([^\W\d_][{LETTERS}.'’-]*(?: [{LETTERS}.'’()@-]+){{0,4}}?)(?:[ \t]*{_CLOCK})?\*{{0,2}}"
    r"(?: ?\[[^\]\n]*\])?\*{0,2}(?:：\*{0,2}[ \t]*|[ \xa0\u202f]?:\*{0,2}(?:[ \t\xa0]+|\n))"
)
#: The day and time with which WhatsApp begins a message, and nothing else does: who sends it may be a number, its
#: words may have colons. Without a name it is a notice.
_SENT = re.compile(
    r"[\u200e\u200f]*\[?(?P<day>\d{1,4}[./-] ?\d{1,2}[./-] ?\d{1,4})\.?[^\d\n\[\]]{1,9}\d{1,2}[:.]\d\d(?:[:.]\d\d)?"
    r"[^\d\n:\[\]]{0,9}?(?: - |\][\u200e ]*)"
    r"(?:[~\s\u2068\u202a-\u202e]*+(?P<name>\S[^:\n]{0,80}?)[\u2069\u202c]?:(?:[ \t]+|$))?"
)
#: A message that the program writes in somebody's name.
_NOTICE = re.compile(r"(?i)\s*+(?:\u200e|<[^<>\n]*+>\s*+\Z|(?:you|this message was) deleted\b[^\n]{0,20}\s*+\Z)")
#: Words before a colon that are no names.
_HEADS = frozenset(own_table("crux.sources", "names.toml")["no_names"])
Turn = tuple[str, list[Piece]]


def read_subtitles(file: SourceFile) -> PlaceReading:
    """Read WebVTT or SRT: voices as tags, or as "Name:" before the words; roll-up captions once.

    Raises:
        CorpusError: it is no transcript.
        MissingExtraError: the extra ``import`` is not installed.
    """
    srt = file.name.lower().endswith(".srt")
    with needing(f"reading {'.srt' if srt else '.vtt'} files", "import"):
        webvtt: Any = importlib.import_module("webvtt")
    try:
        captions: Any = webvtt.from_buffer(io.StringIO(file.text), format="srt" if srt else "vtt")
        said = [part for caption in captions for part in _voices(caption)]
    except Exception as fault:  # the library raises what its parsers raise
        raise CorpusError(f"{file.name} is no readable transcript: {one_line(str(fault))}") from None
    return _told(file, _turns(file, said), "transcript")


def _turns(file: SourceFile, said: list[tuple[str, list[str]]]) -> list[Turn]:
    """Return the turns of a transcript; a line that rolls up from the caption before counts once."""
    names = speakers(f"{line}\n" for voice, lines in said for line in lines if not voice)
    turns: list[Turn] = []
    last = ""
    for voice, line in ((voice, line) for voice, lines in said for line in lines):
        if line == last:
            file.leave("captions that roll up", line)
            continue
        last, match = line, None if voice else _TURN.match(f"{line}\n")
        speaker, words = voice, line
        if match is not None and match[1] in names:
            speaker, words = match[1], line[match.end() :].strip()
        file.leave("names", line[: len(line) - len(words)])
        if not turns or (speaker and speaker != turns[-1][0]):
            turns.append((speaker, []))
        turns[-1][1].append(Piece(f"{unescape(words)} "))
    return turns


def _voices(caption: Any) -> Iterator[tuple[str, list[str]]]:
    """Yield the voices of a caption, each with its lines; a caption without tags has one without a name."""
    parts = _VOICE.split(caption.raw_text)
    for voice, words in zip(["", *parts[1::2]], parts[::2], strict=True):
        lines = [" ".join(_TAG.sub("", line).split()) for line in words.split("\n")]
        if any(lines):
            yield one_line(voice), [line for line in lines if line]


def speakers(paragraphs: Iterator[str]) -> set[str]:
    """Return who speaks in a text in which paragraphs begin with "Name:"; nobody where it is no talk.

    Two names or more, three turns or more, and half of the paragraphs.
    """
    counts: Counter[str] = Counter()
    total = 0
    for paragraph in paragraphs:
        total += not paragraph.startswith("#")
        if (match := _TURN.match(paragraph)) and _is_name(match[1]):
            counts[match[1]] += 1
    talk = len(counts) >= 2 and counts.total() >= 3 and 2 * counts.total() >= total
    return set(counts) if talk and (max(counts.values()) >= 2 or counts.total() == total) else set()


def _is_name(words: str) -> bool:
    return words.split()[0].lower() not in _HEADS and all(
        not part[0].islower() or len(part) <= 3 for part in words.split()
    )


def minutes(file: SourceFile, form: Form) -> PlaceReading | None:
    """Read minutes: turns under the names that begin them, each in its form; None where the text is none."""
    if (messages := _chat(file, form)) is not None:
        return messages
    text = file.text
    lines = text.split("\n")
    names = speakers(line + "\n" for line in lines if line.strip() and (_TURN.match(f"{line}\n") or line[:1] in "#"))
    names &= speakers(f"{part.lstrip()}\n" for part in re.split(r"\n(?=[^\n]*[:：])|\n\s*\n", text) if part.strip())
    if not names:
        return None
    turns: list[tuple[str, list[str]]] = [("", [])]
    for line in lines:
        match, words = _TURN.match(f"{line}\n"), line
        if match and match[1] in names:
            turns.append((match[1], []))
            words = line[match.end() :]
            file.leave("names", line[: match.end()])
        elif line.startswith("#") or (match and match[1].split()[0].lower() in _HEADS):
            turns.append(("", []))
        turns[-1][1].append(words)
    return _told(file, [(name, form(file, "\n".join([*said, ""]).lstrip())) for name, said in turns], "minutes")


def _chat(file: SourceFile, form: Form) -> PlaceReading | None:
    """Read a chat of WhatsApp, where a day and a time begin each message; None where the text is none."""
    lines = file.text.split("\n")
    starts = [(at, match) for at, line in enumerate(lines) if (match := _SENT.match(line))]
    if len(starts) < 3 or len({match["name"] for _, match in starts} - {None}) < 2:
        return None
    turns: list[Turn] = []
    dates: list[str] = []
    file.leave("a notice of the program", "".join(lines[: starts[0][0]]))
    ends = [*(at for at, _ in starts[1:]), len(lines)]
    for (at, match), end, day in zip(starts, ends, _days(starts), strict=True):
        text = "\n".join([lines[at][match.end() :], *lines[at + 1 : end], ""])
        if not match["name"] or _NOTICE.match(text):
            file.leave("a notice of the program", text)
            continue
        file.leave("names", match[0])
        turns.append((match["name"], form(file, text)))
        dates.append(day)
    return _told(file, turns, "minutes", dates)


def _days(starts: list[tuple[int, re.Match[str]]]) -> list[str]:
    """Return days as ISO 8601; nothing where the first number may be the day or the month: they go on in both ways."""
    numbers = [[int(number) for number in re.findall(r"\d+", match["day"])] for _, match in starts]
    ways = (
        ((0, 1, 2),) if numbers[0][0] > 99 else ((2, 1, 0),) if "." in starts[0][1]["day"] else ((2, 1, 0), (2, 0, 1))
    )
    found: list[list[str]] = []
    for year, month, day in ways:
        with suppress(ValueError):
            days = [date(one[year] % 100 + 2000, one[month], one[day]).isoformat() for one in numbers]
            found += [days] if days == sorted(days) else []
    return found[0] if found and found[0] == found[-1] else [""] * len(starts)


def _told(file: SourceFile, turns: list[Turn], source: str, dates: Sequence[str] = ()) -> PlaceReading:
    """Return turns as utterances; whoever cannot be told is noted."""
    file.authored = False
    # Whoever is named with a rank once, and without it elsewhere, is one person; with two ranks it may be two.
    short = {name: name.partition(" (")[0] if name.endswith(")") else name for name, _ in turns}
    same = {name for name in short if [*short.values()].count(name) == 2}
    turns = [(short[name] if short[name] in same else name, pieces) for name, pieces in turns]
    unnamed = sum(len(piece.text.strip()) for speaker, pieces in turns for piece in pieces if not speaker)
    if turns and not any(speaker for speaker, _ in turns):
        file.notes.append(f"{file.name}: no speaker is named in it: cannot tell who said what")
    elif unnamed:
        file.notes.append(f"{file.name}: {unnamed} characters stand under no speaker's name")
    return file.finished(
        uttered(
            body,
            id=f"{file.stem}-{number}" if len(turns) > 1 else file.stem,
            source=source,
            speaker=speaker or None,
            title=file.stem,
            date=dates[number - 1] if dates else iso_date(file.stem),
        )
        for number, (speaker, pieces) in enumerate(turns, start=1)
        if (body := composed(file.enter(pieces))).text
    )
