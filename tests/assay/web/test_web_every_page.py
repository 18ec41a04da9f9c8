"""Every page, wide and on a phone, by day and by night: read by everybody, by keyboard alone, and never heavy."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from starlette.routing import Match

from assay.web.forms import forms
from assay.web.routes import endpoints, routes
from docs.pages import Shown, every_page, fill
from llm_runtime.store import RunStore

from .conftest import TOKEN, Web, served

HEAVIEST = 150_000
"""Bytes of a page with its style and script, as they travel when it is first opened."""
_SENT = """["navigation", "resource"].flatMap((kind) => performance.getEntriesByType(kind))
  .reduce((sum, each) => sum + each.transferSize, 0)"""
_SERIOUS = """() => axe.run({ resultTypes: ["violations"] }).then((found) => found.violations
  .filter((each) => ["serious", "critical"].includes(each.impact))
  .flatMap(({ id, nodes }) => nodes.map((at) => `${id}: ${at.target} ${at.any.map((why) => why.message)}`)))"""
_TOO_WIDE = "document.documentElement.scrollWidth - innerWidth"
#: What somebody can act on, once for each group of radio buttons, which arrow keys go through; and what of it a
#: reader does not see that it has the focus.
_ACTIONS = """() => {
  const all = [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")];
  const can = (each) => each.checkVisibility({ visibilityProperty: true }) && !each.disabled && each.tabIndex >= 0;
  const key = (each) => (each.type === "radio" ? `radio ${each.name}` : all.indexOf(each));
  const words = (each) => each.outerHTML.slice(0, 120);
  window.left = new Map(all.filter(can).map((each) => [key(each), words(each)]));
  window.unseen = [];
  document.addEventListener("focusin", ({ target }) => {
    window.left.delete(key(target));
    const { outlineStyle, outlineWidth } = getComputedStyle(target);
    if (outlineStyle === "none" || !parseFloat(outlineWidth)) window.unseen.push(words(target));
  });
  return window.left.size;
}"""
_BY_KEYBOARD = ("start", "runs", "settings", "batch-cases", "new-crucible.council", "live", "council")


def test_no_page_is_missing_from_the_table() -> None:
    paths, router = [page.path for page in every_page().values()], routes()
    scopes = [{"type": "http", "method": "GET", "path": path.partition("?")[0]} for path in paths]
    found = {next((one.path for one in router if one.matches(scope)[0] is Match.FULL), "") for scope in scopes}
    pages = {one.path for one in endpoints() if one.method == "GET" and one.media == "text/html"}
    assert pages - found == {"/static/{name}", "/static/{protocol}/{name}"}
    assert {f"/new?kind={form.name}" for form in forms()} <= set(paths)


@pytest.fixture
async def full(store: RunStore, tmp_path: Path) -> AsyncIterator[Web]:
    """The application with something to see on each page."""
    async with served(store) as web:
        await fill(web.site, tmp_path)
        yield web
    store.close()


async def visit(page: Any, web: Web, shown: Shown) -> None:
    """Open a page as the table says; what the browser writes about a refusal that is meant is no fault."""
    people, web.site.gate.people = web.site.gate.people, web.site.gate.people if shown.several else None
    if not shown.outside and not page.url.startswith(web.pages):
        await page.goto(f"{web.url}/open?key={TOKEN}")
    await page.goto((web.url if shown.outside else web.pages) + shown.path)
    if shown.step:
        await shown.step(page)
    web.site.gate.people = people
    if shown.refused:
        page.said[:] = [line for line in page.said if "Failed to load resource" not in line]


@pytest.mark.browser
@pytest.mark.long
async def test_every_page_is_light_fits_its_window_and_can_be_read_by_everybody(page: Any, full: Web) -> None:
    axe = pytest.importorskip("axe_playwright_python.base", reason="axe is not installed")
    tools = await page.context.new_cdp_session(page)
    await tools.send("Network.enable")
    await tools.send("Network.setCacheDisabled", {"cacheDisabled": True})
    faults: list[str] = []
    for name, shown in every_page().items():
        await page.set_viewport_size({"width": 1440, "height": 900})
        await page.emulate_media(color_scheme="light")
        await visit(page, full, shown)
        if (sent := await page.evaluate(_SENT)) > HEAVIEST:
            faults.append(f"{name}: {sent} bytes travel")
        await page.evaluate(axe.AXE_SCRIPT)
        # Both widths and both schemes, in two passes: axe takes most of the time.
        for width, scheme in ((1440, "light"), (390, "dark")):
            await page.set_viewport_size({"width": width, "height": 900})
            await page.emulate_media(color_scheme=scheme)
            if (over := await page.evaluate(_TOO_WIDE)) > 0:
                faults.append(f"{name}, {width}: {over} pixels too wide")
            faults += [f"{name}, {width}, {scheme}: {each}" for each in (await page.evaluate(_SERIOUS))[:3]]
        faults += [f"{name}: {line}" for line in page.said]
        page.said.clear()
    await page.goto("about:blank")  # before the server goes away
    assert faults == []


@pytest.mark.browser
@pytest.mark.long
async def test_every_action_is_reached_seen_and_done_by_keyboard(page: Any, full: Web) -> None:
    pages = every_page()
    for name in _BY_KEYBOARD:
        await visit(page, full, pages[name])
        await page.locator("[data-looking]").wait_for(state="detached")  # the box is drawn anew until then
        many = await page.evaluate(_ACTIONS)
        for _ in range(many + 20):  # what scrolls takes the focus too
            await page.keyboard.press("Tab")
        assert (name, await page.evaluate("[...left.values()]"), await page.evaluate("unseen")) == (name, [], [])
    menu = page.locator("details.menu", has_text="Export")
    await menu.locator("summary").focus()
    await page.keyboard.press("Enter")
    await menu.get_by_role("link", name="Report, HTML").wait_for()
    await page.keyboard.press("Escape")
    await menu.get_by_role("link", name="Report, HTML").wait_for(state="hidden")
    await page.locator("details.explains summary").first.focus()
    await page.keyboard.press("Space")
    await page.locator("details.explains p").first.wait_for()
    await page.get_by_role("link", name="Timeline").focus()
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/timeline")
    await visit(page, full, pages["new-crucible.council"])
    await page.get_by_role("textbox", name="Question").fill("Which database?")
    await page.get_by_role("button", name="What will it take?").focus()
    await page.keyboard.press("Enter")
    await page.get_by_text("about").and_(page.get_by_role("status")).wait_for()
    await visit(page, full, pages["live"])
    await page.get_by_role("button", name="Stop").focus()
    async with page.expect_navigation():
        await page.keyboard.press("Space")
    await page.get_by_role("link", name="Resume").wait_for()
    await page.goto("about:blank")  # before the server goes away
