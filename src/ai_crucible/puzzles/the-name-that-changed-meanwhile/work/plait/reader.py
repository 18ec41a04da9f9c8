"""Reads documents."""

import re

from plait.errors import Fault
from plait.model import GROUP, ITEM, PLAIN, TABLE, Document, Entry
from plait.values import value_of

ENTRY = re.compile(r"([a-z_][a-z0-9_]*)( *= *(.*)| *(\[\])?: *)", re.DOTALL)


def parse(text):
    """Return the document that a text is."""
    document = Document()
    around = [document]
    for number, line in enumerate(text.split("\n"), 1):
        own = line.lstrip(" ")
        if not own or own.startswith("#"):
            continue
        depth, odd = divmod(len(line) - len(own), 2)
        if odd or depth >= len(around) or around[depth].kind == PLAIN:
            raise Fault("the indentation fits nothing above", number)
        del around[depth + 1 :]
        try:
            entry = _item(own) if around[-1].kind == TABLE else _entry(own)
            if any(value_of(each.key) == value_of(entry.key) if entry.kind == ITEM else each.key == entry.key for each in around[-1].entries):
                raise Fault(f"{entry.key} is there already")
        except Fault as fault:
            raise Fault(fault.reason, number) from None
        around[-1].entries.append(entry)
        around.append(entry)
    return document


def _entry(line):
    match = ENTRY.fullmatch(line)
    if match is None:
        raise Fault(f"{line!r} is no entry")
    key, _, value, table = match.groups()
    if value is None:
        return Entry(key, TABLE if table else GROUP)
    return Entry(key, PLAIN, value_of(value))


def _item(line):
    if not line.startswith("- ") or line.startswith("-  "):
        raise Fault(f"{line!r} is no item")
    value_of(line[2:])
    return Entry(line[2:].rstrip(" "), ITEM)
