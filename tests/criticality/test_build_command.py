"""The command line from start to end, as a person or a script has it: a real server, a real kill, a real pytest."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections import Counter
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from tests.commands import bare_world
from tests.through_claude import MODEL, answering
from turnstile_system import ANSWERS, Script, needs_toolchain

from criticality.canonical import toml
from llm_runtime.prompts import load_prompt
from llm_runtime.testing import LoopbackServer

pytestmark = [needs_toolchain, pytest.mark.toolchain]

PROMPTS = {
    load_prompt("criticality", path.name.removesuffix(".md")).text.partition("{{")[0][:60]: path.name[:-3]
    for path in resources.files("criticality").joinpath("prompts").iterdir()
    if path.is_file()
}
PHASES = {
    "features": ("ignition", "features"), "challenge": ("ignition", "challenge"),
    "proposal": ("ignition", "proposal-1"), "structure": ("lattice", "structure"),
    "audit": ("composition_audit", "temporal"), "claims": ("tests", "claims"), "scenarios": ("mesoscopic", "room"),
    "transform": ("mass_defect", "any"),
}  # fmt: skip


class Model:
    """The scripted system behind a server; at its first question of a phase it may never answer.

    Args:
        stuck_at: the name of a prompt; ``""`` answers all.
    """

    def __init__(self, stuck_at: str) -> None:
        self.stuck_at, self.stuck = stuck_at, asyncio.Event()
        self.answered: Counter[str] = Counter()

    async def __call__(self, received: Any) -> str:
        text: str = received.messages[-1].content
        prompt = next(name for opening, name in PROMPTS.items() if text.startswith(opening))
        if prompt == self.stuck_at:
            self.stuck.set()
            await asyncio.Event().wait()
        # Independent bodies are the same question under other seeds.
        self.answered[f"{received.payload.get('seed')} {text}"] += 1
        usual = Script().usual(*self._place(prompt, text))
        return usual if isinstance(usual, str) else json.dumps(usual)

    def _place(self, prompt: str, text: str) -> tuple[str, str]:
        match prompt:
            case "module":
                return "lattice", "gate" if "Write the module `gate`" in text else "parity"
            case "implement":
                return "injection", "gate.enter" if "FUNCTION: enter" in text else "parity"
            case _:
                return PHASES[prompt]


class Shell:
    """Commands in a folder, with a key and an address in the environment."""

    def __init__(self, folder: Path, server: LoopbackServer | None, **world: str) -> None:
        self._folder = folder
        key = {"OPENROUTER_API_KEY": "sk-or-0123456789", "OPENROUTER_BASE_URL": f"{server.url}/v1"} if server else {}
        self._world = bare_world(folder, PYTHONWARNINGS="error", **key, **world)

    async def start(self, *arguments: str) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            sys.executable, "-m", "assay", *arguments, cwd=self._folder, env=self._world,
            stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip

    async def __call__(self, *arguments: str) -> tuple[int, str, str]:
        """Run ``assay build ARGUMENTS``."""
        return await self.assay("build", *arguments)

    async def assay(self, *arguments: str) -> tuple[int, str, str]:
        process = await self.start(*arguments)
        out, err = await process.communicate()
        return process.returncode or 0, out.decode(), err.decode()

    async def runs(self) -> list[dict[str, Any]]:
        code, out, err = await self.assay("runs", "list", "--json")
        assert code == 0, err
        return json.loads(out)["runs"]


@pytest.mark.parametrize(
    "stuck_at",
    ["implement", pytest.param("module", marks=pytest.mark.long), pytest.param("scenarios", marks=pytest.mark.long)],
)
async def test_init_run_killed_resumed_and_the_deliverable_stands_alone(tmp_path: Path, stuck_at: str) -> None:
    (tmp_path / "answers.toml").write_text(toml(ANSWERS.model_dump(mode="json")))
    model = Model(stuck_at)
    async with LoopbackServer(model) as server:
        shell = Shell(tmp_path, server)
        code, _, err = await shell("init", "turn-stile", "--seed", "7")
        assert code == 0 and err == "made turn-stile; next: criticality run -C turn-stile\n"
        with (tmp_path / "turn-stile/criticality.toml").open("a") as config:
            config.write("\n[mass_defect]\nmutants_per_function = 1\n[orchestrator]\nmesoscopic_examples = 40\n")

        process = await shell.start("build", "run", "-C", "turn-stile", "--answers", "answers.toml", "-q")
        await model.stuck.wait()
        os.kill(process.pid, signal.SIGKILL)
        await process.communicate()
        code, out, _ = await shell("status", "-C", "turn-stile", "--json")
        assert code == 0 and json.loads(out)["state"]["type"] == "active"
        answered, model.stuck_at = model.answered.copy(), ""
        (run,) = await shell.runs()
        assert (run["protocol"], run["state"], run["title"]) == ("criticality.build", "interrupted", "turn-stile")

        code, out, err = await shell("resume", "-C", "turn-stile", "--answers", "answers.toml", "-q")
        assert (code, out) == (0, out) and out.startswith("done: turn-stile is built"), err
        (again,) = await shell.runs()
        assert (again["run_id"], again["state"]) == (run["run_id"], "finished"), "one folder has one run that goes on"
        assert again["calls"] == sum(model.answered.values())
        code, _, err = await shell("report", "-C", "turn-stile", "--out", "told.html")
        assert (code, err) == (0, "report: told.html\n")
    page = (tmp_path / "told.html").read_text()
    assert "The room never holds more than its limit" in page and "gate.enter" in page and "never_over" in page
    assert answered and max(model.answered.values()) == 1, "no finished call is made again"

    outside = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", cwd=tmp_path / "turn-stile",
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    said = (await outside.communicate())[0].decode()
    assert outside.returncode == 0 and " passed" in said, said[-2000:]


@pytest.mark.needs("claude", "node")
@pytest.mark.long
async def test_a_system_is_built_by_a_program_that_somebody_is_signed_in_with(tmp_path: Path) -> None:
    (tmp_path / "answers.toml").write_text(toml(ANSWERS.model_dump(mode="json")))
    async with answering(Model("")) as (server, reached):
        shell = Shell(tmp_path, None, **reached)
        code, _, err = await shell("init", "turn-stile", "--seed", "7")
        assert code == 0, err
        with (tmp_path / "turn-stile/criticality.toml").open("a") as config:
            config.write("\n[mass_defect]\nmutants_per_function = 1\n[orchestrator]\nmesoscopic_examples = 40\n")
        bounds = ("--model", MODEL, "--max-calls", "80", "-q")
        code, out, err = await shell("run", "-C", "turn-stile", "--answers", "answers.toml", *bounds)
    assert code == 0 and out.startswith("done: turn-stile is built"), err
    assert len(server.asked) > 5


async def test_a_sitting_that_ends_with_a_person_is_a_run_that_can_be_resumed(tmp_path: Path) -> None:
    first: dict[str, Any] = {**ANSWERS.model_dump(mode="json"), "approvals": []}
    (tmp_path / "first.toml").write_text(toml(first))
    async with LoopbackServer(Model("")) as server:
        shell = Shell(tmp_path, server)
        await shell("init", "turn-stile", "--seed", "7")
        sitting = ("-C", "turn-stile", "--answers", "first.toml", "-q")
        code, out, err = await shell("interview", *sitting, "--max-calls", "50")
        assert (code, out[:15]) == (0, "waiting for you"), err
        (run,) = await shell.runs()
        assert run["state"] == "stopped" and 0 < run["calls"] < 50

        code, out, err = await shell(
            "approve", "revise", "--feedback", "Smaller.", "-C", "turn-stile", "-q", "--max-calls", "3"
        )
        assert code == 3 and "assay runs resume" in err, "the cap of this sitting holds for the whole run"
        assert len(await shell.runs()) == 1
        code, out, err = await shell.assay("runs", "resume", run["run_id"], "--max-calls", "50", "-q")
        assert code == 0 and "waits for you" in err, err
        code, out, err = await shell("interview", "-C", "turn-stile", "--answers", "first.toml")
        assert (code, out[:15]) == (0, "waiting for you"), err
        assert err.count("run stopped") == 1, "how earlier sittings ended is not told again"
        (run,) = await shell.runs()
        terms = [
            json.loads(line)["event"].get("terms")
            for line in (await shell.assay("runs", "show", run["run_id"], "--jsonl"))[1].splitlines()
            if '"run.resumed"' in line
        ]
        assert terms == [{"max_calls": 3}, {"max_calls": 50}, {}]
