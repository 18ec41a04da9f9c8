"""Whether an answer is right: a choice, a number with its unit, a date, a set, words; in the forms people write."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import date
from itertools import permutations, takewhile
from typing import NamedTuple

from llm_runtime.toml import own_table

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#: What stands around an answer and says nothing.
EDGES = " \t\r\n.,;:!?*_`\"'()[]“”‘’«»。，"
WORDS = own_table(__package__ or "", "words.toml")
#: Characters; nobody says a number in more.
_LONGEST = 100
UNITS = WORDS["units"]
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")


def _any(table: str) -> str:
    return "|".join(map(re.escape, WORDS["said"][table]))


#: A colon between figures belongs to a time of day or a ratio.
_LEAD = re.compile(
    rf"^(?!.*\b(?:{_any('alternatives')})\b).*(?<!not )(?<!n['’]t )"
    rf"(?:\b(?:{_any('leads')})\b:?|[=≈]|(?!(?<=\d):\d|(?<=\d ): \d)[:：]|(?<![不还])是)\s*",
    re.I,
)
#: The last bracket of all may be gone with the edges.
_BEHIND = re.compile(r"(?:\([^()]*+\)| \((?=[^\W\d])[^()=]*+)\W*+$")
_HEAD = re.compile(rf"(?:[,;(–—:\n]|\. |\b(?:{_any('reasons')})\b)(?![ ]?(?:{_any('hedges')})\b)", re.I)
_QUANTITY = re.compile(
    r"^(?P<sign>[-+]?)\s*+(?P<currency>(?:[$€£¥₹]|USD|EUR|GBP|JPY|CHF|INR|CAD|AUD|NZD|HKD|SGD)?)\s*+(?:(?P<whole>\d++)\s++(?=\d++\s*+/))?"
    r"(?P<digits>\d++(?:[,.'’ ]\d++)*+|\.\d++)(?:\s*+/\s*+(?P<over>\d++))?"
    r"(?:[eE](?P<exponent>[-+]?\d++)|\s*+\*\s*+10\s*+\^?\{?(?P<power>[-+]?\d++)\}?)?"
    r"\s*+(?P<unit>\D*(?:(?<=[A-Za-z])\^?\{?-?[1-3]\}?)?)"
)
#: Words before a number that say nothing: "in 1984".
_BEFORE = re.compile(rf"^(?!.*\b(?:{_any('hedges')}|{_any('operators')})\b)(?:[^\W\d]+\s+)+(?=[-+$€£¥₹]?\d)", re.I)
#: Two letters choose none.
_SEVERAL = re.compile(r"\W*([A-Z])(?:[^\w=]+(?!\1)[A-Z])+\W*", re.I)
_REST = r"(?:\s*[).:,;(–-]\s*(?!(?:\W*(?!\1)[A-Z]\b)+\W*$)(.*))?"
_LETTER = re.compile(rf"^(?:.*\b(?:{_any('options')})\s*+)?[\[(]?([A-Z])[\])]?{_REST}", re.I | re.S)
_CHOICE = re.compile(r"^\W*[A-Z][).:]\s+(?=\S)", re.I)
_ENDING = re.compile("s ")
_JOINED = rf"\s(?:{_any('joins')}|&)\s"
#: What stands between the members of a list, each way of its own: a comma may be a member's, and so may "and".
_PARTS = [
    re.compile(rf"(?:^|\n)[ \t]*+(?:[-*•]|\d+[.)])\s|[;\n、，•]|(?:^|\s)(?:\d{{1,2}}|[a-z])[.)]\s{other}")
    for other in (rf"|,|\s/\s|{_JOINED}", rf"|,\s(?:and\s)?|{_JOINED}", r"|,\s", rf"|{_JOINED}", "")
]
_CLOCK = re.compile(
    r"(?<![\d:.,])(\d{1,2})(?:(?:[:.]|\s?h\s?)([0-5]\d)(?::00)?)?(?:\s?([ap])\.?\s?m\b\.?)?(?![\d:])", re.I
)
#: A minus stands before what it belongs to, or ends all: "Cl-".
_SAYS_NOTHING = re.compile(r"(?:(?!(?<!\w)[-−][\w∞]|(?<=\w)[-−]\W*$|(?<=\d)\.\d)[^\w%‰$€£+±√∞#<=>≤≥])+|_")
#: What is calculated: numbers, short names in small letters, functions, and what is done to them.
_FORMULA = re.compile(
    r"(?=.*[a-zα-ω])(?=.*[-*/^+])(?:sqrt|log|ln|sin|cos|tan|exp|[a-zα-ω]{1,2}(?![a-zα-ω])|\d|[-+*/^().\s{}])+"
)
#: In "a/b" it is none.
_ARTICLE = re.compile(rf"^[^\w\n]*(?:{_any('articles')})\s+(?=.*\w)", re.S)
_UNIT = re.compile(r"[^\W\d_]|[£°]")
_INTERVAL = re.compile(r"\$?([\[(\]])[^,;()\[\]]*[,;][^,;()\[\]]*([\])\[])\$?")
_PIECES = re.compile(r"(?<=[a-z])[\s,.]+(?:and\s+)?(?=\d)")


class Quantity(NamedTuple):
    """A number as it is said, what it measures, how many of that kind's first unit each is, and what its 0 is there."""

    value: float
    kind: str = ""
    each: float = 1.0
    zero: float = 0.0


def brackets(text: str) -> str:
    """Return the brackets of an interval or a pair of numbers; empty where a text is none."""
    found = _INTERVAL.fullmatch(text.strip(" .*`")) if re.search(r"\d|infty|∞", text) else None
    return found[1] + found[2] if found and not re.fullmatch(r"\W?[1-9]\d{0,2},\d{3}\W?", text) else ""


def bare(text: str) -> str:
    """Return a text without what stands around it; a point before a number is its own, and so are brackets."""
    if brackets(text):
        return text.strip(" .*`$")
    text = text.rstrip(EDGES).lstrip(EDGES.replace(".", ""))
    return text.strip("$ ") if len(text) > 2 and text[0] == text[-1] == "$" else text


def plain(text: str) -> str:
    """Return a text as it is compared: without case, accents, articles and signs."""
    folded = "".join(sign for sign in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(sign))
    folded = re.sub(r"(?<=\d)\s+to\s+(?=\d)", " ", re.sub("([<=>≤≥])", r" \1 ", folded))
    # Of signs alone each says something: "&&".
    return " ".join(_SAYS_NOTHING.sub(" ", _ARTICLE.sub("", folded)).split()) or folded.strip()


def _hedged(said: str, table: str = "hedges") -> bool:
    return not {*re.findall(r"\w+(?:['’]\w+)?", said.casefold())}.isdisjoint(WORDS["said"][table])


def _tidy(text: str) -> str:
    """Return a text with what LaTeX and typography write otherwise as it is typed."""
    text = re.sub("(?=[¼½¾⅓⅔])", " ", text)
    text = re.sub("[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+", lambda power: "^" + power[0].translate(_SUPERSCRIPTS), text)
    text = unicodedata.normalize("NFKC", text)
    for sign, instead in WORDS["tidied"].values():
        text = re.sub(sign, instead, text)
    return bare(text)


def quantity(text: str) -> Quantity | None:
    """Return the number that a text is, in whatever form; ``None`` where it is none, or several."""
    said = bare(_LEAD.sub("", bare(_BEHIND.sub("", _tidy(text)))))
    if len(said) > _LONGEST:
        return None
    if found := _QUANTITY.fullmatch(said):
        value = _value(found["digits"])
        return None if value is None else _in_unit(_whole(value, found), f"{found['unit']} {found['currency']}")
    pieces = _PIECES.split(said)
    return _together([quantity(one) for one in pieces]) if len(pieces) > 1 else _spelled(said)


def _together(pieces: Sequence[Quantity | None]) -> Quantity | None:
    """Return the sum of quantities of one kind: of hours and minutes."""
    known = [one for one in pieces if one and one.kind in UNITS]
    if len(known) < len(pieces) or len({one.kind for one in known}) > 1:
        return None
    return Quantity(sum(one.value * one.each for one in known), known[0].kind)


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
    written = said.strip(" \t\n.,;:!?*_`\"'()[]-").translate(str.maketrans("", "", "^{}"))
    unit = written.casefold()
    first, _, rest = unit.partition(" ")
    if by := WORDS["multipliers"].get(first.rstrip(".")):
        return _in_unit(value * by, rest)
    if first.startswith("plus"):
        return _in_unit(value + WORDS["numbers"].get(first, 0), rest)
    names = (written, unit, unit.removesuffix("s"))
    for kind, each in ((kind, units[name]) for kind, units in UNITS.items() for name in names if name in units):
        return Quantity(value, kind, each, WORDS["zeros"].get(unit, 0.0))
    return None if _hedged(unit) or unit in WORDS["said"]["unknowns"] or len(unit) > 40 else Quantity(value, unit)


def _spelled(text: str) -> Quantity | None:
    """Return a number in words: "twenty-one", "three hundred and five", "zwölf"."""
    spoken = [word for word in re.findall(r"[^\s-]+", text.casefold()) if word not in WORDS["said"]["fillers"]]
    known = [*takewhile(lambda word: word in WORDS["numbers"] or word in WORDS["multipliers"], spoken)]
    total = part = 0.0
    for word in known:
        part = part + WORDS["numbers"].get(word, 0) if word in WORDS["numbers"] else part or 1
        by = WORDS["multipliers"].get(word, 1)
        part *= by
        total, part = (total + part, 0.0) if by >= 1000 else (total, part)
    sign = -1 if text.startswith("-") else 1
    return _in_unit(sign * (total + part), " ".join(spoken[len(known) :]).removeprefix("of ")) if known else None


def same_quantity(said: Quantity, wanted: Quantity, tolerance: float) -> bool:
    """Tell whether two numbers are one, as far as ``tolerance`` goes, which is in the unit of the wanted one."""
    kinds, near = (said.kind, wanted.kind), tolerance + 1e-9 * abs(wanted.value)
    values = [(said.value * said.each + said.zero - wanted.zero) / wanted.each if all(kinds) else said.value]
    if kinds == ("percent", ""):
        values = [said.value * said.each / 100, *([said.value] if wanted.value > 1 else [])]
    elif kinds == ("", "percent"):
        values = [said.value, *([said.value * 100 / wanted.each] if said.value <= 1 else [])]
    elif all(kinds) and not {*said.kind.split()} & {*wanted.kind.split()}:
        return False
    return any(abs(one - wanted.value) <= near for one in values)


def times(text: str) -> list[str]:
    """Return the times of day that a text may mean: as it stands, last by the half of the day that it tells."""
    found = [*_CLOCK.finditer(text)]
    if len(found) != 1 or not (found[0][2] or found[0][3]):
        return []
    hour, half = int(found[0][1]), found[0][3]
    return [f"{one}:{found[0][2] or '00'}" for one in ([hour, hour % 12 + 12 * (half in "pP")] if half else [hour])]


def _due(wanted: str) -> list[str]:
    told = times(wanted) if _CLOCK.fullmatch(wanted) else []
    return told if len(told) > 1 or quantity(wanted) is None else []


def dates(text: str) -> set[tuple[int, int, int]]:
    """Return the days that a text may mean: in figures, day or month may come first; 0 is what it does not tell."""
    parts = re.findall(r"\d+|[^\W\d_]+", plain(text))
    months = [n for part in parts for name, n in WORDS["months"].items() if part.startswith(name)][:1]
    numbers = [*(int(part) for part in parts if part.isdecimal() and len(part) < 5), *months]
    return {day for one in _orders(numbers, months) for day in _day(*one)}


def _orders(numbers: list[int], months: list[int]) -> Iterator[tuple[int, int, int]]:
    match numbers:
        case [year, month, day] if year > 31 and not months:
            yield year, month, day
        case [_, _, _]:
            yield from ((a, b, c) for a, b, c in permutations(numbers) if a > 31 and b in (months or [b]))
        case [one, month] if months:
            yield (one, month, 0) if one > 31 else (0, month, one)
        case _:
            pass


def _day(year: int, month: int, day: int) -> Iterator[tuple[int, int, int]]:
    with suppress(ValueError):
        date(year or 4, month, day or 1)
        yield year, month, day


def _is_day(said: tuple[int, int, int], wanted: tuple[int, int, int]) -> bool:
    return all(due in (0, one) for one, due in zip(said, wanted, strict=True))


def choice(text: str, choices: Sequence[str]) -> str:
    """Return the letter that a text chooses, by it or by what stands behind it; empty where that is unclear."""
    text = _tidy(text)
    said, texts = f" {plain(text)} ", [f" {plain(_tidy(one))} " for one in choices]
    forms = [words(_tidy(one)) for one in choices]
    if forms.count(words(text)) == 1:
        return LETTERS[forms.index(words(text))]
    named = _named(text, said, choices, texts)
    if letter := _LETTER.fullmatch(text) or _LETTER.fullmatch(bare(_LEAD.sub("", text))):
        return letter[1].upper() if letter[1].upper() in (named or LETTERS) else ""
    return min(named) if len(named) == 1 and not _hedged(text) else ""


def _named(text: str, said: str, choices: Sequence[str], texts: Sequence[str]) -> set[str]:
    """Return the letters of choices that a text says; of a number the words alone tell nothing."""
    endless = _ENDING.sub(" ", said)
    return (
        _letters(one in said and not quantity(text) for one in texts)
        or _letters(says(text, _tidy(one)) for one in choices)
        # "It would stay the same" is what "Stays the same" says.
        or _letters(_ENDING.sub(" ", one) in endless for one in texts)
        or {LETTERS[nth - 1] for word, nth in WORDS["ordinals"].items() if f" {word} " in said}
    )


def _letters(hits: Iterable[bool]) -> set[str]:
    return {letter for letter, hit in zip(LETTERS, hits, strict=False) if hit}


def words_match(text: str, wanted: str) -> bool:
    """Tell whether a text says the words, alone or before what explains them."""
    heads = [text, bare(_LEAD.sub("", text))]
    if (formula := _formula(wanted)) and (formulas := {*map(_formula, heads)} - {""}):
        return formula in formulas
    if not (_hedged(text) or _hedged(text, "denials")):
        heads.append(re.split(rf"\b(?!answer\b)(?:{_any('leads')})\b", text, maxsplit=1, flags=re.I)[0])
    said = {plain(one) for head in heads for one in (head, _HEAD.split(head, maxsplit=1)[0])}
    alike = next(({*alike} for alike in WORDS["said"]["same"] if plain(wanted) in alike), {plain(wanted)})
    return not _SEVERAL.fullmatch(text) and bool(said & alike)


def _formula(text: str) -> str:
    return re.sub(r"[\s*{}]", "", text.replace("**", "^")) if _FORMULA.fullmatch(text) else ""


def words(text: str) -> str:
    """Return the form in which two texts are one: that of a formula, or words, of an interval with its brackets."""
    return _formula(text) or (brackets(text) + plain(text)).replace("()", "")


def says(text: str, wanted: str, tolerance: float = 0.0) -> bool:
    """Tell whether a text says what is wanted: a number by its value, a day by its date, else by its words."""
    text = _CHOICE.sub("", _tidy(text))
    if {brackets(text), brackets(_tidy(wanted)), ""} > {brackets(text), ""} and brackets(text):
        return False
    if due := _due(wanted):
        # Where the half of the day is wanted, that of the answer counts.
        return due[-1] in times(text)[1 - len(due) :] and not _hedged(text)
    if quantity(wanted) is not None:
        otherwise = _same_number(_otherwise(text), _otherwise(wanted), tolerance) if _UNIT.search(text) else False
        return otherwise or _same_number(text, wanted, tolerance)
    if len(days := dates(wanted)) == 1 and len(wanted) < 20:
        return any(_is_day(said, *days) for said in dates(text)) and not _hedged(text)
    return words_match(text, _tidy(wanted))


def _same_number(text: str, wanted: str, tolerance: float) -> bool:
    number, said = quantity(wanted), quantity(text) or quantity(_BEFORE.sub("", text))
    return said is not None and number is not None and same_quantity(said, number, tolerance)


def _otherwise(text: str) -> str:
    """Return a text with what may mean two things as the other: pounds as money, K as kelvin."""
    return re.sub(r"(?i)\bpounds?\b(?! sterling)", "pounds sterling", re.sub(r"(?<=\d)\s?K$", " kelvin", text))


def same_set(text: str, wanted: Sequence[str], tolerance: float = 0.0) -> bool:
    """Tell whether a text lists just these, in any order."""
    everywhere, *somewhere = (_members(_tidy(text), apart) for apart in _PARTS)
    # What is not parted everywhere has no words besides: they may be another member.
    return _listed(everywhere, [*wanted], tolerance) or any(
        _listed(said, [*wanted], tolerance, whole=True) for said in somewhere
    )


def _members(text: str, apart: re.Pattern[str]) -> list[str]:
    said = dict.fromkeys(one for part in apart.split(text) if (one := bare(part.strip("{} "))))
    return [*said] if len(said) > 1 or apart is not _PARTS[0] else text.strip("{}").split()


def _listed(said: list[str], left: list[str], tolerance: float, *, whole: bool = False) -> bool:
    for one in said:
        alike = (other for other in left if says(one, other, tolerance))
        if (hit := next((other for other in alike if not whole or says(other, one)), None)) is None:
            return False
        left.remove(hit)
    return not left
