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
from itertools import permutations
from typing import NamedTuple

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#: What stands around an answer and says nothing.
EDGES = " \t\r\n.,;:!?*_`\"'()[]“”‘’«»。，"
_WORDS = tomllib.loads(resources.files(__package__ or "").joinpath("words.toml").read_text(encoding="utf-8"))
#: Characters; nobody says a number in more.
_LONGEST = 100
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")


def _any(table: str) -> str:
    return "|".join(map(re.escape, _WORDS["said"][table]))


_LEAD = re.compile(rf"^.*(?:\b(?:{_any('leads')})\b:?|[=≈:：]|是)\s*", re.I)
_BEHIND = re.compile(r"\s*\([^()]*\)\W*$")
_HEAD = re.compile(rf"\s*(?:[,;(–—:\n]|\. |\b(?:{_any('reasons')})\b)(?!\s*(?:{_any('hedges')})\b)", re.I)
_QUANTITY = re.compile(
    r"(?P<sign>[-+]?)\s*(?P<currency>(?:[$€£]|USD|EUR|GBP)?)\s*(?:(?P<whole>\d+)\s+(?=\d+\s*/))?"
    r"(?P<digits>\d[\d,.'’ ]*\d|\d|\.\d+)(?:\s*/\s*(?P<over>\d+))?"
    r"(?:[eE](?P<exponent>[-+]?\d+)|\s*\*\s*10\s*\^?\{?(?P<power>[-+]?\d+)\}?)?"
    r"\s*(?P<unit>\D*(?:(?<=[A-Za-z])\^?\{?[23]\}?)?)"
)
#: Words before a number that say nothing: "in 1984".
_BEFORE = re.compile(rf"^(?!.*\b(?:{_any('hedges')})\b)(?:[^\W\d]+\s+)+(?=[-+$€£]?\d)", re.I)
_LETTER = re.compile(rf"(?:.*\b(?:{_any('options')})\s*)?[\[(]?([A-Z])[\])]?(?:\s*[).:,–-]\s*(.*))?", re.I | re.S)
_CHOICE = re.compile(r"^\W*[A-Z][).:]\s+(?=\S)", re.I)
_PARTS = re.compile(rf"(?:^|\n)\s*(?:[-*•]|\d+[.)])\s|[,;\n、，]|\s/\s|\s(?:{_any('joins')}|&)\s")
_PIECES = re.compile(r"(?<=[a-z])[\s,]+(?:and\s+)?(?=\d)")


class Quantity(NamedTuple):
    """A number as it is said, what it measures, and how many of that kind's first unit each is, if one is told."""

    value: float
    kind: str = ""
    each: float = 1.0


def bare(text: str) -> str:
    """Return a text without what stands around it; a point before a number is its own."""
    text = text.rstrip(EDGES).lstrip(EDGES.replace(".", ""))
    return bare(text[1:-1]) if len(text) > 2 and text[0] == text[-1] == "$" else text


def plain(text: str) -> str:
    """Return a text as it is compared: without case, accents, articles and signs."""
    signs = unicodedata.normalize("NFKD", text.casefold())
    folded = "".join(sign for sign in signs if not unicodedata.combining(sign))
    words = re.sub(r"[^\w%$€£+#]+|_", " ", folded).split()
    return " ".join(words[1:] if len(words) > 1 and words[0] in _WORDS["said"]["articles"] else words)


def _tidy(text: str) -> str:
    """Return a text with what LaTeX and typography write otherwise as it is typed."""
    text = re.sub("(?=[¼½¾⅓⅔])", " ", text)
    text = re.sub("[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+", lambda power: "^" + power[0].translate(_SUPERSCRIPTS), text)
    text = unicodedata.normalize("NFKC", text)
    for sign, instead in _WORDS["tidied"].values():
        text = re.sub(sign, instead, text)
    return bare(text)


@cache
def quantity(text: str) -> Quantity | None:
    """Return the number that a text is, in whatever form; ``None`` where it is none, or several."""
    said = bare(_LEAD.sub("", bare(_BEHIND.sub("", _tidy(text)))))
    if found := _QUANTITY.fullmatch(said):
        value = _value(found["digits"])
        return None if value is None else _in_unit(_whole(value, found), f"{found['unit']} {found['currency']}")
    if len(pieces := _PIECES.split(said[:_LONGEST])) > 1:
        known = [one for one in map(quantity, pieces) if one and one.kind in _WORDS["units"]]
        whole = len({one.kind for one in known}) == 1 and len(known) == len(pieces)
        return Quantity(sum(one.value * one.each for one in known), known[0].kind) if whole else None
    return _spelled(said)


def _whole(value: float, found: re.Match[str]) -> float:
    """Return a number with its sign, what it is divided by, what stands before a fraction, and its power of ten."""
    value = value / (int(found["over"] or 1) or 1) + int(found["whole"] or 0)
    power = int(found["exponent"] or found["power"] or 0)
    return (-value if found["sign"] == "-" else value) * 10.0 ** max(min(power, 300), -300)


def _value(digits: str) -> float | None:
    """Read a number whose thousands stand apart in any way, and whose decimals follow on a point or a comma."""
    said = re.sub(r"['’\s]", "", digits)
    mark = max(".,", key=said.rfind)
    thousands = said.count(mark) > 1 or (mark == "," and re.fullmatch(r"[1-9]\d{0,2},\d{3}", said))
    with suppress(ValueError):
        return float(said.replace({",": ".", ".": ","}[mark], "").replace(mark, "" if thousands else "."))
    return None


def _in_unit(value: float, said: str) -> Quantity | None:
    unit = said.casefold().strip(" \t\n.,;:!?*_`\"'()[]-").translate(str.maketrans("", "", "^{}"))
    first, _, rest = unit.partition(" ")
    if by := _WORDS["multipliers"].get(first.rstrip(".")):
        return _in_unit(value * by, rest)
    for kind, units in _WORDS["units"].items():
        for name in (unit, unit.removesuffix("s")):
            if name in units:
                return Quantity(value, kind, units[name])
    return None if {*unit.split()} & {*_WORDS["said"]["hedges"]} or len(unit) > 40 else Quantity(value, unit)


def _spelled(text: str) -> Quantity | None:
    """Return a number in words: "twenty-one", "three hundred and five", "zwölf"."""
    total = part = 0.0
    sign, spoken = (-1 if text.startswith("-") else 1), re.findall(r"[^\s-]+", text.casefold())
    words = [word for word in spoken if word not in _WORDS["said"]["fillers"]]
    for at, word in enumerate(words):
        by = _WORDS["multipliers"].get(word)
        if word in _WORDS["numbers"]:
            part += _WORDS["numbers"][word]
        elif by is None:
            return _in_unit(sign * (total + part), " ".join(words[at:])) if at else None
        else:
            part = (part or 1) * by
            total, part = (total + part, 0.0) if by >= 1000 else (total, part)
    return Quantity(sign * (total + part)) if words else None


def same_quantity(said: Quantity, wanted: Quantity, tolerance: float) -> bool:
    """Tell whether two numbers are one, as far as ``tolerance`` goes, which is in the unit of the wanted one."""
    kinds, near = (said.kind, wanted.kind), tolerance + 1e-9 * abs(wanted.value)
    values = [said.value * said.each / wanted.each if all(kinds) else said.value]
    if kinds.count("percent") == 1 and kinds[0] == "percent":
        values = [said.value / 100, *([said.value] if wanted.value > 1 else [])]
    elif kinds == ("", "percent"):
        values = [said.value, *([said.value * 100] if said.value <= 1 else [])]
    elif all(kinds) and not {*said.kind.split()} & {*wanted.kind.split()}:
        return False
    return any(abs(one - wanted.value) <= near for one in values)


def dates(text: str) -> set[date]:
    """Return the days that a text may mean: in figures, day or month may come first."""
    parts = re.findall(r"\d+|[^\W\d_]+", plain(text))
    month = [n for part in parts for name, n in _WORDS["months"].items() if part.startswith(name)][:1]
    numbers = [*(int(part) for part in parts if part.isdecimal()), *month]
    orders = [tuple(numbers)] if not month and numbers[:1] > [31] else permutations(numbers)
    found = set[date]()
    for year, in_year, day in orders if len(numbers) == 3 else ():
        if year > 31 and in_year in (month or [in_year]):
            with suppress(ValueError):
                found.add(date(year, in_year, day))
    return found


def choice(text: str, choices: Sequence[str]) -> str:
    """Return the letter that a text chooses, by it or by what stands behind it; empty where that is unclear."""
    text = _tidy(text)
    said, texts = plain(text), [plain(_tidy(one)) for one in choices]
    if texts.count(said) == 1:
        return LETTERS[texts.index(said)]
    named = {LETTERS[at] for at, one in enumerate(texts) if f" {one} " in f" {said} "}
    if letter := _LETTER.fullmatch(text) or _LETTER.fullmatch(bare(_LEAD.sub("", text))):
        return letter[1].upper() if not named or letter[1].upper() in named else ""
    words = {*said.split()}
    hits = named or {LETTERS[nth - 1] for word, nth in _WORDS["ordinals"].items() if word in words}
    return min(hits) if len(hits) == 1 and not words & {*_WORDS["said"]["hedges"]} else ""


def words_match(text: str, wanted: str) -> bool:
    """Tell whether a text says the words, alone or before what explains them."""
    heads = [text, bare(_LEAD.sub("", text))]
    if not {*plain(text).split()} & {*_WORDS["said"]["hedges"]}:
        heads.append(re.split(rf"\b(?:{_any('leads')})\b", text, maxsplit=1, flags=re.I)[0])
    said = {plain(one) for head in heads for one in (head, _HEAD.split(head, maxsplit=1)[0])}
    return bool(
        said & next(({*alike} for alike in _WORDS["said"]["same"] if plain(wanted) in alike), {plain(wanted)})
    )


def says(text: str, wanted: str, tolerance: float = 0.0) -> bool:
    """Tell whether a text says what is wanted: a number by its value, a day by its date, else by its words."""
    text = _CHOICE.sub("", _tidy(text))
    if (number := quantity(wanted)) is not None:
        said = quantity(text) or quantity(_BEFORE.sub("", text))
        return said is not None and same_quantity(said, number, tolerance)
    if len(days := dates(wanted)) == 1 and len(wanted) < 20:
        return bool(days & dates(text))
    return words_match(text, _tidy(wanted))


def same_set(text: str, wanted: Sequence[str], tolerance: float = 0.0) -> bool:
    """Tell whether a text lists just these, in any order."""
    text, left = _tidy(text), list(wanted)
    said = dict.fromkeys(one for part in _PARTS.split(text) if (one := bare(part.strip("{} "))))
    for one in said if len(said) > 1 else text.strip("{}").split():
        if (hit := next((other for other in left if says(one, other, tolerance)), None)) is None:
            return False
        left.remove(hit)
    return not left
