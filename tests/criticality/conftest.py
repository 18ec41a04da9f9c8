"""The tools, a fresh project, and a way to drive it; the system itself is in ``turnstile_system.py``."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from tests.commands import Commands, Done, bare_world
from tests.sandboxes import ALL, usable

from criticality import Answers, AnswersFile, Orchestrator, create_project
from criticality.judging.court import Court
from criticality.languages.base.toolchain.dependencies import cache_root
from criticality.languages.python.toolchain import PythonToolchain
from criticality.machine.states import ProtocolState
from llm_runtime.testing import LoopbackServer

_found = importlib.util.spec_from_file_location("turnstile_system", Path(__file__).with_name("turnstile_system.py"))
assert _found is not None and _found.loader is not None
turnstile = importlib.util.module_from_spec(_found)
sys.modules["turnstile_system"] = turnstile
_found.loader.exec_module(turnstile)
ANSWERS, Script, clock = turnstile.ANSWERS, turnstile.Script, turnstile.clock


@pytest.fixture(params=ALL)
def each_box(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Every sandbox of this machine in turn, in which bodies are built and run."""
    monkeypatch.setenv("ASSAY_SANDBOX", usable(request.param))
    return str(request.param)


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def tools() -> AsyncIterator[PythonToolchain]:
    async with PythonToolchain() as toolchain:
        yield toolchain


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def court() -> AsyncIterator[Court]:
    court = Court(2)
    yield court
    await court.aclose()


class Borrowed:
    """Tools or a court that stay open when an orchestrator ends: starting one takes a second."""

    def __init__(self, tools: Any) -> None:
        self._tools = tools

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tools, name)

    async def aclose(self) -> None:
        return None


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Path]:
    root = tmp_path / "turn-stile"
    create_project(root, "turn-stile", seed=7, clock=clock)
    with (root / "criticality.toml").open("a") as file:
        file.write("\n[acceptance]\nindependent_bodies = 0\nmutants = 4\n[orchestrator]\nmesoscopic_examples = 40\n")
    yield root


@pytest.fixture
def drive(tools: PythonToolchain, court: Court) -> Callable[..., Any]:
    """Run a project to wherever it ends; ``answers=None`` leaves nobody there."""

    async def run(
        root: Path, script: Any, *, answers: Answers | None = ANSWERS, emit: Any = None,
        until: Callable[[ProtocolState], bool] | None = None, human: Any = None, notify: Any = None,
        clock: Callable[[], int] = clock,
    ) -> Any:  # fmt: skip
        async with Orchestrator(
            root, script.model(), human=human or (AnswersFile(answers) if answers else None),
            emit=emit or (lambda event: None), clock=clock, notify=notify,
            tools=Borrowed(tools), court=Borrowed(court),  # pyright: ignore[reportArgumentType]
        ) as orchestrator:  # fmt: skip
            return await orchestrator.run(until=until)

    return run


@pytest.fixture
def assay(commands: Commands, tmp_path: Path) -> Callable[..., Awaitable[Done]]:
    async def run(*arguments: str, server: LoopbackServer | None = None) -> Done:
        world = bare_world(tmp_path, CRITICALITY_CACHE=str(cache_root()))
        if server is not None:
            world |= {"OPENROUTER_API_KEY": "sk-or-0123456789", "OPENROUTER_BASE_URL": f"{server.url}/v1"}
        return await commands.run("build", "adopt", *arguments, cwd=tmp_path, env=world)

    return run
