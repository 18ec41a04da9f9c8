"""Where items end up: parents from both sides, circles undone, deletions."""

from outline.changes import fields_changed, moved
from outline.conflicts import Conflict


def parents(base, ours, theirs):
    """Return the parent of each item that one side has, or both, and the conflicts."""
    found, conflicts = {}, []
    for name in {**ours.items, **theirs.items}:
        if name not in ours or name not in theirs:
            found[name] = (ours if name in ours else theirs)[name].parent
            continue
        found[name] = ours[name].parent
        if moved(base, theirs, name):
            if not moved(base, ours, name):
                found[name] = theirs[name].parent
            elif ours[name].parent != theirs[name].parent:
                conflicts.append(Conflict(name, "parent"))
    return found, conflicts


def without_circles(found, ours):
    """Give items in circles back to their parents in ours until there is no circle; return the conflicts."""
    conflicts = []
    while round_about := circular(found):
        for name in round_about:
            if name in ours and found[name] != ours[name].parent:
                found[name] = ours[name].parent
                conflicts.append(Conflict(name, "circle"))
    return conflicts


def circular(found):
    """Return all items that are above themselves."""
    done, circles = set(), []
    for name in found:
        way = {}
        while name in found and name not in done and name not in way:
            way[name] = len(way)
            name = found[name]
        if name in way:
            circles += list(way)[way[name] :]
        done.update(way)
    return circles


def left_out(base, ours, theirs, found):
    """Return the items that one side deleted and nothing keeps, and the conflicts for those that stay."""
    deleted = [name for name in found if name in base and (name not in ours or name not in theirs)]
    gone = set()
    for name in deleted:
        side = ours if name in ours else theirs
        if not fields_changed(base, side, name) and not moved(base, side, name):
            gone.add(name)
    keep = [name for name in found if name not in gone]
    while keep:
        parent = found[keep.pop()]
        if parent in gone:
            gone.remove(parent)
            keep.append(parent)
    return gone, [Conflict(name, "deleted") for name in deleted if name not in gone]
