"""Records go up and down."""

from copy import deepcopy

from strata.errors import RecordError
from strata.same import same


def to_version(schema, record, version):
    """Return a record as one of another version."""
    check(schema, version)
    check(schema, record["version"])
    fields, kept = deepcopy(record["fields"]), deepcopy(record.get("kept", {}))
    up = version > record["version"]
    for key, step in between(schema, *sorted((record["version"], version)))[:: 1 if up else -1]:
        fields = crossed(step, up, fields, kept, key)
    return {"version": version, "fields": deepcopy(fields), **({"kept": deepcopy(kept)} if kept else {})}


def check(schema, version):
    """Raise RecordError where the schema has no such version."""
    if not 1 <= version <= schema.latest:
        raise RecordError(f"there is no version {version}")


def between(schema, low, high):
    """Return the steps from a lower to a higher version, each with its key."""
    numbers = range(low + 1, high + 1)
    return [(f"{number}.{at}", step) for number in numbers for at, step in enumerate(schema.versions[number - 2], 1)]


def crossed(step, up, fields, kept, key):
    """Return the fields on the other side of a step; what that side cannot say is kept."""
    there, back = (step.up, step.down) if up else (step.down, step.up)
    found = {name: fields[name] for name in step.names if name in fields}
    before = kept.pop(key, None)
    made = before["was"] if before is not None and same(before["seen"], found) else there(found)
    if not same(back(made), found):
        kept[key] = {"seen": made, "was": found}
    rest = {name: value for name, value in fields.items() if name not in step.names}
    return {**rest, **made}
