"""Records as text, one a line."""

import json

from strata.crossing import to_version
from strata.errors import RecordError


def migrate(schema, text, version):
    """Return a text of records with all of them at a version, and its faults."""
    lines, faults = [], []
    for number, line in enumerate(text.splitlines(), 1):
        if not line:
            continue
        try:
            lines.append(written(to_version(schema, read(line), version)))
        except ValueError as fault:
            faults.append((number, str(fault)))
    return "".join(line + "\n" for line in lines), faults


def read(line):
    """Return the record of a line; ValueError where it is none."""
    record = json.loads(line)
    if "version" not in record or "fields" not in record:
        raise RecordError("a record has a version and fields")
    return record


def written(record):
    """Return the line of a record."""
    return json.dumps(record)
