"""``llm -m assay/crucible`` asks a council, its steps beside the answer, and the run is in the store."""

from __future__ import annotations

import asyncio
import tomllib
from collections.abc import Iterator
from pathlib import Path
from pkgutil import resolve_name
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.assay.web.conftest import council_answer
from tests.lazily import needs

from assay.console.options import open_runs
from llm_runtime.testing import LoopbackServer

needs("llm", reason="llm is not installed; make test installs it")

ROOT = Path(__file__).parents[3]
QUESTION = "Which database should a team of three run?"


@pytest.fixture(autouse=True)
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The module that the entry point names, in ``llm``'s own register of plugins."""
    monkeypatch.setenv("LLM_USER_PATH", str(tmp_path / "llm"))
    points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["llm"]
    from llm.plugins import load_plugins, pm

    load_plugins()
    module: Any = resolve_name(points["assay"])
    if pm.is_registered(module):
        yield
        return
    pm.register(module)  # a checkout that was installed before the entry point was there
    yield
    pm.unregister(module)


async def ask(*words: str) -> Result:
    from llm.cli import cli

    return await asyncio.to_thread(CliRunner().invoke, cli, list(words))


async def test_llm_lists_asks_and_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = tmp_path / "config"
    config.mkdir()
    monkeypatch.setenv("ASSAY_CONFIG_DIR", str(config))
    (config / "presets.toml").write_text('[quick]\nkind = "crucible"\nledger = "off"\n')
    async with LoopbackServer(council_answer, models=["m"]) as models:
        (config / "config.toml").write_text(f'model = "{models.url}/v1#m"\n')
        listed = (await ask("models")).stdout
        assert "assay/circle" in listed and "assay/quick" in listed and "assay/ask" in listed
        answered = await ask("-m", "assay/ask", QUESTION)
        assert answered.exit_code == 0 and answered.stdout.strip() == "**Use SQLite** until it hurts.", answered
        assert "loop 1" in answered.stderr.lower()
        again = await ask("-m", "assay/quick", "-c", "And for thirty?")
        assert again.exit_code == 0, again
        assert any("Use SQLite" in str(one.messages) and QUESTION in str(one.messages) for one in models.requests)
        capped = await ask("-m", "assay/crucible", "-o", "max_calls", "1", "Another?")
        assert capped.exit_code == 1 and "assay runs resume" in capped.output
        refused = await ask("-m", "assay/crucible", "-o", "max_calls", "0", "Another?")
        assert refused.exit_code != 0 and "max_calls" in refused.output
    store = open_runs(None)
    assert sorted(run.state for run in store.runs()) == ["finished", "finished", "stopped"]
    store.close()


async def test_without_a_model_it_says_so_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("ASSAY_LOCAL_SERVERS", "")
    refused = await ask("-m", "assay/direct", "Why?")
    assert refused.exit_code == 1 and "no model to ask" in refused.output and "Traceback" not in refused.output
