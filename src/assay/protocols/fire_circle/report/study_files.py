"""The files that a study's figures are written to: JSON, HTML, Markdown."""

from __future__ import annotations

import json
from pathlib import Path

from assay.protocols.fire_circle.report.study_story import outcome, study_story
from assay.report.frame import judged
from assay.report.html import story_html
from assay.report.markdown import story_markdown
from assay.report.places import write_whole
from fire_circle.studies.figures import Figures


def write_study_report(folder: Path, figures: Figures) -> None:
    """Write ``summary.json``, ``report.html`` and ``report.md``.

    Raises:
        ConfigurationError: they cannot be written.
    """
    data = figures.model_dump(mode="json")
    write_whole(folder / "summary.json", json.dumps(data, indent=1, ensure_ascii=False) + "\n")
    story = judged(study_story(figures), outcome(data))
    write_whole(folder / "report.html", story_html(story))
    write_whole(folder / "report.md", story_markdown(story))
