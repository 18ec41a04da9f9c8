"""Writes documents."""

import json

from plait.model import ITEM, PLAIN, TABLE


def write(document):
    """Return the text of a document."""
    lines = []
    _write(document.entries, "", lines)
    return "".join(line + "\n" for line in lines)


def _write(entries, indent, lines):
    for entry in entries:
        if entry.kind == PLAIN:
            lines.append(f"{indent}{entry.key} = {json.dumps(entry.value)}")
        elif entry.kind == ITEM:
            lines.append(f"{indent}- {entry.key}")
        else:
            lines.append(f"{indent}{entry.key}{'[]' if entry.kind == TABLE else ''}:")
        _write(entry.entries, indent + "  ", lines)
