"""Where optional parts are not installed, a command says in a line how to get them, and shows what it can without."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.commands import bare_world

CODE = "hypothesis jinja2 libcst msgpack mypy pytest tree_sitter"


def asked(folder: Path, lacking: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run ``assay ARGUMENTS`` where some packages are not there."""
    absent = f"import sys; sys.modules.update(dict.fromkeys({lacking.split()!r})); sys.argv[1:] = {arguments!r}"
    code = f"{absent}; import assay.cli; assay.cli.main()"
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=bare_world(folder), capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("arguments", ["serve keys list", "people list"])
def test_a_missing_part_is_one_line_with_the_command(tmp_path: Path, arguments: str) -> None:
    done = asked(tmp_path, "tomlkit", *arguments.split())
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1, done.stderr
    assert "needs an optional part; install it with: " in done.stderr and "[web]" in done.stderr


def test_a_build_is_looked_for_and_shown_without_what_makes_one(tmp_path: Path) -> None:
    none = asked(tmp_path, CODE, "build", "status")
    assert none.returncode == 2 and none.stderr.startswith("assay: there is no project in "), none.stderr
    shown = asked(tmp_path, CODE, "demo", "build", "--speed", "0")
    assert shown.returncode == 0 and "11 of 11 claims hold" in shown.stdout, shown.stderr
