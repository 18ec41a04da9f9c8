"""Reports as files, by the ending of their names; files that are written whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from llm_runtime.errors import ConfigurationError
from llm_runtime.files import saying, write_atomic

if TYPE_CHECKING:
    from assay.report.story import Story

#: What the ending of a report's name may be.
ENDINGS = (".html", ".md", ".json")


def check_report(path: str | Path, endings: Sequence[str] = ENDINGS) -> None:
    """Refuse a report that could not be written, before anything is spent.

    Raises:
        ConfigurationError: its ending is unknown, or its folder is not there.
    """
    path = Path(path)
    if path.suffix not in endings:
        raise ConfigurationError(f"--out {path.name}: the ending must be one of {', '.join(endings)}")
    check_place(path)


def story_text(story: Story, ending: str) -> str:
    """Return a story as HTML or as Markdown."""
    from assay.report.html import story_html
    from assay.report.markdown import story_markdown

    return story_html(story) if ending == ".html" else story_markdown(story)


def write_report(path: Path, story: Callable[[], Story], data: Callable[[], object]) -> Path:
    """Write a report in the form that its ending says: a story, or data as JSON; return where it lies.

    Raises:
        ConfigurationError: its ending is unknown, or it cannot be written.
    """
    check_report(path)
    if path.suffix == ".json":
        text = json.dumps(data(), indent=1, ensure_ascii=False, default=str) + "\n"
    else:
        text = story_text(story(), path.suffix)
    write_whole(path, text)
    return path


def check_place(path: str | Path | None) -> None:
    """Refuse a file that could not be written, before anything is spent.

    Raises:
        ConfigurationError: its folder is not there or cannot be written to; or a folder has its name.
    """
    if path is not None and (Path(path).is_dir() or not os.access(Path(path).absolute().parent, os.W_OK)):
        raise ConfigurationError(f"{path}: it is a folder, or there is no folder {Path(path).parent} to write to")


def write_whole(path: Path, text: str) -> None:
    """Write a text file in one step: a reader sees the old one or the new one.

    Raises:
        ConfigurationError: it cannot be written.
    """
    with saying(f"{path} cannot be written", advice="a run is kept: assay runs show RUN --out FILE"):
        write_atomic(path, text)
