"""Chooses releases."""

from itertools import combinations

from trove.errors import Unresolvable
from trove.index import need
from trove.ranges import Range
from trove.search import Search


def resolve(index, wants, prefer=None, exclude=()):
    """Return versions by name that are the best that go together."""
    asked, banned = [need(text) for text in wants], [need(text) for text in exclude]
    liked = {name: Range(text) for name, text in (prefer or {}).items()}
    search = Search(index, asked, banned)
    found = search.solution({})
    if found is None:
        raise Unresolvable(_blamed(index, wants, asked, banned))
    fixed = {}
    for name in dict.fromkeys([*(one.name for one in asked), *sorted(index)]):
        for release in _by_preference(search, name, liked.get(name, Range(""))):
            if found.get(name) is not release:
                other = search.solution({**fixed, name: release})
                if other is None:
                    continue
                found = other
            fixed[name] = release
            break
    return {name: release.version.text for name, release in found.items()}


def _by_preference(search, name, liked):
    """Return what may become of a package, the best first: not to be there, then its releases."""
    order = sorted(search.releases.get(name, []), key=lambda one: (liked.has(one.version), one.version), reverse=True)
    return [None, *order]


def _blamed(index, wants, asked, banned):
    """Return the fewest wants that have no solution."""
    for count in range(1, len(asked) + 1):
        for some in combinations(range(len(asked)), count):
            if Search(index, [asked[at] for at in some], banned).solution({}) is None:
                return [wants[at] for at in some]
    return []
