"""Merges two versions of an outline that were made from a common one."""

from dataclasses import dataclass

from outline.changes import added, deleted
from outline.fields import merged_fields
from outline.order import merged_order
from outline.tree import ROOT, Tree


@dataclass
class Merged:
    """A merged tree, and what the two sides could not agree on."""

    tree: Tree
    conflicts: list


def merge(base, ours, theirs):
    """Return the merge of two trees that were made from a common one."""
    merged, conflicts = Tree(), []
    gone = deleted(base, ours) | deleted(base, theirs)
    new = set(added(base, theirs))

    def copy(parent):
        mine = ours.below.get(parent, [])
        yours = [name for name in theirs.below.get(parent, []) if name in new or name in mine]
        for name in merged_order(mine, yours):
            if name in gone:
                continue
            if name in base and name in ours and name in theirs:
                fields, found = merged_fields(base, ours, theirs, name)
                conflicts.extend(found)
            else:
                fields = (ours if name in ours else theirs)[name].fields
            merged.add(name, fields, parent)
            copy(name)

    copy(ROOT)
    return Merged(merged, sorted(conflicts))
