"""What one side changed."""


def fields_changed(base, side, name):
    """Return the keys of the fields that a side has otherwise than the base."""
    before, after = base[name].fields, side[name].fields
    return {key for key in {*before, *after} if (before.get(key) or "") != (after.get(key) or "")}


def added(base, side):
    """Return the ids that a side has and the base has not, in the side's order."""
    return [item.name for item, _ in side.walk() if item.name not in base]


def deleted(base, side):
    """Return the ids that the base has and a side has not."""
    return {item.name for item, _ in base.walk() if item.name not in side}
