"""Trials as a person runs them: real processes, real boxes, a mock model or a server on this machine."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from tests.commands import Commands, Done, bare_world

from llm_runtime.testing import LoopbackServer

Assay = Callable[..., Awaitable[Done]]


@pytest.fixture
def inspect() -> None:
    """Skips where Inspect AI is absent."""
    pytest.importorskip("inspect_ai", reason="Inspect AI is not installed; make test installs it")


@pytest.fixture
def boxes(inspect: None) -> None:
    """Skips where this machine gives no box; the reason is bubblewrap's own."""
    from ai_crucible.puzzle_box import CannotIsolate, probe

    try:
        asyncio.run(probe())
    except CannotIsolate as reason:
        pytest.skip(str(reason))


@pytest.fixture
def world(tmp_path: Path) -> dict[str, str]:
    """An environment without keys, whose home is the working folder."""
    return bare_world(tmp_path, ASSAY_TRIALS=str(tmp_path / "shop"))


@pytest.fixture
def assay(commands: Commands, world: dict[str, str], tmp_path: Path) -> Assay:
    """Run ``assay ARGUMENTS`` in an empty folder; ``module`` runs another module or script in its place."""

    async def run(
        *arguments: str,
        server: LoopbackServer | None = None,
        kill_when: Callable[[], bool] | None = None,
        signal: int = signal.SIGKILL,
        command: tuple[str, ...] = (),
        **environment: str,
    ) -> Done:
        reached = {"OPENROUTER_API_KEY": "sk-or-x", "OPENROUTER_BASE_URL": f"{server.url}/v1"} if server else {}
        everything = {**world, **reached, **environment}
        if kill_when is None and not command:
            return await commands.run(*arguments, cwd=tmp_path, env=everything)
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, *(command or ("-m", "assay")), *arguments),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=tmp_path,
            env=everything,
        )
        if kill_when is not None:
            while not kill_when() and process.returncode is None:  # noqa: ASYNC110 - what it waits for happens in another process
                await asyncio.sleep(0.02)
            if process.returncode is None:
                process.send_signal(signal)
        out, err = await process.communicate()
        return Done(process.returncode or 0, out.decode(), err.decode())

    return run
