"""Merges two versions of an outline that were made from a common one."""

from dataclasses import dataclass

from outline.conflicts import Conflict
from outline.fields import merged_fields
from outline.order import merged_order
from outline.places import left_out, parents, without_circles
from outline.tree import ROOT, Tree


@dataclass
class Merged:
    """A merged tree, and what the two sides could not agree on."""

    tree: Tree
    conflicts: list


def merge(base, ours, theirs):
    """Return the merge of two trees that were made from a common one."""
    found, conflicts = parents(base, ours, theirs)
    conflicts += without_circles(found, ours)
    gone, kept = left_out(base, ours, theirs, found)
    conflicts += kept
    here = {}
    for name in found.keys() - gone:
        here.setdefault(found[name], set()).add(name)
    merged, left = Tree(), [ROOT]
    while left:
        parent = left.pop()
        lists = [side.below.get(parent, []) for side in (base, ours, theirs)]
        order, differ = merged_order(*lists, here.get(parent, set()))
        if differ:
            conflicts.append(Conflict(parent, "order"))
        for name in order:
            fields, clashes = merged_fields(base, ours, theirs, name)
            conflicts += clashes
            merged.add(name, fields, parent)
        left += order
    return Merged(merged, sorted(conflicts))
