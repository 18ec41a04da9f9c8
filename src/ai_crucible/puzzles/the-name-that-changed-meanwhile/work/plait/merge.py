"""Merges three versions."""

from dataclasses import dataclass, field

from plait.conflicts import Conflict
from plait.errors import Fault
from plait.model import PLAIN, Document, Entry
from plait.order import ordered
from plait.reader import parse
from plait.three import settle
from plait.writer import write


@dataclass
class Merged:
    """The text that came of it, and what could not be settled."""

    text: str
    conflicts: list = field(default_factory=list)


def merge(base, ours, theirs):
    """Return what three texts come to."""
    versions, conflicts = [], []
    for version, text in (("base", base), ("ours", ours), ("theirs", theirs)):
        try:
            versions.append(parse(text))
        except Fault as fault:
            raise Fault(fault.reason, fault.line, version) from None
    document = Document(_entries([each.entries for each in versions], "", conflicts))
    return Merged(write(document), conflicts)


def _entries(lists, path, conflicts):
    """Return the entries of a group or table, by their keys."""
    keyed = [{each.key: each for each in one} for one in lists]
    found = []
    for key in ordered(list(keyed[1]), list(keyed[2])):
        base, ours, theirs = (keys.get(key) for keys in keyed)
        if base and not (ours and theirs):
            continue
        found.append(_entry(key, base, ours, theirs, f"{path}/{key}", conflicts))
    return found


def _entry(key, base, ours, theirs, path, conflicts):
    one = ours or theirs
    if one.kind == PLAIN:
        value, conflict = settle(*(each and each.value for each in (base, ours, theirs)))
        if conflict:
            conflicts.append(Conflict("value", path))
        return Entry(key, PLAIN, value)
    return Entry(key, one.kind, None, _entries([each.entries if each else [] for each in (base, ours, theirs)], path, conflicts))
