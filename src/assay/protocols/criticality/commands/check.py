"""`criticality check`: what was adopted still holds, or the build fails; no model is asked."""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.console.declared import declares
from assay.report.units import count_noun
from llm_runtime.toml import own_table

if TYPE_CHECKING:
    from assay.report.sarif import Json
    from criticality.adopt.checking import CheckedFunction

_PACKAGE = __package__ or ""
#: What can be said of a function: its level in SARIF, in words, and the exit code.
_WORDS: dict[str, tuple[str, str, int]] = own_table(_PACKAGE, "check.toml")


@click.command()
@declares(_PACKAGE, "options.toml")("check")
def check(folder: str, sarif: str | None, as_json: bool, parallel: int) -> int:
    """Judge what was adopted into PATH again: the code as it is now, against what held then.

    PATH is the folder that `adopt` wrote; its package is read where it lay beside it. No model is asked, and nothing
    is written but the SARIF file. Exit codes: 0 all of it holds (what changed is named), 1 a promise is broken, or a
    function is gone or takes other values, 2 it, or a part of it, could not be looked at.

    \b
    assay build check src/shop-adopted --sarif shop.sarif
    """
    from assay.report.clean import one_line
    from assay.report.places import check_place, write_whole
    from criticality.adopt.checking import check as judged_again

    check_place(sarif)
    root = Path(folder).absolute()
    found = asyncio.run(judged_again(root, parallel))
    lines = [f"{one.function}: {one.standing}: {one_line(_about(one), 600)}" for one in found]
    click.echo(json.dumps([one.model_dump(mode="json") for one in found], indent=1) if as_json else "\n".join(lines))
    if sarif is not None:
        write_whole(Path(sarif), _sarif(root.name, [one for one in found if one.standing != "holds"]))
    counts = Counter(one.standing for one in found)
    click.echo(", ".join(f"{count} {standing}" for standing, count in counts.items()), err=True)
    return min({_WORDS[one.standing][2] for one in found} - {0}, default=0)


def _about(one: CheckedFunction) -> str:
    return "; ".join(one.what) or f"{_WORDS[one.standing][1]}, in {count_noun(one.cases, 'case')}"


def _sarif(name: str, found: list[CheckedFunction]) -> str:
    from assay.report.sarif import known_again, plain, sarif_text

    rules = [{"id": f"adopted/{word}", "shortDescription": {"text": about}} for word, (_, about, _) in _WORDS.items()]
    results: list[Json] = []
    for one in found:
        uri = Path(os.path.relpath(one.path or ".")).as_posix()
        place = {"artifactLocation": {"uri": uri}, "region": {"startLine": max(1, one.line)}}
        results.append({
            "ruleId": f"adopted/{one.standing}", "level": _WORDS[one.standing][0],
            "message": {"text": plain(f"{one.function}: {_about(one)}")},
            "partialFingerprints": known_again(one.function, one.standing),
            **({"locations": [{"physicalLocation": place}]} if one.path else {}),
        })  # fmt: skip
    return sarif_text("Assay Criticality", rules, f"assay-criticality/{name}/", results)
