"""Which entries stand, and what they say by now."""

from dataclasses import replace


def standing(entries):
    """Return the entries that no void takes away, with their corrections, in the order of the log."""
    void, kept, fixed = set(), [], set()
    changes = {}
    # A void can only be taken away by a later one, so the last is certain first.
    for entry in reversed(entries):
        if entry.number in void:
            continue
        if entry.kind == "void":
            void.add(entry.target)
        elif entry.kind == "fix":
            if (entry.target, entry.field) not in fixed:
                fixed.add((entry.target, entry.field))
                changes.setdefault(entry.target, {})[entry.field] = entry.value
        else:
            kept.append(replace(entry, **changes.get(entry.number, {})))
    return kept[::-1]
