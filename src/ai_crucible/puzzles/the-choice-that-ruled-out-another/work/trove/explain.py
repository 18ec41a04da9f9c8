"""How packages came in."""

from trove.index import need


def why(index, wants, solution, name):
    """Return the names from one that is wanted to a package of a solution."""
    for text in wants:
        path = _path(index, solution, need(text).name, name)
        if path:
            return path
    return []


def _path(index, solution, start, name):
    if start == name:
        return [start]
    for release in index.get(start, []):
        if release.version.text == solution.get(start):
            for each in release.needs:
                path = _path(index, solution, each.name, name)
                if path:
                    return [start, *path]
    return []
