"""Debates as a person meets them: real processes, a model server on this machine, the recorded debate behind it."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.commands import Commands, Done

KEY = "sk-or-canary-0123456789abcdef"


@pytest.fixture
def world(tmp_path: Path) -> dict[str, str]:
    """An environment without keys, whose home is empty."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "ASSAY_CONFIG_DIR": str(tmp_path / "config"),
        "ASSAY_DATA_DIR": str(tmp_path / "data"),
        "ASSAY_LOCAL_SERVERS": "",
    }


@pytest.fixture
def assay(commands: Commands, world: dict[str, str], tmp_path: Path) -> Callable[..., Awaitable[Done]]:
    """Run ``assay ARGUMENTS`` in an empty folder; ``url`` is where OPENROUTER_API_KEY leads to."""

    async def run(*arguments: str, stdin: str = "", url: str = "", **environment: str) -> Done:
        reached = {"OPENROUTER_API_KEY": KEY, "OPENROUTER_BASE_URL": f"{url}/v1"} if url else {}
        done = await commands.run(
            *arguments, cwd=tmp_path, env={**world, **reached, **environment}, stdin=stdin.encode()
        )
        assert KEY not in done.out + done.err
        return done

    return run


TOPIC = "Should a city let software decide who waits, who pays and whose house is inspected?"
PANEL = "maud-tarrowby,ilario-fennimast"
SEED = 7
Answers = dict[tuple[str, ...], str]


async def scripted(evidence: list[dict[str, Any]], **options: Any) -> Answers:
    """What a model says in a debate of the command line: the recorded answers, found by what was asked."""
    from assay import demo
    from assay.protocols.crux.demo import opening
    from assay.protocols.crux.task import run
    from crux import ModelTable
    from llm_runtime.events import RunStarted
    from llm_runtime.messages import Reply, Request, Usage

    recorded, table, said = demo.load("debate"), ModelTable(), Answers()
    told = opening(recorded)

    async def generate(request: Request) -> Reply:
        text = answer(recorded.answers, str(request.label))
        said[tuple(message.content for message in request.messages)] = text
        return Reply(
            text=text, model="m", provider="scripted", usage=Usage(1, 1, estimated=True), cost=0, cost_source="free"
        )

    started = RunStarted(
        run_id="script",
        protocol="crux",
        title="",
        task={"topic": TOPIC, "evidence": evidence},
        settings={
            "engine": {
                "models": [table.fast.id, table.strong.id],
                "debate": {"aspects": 2, "rooms_per_aspect": 1, **options},
            },
            "personas": told["personas"],
        },
        seed=SEED,
        origin="demo",
        version="test",
    )
    await run(started, generate, lambda event: None)
    return said


def answer(answers: dict[str, tuple[str, int]], label: str) -> str:
    """The recorded answer; in a longer clash or room than the recorded one, what was said two turns before."""
    if "/exit_check/" in label:
        return '{"exit": true}'
    while label not in answers:
        head, number, attempt = label.rsplit("/", 2)
        label = f"{head}/{number}/1" if int(attempt) > 1 else f"{head}/{int(number) - 2}/{attempt}"
    return answers[label][0]
