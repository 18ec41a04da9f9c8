"""Fields of an item, merged."""

from outline.changes import fields_changed
from outline.conflicts import Conflict


def merged_fields(base, ours, theirs, name):
    """Return the fields of an item that one side has, or both, and the conflicts."""
    if name not in ours or name not in theirs:
        return (ours if name in ours else theirs)[name].fields, []
    fields, conflicts = dict(ours[name].fields), []
    mine, yours = fields_changed(base, ours, name), fields_changed(base, theirs, name)
    for key in yours:
        if key not in mine:
            fields.pop(key, None)
            if key in theirs[name].fields:
                fields[key] = theirs[name].fields[key]
        elif fields.get(key) != theirs[name].fields.get(key):
            conflicts.append(Conflict(name, "field", key))
    return fields, conflicts
