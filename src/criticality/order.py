"""The order of Injection (CT9): planned calls, condensed into components, leaves first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from llm_runtime.grouping import grouped


def components(edges: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Strongly connected components, each after those it depends on (Sharir 1981, without recursion).

    Nodes are taken in the order of the mapping, so the result depends on nothing else; members of a component keep
    that order too.
    """
    turned = grouped((target, name) for name, targets in edges.items() for target in targets if target in edges)
    back = {name: turned.get(name, []) for name in edges}
    seen: set[str] = set()
    found = [set(reached(back, name, seen)) for name in reversed(list(_finished(edges)))]
    return [[name for name in edges if name in members] for members in reversed(found) if members]


def _finished(edges: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield every node after all that can be reached from it and was not before."""
    seen: set[str] = set()
    for name in edges:
        yield from reached(edges, name, seen)


def reached(edges: Mapping[str, Sequence[str]], root: str, seen: set[str]) -> Iterator[str]:
    """Yield what a search through the depth finds from a node, each node when the search leaves it."""
    if root in seen:
        return
    seen.add(root)
    path = [(root, iter(edges[root]))]
    while path:
        node, targets = path[-1]
        following = next((one for one in targets if one in edges and one not in seen), None)
        if following is None:
            path.pop()
            yield node
        else:
            seen.add(following)
            path.append((following, iter(edges[following])))


def resting_on(edges: Mapping[str, Sequence[str]], names: Iterable[str]) -> set[str]:
    """Return nodes and all that depend on one of them, in however many steps."""
    found = set(names)
    while more := {name for name, to in edges.items() if name not in found and found.intersection(to)}:
        found |= more
    return found


def waves(order: Sequence[Sequence[str]], edges: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Units that can be worked on together: each in the first wave after all that it depends on.

    A unit of several functions is written ``a+b``.
    """
    level: dict[str, int] = {}
    units: list[tuple[int, str]] = []
    for members in order:
        own = set(members)
        depth = max((level[t] + 1 for m in members for t in edges[m] if t in level and t not in own), default=0)
        level |= dict.fromkeys(members, depth)
        units.append((depth, "+".join(members)))
    return [wave for _, wave in sorted(grouped(units).items())]
