"""The lines between ``---`` at the head of a Markdown file: flat keys with a text or a list, nothing cleverer."""

from __future__ import annotations

import re
from typing import TypeAlias

FrontMatter: TypeAlias = "dict[str, str | list[str]]"

_KEY = re.compile(r"([A-Za-z_][A-Za-z0-9_-]{0,40}):(?:[ \t]+(.*))?$")
_MAX_LINES = 200


def split_front_matter(text: str) -> tuple[FrontMatter, str]:
    """Split a text into head and body. One without a head, or with a head that does not close, is all body."""
    lines = text.split("\n")
    if not lines or lines[0].strip() != "---":
        return {}, text
    for end in range(1, min(len(lines), _MAX_LINES)):
        if lines[end].strip() in ("---", "..."):
            return _read(lines[1:end]), "\n".join(lines[end + 1 :])
    return {}, text


def _read(lines: list[str]) -> FrontMatter:
    head: FrontMatter = {}
    last = ""
    for line in lines:
        if match := _KEY.match(line.rstrip()):
            last, value = match[1], (match[2] or "").strip()
            if value.startswith("[") and value.endswith("]"):
                head[last] = [entry for part in value[1:-1].split(",") if (entry := _bare(part))]
            else:
                head[last] = _bare(value)
        elif last and line.lstrip().startswith("- "):
            entries = head[last]
            before = entries if isinstance(entries, list) else []
            head[last] = [*before, _bare(line.lstrip()[2:])]
    return head


def _bare(value: str) -> str:
    value = value.strip()
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1].replace('\\"', '"').replace("''", "'")
    return value
