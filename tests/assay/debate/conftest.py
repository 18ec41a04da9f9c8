"""Debates as a person meets them: real processes, a model server on this machine, the recorded debate behind it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.commands import Commands, Done, bare_world

from assay.protocol import RunContext
from assay.registry import Prepared
from assay.terms import Terms
from llm_runtime.events import Emit, silent
from llm_runtime.messages import Generate

KEY = "sk-or-canary-0123456789abcdef"


@pytest.fixture
def world(tmp_path: Path) -> dict[str, str]:
    """An environment without keys, whose home is the working folder."""
    return bare_world(tmp_path)


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
    from assay.demo import demo_answers
    from assay.registry import prepared, read_run
    from crux import ModelTable
    from llm_runtime.messages import Reply, Request, Usage

    recorded, table, replies = demo_answers("debate"), ModelTable(), Answers()

    async def generate(request: Request) -> Reply:
        text = answer(recorded.answers, str(request.label))
        replies[tuple(message.content for message in request.messages)] = text
        return Reply(
            text=text, model="m", provider="scripted", usage=Usage(1, 1, estimated=True), cost=0, cost_source="free"
        )

    models = {"fast": table.fast.id, "strong": table.strong.id}
    seats = {"personas": PANEL.split(","), "aspects": 2, "rooms_per_aspect": 1, **models}
    run = prepared(read_run("crux.debate", {"topic": TOPIC, "evidence": evidence}, {**seats, **options}))
    await hold(run, SEED, generate)
    return replies


async def hold(run: Prepared, seed: int, generate: Generate, emit: Emit = silent) -> dict[str, Any]:
    """The result of a debate that a model function answers."""
    context = RunContext("run", seed, generate, emit, lambda: 0, Terms())
    return await run.hooks.run(run.task, run.options, context)


def answer(answers: dict[str, tuple[str, int]], label: str) -> str:
    """The recorded answer; in a longer clash or room than the recorded one, what was said two turns before."""
    if "/exit_check/" in label:
        return '{"exit": true}'
    if "/earned/" in label:
        return next(text for key, (text, _) in answers.items() if "/earned/" in key)
    if "/judge/" in label and label not in answers:
        return '{"verdicts": []}'
    while label not in answers:
        head, number, attempt = label.rsplit("/", 2)
        label = f"{head}/{number}/1" if int(attempt) > 1 else f"{head}/{int(number) - 2}/{attempt}"
    return answers[label][0]
