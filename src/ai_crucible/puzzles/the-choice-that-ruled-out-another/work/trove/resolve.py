"""Chooses releases."""

from trove.errors import Unresolvable
from trove.index import need
from trove.ranges import Range


def resolve(index, wants, prefer=None, exclude=()):
    """Return versions by name that go together."""
    prefer, banned = prefer or {}, [need(text) for text in exclude]
    chosen, open_needs = {}, [need(text) for text in wants]
    while open_needs:
        one = open_needs.pop(0)
        if one.name in chosen:
            if not one.range.has(chosen[one.name].version):
                raise Unresolvable(wants)
            continue
        if one.optional:
            continue
        fitting = [
            release
            for release in index.get(one.name, [])
            if one.range.has(release.version)
            and not release.yanked
            and not any(each.name == one.name and each.range.has(release.version) for each in banned)
        ]
        liked = Range(prefer.get(one.name, ""))
        if not fitting:
            raise Unresolvable(wants)
        chosen[one.name] = max(fitting, key=lambda release: (liked.has(release.version), release.version))
        open_needs += chosen[one.name].needs
    return {name: release.version.text for name, release in chosen.items()}
