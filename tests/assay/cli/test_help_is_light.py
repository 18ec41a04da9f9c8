"""What help and the descriptions of protocols load: no engine, no client, no model of pydantic's."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.commands import bare_world
from tests.docs.pages import ROOT, install

from assay.cli import COMMANDS

HEAVY = {
    *("crucible", "crux", "fire_circle", "ai_crucible", "criticality", "sandbox"),
    *("pydantic", "aiohttp", "rich", "asyncio", "sqlite3", "cryptography", "genai_prices"),
    *("starlette", "jinja2", "uvicorn", "inspect_ai", "mcp", "libcst", "tree_sitter", "numpy", "ray"),
    *("assay.fields", "assay.launch", "assay.report", "assay.terms", "assay.web", "assay.console.running"),
    *("almanac.commands", "almanac.task", "almanac.pages", "almanac.moon", "telegraph"),
    *("llm_runtime.models", "llm_runtime.http", "llm_runtime.store", "llm_runtime.gateway", "llm_runtime.events"),
}
HELP = "from assay.cli import main; sys.argv[1:] = ['--help']\ntry: main()\nexcept SystemExit: pass"
ALL = "from assay.registry import run_types; assert 'almanac.advice' in run_types()"


@pytest.mark.parametrize("source", [HELP, ALL], ids=["help", "descriptions"])
def test_nothing_heavy_is_loaded_for_help_or_to_know_the_protocols(tmp_path: Path, source: str) -> None:
    for guest in ("almanac", "telegraph"):
        install(ROOT / "tests" / "guests" / guest, tmp_path / "site")
    place = [str(tmp_path / "site"), *filter(None, [os.environ.get("PYTHONPATH")])]
    world = bare_world(tmp_path) | {"PYTHONPATH": os.pathsep.join(place)}
    said = subprocess.run(
        [sys.executable, "-c", f"import sys; {source}\nprint(*sys.modules, file=sys.stderr)"],
        env=world,
        capture_output=True,
        text=True,
        check=True,
    )
    assert set(said.stderr.split()) & HEAVY == set()
    if source == HELP:
        start, protocols = (
            re.search(rf"(?m)^{title}:\n((?:  .*\n)+)", said.stdout) for title in ("Start here", "Protocols")
        )
        assert start and "  demo " in start[1] and protocols and "Learn when to sow." in protocols[1]
        listed = re.findall(r"(?m)^  (\w+) {2,}\w", said.stdout.partition("Start here")[2])
        assert len(listed) == len(set(listed)) and set(COMMANDS) < set(listed)
