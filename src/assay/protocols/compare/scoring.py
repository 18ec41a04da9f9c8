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


def _pattern(name: str) -> re.Pattern[str]:
    """Return an expression of the table, with the words that it names: ``<leads>``."""
    said, written = WORDS["said"], WORDS["patterns"][name]
    return re.compile(re.sub("(?<!P)<([a-z]+)>", lambda of: "|".join(map(re.escape, said[of[1]])), written))


_LEAD, _LED, _BEHIND, _HEAD, _BEFORE = map(_pattern, ("lead", "led", "behind", "head", "before"))
_QUANTITY, _PIECES, _FORMULA, _INTERVAL = map(_pattern, ("quantity", "pieces", "formula", "interval"))
_SEVERAL, _LETTER, _CHOICE, _CLOCK = map(_pattern, ("several", "letter", "choice", "clock"))
_ARTICLE, _NOTHING = map(_pattern, ("article", "says_nothing"))
_PARTS = [*map(_pattern, ("parts", "parts_with_commas", "parts_by_commas", "parts_by_words", "parts_by_lines"))]


class Quantity(NamedTuple):
    """A number as it is said, what it measures, how many of that kind's first unit each is, and what its 0 is there."""

    value: float
    kind: str = ""
    each: float = 1.0
    zero: float = 0.0


def brackets(text: str) -> str:
    """Return the brackets of an interval or a pair of numbers; empty where a text is none."""
    found = _INTERVAL.fullmatch(text.strip(" .*`"))
    return found[1] + found[2] if found else ""


def bare(text: str) -> str:
    """Return a text without what stands around it; a point before a number is its own, and so are brackets."""
    edges = " .*`$" if brackets(text) else EDGES
    text = text.rstrip(edges).lstrip(edges.replace(".", ""))
    return text.strip("$ ") if len(text) > 2 and text[0] == text[-1] == "$" else text


def plain(text: str) -> str:
    """Return a text as it is compared: without case, accents, articles and signs."""
    folded = "".join(sign for sign in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(sign))
    # Of signs alone each says something: "&&".
    return " ".join(_NOTHING.sub(" ", _ARTICLE.sub("", re.sub("([<=>≤≥])", r" \1 ", folded))).split()) or folded.strip()


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
        values = [said.value * said.each / 100, said.value][: 1 + (wanted.value > 1)]
    elif kinds == ("", "percent"):
        values = [said.value, said.value * 100 / wanted.each][: 1 + (said.value <= 1)]
    elif {*kinds} == {"mass", "pounds_sterling"} and UNITS["mass"]["pound"] in (said.each, wanted.each):
        values = [said.value]
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
    said, texts = f" {words(text)} ", [f" {words(_tidy(one))} " for one in choices]
    if texts.count(said) == 1:
        return LETTERS[texts.index(said)]
    named = _named(text, said, choices, texts)
    if letter := _LETTER.fullmatch(text) or _LETTER.fullmatch(bare(_LEAD.sub("", text))):
        return letter[1].upper() if letter[1].upper() in (named or LETTERS) else ""
    return min(named) if len(named) == 1 and not _hedged(text) else ""


def _named(text: str, said: str, choices: Sequence[str], texts: Sequence[str]) -> set[str]:
    """Return the letters of choices that a text says; of a number the words alone tell nothing."""
    endless = said.replace("s ", " ")
    return (
        _letters(one in said and not quantity(text) for one in texts)
        or _letters(says(text, _tidy(one)) for one in choices)
        # "It would stay the same" is what "Stays the same" says.
        or _letters(one.replace("s ", " ") in endless for one in texts)
        or {LETTERS[nth - 1] for word, nth in WORDS["ordinals"].items() if f" {word} " in said}
    )


def _letters(hits: Iterable[bool]) -> set[str]:
    return {letter for letter, hit in zip(LETTERS, hits, strict=False) if hit}


def words_match(text: str, wanted: str) -> bool:
    """Tell whether a text says the words, alone or before what explains them."""
    heads = [text, bare(_LEAD.sub("", text))]
    if not (_hedged(text) or _hedged(text, "denials")):
        heads.append(_LED.split(text, maxsplit=1)[0])
    # Who writes no brackets means those that are asked for.
    read = plain if bool(brackets(text)) != bool(brackets(wanted)) else words
    said = {read(one) for head in heads for one in (head, _HEAD.split(head, maxsplit=1)[0])}
    alike = next(({*alike} for alike in WORDS["said"]["same"] if plain(wanted) in alike), {read(wanted)})
    return bool(said & alike) and (read(text) in alike or not _SEVERAL.fullmatch(text))


def words(text: str) -> str:
    """Return the form in which two texts are one: that of a formula, or words, of an interval with its brackets."""
    return re.sub(r"[\s*{}]", "", text) if _FORMULA.fullmatch(text) else brackets(text) + plain(text)


def says(text: str, wanted: str, tolerance: float = 0.0) -> bool:
    """Tell whether a text says what is wanted: a number by its value, a day by its date, else by its words."""
    text = _CHOICE.sub("", _tidy(text))
    if due := _due(wanted):
        # Where the half of the day is wanted, that of the answer counts.
        return due[-1] in times(text)[1 - len(due) :] and not _hedged(text)
    if (number := quantity(wanted)) is not None:
        said = quantity(text) or quantity(_BEFORE.sub("", text))
        return said is not None and same_quantity(said, number, tolerance)
    if len(days := dates(wanted)) == 1 and len(wanted) < 20:
        return any(_is_day(said, *days) for said in dates(text)) and not _hedged(text)
    return words_match(text, _tidy(wanted))


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
