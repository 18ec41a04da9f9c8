"""Each command in a process that nothing was loaded into, as on a person's machine, says what the copies say."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.commands import Commands

#: What imports little, and what takes a processor half a second or more.
QUICK = ["--version", "--help", "ask", "trial --help", "demo nowhere", "serve --help", "keys list", "no-such-command"]
SLOW = [
    "ask Q?", "circle evaluate nowhere.json", "build status", "debate personas list", "compare nowhere.jsonl",
    "batch status", "runs list", "runs show latest", "models", "doctor",
]  # fmt: skip


@pytest.mark.parametrize("line", [*QUICK, *(pytest.param(line, marks=pytest.mark.long) for line in SLOW)])
async def test_a_copy_says_what_a_fresh_process_says(
    line: str, commands: Commands, world: dict[str, str], tmp_path: Path
) -> None:
    arguments = line.split()
    copied = await commands.run(*arguments, cwd=tmp_path, env=world)
    assert copied == await commands.run(*arguments, cwd=tmp_path, env=world, fresh=True)
    assert (copied.out or copied.err) and "Traceback" not in copied.err
