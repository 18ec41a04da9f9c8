"""Each command in a process that nothing was loaded into, as on a person's machine, says what the copies say."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.commands import Commands


@pytest.mark.parametrize(
    "line",
    [
        "--version", "--help", "ask", "ask Q?", "circle evaluate nowhere.json", "build status",
        "debate personas list", "trial --help", "compare nowhere.jsonl", "demo nowhere", "batch status",
        "runs list", "runs show latest", "serve --help", "models", "keys list", "doctor", "no-such-command",
    ],
)  # fmt: skip
async def test_a_copy_says_what_a_fresh_process_says(
    line: str, commands: Commands, world: dict[str, str], tmp_path: Path
) -> None:
    arguments = line.split()
    copied = await commands.run(*arguments, cwd=tmp_path, env=world)
    assert copied == await commands.run(*arguments, cwd=tmp_path, env=world, fresh=True)
    assert (copied.out or copied.err) and "Traceback" not in copied.err
