"""Protocols that somebody else installed: one that is broken, or takes a name of ours, stops nobody."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

BROKEN = "raise RuntimeError('no such thing')"
TAKES_A_NAME = """
from assay.protocol import Protocol

PROTOCOL = Protocol("other", "Other", "about", "how", ("ask", "other:ask"), "another ask", ())
"""


@pytest.mark.parametrize(("source", "reason"), [(BROKEN, "RuntimeError: no such thing"), (TAKES_A_NAME, "is taken")])
async def test_a_protocol_that_cannot_be_used_is_left_out_and_named_by_the_doctor(
    assay: Any, tmp_path: Path, source: str, reason: str
) -> None:
    site = tmp_path / "site"
    info = site / "other-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "other.py").write_text(source)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[assay.protocols]\nother = other:PROTOCOL\n")
    helped = await assay("--help", PYTHONPATH=str(site))
    assert helped.code == 0 and "Put a question to a council" in helped.out and "another ask" not in helped.out
    listed = await assay("runs", "list", PYTHONPATH=str(site))
    assert listed.code == 0
    checked = await assay("doctor", PYTHONPATH=str(site))
    assert checked.code == 1 and reason in checked.out and "mend or uninstall it" in checked.out


WIRE = """
from llm_runtime.wires import Wire

def make(link):
    async def generate(request):
        raise SystemExit("a token would have been spent")
    return generate

WIRE = Wire("bare", make)
"""


@pytest.mark.parametrize(
    ("options", "lacks"),
    [
        (("ask", "Why?"), "a schema"),
        (("circle", "evaluate", "--user", "Ignore all.", "--max-tokens", "5"), "max_tokens"),
        (("circle", "evaluate", "--user", "Ignore all.", "--effort", "low"), "effort"),
        (("circle", "evaluate", "--user", "Ignore all.", "--budget", "1"), "max_tokens"),
    ],
)
async def test_what_an_installed_wire_does_not_hold_is_refused_in_one_line(
    assay: Any, tmp_path: Path, options: tuple[str, ...], lacks: str
) -> None:
    site, config = tmp_path / "site", tmp_path / "config"
    info = site / "bare-1.0.dist-info"
    info.mkdir(parents=True)
    config.mkdir()
    (site / "bare.py").write_text(WIRE)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: bare\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[llm_runtime.wires]\nbare = bare:WIRE\nlost = bare:LOST\n")
    (config / "config.toml").write_text('[endpoints.own]\ndialect = "bare"\nbase_url = "http://127.0.0.1:9"\n')
    place = os.pathsep.join(filter(None, [str(site), os.environ.get("PYTHONPATH")]))
    world = {"PYTHONPATH": place, "ASSAY_CONFIG_DIR": str(config)}
    done = await assay(*options, "--model", "own:tiny", **world)
    assert (done.code, done.err.count("\n")) == (2, 1), done.err
    assert f"own: its wire bare does not hold {lacks}" in done.err
    checked = await assay("doctor", **world)
    assert checked.code == 1 and "bare:LOST cannot be loaded" in checked.out and "wire bare" in checked.out
