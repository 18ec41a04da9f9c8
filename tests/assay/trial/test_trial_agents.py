"""`assay trial run --agent`: agents in the box, compared on one model, from the command to the ledger."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assay.protocols.ai_crucible.task import Options
from llm_runtime.names import names_in
from llm_runtime.testing import LoopbackServer, Received

Assay = Any
AGENT = Path(__file__).parents[2] / "ai_crucible" / "an_agent.py"
REPAIR = """```tool
{"tool": "shell", "arguments": {"command": "echo 'def total(n): return sum(range(1, n + 1))' > total.py"}}
```"""


def repairs(received: Received) -> str:
    """The model has one thing done, and is content."""
    return "It is repaired." if "<<<TOOL" in received.messages[-1].content else REPAIR


@pytest.mark.box
@pytest.mark.long
@pytest.mark.usefixtures("boxes")
async def test_two_agents_are_compared_on_one_model(assay: Assay, tmp_path: Path) -> None:
    await assay("trial", "new", "sum")
    async with LoopbackServer(repairs) as server:
        agents = ("--agent", f"python3 {AGENT}", "--agent", f"python3 {AGENT} idle")
        done = await assay("trial", "run", "sum", "--model", f"{server.url}/v1#m", *agents, "--k", "2", "--out", "t.md")
    assert done.code == 0, done.err
    assert "agent python3 an_agent.py with assay/single/" in done.out
    assert "against agent python3 an_agent.py idle with" in done.out
    assert "2 passed by the first alone" in done.out, done.out
    assert "agent python3 an_agent.py with" in (tmp_path / "t.md").read_text(encoding="utf-8")
    assert (await assay("trial", "verify")).code == 0


def test_whoever_may_name_no_folder_may_name_no_command_line() -> None:
    named = names_in(Options(agent=("claude", "cat /etc/passwd")))
    assert [(name.kind, name.text) for name in named] == [("folder", "cat /etc/passwd")]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--agent", "no-such-agent"), "the agent's program no-such-agent is not on this machine"),
        (("--agent", "sh", "--agent", "sh"), "names what is compared already"),
        (("--agent", "sh", "--cohort", "ollama:b"), "an agent works with one model: leave --cohort out"),
    ],
)
@pytest.mark.usefixtures("boxes")
async def test_an_agent_that_cannot_sit_is_refused_before_anything(
    assay: Assay, arguments: tuple[str, ...], says: str
) -> None:
    await assay("trial", "new", "sum")
    done = await assay("trial", "run", "sum", "--model", "ollama:a", *arguments)
    assert done.code == 2 and says in done.err, done.err
