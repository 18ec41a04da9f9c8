"""Going on from a run: follow it up, run it again, compare, and say something to it on the way."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
from pydantic import SecretStr
from tests.crucible.records import objection
from tests.extent import PATIENCE

from assay.launch import Launcher
from llm_runtime.keys import Key
from llm_runtime.settings import Settings
from llm_runtime.store import RunStore
from llm_runtime.testing import LoopbackServer

from .conftest import served

SAID = "The team can also buy a managed service."


@pytest.fixture
async def web(store: RunStore, models: LoopbackServer) -> AsyncIterator[Any]:
    """The application with a provider that it can reach."""
    keys = {"openrouter": Key(SecretStr("sk-canary-0123456789"), "given")}
    settings = Settings(keys, {"openrouter": f"{models.url}/v1"}, environment={"ASSAY_LOCAL_SERVERS": ""})
    async with served(store, lambda: settings) as running:
        yield running
    store.close()


async def finished(web: Any, path: str, **said: Any) -> str:
    """Start a run, wait for its end and return its id."""
    code, told = await web.post(path, **said)
    assert code == 201, told
    await web.state(told["run_id"], "finished")
    return told["run_id"]


async def asked(web: Any, run_id: str, beyond: str = "") -> dict[str, Any]:
    """The open question of a run, once there is one that is not ``beyond``."""
    watch = web.site.hub.watch(run_id)
    async with asyncio.timeout(PATIENCE):
        while True:
            version = watch.version
            asks = (await web.json(f"/runs/{run_id}/asks"))["asks"]
            if asks and asks[0]["name"] != beyond:
                return asks[0]
            await watch.changed(version, 0.2)


async def test_a_finished_council_is_followed_up_run_again_and_compared(web: Any, models: LoopbackServer) -> None:
    first = await finished(web, "/runs", query="Which database?")
    took = len(models.requests)
    _, page = await web.get(f"/runs/{first}")
    assert f"/new?kind=crucible.council&amp;follow={first}" in page and "Interject" not in page
    _, form = await web.get(f"/new?kind=crucible.council&follow={first}&query=%E2%80%9CUse+it%E2%80%9D+Is+it+so")
    assert "“Use it” Is it so" in form and f'It goes on from <a href="/runs/{first}"' in form
    second = await finished(web, "/runs", query="Is that so?", follow=first)
    assert any("Use SQLite" in request.messages[-1].content for request in models.requests[took:])
    took = len(models.requests)
    again = await finished(web, f"/runs/{first}/fork", at=0, model="openrouter:vendor/another")
    assert {request.model for request in models.requests[took:]} == {"vendor/another"}, "nothing is shared"
    for child in (second, again):
        _, page = await web.get(f"/runs/{child}")
        assert f"/compare?run={first}&amp;run={child}" in page
    code, said = await web.post(f"/runs/{first}/interject", say=SAID)
    assert code == 400 and "finished" in said["message"]


async def test_whoever_speaks_after_an_interjection_hears_it_and_nobody_is_asked_twice(
    web: Any, models: LoopbackServer
) -> None:
    _, told = await web.post("/runs", query="Which database?", seats={"red_team": "terminal:"})
    first = await asked(web, told["run_id"])
    took = len(models.requests)
    assert "Interject" in (await web.get(told["page"]))[1]
    code, said = await web.post(f"/runs/{told['run_id']}/interject", say=" ")
    assert code == 400 and "say is missing" in said["message"] and web.site.runs.owns(told["run_id"])
    code, child = await web.post(f"/runs/{told['run_id']}/interject", say=SAID)
    assert code == 201 and web.store.summary(told["run_id"]).state == "stopped"
    run_id = child["run_id"]
    again = await asked(web, run_id)
    assert SAID in again["messages"][-1][1] and SAID not in first["messages"][-1][1]
    assert len(models.requests) == took
    await web.post(f"/runs/{run_id}/stop")
    await web.post(f"/runs/{run_id}/resume")
    name = ""
    for fails in ("Too simple for a shop.", "Who would run it by night?"):
        question = await asked(web, run_id, name)
        name, text = question["name"], objection(question["messages"][-1][1].replace(SAID, ""), fails)
        assert SAID in question["messages"][-1][1]
        await web.post(f"/runs/{run_id}/answers", name=name, text=text)
    await web.state(run_id, "finished")
    assert all(SAID in request.messages[-1].content for request in models.requests[took:])
    assert SAID in (await web.get(child["page"]))[1]
    replayed = await Launcher(web.store, Settings).replay(run_id)
    assert replayed.result == (await web.json(f"/runs/{run_id}"))["result"]


async def test_a_second_interjection_leaves_what_was_said_to_the_first_as_it_is(
    web: Any, models: LoopbackServer
) -> None:
    _, told = await web.post("/runs", query="Which database?", seats={"red_team": "terminal:"})
    await asked(web, told["run_id"])
    _, told = await web.post(f"/runs/{told['run_id']}/interject", say=SAID)
    first = await asked(web, told["run_id"])
    await web.post(
        f"/runs/{told['run_id']}/answers", name=first["name"], text=objection(first["messages"][-1][1], "No.")
    )
    await asked(web, told["run_id"], first["name"])
    took = len(models.requests)
    _, told = await web.post(f"/runs/{told['run_id']}/interject", say="And there are three of us.")
    question = await asked(web, told["run_id"])
    assert len(models.requests) == took and SAID in question["messages"][-1][1]
    assert "And there are three of us." in question["messages"][-1][1]
    await web.post(f"/runs/{told['run_id']}/stop")


@pytest.mark.browser
async def test_a_sentence_that_is_marked_is_challenged_in_a_run_that_follows(page: Any, web: Any) -> None:
    from playwright.async_api import expect

    run_id = await finished(web, "/runs", query="Which database?")
    await page.goto(f"{web.url}/open?key={web.site.gate.key}")
    await page.goto(f"{web.pages}/runs/{run_id}")
    for width in (390, 1440):
        await page.set_viewport_size({"width": width, "height": 844})
        await page.get_by_text("Go on", exact=True).click()
        menu = await page.locator(".menu[open] ul").bounding_box()
        assert menu["x"] >= 0 and menu["x"] + menu["width"] <= width, "all of it is on the screen"
        await page.keyboard.press("Escape")
    await page.get_by_text("until it hurts").first.click(click_count=3)
    await page.get_by_text("Challenge what is marked").click()
    question = page.get_by_role("textbox", name="Question")
    await expect(question).to_have_value(re.compile("^“Use SQLite until it hurts.”\n\nIs that so?"))
    await page.get_by_text("It goes on from").wait_for()
