"""What importing costs and needs, and how a box is described to bubblewrap."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from ai_crucible.box import BoxLimits
from ai_crucible.box.bwrap import arguments


def test_the_package_imports_without_inspect_and_says_what_is_missing() -> None:
    script = """
import sys
sys.modules["inspect_ai"] = None
import ai_crucible
from llm_runtime.errors import MissingExtraError
assert not {"aiohttp", "cryptography", "asyncio.trio"} & set(sys.modules)
try:
    ai_crucible.Workshop.at(ai_crucible.workshop.Path("nowhere")).attempts()
except MissingExtraError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert re.fullmatch(
        r"reading logs needs an optional part; install it with: .*\[eval\]'?", done.stdout.strip()
    ), done.stderr


def test_a_folder_below_usr_that_holds_oracles_is_covered() -> None:
    inside = Path("/usr/lib/python3/dist-packages/ai_crucible")
    command = arguments("bwrap", BoxLimits(), 3, hidden=[inside, Path("/home/me/puzzles")])
    assert command[command.index(str(inside)) - 1] == "--tmpfs"
    assert "/home/me/puzzles" not in command


def test_only_a_grading_box_mounts_an_oracle() -> None:
    assert "/oracle" not in arguments("bwrap", BoxLimits(), 3)
    command = arguments("bwrap", BoxLimits(), 3, oracle_fd=4)
    assert command[command.index("/oracle") - 2 :][:2] == ["--ro-bind-fd", "4"]


@pytest.mark.parametrize(
    "flag", ["--unshare-all", "--disable-userns", "--die-with-parent", "--new-session", "--clearenv"]
)
def test_a_box_is_closed_on_every_side(flag: str) -> None:
    command = arguments("bwrap", BoxLimits(), 3)
    assert flag in command and "--share-net" not in command
    assert not [word for word in command if word.startswith(("/etc", "/var", "/opt"))][2:], (
        "links of programs alone"
    )
