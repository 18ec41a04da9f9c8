"""What a patch changes, as a table."""

from patchwork.parse import NO_FILE

_WIDEST = 40


def counts(one):
    """How many lines a file gains and loses."""
    marks = [mark for hunk in one.hunks for mark, _ in hunk.edits]
    return marks.count("+"), marks.count("-")


def name_of(one):
    """The name under which a file is known afterwards, or was known where it is taken away."""
    return one.old_name if one.new_name == NO_FILE else one.new_name


def bar(gained, lost, most):
    """A bar of plus and minus, no wider than what fits."""
    if most > _WIDEST:
        gained, lost = (-(-number * _WIDEST // most) for number in (gained, lost))
    return "+" * gained + "-" * lost


def table(files):
    """One line for each file, and one for all."""
    rows = [(name_of(one), *counts(one)) for one in files]
    width = max((len(name) for name, _, _ in rows), default=0)
    most = max((gained + lost for _, gained, lost in rows), default=0)
    digits = len(str(most))
    lines = [f" {name:<{width}} | {gained + lost:>{digits}} {bar(gained, lost, most)}".rstrip() for name, gained, lost in rows]
    gained, lost = (sum(row[place] for row in rows) for place in (1, 2))
    lines.append(f" {len(rows)} file{'s' * (len(rows) != 1)}, {gained} gained, {lost} lost")
    return "\n".join(lines) + "\n"
