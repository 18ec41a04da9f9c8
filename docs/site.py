"""What the site needs beside the pages: the names of files behind fences become their titles."""

from __future__ import annotations

import re
from typing import Any

_NAMED = re.compile(r"^(```\w+) ([\w./-]+)$", re.MULTILINE)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by mkdocs for each page."""
    return _NAMED.sub(r'\1 title="\2"', markdown)
