"""Records go up and down."""

from strata.errors import RecordError
from strata.steps import Add, Drop


def to_version(schema, record, version):
    """Return a record as one of another version."""
    check(schema, version)
    check(schema, record["version"])
    fields, kept = record["fields"], record.get("kept", {})
    for number in range(record["version"], version):
        for step in schema.versions[number - 1]:
            fields = crossed(step, True, fields, kept)
    for number in range(record["version"], version, -1):
        for step in schema.versions[number - 2]:
            fields = crossed(step, False, fields, kept)
    return {"version": version, "fields": fields, **({"kept": kept} if kept else {})}


def check(schema, version):
    """Raise RecordError where the schema has no such version."""
    if version > schema.latest:
        raise RecordError(f"there is no version {version}")


def crossed(step, up, fields, kept):
    """Return the fields on the other side of a step; what that side cannot say is kept."""
    if isinstance(step, (Add, Drop)):
        if isinstance(step, Add) == up:
            return {step.name: kept.pop(step.name, step.value), **fields}
        if step.name in fields and fields[step.name] != step.value:
            kept[step.name] = fields[step.name]
    return step.up(fields) if up else step.down(fields)
