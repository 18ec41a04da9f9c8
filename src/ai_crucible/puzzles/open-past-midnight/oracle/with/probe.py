"""Calls that the checks make of a solution."""

from hours import Hours


def ask(text, times):
    """Minutes of a week, and for each time whether it is open and when that changes."""
    try:
        hours = Hours(text)
    except ValueError:
        return "ValueError"
    return [hours.total(), [[hours.is_open(at), hours.next_change(at)] for at in times]]
