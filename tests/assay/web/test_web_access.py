"""The pages for everybody: axe finds nothing serious, nothing is wider than a phone, and the keyboard is enough."""

from __future__ import annotations

from typing import Any

import pytest

from assay.demo import import_played
from llm_runtime.settings import config_dir
from llm_runtime.testing import LoopbackServer

from .conftest import TOKEN, Council

pytestmark = pytest.mark.browser
HEAVIEST = 150_000
"""Bytes of a page with its style and script, as they travel."""
_WEIGHT = (
    "['navigation', 'resource'].flatMap((kind) => performance.getEntriesByType(kind))"
    ".reduce((sum, entry) => sum + entry.transferSize, 0)"
)


@pytest.mark.parametrize("width", [1440, 390])
async def test_pages_are_light_fit_their_screen_and_can_be_read_by_everybody(
    page: Any, web: Any, council: Council, width: int
) -> None:
    axe = pytest.importorskip("axe_playwright_python.async_playwright", reason="axe is not installed")
    run_id, debate = await council(), import_played(web.store, "debate", "played-debate")
    await page.set_viewport_size({"width": width, "height": 844})
    await page.goto(f"{web.url}/open?key={TOKEN}")
    paths = ["/?text=Why%3F", f"/runs/{debate}", "/settings", "/runs", f"/runs/{run_id}"]
    for path in paths if width > 1000 else paths[:3]:
        await page.goto(web.pages + path)
        assert 0 < await page.evaluate(_WEIGHT) <= HEAVIEST, path
        assert await page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, path
        found = await axe.Axe().run(page)
        serious = [each for each in found.response["violations"] if each["impact"] in ("serious", "critical")]
        assert [(path, each["id"], each["nodes"][0]["target"]) for each in serious] == []


async def test_a_run_is_begun_from_the_box_by_keyboard_alone(page: Any, web: Any, models: LoopbackServer) -> None:
    config = config_dir() / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(f'model = "mine:tiny"\n[endpoints.mine]\nbase_url = "{models.url}/v1"\n')
    await page.goto(f"{web.url}/open?key={TOKEN}")
    await page.get_by_role("textbox", name="Your question").focus()
    await page.keyboard.type("Which database should a team of three run?")
    await page.get_by_text("suggested: it asks a question").wait_for()
    assert await page.locator("input[name=kind]:checked").count() == 0, "nothing is chosen silently"
    while not await page.evaluate("document.activeElement.name === 'kind'"):  # past the file and the examples
        await page.keyboard.press("Tab")
    await page.keyboard.press("Space")
    assert await page.locator("input[name=kind]:checked").get_attribute("value") == "crucible.council"
    while not await page.get_by_role("button", name="Start", exact=True).evaluate(
        "(it) => it === document.activeElement"
    ):
        await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await page.get_by_text("Use SQLite").first.wait_for()
    await page.get_by_label("What is this: Loops?").click()
    await page.get_by_text("answered again").wait_for()
