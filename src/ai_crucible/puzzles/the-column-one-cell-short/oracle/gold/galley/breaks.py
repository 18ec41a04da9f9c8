"""Where a line may end."""

from galley.chars import BREAK, CLOSING, OPENING, SOFT, SPACE
from galley.clusters import width

SIGNS = (SPACE, BREAK, SOFT)


def may_end(before, after):
    """Tell whether a line may end between two clusters."""
    if after in SIGNS or after[0] in CLOSING:
        return False
    if before in SIGNS:
        return True
    return before[0] not in OPENING and 2 in (width(before), width(after))


def seen(parts):
    """Return the clusters that are to be seen."""
    return [part for part in parts if part not in (BREAK, SOFT)]
