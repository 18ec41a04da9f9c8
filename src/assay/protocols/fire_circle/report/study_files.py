"""The files that a study's figures are written to: JSON, HTML, Markdown."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import ValidationError

from assay.protocols.fire_circle.report.study_story import study_story
from assay.protocols.fire_circle.study.figures import Figures
from assay.report.html import story_html
from assay.report.markdown import story_markdown
from assay.report.places import write_whole
from llm_runtime.errors import ConfigurationError, StoreDamaged


def write_study_report(folder: Path, figures: Figures) -> None:
    """Write ``summary.json``, ``report.html`` and ``report.md``.

    Raises:
        ConfigurationError: they cannot be written.
    """
    data = figures.model_dump(mode="json")
    write_whole(folder / "summary.json", json.dumps(data, indent=1, ensure_ascii=False) + "\n")
    story = study_story(figures)
    write_whole(folder / "report.html", story_html(story))
    write_whole(folder / "report.md", story_markdown(story))


def read_figures(folder: Path) -> Figures:
    """Read the figures as they were written.

    Raises:
        ConfigurationError: there are none.
        StoreDamaged: the file is something else.
    """
    place = folder / "summary.json"
    try:
        return Figures.model_validate_json(place.read_bytes())
    except OSError:
        raise ConfigurationError(f"{folder} holds no finished study: there is no summary.json") from None
    except ValidationError as fault:
        raise StoreDamaged(f"{place} is not a study's: {fault.errors()[0]['msg']}") from None
