"""Every recording that the command line plays ends with where all of them can be seen."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from assay.cli.demo import demo


@pytest.mark.parametrize(("name", "following"), [("council", "circle"), ("circle", "trial")])
def test_a_recording_ends_with_the_next_one_and_the_one_address(
    name: str, following: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    played = CliRunner().invoke(demo, [name, "--speed", "0", "-q", "--store", "my runs.db"])
    *_, last = played.stderr.strip().split("\n\n")
    assert last.startswith("See it in your browser:") and "serve --open --store 'my runs.db'" in last
    assert "http://127.0.0.1:8737/open?key=" in last
    assert f"demo {following} " in played.stderr
