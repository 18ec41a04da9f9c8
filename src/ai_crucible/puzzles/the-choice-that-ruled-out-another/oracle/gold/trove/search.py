"""Looks for releases that go together."""


class Search:
    """The releases that can be chosen, by name, and what is wanted."""

    def __init__(self, index, asked, banned):
        self.asked = asked
        self.releases = {}
        for name, releases in index.items():
            self.releases[name] = [one for one in releases if _permitted(one, asked, banned)]

    def solution(self, fixed):
        """Return releases by name that go together, or None; what is fixed to None must not be there."""
        return self._complete({}, list(self.asked), fixed)

    def _complete(self, chosen, needs, fixed):
        left = {one.name for one in needs if not one.optional and one.name not in chosen}
        if not left:
            # What is fixed must have been reached.
            return chosen if all(name in chosen for name, one in fixed.items() if one) else None
        fitting = {name: self._fitting(name, needs, chosen, fixed) for name in left}
        name = min(sorted(fitting), key=lambda name: len(fitting[name]))
        for release in fitting[name]:
            found = self._complete({**chosen, name: release}, needs + release.needs, fixed)
            if found is not None:
                return found
        return None

    def _fitting(self, name, needs, chosen, fixed):
        """Return the releases of a package that go with what is chosen, and with themselves."""
        ranges = [one.range for one in needs if one.name == name]
        releases = [fixed[name]] if fixed.get(name) else [] if name in fixed else self.releases.get(name, [])
        return [
            one
            for one in releases
            if all(each.has(one.version) for each in ranges)
            and all(_bears(each, {**chosen, name: one}) for each in one.needs)
        ]


def _bears(need, chosen):
    return need.name not in chosen or need.range.has(chosen[need.name].version)


def _permitted(release, asked, banned):
    """Tell whether a release can be chosen at all."""
    said = [condition for one in asked if one.name == release.name for condition in one.range.conditions]
    if release.version.pre and not any(bound.pre for _, bound in said):
        return False
    if release.yanked and not any(sign == "=" and bound == release.version for sign, bound in said):
        return False
    return not any(one.name == release.name and one.range.has(release.version) for one in banned)
