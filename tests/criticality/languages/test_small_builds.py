"""Three small projects go through `assay build` in each language; contracts and bodies are written by hand."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from account_system import ANSWERS
from tests.commands import bare_world
from tools_here import RUNNERS, failed, ran, require

from criticality.canonical import toml
from criticality.languages import language
from criticality.spec.spec import Spec
from llm_runtime.prompts import load_prompt
from llm_runtime.testing import LoopbackServer

pytestmark = [pytest.mark.toolchain, pytest.mark.long]

TOLD = tomllib.loads(Path(__file__).with_name("small_systems.toml").read_text("utf-8"))
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

    def __init__(self, project: str, target: str) -> None:
        told = TOLD[project]
        self.bodies: dict[str, str] = {name: one[target] for name, one in told["bodies"].items()}
        #: Bodies that it answers with first; each of them is to be refused.
        self.wrong = {name: one[target] for name, one in told.get("wrong", {}).items() if target in one}
        self.claims = [dict(claim) for claim in told["claims"]]
        methods = [dict(one, name=name) for name, one in told["methods"].items()]
        self.outline = {"name": project, "purpose": told["purpose"], "interfaces": ["All"]}
        functions = [{**one, "contracts": [*one["contracts"], "PURITY: pure"]} for one in methods]
        self.module = {**self.outline, "functions": functions}
        shapes = [{key: one[key] for key in ("name", "params", "returns")} for one in methods]
        self.spec = {
            "system": {"name": project, "description": told["purpose"]},
            **{kind: told.get(kind, {}) for kind in ("errors", "newtypes", "data_models")},
            "interfaces": {"All": {"methods": shapes}},
            "claims": {claim["id"]: {"text": claim.pop("text"), "type": claim["type"]} for claim in self.claims},
        }  # fmt: skip

    def __call__(self, received: Any) -> str:
        text: str = received.messages[-1].content
        page = next(name for opening, name in PAGES.items() if text.startswith(opening))
        if page == "implement":
            name = next(name for name in self.bodies if f"FUNCTION: {name}\n" in text)
            return self.wrong.pop(name, self.bodies[name])
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
    model, tools = Model(project, target), language(target)
    wrong = dict(model.wrong)
    async with LoopbackServer(model) as server:
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
    assert {name for name, one in functions.items() if one["attempts"] > 1} == {f"{project}.{name}" for name in wrong}
    assert await failed(target, root) == ""
    for name, body in wrong.items():
        path = root / tools.module_path(Spec.model_validate(model.spec), project)
        path.write_text(tools.splice(path.read_text(), name, body))
        assert await failed(target, root) or target not in RUNNERS


async def _assay(world: dict[str, str], folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return await ran([sys.executable, "-m", "assay", "build", *words], folder, world)
