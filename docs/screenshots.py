"""Photographs every page of the web application, with what docs/pages.py puts on them.

``python -m docs.screenshots`` writes all of them to out/screenshots/, wide and on a phone, light and dark; to
docs/images/pages/ each one small, by day on a desk and by night on a phone, which docs/pages.md shows; and to
docs/images/ the few of the README. Needs the extra ``web``, playwright and Debian's chromium. No model is asked.
"""

from __future__ import annotations

import asyncio
import base64
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import uvicorn
from playwright.async_api import Browser, async_playwright

from assay.web.app_state import AppState
from assay.web.guard import Gate
from assay.web.serving import application
from docs.pages import every_page, fill
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
KEPT = {"wide": 800, "phone-dark": 390}
"""Kinds that are committed of every page, and how many pixels wide."""
_SHRUNK = """async ([png, width]) => {
  const image = new Image();
  image.src = `data:image/png;base64,${png}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width, (image.height * width) / image.width];
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL("image/webp", 0.5).split(",")[1];
}"""
README = {"start": "web-start", "debate": "web-debate", "build": "web-build"}
"""Pages whose wide, light picture is committed, and under which name."""


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


async def pictures(browser: Browser, url: str, site: AppState, folder: Path) -> None:
    """Every page in every kind; one that scrolls sideways is said."""
    people = site.gate.people
    for kind, options in KINDS.items():
        known, unknown = await browser.new_context(**options), await browser.new_context(**options)
        site.gate.people = None
        page = await known.new_page()
        await page.goto(f"{url}/open?key={TOKEN}")
        root = page.url.rstrip("/")
        await page.close()
        for name, shown in every_page().items():
            site.gate.people = people if shown.several else None
            page = await (unknown if shown.outside else known).new_page()
            await page.goto((url if shown.outside else root) + shown.path)
            if shown.step:
                await shown.step(page)
            await page.wait_for_timeout(300)
            if (over := await page.evaluate("document.documentElement.scrollWidth - innerWidth")) > 0:
                sys.stderr.write(f"{name}, {kind}: {over} pixels too wide\n")
            await page.screenshot(path=folder / f"{name}-{kind}.png")
            await page.close()
        await known.close()
        await unknown.close()


async def keep(browser: Browser, folder: Path) -> None:
    """Write small copies of the pictures that docs/pages.md shows, and the page."""
    page = await browser.new_page()
    for kind, width in KEPT.items():
        for name in every_page():
            picture = base64.b64encode((folder / f"{name}-{kind}.png").read_bytes()).decode()
            small = base64.b64decode(await page.evaluate(_SHRUNK, [picture, width]))
            (SHOWN / "pages" / f"{name}-{kind}.webp").write_bytes(small)
    Path(__file__).with_name("pages.md").write_text(album(), encoding="utf-8")


def album() -> str:
    """Return docs/pages.md."""
    text = "# Every page\n\nMade by `make screenshots`: by day on a desk, by night on a phone.\n"
    for name, shown in every_page().items():
        text += f"\n## {name}\n\n`{shown.path}`\n\n"
        text += "\n".join(f"![{name}, {kind}](images/pages/{name}-{kind}.webp)" for kind in KEPT) + "\n"
    return text


async def main(folder: Path) -> None:
    """Play, serve, photograph."""
    with tempfile.TemporaryDirectory() as data:
        os.environ |= {"XDG_DATA_HOME": f"{data}/data", "XDG_CONFIG_HOME": f"{data}/config"}
        async with served(Path(data)) as (url, site), async_playwright() as driver:
            await fill(site, Path(data))
            flags = ["--no-sandbox"] if os.geteuid() == 0 else []
            browser = await driver.chromium.launch(executable_path=shutil.which("chromium"), args=flags)
            try:
                await pictures(browser, url, site, folder)
                await keep(browser, folder)
            finally:
                await browser.close()
    for name, shown in README.items():
        shutil.copyfile(folder / f"{name}-wide.png", SHOWN / f"{shown}.png")


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ALL
    for place in (target, SHOWN / "pages"):
        place.mkdir(parents=True, exist_ok=True)
    asyncio.run(main(target))
