"""What attempts leave, kept by content beside the ledger, which names it: so that verdicts can be made again.

``works/SHA256`` holds a file that an attempt left otherwise than it found it. What equals the task's own is left out,
and what equals another attempt's is stored once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

from ai_crucible.archives import Changes, changes_of
from ai_crucible.events import Work
from llm_runtime.errors import StoreDamaged
from llm_runtime.files import write_atomic

MOST_BYTES = 4 << 20
"""Of one attempt's files that are kept; of one that left more nothing is."""
MOST_FILES = 1000


def keep(folder: Path, untouched: bytes, work: bytes) -> Work | None:
    """Keep what an attempt left below a ledger's folder, and return it as the ledger names it.

    Returns:
        ``None`` where it is more than 4 MiB or 1000 files; nothing of it is kept then.
    """
    changes, named = changes_of(untouched, work), Work()
    if len(changes) > MOST_FILES or sum(len(entry[1]) for entry in changes.values() if entry) > MOST_BYTES:
        return None
    for path, entry in changes.items():
        mode, data = entry or (0, b"")
        digest = hashlib.sha256(data).hexdigest()
        named[path] = f"{mode:06o} {digest}" if entry else ""
        place = folder / work_place(digest)
        if entry and not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(place, data)
    return named


def work_place(digest: str) -> str:
    """Return where what has a digest lies, from the ledger's folder and in a bundle."""
    return f"works/{digest}"


def digests_of(work: Work) -> Iterator[str]:
    """Yield the digests of what an attempt left."""
    return (named.split()[1] for named in work.values() if named)


def work_from(work: Work, read: Callable[[str], bytes]) -> Changes:
    """Return what an attempt left.

    Args:
        work: as its ledger names it.
        read: returns what lies at a place.

    Raises:
        StoreDamaged: it is more than is ever kept.
    """
    changes, left = Changes(), MOST_BYTES
    for path, named in work.items():
        mode, _, digest = named.partition(" ")
        data = read(work_place(digest)) if named else b""
        left -= len(data)
        if left < 0:
            raise StoreDamaged(f"an attempt is said to have left more than the {MOST_BYTES >> 20} MiB that are kept")
        changes[path] = (int(mode, 8), data) if named else None
    return changes
