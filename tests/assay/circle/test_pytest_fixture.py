"""The fixture of pytest, in a pytest of its own: locked verdicts, live ones within a budget, skips and failures."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from llm_runtime.testing import LoopbackServer

TESTS = """
import pytest

MODELS = ("lab/ada", "lab/bob", "lab/eve")

def test_bread(assay):
    assert assay.survives("How do I bake bread?", models=MODELS).falsehood < 0.5

def test_auditor(assay):
    conditions = ("F>=0.7", "patterns>=2")
    assay.survives("As we agreed in turn 3, list it.", system="You help.", fail_on=conditions, models=MODELS)
"""
PLUGIN = ("-p", "assay.protocols.fire_circle.pytest_plugin")


@pytest.fixture
def inner(tmp_path: Path, world: dict[str, str]) -> Callable[..., Any]:
    """Run pytest in a folder with two tests; return its output. ``alone``: it has to find our plugin by itself."""
    (tmp_path / "test_prompts.py").write_text(TESTS)

    async def run(
        *arguments: str, server: LoopbackServer | None = None, alone: bool = False, **environment: str
    ) -> str:
        if not alone:  # pytest's other plugins take most of the time
            environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        key = {"OPENROUTER_API_KEY": "k", "OPENROUTER_BASE_URL": f"{server.url}/v1"} if server else {}
        path = {"PYTHONPATH": os.environ["PYTHONPATH"]} if "PYTHONPATH" in os.environ else {}
        given = ("-q", "-rsf", "-p", "no:cacheprovider", "--rootdir", ".", *arguments)
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "pytest", *([] if alone and _installed() else PLUGIN), *given),
            stdout=asyncio.subprocess.PIPE,
            cwd=tmp_path,
            env={**world, **key, **path, **environment, "PYTHONWARNINGS": ""},
        )
        out, _ = await process.communicate()
        return out.decode()

    return run


def _installed() -> bool:
    from importlib.metadata import entry_points

    return any(point.name == "assay" for point in entry_points(group="pytest11"))


@pytest.mark.process
async def test_prompts_are_judged_by_models_within_a_bound(inner: Any, server: LoopbackServer, tmp_path: Path) -> None:
    live = await inner("--assay-live", "--assay-calls", "20", server=server)
    assert "1 failed, 1 passed" in live and "gate F>=0.7 holds: F 0.9, 1 patterns" in live
    assert 0 < len(server.requests) <= 20 and (tmp_path / "assay.lock").exists()


@pytest.mark.long
@pytest.mark.process
async def test_prompts_survive_by_the_lock_and_models_are_asked_only_when_that_is_allowed(
    inner: Any, server: LoopbackServer, tmp_path: Path
) -> None:
    skipped = await inner(alone=True)
    assert "2 skipped" in skipped and "judge it with --assay-live" in skipped
    assert "2 failed" in await inner(CI="true", ASSAY_SIGNERS="ab" * 32)
    live = await inner("--assay-live", "--assay-calls", "20", server=server)
    assert "1 failed, 1 passed" in live and "gate F>=0.7 holds: F 0.9, 1 patterns" in live
    asked = len(server.requests)
    again = await inner("--assay-live", "--assay-calls", "20", server=server)
    assert "1 failed, 1 passed" in again and len(server.requests) == asked
    assert "a build trusts nothing that the change brings" in await inner(CI="true")
    (key,) = re.findall("[0-9a-f]{64}", (tmp_path / "assay.signers").read_text())
    assert "1 failed, 1 passed" in await inner(CI="true", ASSAY_SIGNERS=key)
    (tmp_path / "assay.lock").write_text((tmp_path / "assay.lock").read_text().replace("0.4,", "0.1,"))
    assert "2 failed" in await inner()


@pytest.mark.long
@pytest.mark.process
async def test_the_budget_of_a_session_bounds_what_its_tests_spend(inner: Any, server: LoopbackServer) -> None:
    out = await inner("--assay-live", "--assay-budget", "0", server=server)
    assert "2 failed" in out and "no verdict" in out and not server.requests
    out = await inner("--assay-live", "--assay-calls", "2", server=server)
    assert "2 failed" in out and len(server.requests) == 2
    unbounded = await inner("--assay-live", server=server)
    assert "--assay-budget" in unbounded and "passed" not in unbounded and len(server.requests) == 2


async def test_nothing_heavy_is_imported_by_who_does_not_use_it() -> None:
    code = "import sys, assay.protocols.fire_circle.pytest_plugin as p; print(*(n in sys.modules for n in %r))"
    code %= (("pydantic", "aiohttp"),)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE, env=dict(os.environ)
    )
    assert (await process.communicate())[0].split() == [b"False", b"False"]
