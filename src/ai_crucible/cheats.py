"""Cheats: solutions that leave a puzzle as broken as it was and go for its grading. ``cheats.toml`` has them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ai_crucible.archives import archive_of
from llm_runtime.toml import own_table


def cheats(work: Mapping[str, bytes], gold: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Yield each cheat's name, and what it lays over a work folder, as an archive.

    Args:
        work: the untouched files, by path.
        gold: the files that the right solution has otherwise; each of them in Python carries the cheat.
    """
    table = dict(own_table(__package__ or "", "cheats.toml"))
    prelude = str(table.pop("prelude"))
    for name, cheat in table.items():
        files = {path: text.encode() for path, text in cheat.get("files", {}).items()}
        for path in gold:
            if path.endswith(".py") and "code" in cheat:
                files[path] = work.get(path, b"") + f"\n{prelude}{cheat['code']}".encode()
        if files:
            yield name, archive_of(files)
