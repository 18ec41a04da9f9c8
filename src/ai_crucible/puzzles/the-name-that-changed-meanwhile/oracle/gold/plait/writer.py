"""Writes documents."""

from plait.model import ITEM


def write(document):
    """Return the text of a document."""
    lines = []
    _write(document.entries, "", lines)
    return "".join(line + "\n" for line in [*lines, *document.behind])


def _write(entries, indent, lines):
    for entry in entries:
        lines += [indent + line if line else "" for line in entry.before]
        lines.append(f"{indent}{'- ' if entry.kind == ITEM else ''}{entry.key}{entry.rest}")
        _write(entry.entries, indent + "  ", lines)
