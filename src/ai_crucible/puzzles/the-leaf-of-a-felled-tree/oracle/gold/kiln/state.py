"""What is known from the last time."""

import hashlib
import json

from kiln.results import Had, Results

STATE = ".kiln"


def digest(text):
    """Return what stands for a text; None for none."""
    return None if text is None else hashlib.sha256(text.encode("utf-8")).hexdigest()


def load(disk):
    """Return the results of the last build whose files lie there as they were made."""
    results = Results()
    try:
        rows = json.loads(disk.read(STATE) or "[]")
        for *call, reads, folder, files in rows:
            texts = {name: disk.read(path) for name, (path, _) in files.items()}
            if all(digest(texts[name]) == seen and seen for name, (_, seen) in files.items()):
                results.add(tuple(map(_firm, call)), Had(dict(reads), texts if folder else texts[""]))
    except (ValueError, TypeError, AttributeError, KeyError):
        return Results()
    return results


def _firm(part):
    return tuple(part) if isinstance(part, list) else part


def row(call, had, files, target):
    """Return what is kept of a step."""
    kept = {path[len(target) :]: [path, digest(text)] for path, text in files.items()}
    return [*call, had.reads, target.endswith("/"), kept]


def keep(disk, rows):
    """Keep what is to be known the next time."""
    text = json.dumps(rows, indent=1) + "\n"
    if disk.read(STATE) != text:
        disk.write(STATE, text)
