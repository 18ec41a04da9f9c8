"""Programs of other versions write."""

from strata.crossing import to_version


def update(schema, record, version, changes, gone=()):
    """Return a record with fields set and taken away by a program of a version."""
    there = to_version(schema, record, version)
    for name in gone:
        del there["fields"][name]
    there["fields"].update(changes)
    return to_version(schema, {**there, "kept": {}}, record["version"])
