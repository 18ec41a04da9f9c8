"""What a person answered is called taken where it was, and kept where somebody else was first."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.extent import PATIENCE

from llm_runtime.events import RunStarted
from llm_runtime.messages import CallLabel, Message, Request

from .conftest import TOKEN

pytestmark = pytest.mark.browser
WEATHER = RunStarted(run_id="w-1", protocol="weather", title="Rain?", task={}, settings={}, seed=1)


@pytest.mark.parametrize("first", ["here", "elsewhere"])
async def test_the_page_says_what_became_of_an_answer_by_the_servers_word(page: Any, web: Any, first: str) -> None:
    from playwright.async_api import expect

    answer = web.site.questions.person("w-1")
    log = web.store.start(WEATHER)
    asking = asyncio.ensure_future(answer(Request("m", (Message("user", "Why?"),), CallLabel("weather", "ask"))))
    await page.goto(f"{web.url}/open?key={TOKEN}")
    await page.goto(f"{web.pages}/runs/w-1")

    async def late(route: Any) -> None:
        """The stream says that the question is gone before the answer to the form is there."""
        if first == "elsewhere":
            web.site.questions.answer("w-1", "q1", "Another answer.")
        response = await route.fetch(max_redirects=0)
        await expect(page.locator("form.ask")).to_have_count(0, timeout=PATIENCE * 1_000)
        await route.fulfill(response=response)

    await page.route("**/answers", late)
    await page.get_by_label("Your answer").fill("Because of the clouds.")
    async with page.expect_response("**/answers"):
        await page.get_by_role("button", name="Answer").click()
    reply = await asking
    if first == "here":
        assert reply.text == "Because of the clouds."
        await expect(page.get_by_text("did not send")).to_have_count(0)
        await expect(page.get_by_text("was not taken")).to_have_count(0)
    else:
        await page.get_by_text("What you typed was not taken").wait_for()
        assert await page.get_by_text("Because of the clouds.").is_visible()
    page.said.clear()
    log.close()
