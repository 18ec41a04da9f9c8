"""Reads documents."""

import re

from plait.errors import Fault
from plait.model import GROUP, ITEM, PLAIN, TABLE, Document, Entry
from plait.values import value_of

ENTRY = re.compile(r"([a-z_][a-z0-9_]*)( *= *(.*)| *(\[\])?: *)", re.DOTALL)


def parse(text):
    """Return the document that a text is."""
    document = Document()
    around, names, before = [document], [set()], []
    lines = text.split("\n")
    for number, line in enumerate(lines if lines[-1] else lines[:-1], 1):
        own = line.lstrip(" ")
        if not own or own.startswith("#"):
            before.append(own)
            continue
        depth, odd = divmod(len(line) - len(own), 2)
        if odd or depth >= len(around) or around[depth].kind == PLAIN:
            raise Fault("the indentation fits nothing above", number)
        del around[depth + 1 :], names[depth + 1 :]
        try:
            entry = _item(own, before) if around[-1].kind == TABLE else _entry(own, before)
            if entry.name in names[-1]:
                raise Fault(f"{entry.key} is there already")
        except Fault as fault:
            raise Fault(fault.reason, number) from None
        names[-1].add(entry.name)
        around[-1].entries.append(entry)
        around.append(entry)
        names.append(set())
        before = []
    document.behind = before
    for entry in document.entries:
        _mean(entry)
    return document


def _entry(line, before):
    match = ENTRY.fullmatch(line)
    if match is None:
        raise Fault(f"{line!r} is no entry")
    key, rest, value, table = match.groups()
    if value is None:
        return Entry(key, key, rest, before, TABLE if table else GROUP)
    return Entry(key, key, rest, before, PLAIN, (PLAIN, value_of(value)))


def _item(line, before):
    if not line.startswith("- ") or line.startswith("-  "):
        raise Fault(f"{line!r} is no item")
    key = line[2:].rstrip(" ")
    return Entry(key, value_of(key), line[2 + len(key) :], before, ITEM)


def _mean(entry):
    for each in entry.entries:
        _mean(each)
    if entry.kind == TABLE:
        entry.means = (TABLE, tuple((each.name, each.means) for each in entry.entries))
    elif entry.kind != PLAIN:
        entry.means = (GROUP, frozenset((each.name, each.means) for each in entry.entries))
