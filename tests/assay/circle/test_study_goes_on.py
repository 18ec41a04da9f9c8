"""A study that was stopped asks only for what is missing, whichever run goes on with its folder."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from pathlib import Path

from tests.bound import bound, request_id

from assay.launch import Launcher
from assay.registry import read_run
from llm_runtime.errors import CallError
from llm_runtime.messages import Generate, Reply, Request
from llm_runtime.providers.scripted import scripted
from llm_runtime.settings import Settings
from llm_runtime.store import open_store

TEXTS = ("a wish", "a broken wish", "a broken plea", "a lost plea")
SCORES = json.dumps({"truth": 0.9, "indeterminacy": 0.1, "falsehood": 0.1, "reasoning": "I weighed it."})


def text_of(request: Request) -> str:
    """The row that a request is about."""
    return next(text for text in TEXTS if text in str(request.messages[-1].content))


def answer(request: Request) -> str | Exception:
    """Of what is broken there is never a verdict."""
    return CallError("refused") if "broken" in text_of(request) else bound(SCORES, request_id(request.messages))


async def test_what_failed_once_more_is_not_asked_a_third_time(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("text\n" + "\n".join(TEXTS) + "\n")
    task = {"data": str(tmp_path / "data.csv"), "user": "text", "out": str(tmp_path / "study")}
    options = {"models": ["a", "b"], "measures": ["groupthink"], "concurrency": 1}
    asked, reached, held = Counter[str](), asyncio.Event(), True
    answers: Generate = scripted(answer)

    async def model(request: Request) -> Reply:
        text = text_of(request)
        if again and held and text == TEXTS[2]:
            reached.set()
            await asyncio.Event().wait()
        asked[text] += 1
        return await answers(request)

    again, store = False, open_store(tmp_path / "runs.db")
    launcher = Launcher(store, Settings)
    first = await (await launcher.start(read_run("fire_circle.study", task, options), model=model)).outcome()
    assert first.result["failed"] == ["2", "3"]
    once, again = dict(asked), True
    retried = read_run("fire_circle.study", task, {**options, "retry_failed": True})
    running = await launcher.start(retried, model=model)
    await reached.wait()
    await running.stop()
    held = False
    done = await (await launcher.resume(running.run_id, model=model)).outcome()
    assert done.state == "finished" and done.result["failed"] == ["2", "3"]
    assert asked == {text: times * (2 if "broken" in text else 1) for text, times in once.items()}
    # Who asks for it once more has it asked once more.
    await (await launcher.start(retried, model=model)).outcome()
    assert asked == {text: times * (3 if "broken" in text else 1) for text, times in once.items()}
    store.close()


async def test_another_run_over_the_folder_has_every_answer_that_came_before_the_stop(tmp_path: Path) -> None:
    """Also those that came in the very moment in which it was stopped, and are not in the log on disk yet."""
    (tmp_path / "data.csv").write_text("text\n" + "\n".join(TEXTS[::3]) + "\n")
    task = {"data": str(tmp_path / "data.csv"), "user": "text", "out": str(tmp_path / "study")}
    options = {"models": ["a", "b"], "measures": ["groupthink"], "concurrency": 2}
    asked, reached = Counter[str](), asyncio.Event()
    answers: Generate = scripted(answer)

    async def model(request: Request) -> Reply:
        if asked.total() == 3 and not reached.is_set():
            reached.set()
            await asyncio.Event().wait()
        asked[f"{text_of(request)}, {request.label}"] += 1
        return await answers(request)

    store = open_store(tmp_path / "runs.db")
    launcher = Launcher(store, Settings)
    running = await launcher.start(read_run("fire_circle.study", task, options), model=model)
    await reached.wait()
    await running.stop()
    assert asked.total() == 3
    options["measures"] = ["groupthink", "calibration"]
    done = await (await launcher.start(read_run("fire_circle.study", task, options), model=model)).outcome()
    assert done.state == "finished" and set(asked.values()) == {1}
    store.close()
