"""Entries that have another key than in base."""


def known(base, side):
    """Return the entries of a side by the key that base has for them, or by their own."""
    gone, new = _lacking(base, side), _lacking(side, base)
    renamed = {names[0]: gone[means][0] for means, names in new.items() if len(names) == 1 and len(gone.get(means, ())) == 1}
    return {renamed.get(entry.name, entry.name): entry for entry in side}


def _lacking(some, others):
    """Return by value the keys of entries that others have not."""
    there, found = {entry.name for entry in others}, {}
    for entry in some:
        if entry.name not in there:
            found.setdefault(entry.means, []).append(entry.name)
    return found


def apart(entries, ours):
    """Give entries keys of their own; return them and the keys that two would have had.

    Args:
        entries: by what they are in base, each with its key.
        ours: likewise, those of ours.
    """
    contested = _pairs(entries, ours)
    for id, _ in contested:
        if id in ours:
            entries[id] = (ours[id].name, ours[id].key)
        else:
            del entries[id]
    return entries, [key for _, key in contested]


def _pairs(entries, ours):
    """Return what has a key that another one has in ours too, with that key."""
    first = {name: key for id, (name, key) in entries.items() if id in ours and ours[id].name == name}
    return [(id, first[name]) for id, (name, _) in entries.items() if name in first and not (id in ours and ours[id].name == name)]
