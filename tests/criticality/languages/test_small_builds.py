"""Two small projects go through `assay build` in each language; contracts and bodies are written by hand."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tomllib
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from account_system import ANSWERS
from tests.commands import bare_world
from tools_here import require

from criticality.canonical import toml
from llm_runtime.prompts import load_prompt
from llm_runtime.testing import LoopbackServer

pytestmark = [pytest.mark.toolchain, pytest.mark.long]

TOLD = tomllib.loads(Path(__file__).with_name("small_systems.toml").read_text("utf-8"))
#: What a delivered project's tests are run with, where that needs no network.
RUNNERS = {
    "python": [[sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]],
    "go": [["go", "vet", "./..."], ["go", "test", "./..."]],
    "rust": [["cargo", "test", "--offline", "--quiet"]],
    "cpp": [["cmake", "-B", "build"], ["cmake", "--build", "build"], ["ctest", "--test-dir", "build"]],
}
PAGES = {
    load_prompt("criticality", path.name.removesuffix(".md")).text.partition("{{")[0][:60]: path.name[:-3]
    for path in resources.files("criticality").joinpath("prompts").iterdir()
    if path.is_file()
}


class Model:
    """Answers each question of a build from the table.

    Args:
        project: of the table; its functions stand in one module, named as it is.
    """

    def __init__(self, project: str, language: str) -> None:
        told = TOLD[project]
        self.bodies: dict[str, str] = {name: one[language] for name, one in told["bodies"].items()}
        self.claims, methods = told["claims"], [dict(one, name=name) for name, one in told["methods"].items()]
        self.outline = {"name": project, "purpose": told["purpose"], "interfaces": ["All"]}
        functions = [{**one, "contracts": [*one["contracts"], "PURITY: pure"]} for one in methods]
        self.module = {**self.outline, "functions": functions}
        shapes = [{key: one[key] for key in ("name", "params", "returns")} for one in methods]
        self.spec = {
            "system": {"name": project, "description": told["purpose"]}, "errors": told.get("errors", {}),
            "interfaces": {"All": {"methods": shapes}},
            "claims": {claim["id"]: {"text": claim.pop("text"), "type": claim["type"]} for claim in self.claims},
        }  # fmt: skip

    def __call__(self, received: Any) -> str:
        text: str = received.messages[-1].content
        page = next(name for opening, name in PAGES.items() if text.startswith(opening))
        if page == "implement":
            return next(body for name, body in self.bodies.items() if f"FUNCTION: {name}\n" in text)
        answers: dict[str, Any] = {
            "features": {"features": []}, "challenge": {"challenges": []}, "module": self.module,
            "proposal": {"spec": self.spec, "decisions": []}, "audit": {"contradictions_found": []},
            "structure": {"modules": [{**self.outline, "functions": [*self.bodies]}]},
            "claims": {"claims": self.claims}, "scenarios": {"scenarios": []},
        }  # fmt: skip
        return json.dumps(answers.get(page, {"decision": "skip", "guard": "nothing to gain"}))


@pytest.mark.parametrize("target", ["python", "go", "typescript", "rust", "java", "cpp"])
@pytest.mark.parametrize("project", TOLD)
async def test_a_small_project_is_built_and_its_delivered_tests_kill(project: str, target: str, tmp_path: Path) -> None:
    await require(target)
    answers = ANSWERS.model_dump(mode="json")
    answers["answers"] |= dict.fromkeys(("performance", "security", "compliance"), "none")
    (tmp_path / "answers.toml").write_text(toml(answers))
    root = tmp_path / project
    async with LoopbackServer(Model(project, target)) as server:
        key = {"OPENROUTER_API_KEY": "sk-or-0123456789", "OPENROUTER_BASE_URL": f"{server.url}/v1"}
        # Where toolchains are installed is told, since the home is another.
        homes = {name: os.environ[name] for name in ("CARGO_HOME", "RUSTUP_HOME") if name in os.environ}
        world = bare_world(tmp_path, **key, **homes)
        made = await _assay(world, tmp_path, "init", project, "--seed", "7", "--language", target)
        assert made.returncode == 0, made.stderr
        with (root / "criticality.toml").open("a") as file:
            file.write('\n[acceptance]\nindependent_bodies = 0\nsettle = "ask"\n')
        done = await _assay(world, tmp_path, "run", "-C", project, "--answers", "answers.toml", "-q")
    assert done.returncode == 0 and done.stdout.startswith(f"done: {project} is built"), done.stderr
    functions = json.loads((root / "trace.json").read_text())["functions"]
    assert all(one["accepted"] for one in functions.values())
    told, rejected = (sum(one["suite"][at] for one in functions.values()) for at in (0, 1))
    assert told >= 0.95 * rejected > 0, {name: one["suite"] for name, one in functions.items()}
    for words in RUNNERS.get(target, []):
        if shutil.which(words[0]) is not None:
            tested = await _ran(words, root, None)
            assert tested.returncode == 0, tested.stdout[-2000:] + tested.stderr[-2000:]


async def _assay(world: dict[str, str], folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return await _ran([sys.executable, "-m", "assay", "build", *words], folder, world)


async def _ran(words: list[str], folder: Path, world: dict[str, str] | None) -> subprocess.CompletedProcess[str]:
    run = partial(subprocess.run, words, cwd=folder, env=world, capture_output=True, text=True, check=False)
    return await asyncio.to_thread(run)
