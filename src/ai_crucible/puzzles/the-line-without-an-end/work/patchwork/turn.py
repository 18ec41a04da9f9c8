"""A patch that takes back another."""

from patchwork.parse import FilePatch, Hunk

_OTHER = {" ": " ", "-": "+", "+": "-"}


def turned(files):
    """Return the patch that leads from the new texts to the old ones; its last file is the first one here."""
    return [
        FilePatch(one.new_name, one.old_name, [_turned(hunk) for hunk in one.hunks]) for one in reversed(files)
    ]


def _turned(hunk):
    edits = []
    block = []
    for mark, line in hunk.edits:
        if mark == " ":
            edits += _in_order(block)
            block = []
            edits.append((mark, line))
        else:
            block.append((_OTHER[mark], line))
    return Hunk(hunk.new_start, hunk.old_start, edits + _in_order(block))


def _in_order(block):
    """What is taken out stands before what is put in."""
    return sorted(block, key=lambda edit: edit[0] == "+")
