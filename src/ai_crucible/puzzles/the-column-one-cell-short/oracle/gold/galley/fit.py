"""Lines of just one width."""

from galley.clusters import clusters, width

MORE = "…"


def fit(text, room, align="left"):
    """Return a text in just so many cells."""
    if room == 0:
        return ""
    parts, free = clusters(text), room - width(text)
    if free < 0:
        free -= 1
        while free < 0:
            free += width(parts.pop())
        parts.append(MORE)
    left = {"left": 0, "right": free, "centre": free // 2}[align]
    return " " * left + "".join(parts) + " " * (free - left)
