"""Work folders as archives: the files in one, one of files, and what one has otherwise than another."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping
from typing import TypeAlias

from ai_crucible.grading.work_copy import cache

LINK = 0o120000
"""The mode of a link, whose content is where it leads."""
Entries: TypeAlias = "dict[str, tuple[int, bytes]]"
"""Mode and content of files and links, by path."""
Changes: TypeAlias = dict[str, tuple[int, bytes] | None]
"""What is otherwise in a later archive, by path; ``None`` for what is gone."""


def files_of(archive: bytes) -> dict[str, bytes]:
    """Return the regular files of an archive, by path."""
    return {name: data for name, (mode, data) in entries_of(archive).items() if mode != LINK}


def entries_of(archive: bytes) -> Entries:
    """Return the regular files and the links of an archive."""
    found: Entries = {}
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:") as entries:
        for entry in entries:
            name = entry.name.encode("utf-8", "replace").decode()
            if entry.issym():
                found[name] = LINK, entry.linkname.encode("utf-8", "replace")
            elif file := entries.extractfile(entry) if entry.isreg() else None:
                found[name] = entry.mode, file.read()
    return found


def archive_of(files: Mapping[str, bytes]) -> bytes:
    """Return an archive of files, all of them programs."""
    return _packed({name: (0o755, content) for name, content in files.items()})


def _packed(entries: Entries) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, (mode, content) in entries.items():
            entry = tarfile.TarInfo(name)
            entry.mode, entry.size = mode, len(content)
            if mode == LINK:
                entry.type, entry.linkname, entry.size = tarfile.SYMTYPE, content.decode(), 0
            tar.addfile(entry, io.BytesIO(content))
    return out.getvalue()


def changes_of(before: bytes, after: bytes) -> Changes:
    """Return what a work folder has otherwise than another, without what interpreters leave there by themselves.

    A mode is no change where the content is the same: no grading looks at it.
    """
    old, new = entries_of(before), entries_of(after)

    def content(entry: tuple[int, bytes] | None) -> object:
        return entry and (entry[0] == LINK, entry[1])

    names = sorted(name for name in old.keys() | new.keys() if not cache(name))
    return {name: new.get(name) for name in names if content(old.get(name)) != content(new.get(name))}


def with_changes(before: bytes, changes: Changes) -> bytes:
    """Return the archive of a work folder with what another had otherwise."""
    return _packed({name: entry for name, entry in {**entries_of(before), **changes}.items() if entry})
