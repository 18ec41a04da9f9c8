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
from llm_runtime.toml import own_table

if TYPE_CHECKING:
    from assay.report.sarif import Json
    from criticality.adopt.checking import CheckedFunction

_PACKAGE = __package__ or ""


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
    from criticality.adopt.checking import FAILING
    from criticality.adopt.checking import check as judged_again

    check_place(sarif)
    root = Path(folder).absolute()
    found = asyncio.run(judged_again(root, parallel))
    if as_json:
        click.echo(json.dumps([one.model_dump(mode="json") for one in found], indent=1))
    for one in () if as_json else found:
        about = "; ".join(one.what) or f"{_told(one)[1]}, in {one.cases} cases"
        click.echo(f"{one.function}: {one.standing}: {one_line(about, 600)}")
    if sarif is not None:
        write_whole(Path(sarif), _sarif(root.name, found))
    counts = Counter(one.standing for one in found)
    click.echo(", ".join(f"{count} {standing}" for standing, count in counts.items()), err=True)
    return 1 if set(counts) & {*FAILING} else 2 if counts["unjudged"] else 0


def _told(one: CheckedFunction) -> tuple[str, str]:
    level, about = own_table(_PACKAGE, "check.toml")[one.standing]
    return level, about


def _sarif(name: str, found: list[CheckedFunction]) -> str:
    from assay.report.sarif import sarif_text

    rules: list[Json] = [
        {"id": f"adopted/{standing}", "name": standing.capitalize(), "shortDescription": {"text": about}}
        for standing, (_, about) in own_table(_PACKAGE, "check.toml").items()
    ]
    results = [_result(one) for one in found if one.standing != "holds"]
    return sarif_text("Assay Criticality", rules, f"assay-criticality/{name}/", results)


def _result(one: CheckedFunction) -> Json:
    from assay.report.sarif import known_again, plain

    level, about = _told(one)
    result: Json = {
        "ruleId": f"adopted/{one.standing}",
        "level": level,
        "message": {"text": plain(f"{one.function}: {'; '.join(one.what) or about}")},
        "partialFingerprints": known_again(one.function, one.standing),
    }
    if one.path:
        uri = Path(os.path.relpath(one.path)).as_posix()
        place = {"artifactLocation": {"uri": uri}, "region": {"startLine": max(1, one.line)}}
        result["locations"] = [{"physicalLocation": place}]
    return result
