"""Schemas as text."""

import json
import re
from dataclasses import dataclass

from strata.errors import SchemaError
from strata.steps import Add, Drop, Join, Listed, Map, Rename, Scale

NAME = re.compile(r"[a-z_][a-z0-9_]*")


@dataclass(frozen=True)
class Schema:
    """The fields of version 1, and for each version from 2 on the steps that lead up to it."""

    first: tuple
    versions: tuple

    @property
    def latest(self):
        return 1 + len(self.versions)


def read_schema(text):
    """Return the schema of a text."""
    first, known, versions = None, set(), []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        try:
            if first is None:
                first, known = _first(words), set(words[1:])
            elif words[0] == "version":
                if words[1:] != [str(len(versions) + 2)]:
                    raise ValueError("versions follow one another")
                versions.append([])
            elif not versions:
                raise ValueError("a step is one of a version")
            else:
                step, needed, new = _step(line.split(maxsplit=1))
                _follow(known, needed, new)
                versions[-1].append(step)
        except ValueError as fault:
            raise SchemaError(number, str(fault)) from None
    if first is None:
        raise SchemaError(1, "there are no fields")
    return Schema(first, tuple(map(tuple, versions)))


def fields_of(schema, version):
    """Return the fields that a version knows."""
    known = set(schema.first)
    for steps in schema.versions[: version - 1]:
        for step in steps:
            _follow(known, *_names(step))
    return sorted(known)


def _follow(known, needed, new):
    for name in needed:
        if name not in known:
            raise ValueError(f"there is no field {name}")
        known.remove(name)
    for name in new:
        if name in known:
            raise ValueError(f"there is a field {name} already")
        known.add(name)


def _names(step):
    """Return the fields that a step needs, and those that are there in their place."""
    match step:
        case Rename(old, new):
            return [old], [new]
        case Add(name, _):
            return [], [name]
        case Drop(name, _):
            return [name], []
        case Join(first, second, whole, _):
            return [first, second], [whole]
    return [step.name], [step.name]


def _first(words):
    if words[0] != "fields" or len(set(words)) != len(words):
        raise ValueError("the first line has the fields")
    return tuple(map(_name, words[1:]))


def _name(text):
    if not NAME.fullmatch(text):
        raise ValueError(f"{text!r} is no name")
    return text


def _step(words):
    kind, rest = [*words, ""][:2]
    counts = {"rename": 2, "add": 2, "drop": 2, "join": 4, "map": 2, "scale": 2, "list": 1}
    if kind not in counts:
        raise ValueError(f"{kind!r} is no step")
    parts = rest.split(maxsplit=counts[kind] - 1)
    if len(parts) != counts[kind]:
        raise ValueError(f"{kind} has {counts[kind]} parts")
    names = [_name(part) for part in (parts if kind in ("rename", "list") else parts[:-1])]
    step = _made(kind, names, parts[-1])
    return step, *_names(step)


def _made(kind, names, last):
    if kind == "rename":
        return Rename(*names)
    if kind == "list":
        return Listed(*names)
    value = json.loads(last)
    if kind == "add":
        return Add(*names, value)
    if kind == "drop":
        return Drop(*names, value)
    if kind == "join" and isinstance(value, str) and value:
        return Join(*names, value)
    if kind == "scale" and type(value) is int and value > 1:
        return Scale(*names, value)
    if kind == "map" and isinstance(value, dict) and all(isinstance(new, str) for new in value.values()):
        return Map(*names, tuple(value.items()))
    raise ValueError(f"{last} is nothing for {kind}")
