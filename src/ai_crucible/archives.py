"""Work folders as archives: the files in one, and one of files."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping


def files_of(archive: bytes) -> dict[str, bytes]:
    """Return the regular files of an archive, by path."""
    files: dict[str, bytes] = {}
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:") as entries:
        for entry in entries:
            file = entries.extractfile(entry) if entry.isreg() else None
            if file is not None:
                files[entry.name.encode("utf-8", "replace").decode()] = file.read()
    return files


def archive_of(files: Mapping[str, bytes]) -> bytes:
    """Return an archive of files, all of them programs."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), 0o755
            tar.addfile(entry, io.BytesIO(content))
    return out.getvalue()
