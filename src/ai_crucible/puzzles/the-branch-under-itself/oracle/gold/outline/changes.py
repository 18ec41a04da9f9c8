"""What one side changed."""

_NONE = {}


def fields_of(tree, name):
    """Return the fields that an item has in a tree; none where it is not there."""
    return tree[name].fields if name in tree else _NONE


def parent_of(tree, name):
    """Return the parent that an item has in a tree; None where it is not there."""
    return tree[name].parent if name in tree else None


def fields_changed(base, side, name):
    """Return the keys of the fields that a side has otherwise than the base."""
    before, after = fields_of(base, name), fields_of(side, name)
    return {key for key in {*before, *after} if before.get(key) != after.get(key)}


def moved(base, side, name):
    """Tell whether a side has an item below another parent than the base."""
    return parent_of(base, name) != parent_of(side, name)
