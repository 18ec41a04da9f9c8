"""Changes to review: defects of one line that are put in, and changes that break nothing, from ``reviews.toml``.

``python -m bench.reviews [SEED]`` prints forty tasks, one JSON object a line: half of them have a defect. They are
written by hand, so another seed gives another order and no others.
"""

from __future__ import annotations

import json
import random
import sys
import tomllib
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path
from typing import Any

_ASKED = """A colleague proposes this change. What the docstring says held before it.

{diff}

Does it still hold after the change, for every input that the docstring allows? If it does, answer: none. If it does \
not, answer with the number of the line of the new file that is wrong; the first line of the file is line 1."""


def changes() -> Iterator[tuple[str, str, list[str], int]]:
    """Yield each function before and after a change, what holds of it, and the line of the defect; 0 is none."""
    for one in tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))["functions"]:
        text: str = one["text"].lstrip("\n")
        for old, new in (*one["defects"], *one["neutral"]):
            line = text[: text.index(old)].count("\n") + 1
            yield text, text.replace(old, new, 1), one["holds"], line if [old, new] in one["defects"] else 0


def tasks(seed: int = 1) -> list[dict[str, Any]]:
    """Return the tasks, in an order that says nothing."""
    made: list[dict[str, Any]] = []
    for number, (before, after, _, line) in enumerate(changes(), 1):
        lines = unified_diff(before.splitlines(), after.splitlines(), "before.py", "after.py", lineterm="", n=99)
        question = _ASKED.format(diff="\n".join(lines))
        made.append({"id": f"review-{number}", "question": question, "expected": str(line) if line else "none"})
    random.Random(seed).shuffle(made)
    return made


if __name__ == "__main__":
    for one in tasks(*map(int, sys.argv[1:])):
        print(json.dumps(one))
