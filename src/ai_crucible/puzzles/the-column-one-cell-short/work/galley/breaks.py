"""Where a line may end."""

from galley.chars import BREAK, SOFT, SPACE


def may_end(before, after):
    """Tell whether a line may end between two clusters."""
    return before in (SPACE, BREAK, SOFT) and after != SPACE


def seen(parts):
    """Return what is to be seen of clusters, as text."""
    return "".join(part for part in parts if part not in (BREAK, SOFT))
