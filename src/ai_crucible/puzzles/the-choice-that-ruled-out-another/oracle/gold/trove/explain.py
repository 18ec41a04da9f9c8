"""How packages came in."""

from trove.index import need


def why(index, wants, solution, name):
    """Return the names from one that is wanted to a package of a solution."""
    if name not in solution:
        return []
    # Ways of one length are in order, so the first that reaches a package is the one.
    ways = [[one] for one in sorted({need(text).name for text in wants})]
    seen = set()
    for way in ways:
        if way[-1] == name:
            return way
        if way[-1] in seen:
            continue
        seen.add(way[-1])
        for release in index.get(way[-1], []):
            if release.version.text == solution.get(way[-1]):
                ways += [[*way, one] for one in sorted({each.name for each in release.needs if not each.optional})]
    return []
