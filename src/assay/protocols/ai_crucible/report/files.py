"""A report on trials as a file: HTML, Markdown or JSON by its ending."""

from __future__ import annotations

import json
from pathlib import Path

from assay.protocols.ai_crucible.report.story import trials_story
from assay.protocols.ai_crucible.report.trial_records import TrialRecords
from assay.report.html import story_html
from assay.report.markdown import story_markdown
from assay.report.places import check_place, write_whole
from llm_runtime.errors import ConfigurationError

ENDINGS = (".html", ".md", ".json")


def check_report_place(path: str | None) -> None:
    """Refuse a report that could not be written, before anything is spent.

    Raises:
        ConfigurationError: its ending is unknown, or its folder is not there.
    """
    if path is not None and Path(path).suffix not in ENDINGS:
        raise ConfigurationError(f"--out {Path(path).name}: the ending must be one of {', '.join(ENDINGS)}")
    check_place(path)


def write_trials_report(trials: TrialRecords, path: Path, title: str = "") -> Path:
    """Write it, whole or not at all.

    Raises:
        ConfigurationError: the ending is unknown, or the file cannot be written.
    """
    check_report_place(str(path))
    if path.suffix == ".json":
        text = json.dumps(trials.data(), indent=1, ensure_ascii=False, default=str) + "\n"
    else:
        story = trials_story(trials, title)
        text = story_html(story) if path.suffix == ".html" else story_markdown(story)
    write_whole(path, text)
    return path
