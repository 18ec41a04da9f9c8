"""The pages in a real browser: a run arrives, survives its server, and hostile words stay words."""

from __future__ import annotations

import asyncio
import importlib.util
import re
import signal
from pathlib import Path
from typing import Any

import pytest
from tests.extent import PATIENCE

from assay.demo import import_played
from llm_runtime.events import CallFinished, CallStarted, RunFinished, RunStarted
from llm_runtime.messages import CallLabel, Message, Reply, Request, Usage
from llm_runtime.testing import LoopbackServer, Received

from .conftest import TOKEN, Serve, council_answer

pytestmark = pytest.mark.browser

_spec = importlib.util.spec_from_file_location(
    "web_hostile_payloads", Path(__file__).parents[1] / "report" / "hostile_payloads.py"
)
assert _spec and _spec.loader
_module = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_module)
PAYLOADS: list[str] = _module.PAYLOADS


async def test_a_run_is_started_watched_outlives_its_server_and_is_resumed(page: Any, serve: Serve) -> None:
    held, asked = asyncio.Event(), asyncio.Event()

    async def answer(received: Received) -> str:
        if "you are member" not in received.messages[-1].content:
            return council_answer(received)
        asked.set()
        await held.wait()
        return council_answer(received)

    async with LoopbackServer(answer) as models:
        server, address = await serve(models)
        origin = address.partition("/open")[0]
        await page.goto(address)
        await page.get_by_role("link", name="New run").first.click()
        await page.get_by_role("textbox", name="Question").fill("Which database should a team of three run?")
        await page.get_by_role("button", name="Start").click()
        await page.get_by_role("region", name="What happens now").wait_for()
        await asked.wait()
        await page.get_by_text("calls in flight").wait_for()
        await page.get_by_role("heading", name="Loop 1").wait_for()
        run_id, before = page.url.rpartition("/")[2], len(models.requests)

        server.kill()
        await server.wait()
        await page.get_by_text("Connection lost").wait_for()
        page.said.clear()  # the browser itself reports the connection that was refused

        _, address = await serve(models, int(origin.rpartition(":")[2]))
        await page.get_by_text("does not know this browser").wait_for()
        page.said.clear()
        await page.goto(address)
        await page.get_by_role("link", name="Which database").click()
        await page.get_by_text("nobody works on it").wait_for()
        held.set()
        await page.get_by_role("link", name="Resume").click()
        await page.get_by_role("button", name="Resume").click()
        await page.get_by_text("Use SQLite").wait_for()
        await page.locator("#masthead[data-state=finished]").wait_for()
        assert page.url.endswith(run_id)
        # What was in flight, and what had not been asked.
    assert len(models.requests) - before <= 7


async def test_streaming_loses_nothing_that_a_person_opened_or_typed(page: Any, web: Any) -> None:
    log = web.store.start(RunStarted(run_id="w-1", protocol="weather", title="Rain?", task={}, settings={}, seed=1))

    def call(number: int) -> None:
        request = Request("m", (Message("user", f"question {number}"),), CallLabel("weather", "ask", f"{number}:frog"))
        started = CallStarted.of(request, {}, lambda *_: False)
        log.emit(started)
        log.emit(CallFinished.of(started, Reply(f"answer {number}", "m", "p", Usage(3, 1), cost=5)))

    call(1)
    await page.goto(f"{web.url}/open?key={web.site.gate.key}")
    await page.goto(f"{web.pages}/runs/w-1/timeline")
    await page.locator("summary.line").first.click()
    await page.get_by_text("question 1").wait_for()
    for number in range(2, 12):
        call(number)
    await page.get_by_text("11 · frog").wait_for()
    assert await page.get_by_text("question 1", exact=True).is_visible()
    assert await page.locator(".call[open]").count() == 1
    log.emit(RunFinished(state="finished"))
    log.close()
    await page.locator("#masthead[data-state=finished]").wait_for()
    assert await page.get_by_text("question 1", exact=True).is_visible()


_SHIFTS = """() => {
  window.shifted = 0;
  new PerformanceObserver((list) => {
    for (const each of list.getEntries()) if (!each.hadRecentInput) window.shifted += each.value;
  }).observe({ type: "layout-shift", buffered: true });
}"""


@pytest.mark.parametrize("width", [390, 1280])
async def test_nothing_jumps_while_a_debate_arrives(page: Any, web: Any, width: int) -> None:
    recorded = import_played(web.store, "debate", "played-debate")
    first, *rest = (event for _, event in web.store.events(recorded))
    log = web.store.start(first.model_copy(update={"run_id": "d-1"}))
    await page.set_viewport_size({"width": width, "height": 844})
    await page.goto(f"{web.url}/open?key={web.site.gate.key}")
    await page.goto(f"{web.pages}/runs/d-1")
    await page.evaluate(_SHIFTS)
    for event in rest:
        log.emit(event)
        await page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
    log.close()
    await page.locator("#masthead[data-state=finished]").wait_for()
    assert await page.evaluate("window.shifted") < 0.1


async def test_a_person_answers_on_the_page(page: Any, serve: Serve) -> None:
    from playwright.async_api import expect

    async with LoopbackServer(council_answer) as models:
        _, address = await serve(models)
        await page.goto(address)
        await page.goto(f"{page.url}new")
        await page.get_by_role("textbox", name="Question").fill("Which database?")
        await page.locator(".advanced > summary").click()
        await page.get_by_label("Red team").fill("terminal:")
        await page.get_by_role("button", name="Start").click()
        for doubt in ("Who restarts it by night?", "December has five times as many orders."):
            field = page.locator("[name='field-objections.0.fails']")
            await field.wait_for()
            await expect(page).to_have_title(re.compile("^Your turn"))
            await page.locator("[name='field-objections.0.claim']").fill("P1")
            await field.fill(doubt)
            await page.get_by_role("button", name="Answer").click()
        await page.locator("#masthead[data-state=finished]").wait_for()
        assert await page.get_by_text("December has five times").count()


async def test_the_keyboard_reaches_everything(page: Any, web: Any, council: Any) -> None:
    await council("a", query="The first question")
    await council("b", query="The second question")
    await page.goto(f"{web.url}/open?key={web.site.gate.key}")
    await page.keyboard.press("j")
    await page.keyboard.press("j")
    assert await page.evaluate("document.activeElement.textContent") == "The first question"
    await page.keyboard.press("k")
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/runs/b")
    await page.keyboard.press("Control+k")
    await page.get_by_label("Go to", exact=True).fill("timeline")
    await page.locator("#palette .chosen", has_text="Timeline").wait_for()
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/runs/b/timeline")
    await page.keyboard.press("Control+k")
    await page.get_by_label("Go to", exact=True).fill("first")
    await page.locator("#palette .chosen", has_text="first").wait_for()
    await page.keyboard.press("Escape")
    await page.locator("#palette").wait_for(state="detached")


async def test_runs_are_chosen_by_keyboard_and_a_view_is_kept_by_a_name(page: Any, web: Any) -> None:
    from playwright.async_api import expect

    for number in range(5):
        title = f"Rain {number}"
        log = web.store.start(RunStarted(run_id=f"r-{number}", protocol="w", title=title, task={}, settings={}, seed=1))
        log.emit(RunFinished(state="finished"))
        log.close()
    await page.goto(f"{web.url}/open?key={TOKEN}")
    await page.goto(f"{web.pages}/runs?search=rain")
    await expect(page.locator("#many")).to_have_text("5 found")
    await expect(page.get_by_role("button", name="Export logs")).to_be_disabled()
    for key in ("j", "x", "j", "j", "Shift+X"):
        await page.keyboard.press(key)
    await expect(page.locator("#ticked")).to_have_text("3 chosen")
    await page.get_by_label("Tags to put on").fill("wet")
    await page.get_by_role("button", name="Tag", exact=True).click()
    await expect(page.locator("#list a.tag")).to_have_count(3)
    await page.locator("#list a.tag").first.click()
    await page.locator("#views summary").click()
    await page.get_by_label("A name for this view").fill("wet ones")
    await page.keyboard.press("Enter")
    await page.get_by_role("link", name="wet ones").wait_for()
    await page.goto(f"{web.pages}/runs")
    await page.keyboard.press("Control+k")
    await page.get_by_label("Go to", exact=True).fill("wet ones")
    await page.locator("#palette .chosen", has_text="wet ones").wait_for()
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/runs?tag=wet")
    await page.locator("#every").check()
    await page.locator("summary", has_text="Delete").click()
    await page.get_by_role("button", name="Delete what is chosen").click()
    await page.get_by_text("No run fits").wait_for()
    assert [run.run_id for run in web.store.runs()] == ["r-1", "r-0"]
    await page.goto("about:blank")  # before the server goes away


async def test_a_hostile_transcript_runs_no_script_and_makes_no_request(page: Any, web: Any, council: Any) -> None:
    everything = "\n\n".join(PAYLOADS).encode(errors="replace").decode()
    for index, text in enumerate(("position", "critique", "synthesis")):
        await council(f"evil-{index}", PAYLOADS[index] + everything[:300], "prose", **{text: everything})
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    await page.goto(f"{web.url}/open?key={web.site.gate.key}")
    views = ("", "/timeline", "/events", "/fork", "/calls/2", "/events/2")
    paths = [f"/runs/evil-{index}{view}" for index in range(3) for view in views]
    for path in [*paths, "/runs", "/compare?run=evil-0&run=evil-2"]:
        await page.goto(web.pages + path)
        title = await page.title()
        assert title.endswith("Assay") and not title.startswith("RAN")
        await page.keyboard.press("e")
        for opened in (await page.locator(".call > summary").all())[:4]:
            await opened.click()
        assert await page.evaluate("document.querySelectorAll('script').length") == 1
    assert all(url.startswith(web.url + "/") or url == "data:," for url in asked)


async def test_a_picture_is_saved_as_png(page: Any, web: Any, council: Any, tmp_path: Path) -> None:
    await council("a")
    await page.goto(f"{web.url}/open?key={web.site.gate.key}")
    await page.goto(f"{web.pages}/runs/a/timeline")
    async with page.expect_download() as download:
        await page.get_by_role("button", name="PNG").first.click()
    await (await download.value).save_as(tmp_path / "a.png")
    raw = (tmp_path / "a.png").read_bytes()
    assert raw.startswith(b"\x89PNG") and int.from_bytes(raw[16:20]) == 2 * 880


@pytest.mark.parametrize("width", [390, 1280])
async def test_no_page_is_wider_than_its_screen(page: Any, web: Any, council: Any, width: int) -> None:
    await council(
        "a",
        query="W" * 200,
        form="prose",
        position="x" * 3000,
        synthesis="| a | b |\n|---|---|\n| " + "y" * 900 + " | z |",
    )
    await page.set_viewport_size({"width": width, "height": 844})
    await page.goto(f"{web.url}/open?key={web.site.gate.key}")
    for path in (
        "/runs",
        "/new",
        "/runs/a",
        "/runs/a/timeline",
        "/runs/a/events",
        "/compare?run=a&run=a",
        "/runs/a/fork",
        f"/runs/{import_played(web.store, 'trial', 'played-trial')}",
    ):
        await page.goto(web.pages + path)
        await page.keyboard.press("e")
        assert await page.evaluate("document.documentElement.scrollWidth") <= width, path


@pytest.mark.parametrize("width", [900, 1280])
async def test_a_title_beside_a_long_fault_and_charts_side_by_side_are_not_cut(page: Any, web: Any, width: int) -> None:
    log = web.store.start(RunStarted(run_id="f-1", protocol="w", title="Will it rain?", task={}, settings={}, seed=1))
    log.emit(RunFinished(state="failed", error="it broke " + "again and " * 60))
    log.close()
    played = import_played(web.store, "trial", "played-trial")
    await page.set_viewport_size({"width": width, "height": 844})
    await page.goto(f"{web.url}/open?key={web.site.gate.key}")
    await page.goto(f"{web.pages}/runs/f-1")
    assert (await page.locator("#masthead h1").bounding_box())["width"] > 100
    assert await page.evaluate("document.documentElement.scrollWidth") <= width
    await page.goto(f"{web.pages}/compare?run={played}&run={played}")
    cut = """[...document.querySelectorAll(".twice svg text")].filter((text) => text.checkVisibility() &&
        text.getBoundingClientRect().right > text.closest(".pair > *").getBoundingClientRect().right + 1)"""
    assert (
        await page.locator(".pair .twice").count()
        and await page.evaluate(f"{cut}.map((text) => text.textContent)") == []
    )


async def test_a_server_that_is_told_to_end_does_so_although_pages_are_open(page: Any, serve: Serve) -> None:
    async with LoopbackServer(council_answer) as models:
        server, address = await serve(models)
        await page.goto(address)
        await page.goto(f"{page.url}new")
        await page.get_by_role("textbox", name="Question").fill("Which database?")
        await page.locator(".advanced > summary").click()
        await page.get_by_label("Model", exact=True).fill("terminal:")
        await page.get_by_role("button", name="Start").click()
        await page.locator("form.ask").first.wait_for()
        server.send_signal(signal.SIGTERM)
        async with asyncio.timeout(PATIENCE):
            await server.wait()
        page.said.clear()


async def test_an_interview_is_answered_in_the_browser(
    web: Any, page: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("msgpack", reason="the code extra is not installed")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    await page.goto(f"{web.url}/open?key={TOKEN}")
    await page.get_by_role("link", name="Start your own").nth(3).click()
    await page.get_by_label("Project").fill("kitty")
    await page.locator(".advanced > summary").click()
    await page.get_by_label("Folder").fill(str(tmp_path / "kitty"))
    await page.get_by_label("Model", exact=True).fill("terminal:")
    await page.get_by_role("button", name="Start").click()
    for place in range(4):
        await page.locator(".ask").get_by_text("?").first.wait_for()
        asked = await page.locator(".question").inner_text()
        await page.get_by_placeholder("Your answer").fill(f"Answer {place}.")
        await page.get_by_role("button", name="Answer", exact=True).click()
        await page.locator(".question", has_not_text=asked.split("\n")[0]).first.wait_for()
    await page.locator("section", has_text="The interview").get_by_text("Answer 3.").wait_for()
    await page.get_by_role("button", name="Stop").click()
    await page.get_by_role("link", name="Resume").wait_for()
