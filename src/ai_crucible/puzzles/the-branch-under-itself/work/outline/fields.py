"""Fields of an item, merged."""

from outline.changes import fields_changed
from outline.conflicts import Conflict


def merged_fields(base, ours, theirs, name):
    """Return the fields of an item that all three have, and the conflicts."""
    fields, conflicts = dict(ours[name].fields), []
    mine, yours = fields_changed(base, ours, name), fields_changed(base, theirs, name)
    for key in yours:
        if key in mine and fields.get(key) != theirs[name].fields.get(key):
            conflicts.append(Conflict(name, "field", key))
        elif key in theirs[name].fields:
            fields[key] = theirs[name].fields[key]
        else:
            fields.pop(key, None)
    return fields, conflicts
