"""Characters that a reader does not see, or takes for others: found by rule, without any model.

What scripts and emoji need is no finding: joiners between letters of scripts that use them, marks of direction
beside letters that run from right to left, variants of a sign, flags. What looks like what is Unicode's own data
(UTS 39 and 51), in ``data/unicode.txt``.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from heapq import merge
from importlib import resources
from itertools import accumulate
from typing import Literal, TypeAlias

from fire_circle.case import Case
from fire_circle.results import Place, Span
from llm_runtime.decoding import decoded
from llm_runtime.models import Model
from llm_runtime.normal import is_unseen, normal, says_enough
from llm_runtime.structs import Struct

Kind: TypeAlias = Literal["invisible", "direction", "tags", "confusable", "encoded"]

_TAGS = re.compile("[\U000e0000-\U000e007f]+")
_FLAG = re.compile("\U0001f3f4[\U000e0030-\U000e007a]{2,7}\U000e007f")
_DIRECTION = re.compile("[\u202a-\u202e\u2066-\u2069]")
_MARKS = "\u200e\u200f\u061c"
_JOINERS = "\u200c\u200d"
#: Scripts whose words stand side by side: a zero-width space says where a line may end.
_WITHOUT_BLANKS = ("THAI", "LAO", "KHMER", "MYANMAR")
_SUSPECT = re.compile(
    "[^\t\n\r -~\u00a0-\u00ac\u00ae-\u02ff\u0370-\u061b\u061d-\u10ff\u1e00-\u1fff\u3001-\u3163\u3165-\ud7ff]"
)
#: Controls, private use, and what Unicode has not assigned: nobody sees them, or everybody something else.
_DENIED = ("Cc", "Co", "Cn", "Cs")
_WORD = re.compile(r"[^\W\d_]+")
_WIDE_SCRIPT = re.compile("[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]")
_SMALL_CAPITAL = re.compile(r"LATIN LETTER SMALL CAPITAL ([A-Z])$")
_MAX_FINDINGS = 200


class Hidden(Model):
    """A stretch of text that is not what it seems.

    Args:
        span: where it stands.
        kind: characters that nobody sees, that turn the direction of reading, that spell text in invisible tags, or
            that look like letters of another script; or words in Base64 or hexadecimal digits.
        shown: the stretch as :func:`visible` shows it.
    """

    span: Span
    kind: Kind
    shown: str


class _Finding(Struct):
    start: int
    end: int
    kind: Kind
    shown: str


class Visible(Struct):
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
    last = 0
    found = (_invisible(text), _confusable(text), sorted(_encoded(text), key=_order))
    for finding in merge(*found, key=_order):
        if finding.start >= last:
            yield finding
            last = finding.end


def _order(finding: _Finding) -> tuple[int, int]:
    return finding.start, -finding.end


def _encoded(text: str) -> Iterator[_Finding]:
    for one in decoded(text):
        if one.writing in ("base64", "hex") and " " in one.text.strip() and says_enough(normal(one.text).text):
            words = "".join(sign if sign.isprintable() else " " for sign in one.text)
            yield _Finding(one.start, one.end, "encoded", f"⟨{one.writing}: {words}⟩")


def _invisible(text: str) -> Iterator[_Finding]:
    flags = {at for flag in _FLAG.finditer(text) for at in range(*flag.span())}
    at = 0
    while (match := _SUSPECT.search(text, at)) is not None:
        start = at = match.start()
        while at < len(text) and _unseen(text[at]) and at not in flags and not _needed(text, at):
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


def _unseen(sign: str) -> bool:
    return is_unseen(sign) or (sign not in "\t\n\f\r" and unicodedata.category(sign) in _DENIED)


def _needed(text: str, at: int) -> bool:
    """Tell whether an unseen character does there what it is for."""
    sign, before, after = text[at], text[at - 1 : at], text[at + 1 : at + 2]
    if sign == "\ufeff":
        return at == 0
    if sign in "\ufe0e\ufe0f":
        return bool(before) and before in _table()["variants"]
    if "\ufe00" <= sign <= "\ufe02":
        return bool(before) and (_WIDE_SCRIPT.match(before) is not None or unicodedata.category(before) == "Sm")
    if "\U000e0100" <= sign <= "\U000e01ef":
        return _WIDE_SCRIPT.match(before) is not None
    if sign == "\u200b":
        return all(beside and _script(beside) in _WITHOUT_BLANKS for beside in (before, after))
    if sign in _JOINERS:
        # Behind a virama they say how the end of a word is written.
        virama = bool(before) and unicodedata.combining(before) == 9
        return virama or (bool(before) and bool(after) and _joined(before) and _joined(after))
    return sign in _MARKS and (_runs_left(before) or _runs_left(after))


def _joined(sign: str) -> bool:
    return (
        sign == "\ufe0f"
        or unicodedata.category(sign) in ("So", "Sk", "Mn", "Mc")
        or (sign.isalpha() and _script(sign) != "LATIN")
    )


def _runs_left(sign: str) -> bool:
    return bool(sign) and unicodedata.bidirectional(sign) in ("R", "AL")


@cache
def _table() -> Mapping[str, str]:
    """Return what ``data/unicode.txt`` says: signs by the letter that they look like, and those with variants."""
    lines = resources.files("fire_circle").joinpath("data/unicode.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split("\t") for line in lines if not line.startswith("# "))


@cache
def _lookalikes() -> Mapping[str, str]:
    return {sign: letter for letter, signs in _table().items() if len(letter) == 1 for sign in signs}


def _script(sign: str) -> str:
    """Return the first word of a letter's name in Unicode, which is its script."""
    return "LATIN" if sign.isascii() else unicodedata.name(sign, "?").partition(" ")[0]


def _styled(sign: str) -> str:
    """Return the plain letter of one in another shape: full width, mathematical, a small capital; else nothing."""
    plain = "" if _script(sign) == "LATIN" else unicodedata.normalize("NFKC", sign)
    if len(plain) == 1 and plain.isascii() and plain.isalpha():
        return plain
    named = _SMALL_CAPITAL.match(unicodedata.name(sign, ""))
    return named[1].lower() if named else ""


@dataclass(frozen=True)
class _Letters:
    """The letters beyond ASCII that stand in a text: their scripts, and what some of them look like."""

    scripts: Mapping[str, str]
    plain: Mapping[str, str]
    alike: Mapping[str, str]
    #: Scripts of which a letter stands there that looks like no other: they are at home in the text.
    at_home: frozenset[str]

    @classmethod
    def of(cls, text: str) -> _Letters:
        scripts = {sign: _script(sign) for sign in set(text) if not sign.isascii() and sign.isalpha()}
        plain = {sign: letter for sign in scripts if (letter := _styled(sign))}
        alike = {sign: _lookalikes()[sign] for sign in scripts.keys() & _lookalikes().keys()}
        strange = scripts.keys() - alike.keys() - plain.keys()
        return cls(scripts, plain, alike, frozenset(scripts[sign] for sign in strange))

    def poses(self, word: str, latin: bool) -> str:
        """Return a word with those letters written out that pose as Latin ones; nothing where none does."""
        odd = {sign for sign in word if sign in self.alike or self.scripts.get(sign, "LATIN") != "LATIN"}
        whole = odd.issuperset(word)
        if not odd <= self.alike.keys() or (whole and not (latin and len(word) >= 4)):
            return ""
        if not odd or (whole and self.at_home & {self.scripts[sign] for sign in odd}):
            return ""
        return "".join(f"{sign}⟨U+{ord(sign):04X}⟩" if sign in odd else sign for sign in word)


def _confusable(text: str) -> Iterator[_Finding]:
    if text.isascii():
        return
    letters, wide = _Letters.of(text), _WIDE_SCRIPT.search(text) is not None
    latin = re.search("[A-Za-z]", text) is not None
    for word in _WORD.finditer(text):
        if not word[0].isascii() and sum(sign in letters.plain for sign in word[0]) >= 3 and not wide:
            shown = "".join(letters.plain.get(sign, sign) for sign in word[0])
            yield _Finding(*word.span(), "confusable", f"⟨{shown}, in styled letters⟩")
        elif not word[0].isascii() and (shown := letters.poses(word[0], latin)):
            yield _Finding(*word.span(), "confusable", shown)
