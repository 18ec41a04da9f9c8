"""Makes the pictures of the web application in docs/images/, from the recording that comes with Assay.

``python -m docs.screenshots [FOLDER]``; needs the extra ``web``, playwright and Debian's chromium. No model is
asked: the council's answers are those of the demo, which were written by hand.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import uvicorn
from playwright.async_api import Browser, Page, async_playwright

from assay import __version__, demo, execution
from assay.web.app import application
from assay.web.guard import Gate
from assay.web.site import Site
from llm_runtime.events import CallFinished, RunStarted
from llm_runtime.messages import Generate, Reply, Request
from llm_runtime.settings import Settings
from llm_runtime.store import open_store

HERE = Path(__file__).with_name("images")
DESK = {"viewport": {"width": 1280, "height": 860}}
DARK = {**DESK, "color_scheme": "dark"}
PHONE = {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2}
FINISHED, LIVE, ASKING = "council-finished", "council-live", "council-asking"

Step = Callable[[Page], Awaitable[object]]


@asynccontextmanager
async def served(folder: Path) -> AsyncIterator[tuple[str, Site]]:
    """The application over a store in ``folder``."""
    site = Site(open_store(folder / "runs.db"), Gate(token="a-token-for-pictures"), Settings)
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(application(site), log_level="warning", timeout_graceful_shutdown=1))
    task = asyncio.create_task(server.serve([listener]))
    yield f"http://127.0.0.1:{listener.getsockname()[1]}", site
    site.end_streams()
    server.should_exit = True
    await task
    site.store.close()


async def play(site: Site, run_id: str, model: Generate, until: int | None = None) -> asyncio.Task[Any]:
    """Play the council's recording; returns once ``until`` answers have come, or all."""
    manifest = demo.load("council").manifest
    started = RunStarted(
        run_id=run_id,
        protocol="crucible",
        title=manifest["title"],
        task={"query": manifest["question"]},
        settings={"engine": {"delta": "judge"}},
        seed=manifest["settings"]["seed"],
        origin="demo",
        version=__version__,
    )
    reached, answers = asyncio.Event(), 0

    def count(event: object) -> None:
        nonlocal answers
        answers += isinstance(event, CallFinished)
        if answers == until:
            reached.set()

    run = execution.start(started, site.store, Settings(), sinks=[count], model=model)
    task = asyncio.create_task(run)
    if until is None:
        await task
    else:
        await reached.wait()
    return task


def with_a_person(site: Site, run_id: str) -> Generate:
    """The recording, with a person in the red team's seat."""
    recorded, person = demo.load("council").model(0), site.desk.person(run_id)

    async def generate(request: Request) -> Reply:
        return await (person if request.label.phase == "critique" else recorded)(request)

    return generate


async def pictures(browser: Browser, url: str, folder: Path) -> None:
    """Every page, wide, dark and on a phone."""

    async def open_call(page: Page) -> None:
        await page.locator("summary.line").nth(1).click()
        await page.locator(".texts").first.wait_for()
        await page.locator(".call[open]").scroll_into_view_if_needed()

    async def summon(page: Page) -> None:
        await page.keyboard.press("Control+k")
        await page.locator("#palette .chosen").wait_for()

    async def fill(page: Page) -> None:
        await page.get_by_label("Question").fill(demo.load("council").manifest["question"])

    async def ask(page: Page) -> None:
        await page.locator(".ask").scroll_into_view_if_needed()

    pages: list[tuple[str, str, Step | None, dict[str, Any]]] = [
        ("web-runs", "/runs", None, DESK),
        ("web-live", f"/runs/{LIVE}", None, DESK),
        ("web-run", f"/runs/{FINISHED}", None, DESK),
        ("web-run-dark", f"/runs/{FINISHED}", None, DARK),
        ("web-run-phone", f"/runs/{FINISHED}", None, PHONE),
        ("web-live-phone", f"/runs/{LIVE}", None, PHONE),
        ("web-timeline", f"/runs/{LIVE}/timeline", None, DESK),
        ("web-call", f"/runs/{FINISHED}/timeline", open_call, DESK),
        ("web-events", f"/runs/{FINISHED}/events", None, DESK),
        ("web-your-turn", f"/runs/{ASKING}", ask, DESK),
        ("web-new", "/new", fill, DESK),
        ("web-compare", f"/compare?run={FINISHED}&run={LIVE}", None, DESK),
        ("web-go-to", f"/runs/{FINISHED}", summon, DARK),
    ]
    for name, path, step, kind in pages:
        context = await browser.new_context(**kind)
        page = await context.new_page()
        await page.goto(f"{url}/open?key=a-token-for-pictures")
        await page.goto(url + path)
        await page.wait_for_timeout(1_200)
        if step:
            await step(page)
            await page.wait_for_timeout(300)
        await page.screenshot(path=folder / f"{name}.png")
        await context.close()


async def main(folder: Path) -> None:
    """Play, serve, photograph."""
    recorded = demo.load("council")
    with tempfile.TemporaryDirectory() as data:
        async with served(Path(data)) as (url, site), async_playwright() as driver:
            await play(site, FINISHED, recorded.model(4))
            going = [
                await play(site, ASKING, with_a_person(site, ASKING), until=4),
                await play(site, LIVE, recorded.model(0.15), until=3),
            ]
            flags = ["--no-sandbox"] if os.geteuid() == 0 else []
            browser = await driver.chromium.launch(executable_path=shutil.which("chromium"), args=flags)
            try:
                await pictures(browser, url, folder)
            finally:
                await browser.close()
                for task in going:
                    task.cancel()
                await asyncio.gather(*going, return_exceptions=True)


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE
    target.mkdir(parents=True, exist_ok=True)
    asyncio.run(main(target))
