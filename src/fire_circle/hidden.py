"""Characters that a reader does not see, or takes for others: found by rule, without any model.

What scripts and emoji need is no finding: joiners between letters of scripts that use them, marks of direction
beside letters that run from right to left, variants of a sign, flags.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal, TypeAlias

from fire_circle.case import Case
from fire_circle.results import Place, Span
from llm_runtime.models import Model
from llm_runtime.normal import is_unseen

Kind: TypeAlias = Literal["invisible", "direction", "tags", "confusable"]

_TAGS = re.compile("[\U000e0000-\U000e007f]+")
_FLAG = re.compile("\U0001f3f4[\U000e0030-\U000e007a]{2,7}\U000e007f")
_DIRECTION = re.compile("[\u202a-\u202e\u2066-\u2069]")
_MARKS = "\u200e\u200f\u061c"
_JOINERS = "\u200c\u200d"
_SUSPECT = re.compile("[^\x00-\xac\xae-\u02ff\u0370-\u061b\u061d-\u10ff\u1e00-\u1fff\u3001-\u3163\u3165-\ud7ff]")
_WORD = re.compile(r"[^\W\d_]+")
_LATIN = re.compile("[A-Za-z\u00c0-\u024f]")
_CYRILLIC = re.compile("[\u0400-\u052f]")
_LOOKALIKE = frozenset("аеорсухіјѕһԁԛԝӏАВЕКМНОРСТУХІЈЅԌοανρικτυχΑΒΕΖΗΙΚΜΝΟΡΤΥΧ")
_STYLED = re.compile("[\uff21-\uff3a\uff41-\uff5a\U0001d400-\U0001d7ff]{3,}")
_WIDE_SCRIPT = re.compile("[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]")
_MAX_FINDINGS = 200


class Hidden(Model):
    """A stretch of text that is not what it seems.

    Args:
        span: where it stands.
        kind: characters that nobody sees, that turn the direction of reading, that spell text in invisible tags, or
            that look like letters of another script.
        shown: the stretch as :func:`visible` shows it.
    """

    span: Span
    kind: Kind
    shown: str


@dataclass(frozen=True, slots=True)
class _Finding:
    start: int
    end: int
    kind: Kind
    shown: str


@dataclass(frozen=True, slots=True)
class Visible:
    """A text in which everything can be seen.

    Args:
        text: the text.
        ends: ends of what was replaced, in the original.
        shifts: how far a place behind each of them has moved.
    """

    text: str
    ends: list[int]
    shifts: list[int]

    def at(self, place: int) -> int:
        """Return where a place of the original is now."""
        number = bisect_left(self.ends, place + 1)
        return place + (self.shifts[number - 1] if number else 0)


def hidden_in(case: Case) -> tuple[Hidden, ...]:
    """Return what is hidden in each layer and in the earlier turns, at most 200 stretches of each."""
    texts: dict[Place, str] = {layer.name: layer.text for layer in case.prompt.layers}
    texts["earlier"] = case.earlier
    return tuple(
        Hidden(span=Span(layer=name, start=f.start, end=f.end), kind=f.kind, shown=f.shown)
        for name, text in texts.items()
        for f, _ in zip(_findings(text), range(_MAX_FINDINGS), strict=False)
    )


def visible(text: str) -> Visible:
    """Return a text with everything that is hidden in it written out: ``⟨U+200B⟩``."""
    parts: list[str] = []
    ends: list[int] = []
    moved: list[int] = []
    at = 0
    for finding in _findings(text):
        parts += [text[at : finding.start], finding.shown]
        at = finding.end
        ends.append(at)
        moved.append(len(finding.shown) - (finding.end - finding.start))
    return Visible("".join([*parts, text[at:]]), ends, list(accumulate(moved)))


def _findings(text: str) -> Iterator[_Finding]:
    if text.isascii():
        return
    stretches = [*_invisible(text), *_confusable(text)]
    last = 0
    for finding in sorted(stretches, key=lambda f: (f.start, -f.end)):
        if finding.start >= last:
            yield finding
            last = finding.end


def _invisible(text: str) -> Iterator[_Finding]:
    flags = {at for flag in _FLAG.finditer(text) for at in range(*flag.span())}
    at = 0
    while (match := _SUSPECT.search(text, at)) is not None:
        start = at = match.start()
        while at < len(text) and is_unseen(text[at]) and at not in flags and not _needed(text, at):
            at += 1
        if at == start:
            at += 1
            continue
        run = text[start:at]
        spelled = "".join(chr(ord(sign) - 0xE0000) for tags in _TAGS.findall(run) for sign in tags)
        if tags := "".join(sign for sign in spelled if sign.isprintable()):
            yield _Finding(start, at, "tags", f"⟨hidden: {tags}⟩")
        else:
            kind: Kind = "direction" if _DIRECTION.search(run) else "invisible"
            yield _Finding(start, at, kind, "".join(f"⟨U+{ord(sign):04X}⟩" for sign in run))


def _needed(text: str, at: int) -> bool:
    """Tell whether an unseen character does there what it is for."""
    sign, before, after = text[at], text[at - 1 : at], text[at + 1 : at + 2]
    if sign == "\ufeff":
        return at == 0
    if "\ufe00" <= sign <= "\ufe0f":
        return bool(before) and not before.isalpha() and not before.isspace() and not is_unseen(before)
    if "\U000e0100" <= sign <= "\U000e01ef":
        return _WIDE_SCRIPT.match(before) is not None
    if sign in _JOINERS:
        return bool(before) and bool(after) and _joined(before) and _joined(after)
    return sign in _MARKS and (_runs_left(before) or _runs_left(after))


def _joined(sign: str) -> bool:
    return (
        sign == "\ufe0f"
        or unicodedata.category(sign) in ("So", "Sk", "Mn", "Mc")
        or (sign.isalpha() and not _LATIN.match(sign))
    )


def _runs_left(sign: str) -> bool:
    return bool(sign) and unicodedata.bidirectional(sign) in ("R", "AL")


def _confusable(text: str) -> Iterator[_Finding]:
    foreign = {sign for sign in text if _CYRILLIC.match(sign)} - _LOOKALIKE
    for word in _WORD.finditer(text):
        if word[0].isascii():
            continue
        odd = [sign for sign in word[0] if not _LATIN.match(sign)]
        mixed = 0 < len(odd) < len(word[0])
        posing = len(odd) == len(word[0]) >= 4 and _CYRILLIC.match(odd[0]) and not foreign and _LATIN.search(text)
        if (mixed or posing) and all(sign in _LOOKALIKE for sign in odd):
            shown = "".join(f"{sign}⟨U+{ord(sign):04X}⟩" if sign in _LOOKALIKE else sign for sign in word[0])
            yield _Finding(*word.span(), "confusable", shown)
    if not _WIDE_SCRIPT.search(text):
        for word in _STYLED.finditer(text):
            yield _Finding(
                *word.span(), "confusable", f"⟨{unicodedata.normalize('NFKC', word[0])}, in styled letters⟩"
            )
