"""Programs of other versions write."""

from strata.crossing import to_version


def update(schema, record, version, changes, gone=()):
    """Return a record with fields set and taken away by a program of a version."""
    there = to_version(schema, record, version)
    for name in gone:
        there["fields"].pop(name, None)
    there["fields"].update(changes)
    return to_version(schema, there, record["version"])
