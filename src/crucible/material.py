"""What is attached to a question: texts with ids and line numbers, how calls are shown them, and what fits."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property

from pydantic import Field

from llm_runtime.errors import ConfigurationError
from llm_runtime.messages import CallLabel, Picture
from llm_runtime.models import Model
from llm_runtime.prompts import Fence, load_prompt
from llm_runtime.tokens import estimate_tokens
from llm_runtime.vision import picture_tokens

MOST_ITEMS = 100
MOST_CHARACTERS = 400_000
#: Pictures of a run, and their characters in base64: they are in its log, and go out with each call.
MOST_PICTURES, MOST_OF_PICTURES = 20, 12_000_000
_PASSAGE = 20
_WORD = re.compile(r"[^\W_]{3,}")
#: Lines that head what follows: of Markdown, of a diff, of code.
_HEAD = re.compile(r"#{1,6} |diff --git |@@ |(?:class|def|func|fn|interface|struct) ")
#: Characters of all attachments together that triage is shown.
_OUTLINE = 6_000
#: Of a window, the share that attachments may take: the council's own texts stand beside them.
_SHARE = 0.6


class Attachment(Model, use_attribute_docstrings=False):
    """One attached text, or a picture.

    Args:
        name: the file's, as it was given, or the address.
        text: line by line, as quotations of it are counted.
        shown: 1-based first and last lines that are shown; ``None`` shows all.
        picture: in place of a text, the picture as a ``data:`` address.
    """

    name: str = Field(min_length=1, max_length=300)
    text: str
    shown: tuple[tuple[int, int], ...] | None = None
    picture: str = ""

    @cached_property
    def seen(self) -> Picture | None:
        """The picture, where it is one."""
        if not self.picture:
            return None
        from llm_runtime.documents.pictures import picture_at  # most attachments are none

        return picture_at(self.name, self.picture, known=True)

    @property
    def size(self) -> str:
        """How large it is, in words: its lines, or its pixels."""
        return f"a picture, {self.seen.width} × {self.seen.height} pixels" if self.seen else f"{self.lines} lines"

    def numbered(self) -> str:
        """Return the text with a number before each line, and a note wherever lines are left out."""
        lines = self.text.split("\n")
        width, out, at = len(str(len(lines))), list[str](), 1
        for first, last in self.shown or ((1, len(lines)),):
            if first > at:
                out.append(f"[lines {at} to {first - 1} are left out]")
            out += [f"{number:>{width}}| {lines[number - 1]}" for number in range(first, last + 1)]
            at = last + 1
        if at <= len(lines):
            out.append(f"[lines {at} to {len(lines)} are left out]")
        return "\n".join(out)

    @property
    def lines(self) -> int:
        """How many lines it has."""
        return self.text.count("\n") + 1


Dossier = Sequence[Attachment]
"""Attachments in order; the first has the id ``A1``."""


def ids(dossier: Dossier) -> dict[str, Attachment]:
    """Return the attachments by their ids."""
    return {f"A{number}": one for number, one in enumerate(dossier, 1)}


def check(dossier: Dossier) -> None:
    """Refuse more than a council can read.

    Raises:
        ConfigurationError: says what is the largest.
    """
    if len(dossier) > MOST_ITEMS:
        raise ConfigurationError(f"{len(dossier):,} attachments, and {MOST_ITEMS} is the limit; name fewer")
    size = sum(len(one.text) for one in dossier)
    if size > MOST_CHARACTERS:
        raise ConfigurationError(
            f"the attachments have {size:,} characters, and {MOST_CHARACTERS:,} is the limit; leave out "
            f"{_largest(dossier, size - MOST_CHARACTERS)}, or let --fit choose passages"
        )
    pictures = [one.picture for one in dossier if one.picture]
    if len(pictures) > MOST_PICTURES or sum(map(len, pictures)) > MOST_OF_PICTURES:
        raise ConfigurationError(
            f"{len(pictures)} pictures with {sum(map(len, pictures)):,} characters in base64; {MOST_PICTURES} with "
            f"{MOST_OF_PICTURES:,} are the limit: name fewer, or scale them down"
        )


def manifest(dossier: Dossier) -> list[dict[str, object]]:
    """Return what triage is told of the attachments."""
    return [{"id": name, "name": one.name, **_extent(one)} for name, one in ids(dossier).items()]


def outline(dossier: Dossier) -> list[dict[str, object]]:
    """Return what triage is told of the attachments of a council of records: names, lines, and how each begins."""
    share = _OUTLINE // max(len(dossier), 1)
    named = ids(dossier).items()
    return [{"id": id, "name": one.name, **_extent(one), "begins": _beginning(one, share)} for id, one in named]


def _extent(one: Attachment) -> Mapping[str, object]:
    return {"kind": one.size} if one.picture else {"lines": one.lines}


def _beginning(one: Attachment, most: int) -> str:
    """Return its first lines and, as far as there is room, those that head something further down."""
    lines = [line.rstrip() for line in one.text.split("\n") if line.strip()]
    first = "\n".join(lines)[: most * 2 // 3]
    heads = "\n".join(line for line in lines[first.count("\n") + 1 :] if _HEAD.match(line))
    return f"{first}\n[…]\n{heads[: most // 3]}" if heads else first


def message(dossier: Dossier, seed: int, seat: str, prompt: str = "attachments") -> str:
    """Return the attachments as a call is shown them, each behind a fence.

    The markers are the same in all calls of a seat, so that a provider can keep what it has read.
    """
    fence = Fence(seed, CallLabel("crucible", "attachments", seat))
    listed = "\n".join(f"- {name}: {one.name} ({one.size})" for name, one in ids(dossier).items())
    texts = [fence(f"ATTACHMENT {name}", one.numbered()) for name, one in ids(dossier).items() if not one.picture]
    if len(texts) < len(dossier):
        texts.append(load_prompt("crucible", "pictures").text.strip())
    return load_prompt("crucible", prompt).render(listed=fence("LIST", listed), attachments="\n\n".join(texts))


def check_window(dossier: Dossier, window: int | None) -> None:
    """Refuse attachments that leave a council no room, before a call is made.

    Args:
        window: tokens that the smallest model reads; ``None`` where that is not known.

    Raises:
        ConfigurationError: says what to leave out.
    """
    if window is None or not dossier:
        return
    room, size = math.floor(window * _SHARE), _tokens(dossier)
    if size > room:
        raise ConfigurationError(
            f"the attachments take about {size:,} tokens, and the smallest window of the panel has {window:,}, of "
            f"which {room:,} are theirs; leave out {_largest(dossier, 4 * (size - room))}, or use --fit {room}"
        )


def _tokens(dossier: Dossier) -> int:
    shown = picture_tokens("", filter(None, (one.seen for one in dossier)))
    return shown + sum(estimate_tokens(one.numbered()) for one in dossier)


def _largest(dossier: Dossier, characters: int) -> str:
    """Return the names of the largest attachments that together hold so many characters."""
    named, left = list[str](), characters
    for one in sorted(dossier, key=lambda one: -len(one.text)):
        if left > 0 and len(named) < 5:
            named.append(f"{one.name} ({len(one.text):,} characters)")
            left -= len(one.text)
    return ", ".join(named)


def fitted(dossier: Dossier, question: str, tokens: int) -> tuple[Attachment, ...]:
    """Keep the passages that bear on a question, up to a number of tokens; line numbers stay what they are.

    A passage is twenty lines. It counts for each word of the question in it, rare words for more, as in BM25.
    """
    texts = [one.text.split("\n") for one in dossier]
    starts = ((item, at, lines) for item, lines in enumerate(texts) for at in range(0, len(lines), _PASSAGE))
    passages = {(item, at): lines[at : at + _PASSAGE] for item, at, lines in starts}
    words = {place: Counter(_words("\n".join(lines))) for place, lines in passages.items()}
    wanted = set(_words(question))
    holders = {word: sum(word in counts for counts in words.values()) for word in wanted}
    rarity = {word: math.log(1 + len(passages) / (1 + holders[word])) for word in wanted}

    def worth(place: tuple[int, int]) -> float:
        counts = words[place]
        return sum(rarity[word] * counts[word] / (counts[word] + 1) for word in wanted & counts.keys())

    chosen: set[tuple[int, int]] = set()
    left = 4 * tokens
    for place in sorted(passages, key=lambda place: (-worth(place), place)):
        size = sum(len(line) + 8 for line in passages[place])
        if size <= left:
            chosen.add(place)
            left -= size
    return tuple(
        only(one, {at + near for item, at in chosen if item == number for near in range(1, _PASSAGE + 1)})
        for number, one in enumerate(dossier)
    )


def only(one: Attachment, lines: set[int]) -> Attachment:
    """Return an attachment of which only these lines are shown, 1-based; the others are kept blank."""
    spans: list[tuple[int, int]] = []
    for line in sorted(lines):
        if spans and spans[-1][1] == line - 1:
            spans[-1] = spans[-1][0], line
        elif line <= one.lines:
            spans.append((line, line))
    spans = [(first, min(last, one.lines)) for first, last in spans]
    if one.picture or spans == [(1, one.lines)]:
        return one
    text = "\n".join(line if number in lines else "" for number, line in enumerate(one.text.split("\n"), 1))
    return one.model_copy(update={"text": text, "shown": tuple(spans)})


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]
