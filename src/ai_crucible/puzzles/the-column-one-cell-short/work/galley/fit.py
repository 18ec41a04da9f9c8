"""Lines of just one width."""

from galley.clusters import width

MORE = "…"


def fit(text, room, align="left"):
    """Return a text in just so many cells."""
    if width(text) > room:
        text = text[: room - 1] + MORE
    if align == "right":
        return text.rjust(room)
    if align == "centre":
        return text.center(room)
    return text.ljust(room)
