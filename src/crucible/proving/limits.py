"""What the repository says that may not be given, or that the change announces: beside it a failure is no proof."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator, Mapping

from crucible.proving.case import ProofCase
from crucible.proving.change import functions
from crucible.proving.checking import parameters, words
from crucible.proving.promises import Given, Promise, given

_ERROR = re.compile(r"\b\w+(?:Error|Exception|Warning|Iteration)\b")
#: Where an item of a list or of parameters begins; where a sentence ends.
_ITEM = re.compile(r"\n[ \t]*\n|\n(?=[ \t]*(?:[-*+] |:\w|[`*]{0,2}\w+[`*]{0,2} ?(?:\([^)\n]*\) ?)?: ))")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[^a-z\s])")
_HEADER = re.compile(r"\s*(?::(?:param|type|arg)[^:\n]*?(\w+):|[-*+`]*(\w+)[`*]* ?(?:\([^)\n]*\) ?)?:)")
_HISTORY = re.compile(r"(?i)(^|/)(change|history|news|release|version|migrat)[^/]*")
_RELEASE = re.compile(r"\W*v?\d+\.\d+")


def limited(case: ProofCase, found: Mapping[Given, Promise]) -> str:
    """Return where it is written that what the witness gives may not be given, or that the error comes.

    Args:
        case: the witness, after it ran.
        found: what is promised of what it gives.
    """
    error = getattr(builtins, case.failure.type, None)
    bases = {one.__name__ for one in error.__mro__[:-3]} if isinstance(error, type) else {case.failure.type}
    entries, explicit = case.entries, given(case)
    every = {
        one for path in case.change.files for name, node in functions(path.head or "").items()
        if not entries.isdisjoint(re.findall(r"\w+", name)) for one in parameters(node)
    }  # fmt: skip
    stake = {one.parameter for one, promise in found.items() if promise == "guarded"}
    bad = {one.parameter for one in found if re.search(r":(zero|neg|empty|special)", " ".join(one.kinds))}
    for place, unit in _units(case):
        limit = re.search(words().excludes, unit)
        of_class = re.search(words().of_classes, unit)
        if not (limit or of_class or bases & {*re.findall(r"\w+", unit)}):
            continue
        header = _HEADER.match(unit)
        about = {header[1] or header[2]} & every if header else set[str]()
        about = about or every & {*re.findall(r"\w+", unit)}
        errors = {*_ERROR.findall(unit)}
        harmless = (
            about and not about & explicit and header is not None,
            about and stake and not about & stake and not of_class,
            not limit and of_class and not (about or explicit) & bad,
            (errors or "otherwise" in unit.lower()) and not errors & bases and not (stake and of_class),
        )
        if not any(harmless):
            return f"{place}: {' '.join(unit.split())[:200]}"
    return ""


def _units(case: ProofCase) -> Iterator[tuple[str, str]]:
    """Yield sentences and items of docstrings of what was called, comments of the change, and pages that name it."""
    entries = case.entries
    for path in case.change.files:
        for name, node in functions(path.head or "").items():
            if not entries.isdisjoint(re.findall(r"\w+", name)[-1:]):
                yield from ((path.path, unit) for unit in _split(ast.get_docstring(node) or ""))
    for place, text in case.seen.docs.items():
        if re.split("[ .]", place)[-1] in entries:
            yield from ((place, unit) for unit in _split(text))
    for hunk in case.culpable:
        yield from ((str(hunk), one) for one in re.findall("#.*", "".join(hunk.head_lines)))
    for page in case.change.docs:
        if not _HISTORY.search(page.path) or page.path in case.change.altered:
            named = (unit for unit in _split(page.text) if not entries.isdisjoint(re.findall(r"\w+", unit)))
            yield from ((f"{page.path}:{page.line}", unit) for unit in named if not _RELEASE.match(unit))


def _split(text: str) -> Iterator[str]:
    for item in filter(None, _ITEM.split(text)):
        yield from [item] if _HEADER.match(item) else _SENTENCE.split(item)


def claimed(case: ProofCase, *, announced: bool = False) -> str:
    """Return what the change says of what the witness shows.

    Args:
        case: the witness, after it ran.
        announced: what says that it is meant alone; else also that nothing is said to change.
    """
    entries, message = case.entries, case.change.message
    if name := _documented(case):
        return f"its docstring of {name} changes"
    for path, lines in case.change.altered.items():
        what = "tests" if case.change.adapter.is_test(path) else "pages"
        if named := min(entries & {*re.findall(r"\w+", lines)}, default=""):
            return f"its {what} change what is said of {named} ({path})"
        if what == "pages" and (line := next((one for one in lines.split("\n") if _announces(one)), "")):
            return f"its pages say: {line.strip()[:120]}"
    for line in re.split(r"\n|(?<=[.;]) ", message):
        named = min(entries & {*re.findall(r"\w+", line)}, default="")
        if _announces(line) or (named and (re.search(words().announces, line) or not re.search(words().quiet, line))):
            return f"its message says: {line.strip()[:120]}"
    quiet = "" if announced else re.search(words().quiet, message)
    return f"its message says that nothing changes: {quiet[0]}" if quiet else ""


def _announces(line: str) -> bool:
    """Tell whether a line says that something changes for some values."""
    return bool(re.search(words().announces, line) and re.search(words().values, line))


def _documented(case: ProofCase) -> str:
    """Return what ran and has another docstring after the change."""
    for one in case.change.files:
        was, now = functions(one.base or ""), functions(one.head or "")
        both = (name for name in now if name in was and f"{one.path}:{name}" in case.seen.ran)
        if other := next((name for name in both if ast.get_docstring(now[name]) != ast.get_docstring(was[name])), ""):
            return other
    return ""
