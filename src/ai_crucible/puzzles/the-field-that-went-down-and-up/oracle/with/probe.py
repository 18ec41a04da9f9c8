"""Asks the strata of a solution what the checks compare."""

import contextlib
import copy
import io
import os
import tempfile

from strata import RecordError, SchemaError, fields_of, migrate, read_schema, to_version, update
from strata.__main__ import main


def plain(record):
    return [record["version"], record["fields"], record.get("kept", {}), sorted(record)]


def walked(text, record, ways):
    """The records on a way: to a version, or an update by one; a refused one is told, and the way goes on."""
    schema, seen = read_schema(text), []
    for version, *writes in ways:
        try:
            record = update(schema, record, version, *writes) if writes else to_version(schema, record, version)
            seen.append(plain(record))
        except RecordError:
            seen.append("refused")
    return seen


def spoil(thing):
    """Change all lists and objects within something."""
    for each in list(thing.values()) if isinstance(thing, dict) else list(thing) if isinstance(thing, list) else ():
        spoil(each)
    if isinstance(thing, dict):
        thing["spoilt"] = 1
    elif isinstance(thing, list):
        thing.append("spoilt")


def apart(text, record, version, changes):
    """Whether what is returned, what is given and the schema have nothing in common."""
    schema = read_schema(text)
    first = copy.deepcopy(to_version(schema, record, version))
    given, given_changes = copy.deepcopy(record), copy.deepcopy(changes)
    for _ in range(2):
        made = to_version(schema, given, version)
        same = repr(made) == repr(first)
        spoil(made)
    written = update(schema, given, version, given_changes)
    spoil(written)
    unmoved = to_version(schema, given, given["version"])
    spoil(unmoved)
    return [same, given == record, given_changes == changes, repr(to_version(schema, given, version)) == repr(first)]


def stored(text, lines, version):
    """A text at a version, and the lines of its faults."""
    made, faults = migrate(read_schema(text), lines, version)
    return [made, [line for line, _ in faults], all(isinstance(reason, str) for _, reason in faults)]


def read(text):
    """The fields of all versions, or the line of a fault."""
    try:
        schema = read_schema(text)
    except SchemaError as fault:
        return ["fault", fault.line, str(fault) == f"line {fault.line}: {fault.reason}"]
    return [fields_of(schema, version) for version in range(1, schema.latest + 1)]


def printed(text, version, given):
    """Exit and output of the command line."""
    with tempfile.TemporaryDirectory() as room:
        path = os.path.join(room, "s")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
            code = main([path, version], given)
    return [code, out.getvalue()]
