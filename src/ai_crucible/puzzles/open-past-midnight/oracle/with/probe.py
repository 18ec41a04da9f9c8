"""Calls that the checks make of a solution."""

from hours import Hours


def ask(text, times):
    """Minutes of a week, and for each time whether it is open and when that changes."""
    try:
        hours = Hours(text)
    except ValueError:
        return "ValueError"
    return [hours.total(), [[hours.is_open(at), hours.next_change(at)] for at in times]]


def at_once(texts, asks):
    """What hours that stand side by side answer, one question after another."""
    several = [Hours(text) for text in texts]
    return [getattr(several[which], name)(*arguments) for which, name, *arguments in asks]
