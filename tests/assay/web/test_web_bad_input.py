"""What goes wrong between a page and its server: nothing is lost, and the page says what happened."""

from __future__ import annotations

import asyncio
import sqlite3
from typing import Any

import pytest

from llm_runtime.errors import StoreError
from llm_runtime.events import RunFinished, RunStarted
from llm_runtime.messages import CallLabel, Message, Request
from llm_runtime.testing import LoopbackServer

from .conftest import TOKEN, Serve, council_answer

WEATHER = RunStarted(run_id="w-1", protocol="weather", title="Rain?", task={}, settings={}, seed=1)
WHY = Request("m", (Message("user", "Why?"),), CallLabel("weather", "ask"))
#: Bytes that a form may have.
LIMIT = 4 << 20


async def test_an_answer_whose_connection_died_is_taken_once(web: Any) -> None:
    log = web.store.start(WEATHER)
    asking = asyncio.ensure_future(web.site.questions.person("w-1")(WHY))
    body = b'{"name": "q1", "text": "Clouds."}'
    head = f"POST /runs/w-1/answers HTTP/1.1\r\nHost: {web.url[7:]}\r\nAuthorization: Bearer {TOKEN}\r\n"
    head += f"Accept: application/json\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    _, writer = await asyncio.open_connection("127.0.0.1", int(web.url.rpartition(":")[2]))
    writer.write(head.encode() + body)
    await writer.drain()
    assert (await asking).text == "Clouds."
    writer.transport.abort()  # what the server says to it reaches nobody
    status, told = await web.post("/runs/w-1/answers", name="q1", text="Clouds.")
    assert status == 400 and "not open any more" in told["message"]
    log.close()


@pytest.mark.hastened
async def test_a_run_that_is_deleted_while_it_is_looked_at_ends_its_streams_in_words(web: Any) -> None:
    log = web.store.start(WEATHER)
    log.emit(RunFinished(state="stopped", error="Interrupted", message="interrupted"))
    log.close()
    looking = web.stream("w-1", "view=story")
    assert (await anext(looking))[0] == "log"
    web.store.delete("w-1")
    async for kind, _, told in looking:
        if kind == "end":
            assert "no run" in told["error"]
            break
    assert (await web.get("/runs/w-1"))[0] == 404


async def test_a_store_that_a_newer_version_changed_is_named_and_left_alone(web: Any, council: Any) -> None:
    run_id = await council()

    def rename(old: str, new: str) -> None:
        with sqlite3.connect(web.store.path) as newer:
            newer.execute(f"ALTER TABLE runs RENAME COLUMN {old} TO {new}")

    rename("title", "heading")
    status, page = await web.get("/runs", accept="text/html")
    assert status == 500 and "newer version of Assay" in page
    with pytest.raises(StoreError, match="newer version"):
        web.store.start(WEATHER)
    rename("heading", "title")
    assert (await web.json(f"/runs/{run_id}"))["run"]["state"] == "finished"


@pytest.mark.browser
async def test_what_was_typed_survives_a_server_that_is_away_and_a_form_that_is_too_large(
    page: Any, serve: Serve
) -> None:
    from playwright.async_api import expect

    async with LoopbackServer(council_answer) as models:
        server, address = await serve(models)
        await page.goto(address)
        await page.locator("textarea[name=text]").fill("Which database?")
        await page.goto(f"{page.url}new")
        question = page.get_by_role("textbox", name="Question")
        await question.fill("x" * (LIMIT + 1))
        await page.get_by_role("button", name="Start").click()
        await page.get_by_text("larger than 4 MiB").wait_for()
        assert len(await question.input_value()) == LIMIT + 1, "what was refused stays"
        await question.fill("Should we split it?")
        await page.locator(".advanced > summary").click()
        await page.get_by_label("Red team").fill("terminal:")
        server.kill()
        await server.wait()
        await page.get_by_role("button", name="Start").click()
        await page.get_by_text("What you typed is kept here").wait_for()

        server, address = await serve(models, int(address.split(":")[2].partition("/")[0]))
        await page.goto(address)
        page.said.clear()  # the browser itself reports what was refused
        await expect(page.locator("textarea[name=text]")).to_have_value("Which database?")
        await page.goto(f"{page.url}new")
        await expect(question).to_have_value("Should we split it?")
        await expect(page.get_by_label("Red team")).to_have_value("terminal:")
        await page.locator(".advanced > summary").click()
        await page.get_by_role("button", name="Start").click()
        await page.locator("form.ask").first.wait_for()
        await page.goto(f"{page.url.partition('/runs/')[0]}/new")
        await expect(question).to_have_value("")
        await page.goto("about:blank")  # before the server goes away
