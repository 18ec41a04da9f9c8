"""The pages as a room to work in: nothing typed is lost, tabs hear of each other, and what an end shows is true."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.extent import PATIENCE

from llm_runtime.events import CallStarted, RunFinished, RunResumed, RunStarted
from llm_runtime.messages import CallLabel, Message, Request
from llm_runtime.testing import LoopbackServer

from .conftest import TOKEN, Serve, council_answer

pytestmark = pytest.mark.browser
WEATHER = RunStarted(run_id="w-1", protocol="weather", title="Rain?", task={}, settings={}, seed=1)


async def start_with_a_person(page: Any, address: str) -> None:
    """Start a council whose red team sits before the browser, and wait for its turn."""
    await page.goto(address)
    await page.goto(f"{page.url}new?kind=crucible.council&form=prose")
    await page.get_by_role("textbox", name="Question").fill("Which database?")
    # The form in the address is a choice, so what is folded away otherwise stands open.
    await page.get_by_label("Red team").fill("terminal:")
    await page.get_by_role("button", name="Start").click()
    await page.get_by_label("Your answer to critique").wait_for()


async def test_an_answer_that_no_server_took_is_kept_and_sent_later(page: Any, serve: Serve) -> None:
    from playwright.async_api import expect

    async with LoopbackServer(council_answer) as models:
        server, address = await serve(models)
        await start_with_a_person(page, address)
        run_id = page.url.rpartition("/")[2]
        await page.get_by_label("Your answer").fill("I doubt it, and here is why.")
        server.kill()
        await server.wait()
        await page.get_by_role("button", name="Answer").click()
        await page.get_by_text("What you typed is kept here").wait_for()

        _, address = await serve(models, int(address.split(":")[2].partition("/")[0]))
        await page.goto(address)
        page.said.clear()  # the browser itself reports the connections that were refused
        await page.goto(f"{page.url}runs/{run_id}/resume")
        await page.get_by_role("button", name="Resume").click()
        field = page.get_by_label("Your answer to critique")
        await expect(field).to_have_value("I doubt it, and here is why.", timeout=PATIENCE * 1_000)
        await page.get_by_role("button", name="Answer").click()
        await page.get_by_text("I doubt it, and here is why.").first.wait_for()
        await field.and_(page.locator(":placeholder-shown")).wait_for()
        assert await field.input_value() == "", "what was sent is no draft of the next answer"
        await page.goto("about:blank")  # before the server goes away


async def test_an_answer_on_its_way_closes_its_question_and_a_refused_one_opens_it_again(
    page: Any, serve: Serve
) -> None:
    async with LoopbackServer(council_answer) as models:
        _, address = await serve(models)
        await start_with_a_person(page, address)
        held = asyncio.get_running_loop().create_future()
        await page.route("**/answers", lambda route: held.set_result(route))
        field = page.get_by_label("Your answer")
        await field.fill("I doubt it.")
        await page.get_by_role("button", name="Answer").click()
        assert not await field.is_visible(), "nobody writes into a question that has its answer"
        await (await held).abort()
        await page.get_by_text("What you typed is kept here").wait_for()
        assert await field.input_value() == "I doubt it."
        page.said.clear()  # the browser itself reports what was cut off
        await page.goto("about:blank")  # before the server goes away


async def test_a_question_answered_elsewhere_leaves_what_was_typed_here(page: Any, web: Any) -> None:
    answer = web.site.questions.person("w-1")
    log = web.store.start(WEATHER)
    asking = asyncio.ensure_future(answer(Request("m", (Message("user", "Why?"),), CallLabel("weather", "ask"))))
    await page.goto(f"{web.url}/open?key={TOKEN}")
    await page.goto(f"{web.pages}/runs/w-1")
    await page.get_by_label("Your answer").fill("Because of the clouds.")
    web.site.questions.answer("w-1", "q1", "Another answer.")
    await asking
    await page.get_by_text("answered elsewhere").wait_for()
    assert await page.get_by_text("Because of the clouds.").is_visible()
    log.close()


async def test_a_tab_that_saw_a_run_stop_hears_that_it_goes_on(page: Any, web: Any) -> None:
    log = web.store.start(WEATHER)
    await page.goto(f"{web.url}/open?key={TOKEN}")
    await page.goto(f"{web.pages}/runs/w-1")
    log.emit(RunFinished(state="stopped", error="Interrupted", message="interrupted"))
    log.close()
    await page.get_by_role("link", name="Resume").wait_for()
    log = web.store.reopen("w-1")
    log.emit(RunResumed(finished_calls=0))
    await page.get_by_role("link", name="Resume").wait_for(state="detached")
    log.emit(RunFinished(state="finished"))
    log.close()
    await page.locator("#masthead[data-state=finished]").wait_for()


async def test_a_call_in_flight_ends_with_its_run(page: Any, web: Any) -> None:
    log = web.store.start(WEATHER)
    await page.goto(f"{web.url}/open?key={TOKEN}")
    await page.goto(f"{web.pages}/runs/w-1")
    label = CallLabel("weather", "ask", "0:frog")
    log.emit(CallStarted.of(Request("m", (Message("user", "Why?"),), label), {}, lambda *_: False))
    now = page.get_by_role("region", name="What happens now")
    await now.get_by_text("1 call in flight").wait_for()
    log.emit(RunFinished(state="finished"))
    log.close()
    await page.locator("#masthead[data-state=finished]").wait_for()
    await now.get_by_text("all of it is below").wait_for()
    assert "in flight" not in await now.inner_text() and "1 call" not in await now.inner_text()


async def test_another_port_of_this_machine_never_gets_the_cookie(page: Any, web: Any) -> None:
    heard: list[str] = []
    twice = asyncio.Event()

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append((await reader.readuntil(b"\r\n\r\n")).decode().lower())
        if len(heard) == 2:
            twice.set()
        body = b'<link rel="icon" href="data:,"><a href="/runs">again</a>'
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n" + body)
        await writer.drain()
        writer.close()

    await page.goto(f"{web.url}/open?key={TOKEN}")
    await page.goto(f"{web.pages}/runs")
    async with await asyncio.start_server(listen, "127.0.0.1", 0) as thief:
        theirs = f"http://127.0.0.1:{thief.sockets[0].getsockname()[1]}"
        await page.evaluate(f"location.assign('{theirs}/s/')")
        await page.get_by_role("link", name="again").wait_for()
        async with asyncio.timeout(PATIENCE):
            await page.get_by_role("link", name="again").click()
            await twice.wait()
    assert all("cookie" not in each and web.site.gate.root.lower() not in each for each in heard)
