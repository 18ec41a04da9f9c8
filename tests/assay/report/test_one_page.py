"""A report on paper is at most three pages, all of it on request; its charts lose no label on a phone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the web extra is not installed")
from tests.assay.web.conftest import TOKEN, page, serve, served

from assay.demo import demos, has_log, import_played, prepare_demo
from assay.launch import Launcher
from llm_runtime.settings import Settings
from llm_runtime.store import RunStore, open_store

__all__ = ["page", "serve"]
pytestmark = pytest.mark.browser
_CUT = """[...document.querySelectorAll(".twice svg text")].filter((text) => text.checkVisibility())
  .filter((text) => text.getBoundingClientRect().right > innerWidth).map((text) => text.textContent)"""

_TOUCHING = """[...document.querySelectorAll(".wide .number + :not(.number)")]
  .filter((cell) => parseFloat(getComputedStyle(cell).paddingLeft) < 4).map((cell) => cell.textContent)"""


async def recorded(store: RunStore, name: str) -> None:
    """Put the run of a recording into a store."""
    if has_log(name):
        import_played(store, name, name)
        return
    demo = prepare_demo(name, Path(), 0)
    running = await Launcher(store, Settings).start(
        demo.run, seed=demo.seed, title=demo.title, run_id=name, origin="demo", model=demo.model
    )
    await running.outcome()


def pages(pdf: bytes) -> int:
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


@pytest.mark.parametrize("name", ["council", "circle", "trial", "build", "debate"])
async def test_a_report_is_printed_on_three_pages_and_whole_on_request(page: Any, tmp_path: Path, name: str) -> None:
    assert set(demos()) == {"council", "circle", "trial", "build", "debate"}
    store = open_store(tmp_path / "runs.db")
    await recorded(store, name)
    async with served(store) as web:
        _, html = await web.get(f"/runs/{name}/export.html")
        assert "answers were written by hand" in html.partition("<main")[0], "its head says where answers come from"
        await page.set_content(html)
        assert await page.evaluate(_TOUCHING) == [], "words stand apart from the number before them"
        brief = pages(await page.pdf(format="A4"))
        await page.get_by_label("Print all of it").check()
        whole = pages(await page.pdf(format="A4"))
        assert brief <= 3 < whole
        await page.goto(f"{web.url}/open?key={TOKEN}")
        await page.set_viewport_size({"width": 390, "height": 900})
        await page.goto(f"{web.pages}/runs/{name}")
        assert await page.evaluate(_CUT) == []
        drawn = await page.locator(".twice svg").count()
        assert drawn or name not in ("council", "trial"), "the picture is there"
        await page.goto("about:blank")  # before the server goes away
    store.close()
