"""Whether an answer is right: a choice, a number with its unit, a date, a set, words; in the forms people write."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from datetime import date
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

#: What stands around an answer and says nothing.
EDGES = " \t\r\n.,;:!?*_`\"'()[]“”‘’«»"
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻−–", "0123456789---")
_LEAD = re.compile(
    r"^.*(?:\b(?:is|are|was|were|equals|be|about|approximately|roughly|exactly|answer)\b:?|[=≈:])\s*", re.I
)
_BEHIND = re.compile(r"\s*\([^()]*\)\W*$")
_LATEX = (
    (re.compile(r"\\d?frac\{([^{}]+)\}\{([^{}]+)\}"), r"\1/\2"),
    (re.compile(r"\\(?:text|mathrm|mathbf|boxed|textbf)\{([^{}]*)\}"), r"\1"),
    (re.compile(r"\\(?:times|cdot)|[×·]"), "*"),
    (re.compile(r"\\[^A-Za-z]|(?<=\d)\{,\}(?=\d)"), ""),
)
_DIGITS = r"(?:\d[\d,.' \u00a0\u202f]*\d|\d|\.\d+)"
_QUANTITY = re.compile(
    rf"(?P<sign>[-+]?)\s*(?P<currency>[$€£]?)\s*(?:(?P<whole>\d+)\s+(?=\d+\s*/))?(?P<digits>{_DIGITS})"
    r"(?:\s*/\s*(?P<over>\d+))?(?:[eE](?P<exponent>[-+]?\d+)|\s*\*\s*10\s*\^?\{?(?P<power>[-+]?\d+)\}?)?"
    r"\s*(?P<unit>[^\d]*)"
)
_LETTER = re.compile(
    r"(?:(?:the )?(?:correct )?(?:option|choice|answer)\s*(?:is)?\s*)?[\[(]?([A-Z])[\])]?(?:\s*[).:,–-]\s*(.*))?",
    re.I | re.S,
)
_CHOICE = re.compile(r"^\W*[A-Z][).:]\s+(?=\S)", re.I)
_HEAD = re.compile(r"\s*(?:[,;(–—:\n]|\. |\bbecause\b|\bsince\b|\bas\b)")
_PARTS = re.compile(r"[,;\n•]|\s/\s|\s(?:and|und|et|y|e|&)\s|(?:^|\s)[-*]\s")


class Quantity(NamedTuple):
    """A number as it is said, what it measures, and how many of that kind's first unit each is, if one is told."""

    value: float
    kind: str = ""
    each: float = 1.0


@cache
def _words(table: str) -> dict[str, Any]:
    whole = resources.files(__package__ or "").joinpath("words.toml").read_text(encoding="utf-8")
    return tomllib.loads(whole)[table]


def bare(text: str) -> str:
    """Return a text without what stands around it; a point before a number is its own."""
    text = text.rstrip(EDGES).lstrip(EDGES.replace(".", ""))
    return bare(text[1:-1]) if len(text) > 2 and text[0] == text[-1] == "$" else text


def plain(text: str) -> str:
    """Return a text as it is compared: without case, accents, articles and signs."""
    signs = unicodedata.normalize("NFKD", text.casefold())
    folded = "".join(sign for sign in signs if not unicodedata.combining(sign))
    words = re.sub(r"[^\w%$€£+#]+|_", " ", folded).split()
    return " ".join(words[1:] if len(words) > 1 and words[0] in ("a", "an", "the") else words)


def quantity(text: str) -> Quantity | None:
    """Return the number that a text is, in whatever form; ``None`` where it is none, or several."""
    said = text.translate(_SUPERSCRIPTS)
    for sign, instead in _LATEX:
        said = sign.sub(instead, said)
    said = bare(_LEAD.sub("", bare(_BEHIND.sub("", said))))
    found = _QUANTITY.fullmatch(said)
    if found is None:
        return _spelled(said)
    value = _value(found["digits"])
    return None if value is None else _in_unit(_whole(value, found), found["currency"] or found["unit"])


def _whole(value: float, found: re.Match[str]) -> float:
    """Return a number with its sign, what it is divided by, what stands before a fraction, and its power of ten."""
    value = value / (int(found["over"] or 1) or 1) + int(found["whole"] or 0)
    power = int(found["exponent"] or found["power"] or 0)
    return (-value if found["sign"] == "-" else value) * 10.0 ** max(min(power, 300), -300)


def _value(digits: str) -> float | None:
    """Read a number whose thousands stand apart in any way, and whose decimals follow on a point or a comma."""
    said = re.sub(r"['\s]", "", digits)
    if said.rfind(",") > said.rfind("."):
        apart = re.fullmatch(r"\d{1,3}(?:,\d{3})+", said)
        said = said.replace(",", "") if apart else said.replace(".", "").replace(",", ".")
    with suppress(ValueError):
        return float(said.replace(",", ""))
    return None


def _in_unit(value: float, said: str) -> Quantity | None:
    unit = said.casefold().strip(" \t\n.,;:!?*_`\"'()[]{}-")
    first, _, rest = unit.partition(" ")
    if first in _words("multipliers"):
        value, unit = value * _words("multipliers")[first], rest
    for kind, units in _words("units").items():
        for name in (unit, unit.removesuffix("s")):
            if name in units:
                return Quantity(value, kind, units[name])
    hedged = {*unit.split()} & {*_words("said")["hedges"]} or len(unit) > 40
    return None if hedged else Quantity(value)


def _spelled(text: str) -> Quantity | None:
    """Return a number in English words: "twenty-one", "three hundred"."""
    total, words = 0.0, text.casefold().replace("-", " ").split()
    known, multipliers = _words("numbers"), _words("multipliers")
    for at, word in enumerate(words):
        if word not in known and (not at or word not in multipliers):
            return _in_unit(total, " ".join(words[at:])) if at else None
        by = 100 if word == "hundred" else multipliers.get(word)
        total = max(total, 1) * by if by else total + known[word]
    return Quantity(total) if words else None


def same_quantity(said: Quantity, wanted: Quantity, tolerance: float) -> bool:
    """Tell whether two numbers are one, as far as ``tolerance`` goes, which is in the unit of the wanted one."""
    known = said.kind and wanted.kind
    values = [said.value * said.each / wanted.each if known else said.value]
    if "percent" in (said.kind, wanted.kind) and said.kind != wanted.kind:
        known, values = "", [said.value, said.value / 100, said.value * 100]
    near = tolerance + 1e-9 * abs(wanted.value)
    return not (known and said.kind != wanted.kind) and any(abs(one - wanted.value) <= near for one in values)


def dates(text: str) -> set[date]:
    """Return the days that a text may mean: in figures, day or month may come first."""
    names = _words("months")["names"]
    figures = [int(one) for one in re.findall(r"\d+", text)]
    words = [word[:3].casefold() for word in re.findall(r"[^\W\d_]{3,}", text)]
    found = set[date]()
    for order in _orders(figures, [names.index(word) + 1 for word in words if word in names]):
        with suppress(ValueError):
            found.add(date(*order))
    return {day for day in found if day.year > 31}


def _orders(figures: list[int], months: list[int]) -> list[tuple[int, int, int]]:
    match figures, months:
        case [one, two], [month]:
            return [(one, month, two), (two, month, one)]
        case [one, two, three], []:
            return [(one, two, three)] if one > 31 else [(three, two, one), (three, one, two)]
        case _:
            return []


def choice(text: str, choices: Sequence[str]) -> str:
    """Return the letter that a text chooses, by it or by what stands behind it; empty where that is unclear."""
    said, texts = bare(text), [plain(one) for one in choices]
    said = said if _LETTER.fullmatch(said) else bare(_LEAD.sub("", said))
    if texts.count(plain(said)) == 1:
        return chr(ord("A") + texts.index(plain(said)))
    found = _LETTER.fullmatch(said)
    if found is None:
        return ""
    letter, rest = found[1].upper(), plain(found[2] or "")
    return letter if rest not in texts or texts.index(rest) == ord(letter) - ord("A") else ""


def words_match(text: str, wanted: str) -> bool:
    """Tell whether a text says the words, alone or before what explains them."""
    heads = (bare(text), _LEAD.sub("", bare(text)))
    said = {plain(one) for head in heads for one in (head, _HEAD.split(head, maxsplit=1)[0])}
    alike = next((set(group) for group in _words("said")["same"] if plain(wanted) in group), {plain(wanted)})
    return bool(said & alike)


def members(text: str) -> list[str]:
    """Return the members of a set as it is written: a list of any kind."""
    listed = text if "\n" in text else _LEAD.sub("", text)
    return [one for part in _PARTS.split(listed) if (one := bare(part.strip("{} ")))]


def says(text: str, wanted: str, tolerance: float = 0.0) -> bool:
    """Tell whether a text says what is wanted: a number by its value, a day by its date, else by its words."""
    text = _CHOICE.sub("", text)
    if (number := quantity(wanted)) is not None:
        said = quantity(text)
        return said is not None and same_quantity(said, number, tolerance)
    if len(days := dates(wanted)) == 1 and len(wanted) < 20:
        return bool(days & dates(text))
    return words_match(text, wanted)


def same_set(text: str, wanted: Sequence[str], tolerance: float = 0.0) -> bool:
    """Tell whether a text lists just these, in any order."""
    said, left = members(text), list(wanted)
    for one in said:
        hit = next((other for other in left if says(one, other, tolerance)), None)
        if hit is None:
            return False
        left.remove(hit)
    return bool(said) and not left
