"""Photographs every page of the web application, from the recordings that come with Assay.

``python -m docs.screenshots`` writes all of them to out/screenshots/, wide and on a phone, light and dark, and the
few that the documentation shows to docs/images/. Needs the extra ``web``, playwright and Debian's chromium; what
needs other extras to be played is shown from its kept log. No model is asked.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import uvicorn
from playwright.async_api import Browser, Page, async_playwright

from assay.demo import demo_answers, demos, has_log, import_played
from assay.web.app import application
from assay.web.app_state import AppState
from assay.web.guard import Gate
from llm_runtime.settings import Settings
from llm_runtime.store import open_store

SHOWN = Path(__file__).with_name("images")
ALL = Path(__file__).parents[1] / "out" / "screenshots"
TOKEN = "a-token-for-pictures"
KINDS: dict[str, dict[str, Any]] = {
    "wide": {"viewport": {"width": 1280, "height": 860}},
    "wide-dark": {"viewport": {"width": 1280, "height": 860}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}},
    "phone-dark": {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"},
}
README = {"start": "web-start", "crux": "web-debate", "criticality": "web-build"}
"""Pages whose wide, light picture is committed, and under which name."""

Step = Callable[[Page], Awaitable[object]]


@asynccontextmanager
async def served(folder: Path) -> AsyncGenerator[tuple[str, AppState]]:
    """The application over a store in ``folder``."""
    site = AppState(open_store(folder / "runs.db"), Gate(token=TOKEN), Settings)
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(application(site), log_level="warning", timeout_graceful_shutdown=1))
    task = asyncio.create_task(server.serve([listener]))
    yield f"http://127.0.0.1:{listener.getsockname()[1]}", site
    site.end_streams()
    server.should_exit = True
    await task
    site.store.close()


async def played(site: AppState) -> dict[str, str]:
    """A finished run of each recording, by protocol, and a second council under ``again``."""
    runs: dict[str, str] = {}
    for name, (protocol, _) in demos().items():
        if has_log(name):
            runs[protocol.name] = import_played(site.store, name, f"recording-{name}")
            continue
        run_id = runs[protocol.name] = await site.runs.play(name, 0)
        watch = site.hub.watch(run_id)
        while site.runs.owns(run_id):
            await watch.changed(watch.version, 0.1)
    runs["again"] = await site.runs.play("council", 0)
    return runs


def addresses(runs: dict[str, str]) -> dict[str, tuple[str, Step | None]]:
    """Every page by the name of its picture: its address, and what to do before it is taken."""

    async def open_call(page: Page) -> None:
        await page.locator("summary.line").nth(1).click()
        await page.locator(".texts").first.wait_for()
        await page.locator(".call[open]").scroll_into_view_if_needed()

    async def summon(page: Page) -> None:
        await page.keyboard.press("Control+k")
        await page.locator("#palette .chosen").wait_for()

    async def play(page: Page) -> None:
        button = page.locator("#guide-council form button")
        while not await button.count():
            # The recording that the picture before began is still on.
            await page.wait_for_timeout(1_000)
            await page.reload()
        await button.click()
        await page.get_by_role("heading", name="Loop 1").wait_for()

    council = runs["crucible"]
    found: dict[str, tuple[str, Step | None]] = {
        "start": ("/", None),
        "runs": ("/runs", None),
        "batches": ("/batches", None),
        "personas": ("/personas", None),
        "settings": ("/settings", None),
        "persona": (f"/personas/{demo_answers('debate').manifest['personas'][0]}", None),
        "compare": (f"/compare?run={council}&run={runs['again']}", None),
        "go-to": (f"/runs/{council}", summon),
        "call": (f"/runs/{council}/timeline", open_call),
        "live": ("/", play),
    }
    for protocol, _ in demos().values():
        found[f"new-{protocol.name}"] = (f"/new?kind={protocol.runs[0].name}", None)
        for view in ("", "/timeline", "/events"):
            found[f"{protocol.name}{view.replace('/', '-')}"] = (f"/runs/{runs[protocol.name]}{view}", None)
    return found


async def pictures(browser: Browser, url: str, pages: dict[str, tuple[str, Step | None]], folder: Path) -> None:
    """Every page in every kind; one that scrolls sideways is said."""
    for kind, options in KINDS.items():
        context = await browser.new_context(**options)
        page = await context.new_page()
        await page.goto(f"{url}/open?key={TOKEN}")
        root = page.url.removeprefix(url).rstrip("/")
        for name, (path, step) in pages.items():
            await page.goto(url + root + path)
            await page.wait_for_timeout(400)
            if step:
                await step(page)
                await page.wait_for_timeout(200)
            if (over := await page.evaluate("document.documentElement.scrollWidth - innerWidth")) > 0:
                sys.stderr.write(f"{name}, {kind}: {over} pixels too wide\n")
            await page.screenshot(path=folder / f"{name}-{kind}.png")
        await context.close()


async def main(folder: Path) -> None:
    """Play, serve, photograph."""
    with tempfile.TemporaryDirectory() as data:
        os.environ |= {"XDG_DATA_HOME": f"{data}/data", "XDG_CONFIG_HOME": f"{data}/config"}
        async with served(Path(data)) as (url, site), async_playwright() as driver:
            pages = addresses(await played(site))
            flags = ["--no-sandbox"] if os.geteuid() == 0 else []
            browser = await driver.chromium.launch(executable_path=shutil.which("chromium"), args=flags)
            try:
                await pictures(browser, url, pages, folder)
            finally:
                await browser.close()
    for name, shown in README.items():
        shutil.copyfile(folder / f"{name}-wide.png", SHOWN / f"{shown}.png")


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ALL
    target.mkdir(parents=True, exist_ok=True)
    asyncio.run(main(target))
