"""What a Substack export says of its posts: ``posts.csv`` beside the folder of pages."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path

from crux.personas.source import CorpusError, iso_date, read_text
from llm_runtime.documents.markup import one_line


@dataclass(frozen=True, slots=True)
class Post:
    """A line of the list."""

    title: str
    date: str
    published: bool


def read_posts(folder: Path) -> dict[str, Post]:
    """Return the posts by the name of their page, without its ending; nothing where it is no export."""
    lists = [place for place in (folder / "posts.csv", folder.parent / "posts.csv") if place.is_file()]
    if not lists:
        return {}
    try:
        rows = list(csv.DictReader(io.StringIO(read_text(lists[0]))))
    except (CorpusError, csv.Error):
        return {}
    return {
        key: Post(
            title=one_line(row.get("title")),
            date=iso_date(row.get("post_date") or ""),
            published=(row.get("is_published") or "").strip().lower() == "true",
        )
        for row in rows
        if (key := (row.get("post_id") or "").strip())
    }
