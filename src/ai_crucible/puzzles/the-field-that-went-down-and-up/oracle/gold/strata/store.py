"""Records as text, one a line."""

import json

from strata.crossing import to_version
from strata.errors import RecordError


def migrate(schema, text, version):
    """Return a text of records with all of them at a version, and its faults."""
    lines, faults = [], []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                line = written(to_version(schema, read(line), version))
            except (ValueError, RecursionError) as fault:
                faults.append((number, str(fault)))
        lines.append(line)
    return "\n".join(lines), faults


def read(line):
    """Return the record of a line; ValueError where it is none."""
    record = json.loads(line, parse_constant=_no_number, object_pairs_hook=_once)
    if not isinstance(record, dict) or not {"version", "fields"} <= record.keys() <= {"version", "fields", "kept"}:
        raise RecordError("a record has a version, fields and maybe what is kept")
    kept = record.get("kept", {})
    if type(record["version"]) is not int or not isinstance(record["fields"], dict) or not isinstance(kept, dict):
        raise RecordError("a version is a whole number, fields and what is kept are objects")
    for each in kept.values():
        if not isinstance(each, dict) or each.keys() != {"seen", "was"}:
            raise RecordError("what is kept has what was seen and what was")
        if not all(isinstance(side, dict) for side in each.values()):
            raise RecordError("what was seen and what was are objects")
    return record


def _no_number(text):
    raise RecordError(f"{text} is no number")


def _once(pairs):
    if len(dict(pairs)) != len(pairs):
        raise RecordError("a key is there twice")
    return dict(pairs)


def written(record):
    """Return the line of a record."""
    return json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
