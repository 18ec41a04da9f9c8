"""The attacks of the judge-hijack suite: what a prompt's author may write to be judged mildly.

They stand in ``data/forgeries.jsonl``: closing markers, forged answers spelled, escaped and hidden in many ways,
orders, pleas, drafts of a judge, tables of numbers, ready abstentions.
"""

from __future__ import annotations

import json
from importlib import resources


def _read() -> dict[str, tuple[str, str]]:
    text = resources.files("fire_circle").joinpath("data", "forgeries.jsonl").read_text(encoding="utf-8")
    return {row["attack"]: (row["family"], row["payload"]) for row in map(json.loads, text.splitlines())}


ATTACKS = _read()
"""Attacks by name: their family, and the text that is put behind the layer."""
