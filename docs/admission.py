"""The tables of docs/admission.md: what `admission.toml` says was measured, with what the puzzles say of themselves."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from ai_crucible import load_puzzle
from ai_crucible.catalog_paths import BUILT_IN

_TABLE = re.compile(r"(<!-- (tried|hours) -->\n).*?(<!-- / -->)", re.DOTALL)
_COLUMNS = {
    "mutants": "mutants refused",
    "none": "no mistakes",
    "wrong": "wrong refused",
    "right": "right accepted",
    "clauses": "clauses",
    "fewest": "fewest inputs",
    "inputs": "inputs",
}


def admission_page(text: str) -> str:
    """Return the page with its tables made anew.

    Raises:
        KeyError: a puzzle of which something was measured says no hours, or a column is missing.
    """
    rows = tomllib.loads(Path(__file__).with_name("admission.toml").read_text(encoding="utf-8"))
    puzzles = {name: load_puzzle(BUILT_IN / name) for name in rows}
    tried = [("puzzle", "shape", *_COLUMNS.values())]
    tried += [
        (f"`{name}`", puzzles[name].meta.shape, *(row[column] for column in _COLUMNS)) for name, row in rows.items()
    ]
    hours = [("puzzle", "lines", "hours", "why")]
    for name, row in rows.items():
        if puzzles[name].meta.hours:
            lines = sum(data.count(b"\n") for data in puzzles[name].files.values())
            hours.append((f"`{name}`", f"{lines}", f"{puzzles[name].meta.hours:g}", row["why"]))
    tables = {"tried": tried, "hours": hours}
    return _TABLE.sub(lambda found: found[1] + _written(tables[found[2]]) + found[3], text)


def _written(rows: list[tuple[str, ...]]) -> str:
    head, *body = ["| " + " | ".join(row) + " |\n" for row in rows]
    return "".join([head, "| " + " | ".join(["---"] * len(rows[0])) + " |\n", *body])
