"""The order of Injection (CT9): planned calls, condensed into components, leaves first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def components(edges: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Strongly connected components, each after those it depends on (Tarjan 1972, without recursion).

    Nodes are taken in the order of the mapping, so the result depends on nothing else; members of a component keep
    that order too.
    """
    position = {name: i for i, name in enumerate(edges)}
    discovered: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    on_stack: set[str] = set()
    result: list[list[str]] = []
    for root in edges:
        if root in discovered:
            continue
        work: list[tuple[str, int]] = [(root, 0)]
        while work:
            node, at = work.pop()
            if at == 0:
                discovered[node] = low[node] = len(discovered)
                stack.append(node)
                on_stack.add(node)
            targets = [t for t in edges[node] if t in position]
            for index in range(at, len(targets)):
                target = targets[index]
                if target not in discovered:
                    work += [(node, index + 1), (target, 0)]
                    break
                if target in on_stack:
                    low[node] = min(low[node], low[target])
            else:
                if low[node] == discovered[node]:
                    cut = stack.index(node)
                    members, stack[cut:] = stack[cut:], []
                    on_stack -= set(members)
                    result.append(sorted(members, key=position.__getitem__))
                if work:
                    parent = work[-1][0]
                    low[parent] = min(low[parent], low[node])
    return result


def waves(order: Sequence[Sequence[str]], edges: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Units that can be worked on together: each in the first wave after all that it depends on.

    A unit of several functions is written ``a+b``.
    """
    level: dict[str, int] = {}
    result: list[list[str]] = []
    for members in order:
        own = set(members)
        depth = max((level[t] + 1 for m in members for t in edges[m] if t in level and t not in own), default=0)
        level |= dict.fromkeys(members, depth)
        while len(result) <= depth:
            result.append([])
        result[depth].append("+".join(members))
    return result
