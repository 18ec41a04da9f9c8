"""Merges three versions."""

from dataclasses import dataclass, field, replace

from plait.conflicts import Conflict
from plait.errors import Fault
from plait.model import PLAIN, TABLE, Document
from plait.order import arranged, ordered
from plait.reader import parse
from plait.renames import apart, known
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
    base, ours, theirs = versions
    behind = theirs.behind if ours.behind == base.behind else ours.behind
    document = Document(_entries(base, ours, theirs, "", conflicts), behind)
    return Merged(write(document), sorted(conflicts, key=_place))


def _place(conflict):
    return conflict.path, conflict.kind


def _entries(base, ours, theirs, path, conflicts):
    """Return what lies in a group or table, of which ours and theirs have one; base may have none."""
    old = {entry.name: entry for entry in base.entries} if base and base.kind == ours.kind else {}
    own, other = (known(list(old.values()), side.entries) for side in (ours, theirs))
    keys = {}
    for id in {**own, **other}:
        key = _key(old.get(id), own.get(id), other.get(id), path, conflicts)
        if key:
            keys[id] = key
    keys, contested = apart(keys, own)
    conflicts += [Conflict("key", f"{path}/{key}") for key in contested]
    lists = [[id for id in side if id in keys] for side in (old, own, other)]
    order = ordered(*lists[1:])
    if ours.kind == TABLE:
        order, conflict = arranged(*lists)
        if conflict:
            conflicts.append(Conflict("order", path))
    return [_entry(keys[id], old.get(id), own.get(id), other.get(id), path, conflicts) for id in order]


def _key(base, ours, theirs, path, conflicts):
    """Return the key that an entry has, to compare and to write; ``None`` where it is gone."""
    if not (ours and theirs):
        one = ours or theirs
        if base and (one.name, one.means) == (base.name, base.means):
            return None
        if base:
            conflicts.append(Conflict("deleted", f"{path}/{one.key}"))
        return None if base and theirs else (one.name, one.key)
    name, conflict = settle(base and base.name, ours.name, theirs.name)
    if conflict:
        conflicts.append(Conflict("renamed", f"{path}/{ours.key}"))
    if ours.name == theirs.name:
        return name, theirs.key if base and base.key == ours.key else ours.key
    return name, ours.key if name == ours.name else theirs.key


def _entry(key, base, ours, theirs, path, conflicts):
    name, key = key
    path = f"{path}/{key}"
    if not (ours and theirs):
        return replace(ours or theirs, name=name, key=key)
    like = theirs if base and base.written_as(ours) else ours
    if ours.kind == theirs.kind != PLAIN:
        entries = _entries(base, ours, theirs, path, conflicts)
        return replace(ours.as_in(like), name=name, key=key, entries=entries)
    if ours.means == theirs.means:
        return replace(like, name=name, key=key)
    means, conflict = settle(base and base.means, ours.means, theirs.means)
    if conflict:
        conflicts.append(Conflict("value", path))
    return replace(ours if means == ours.means else theirs, name=name, key=key)
