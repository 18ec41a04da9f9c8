"""Protocols that somebody else installed: one that is broken, or takes a name of ours, stops nobody."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

BROKEN = "raise RuntimeError('no such thing')"
TAKES_A_NAME = """
from assay.protocol import Protocol

PROTOCOL = Protocol("other", "Other", "about", "how", ("ask", "other:ask"), "another ask", ())
"""


@pytest.mark.parametrize(
    ("source", "reason"), [(BROKEN, "RuntimeError: no such thing"), (TAKES_A_NAME, "is taken")]
)
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
