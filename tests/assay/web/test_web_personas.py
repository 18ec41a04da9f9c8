"""The persona library on its pages and in the API: import, build as a run, and what is refused."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.extent import PATIENCE

ESSAY = "# On queues\n\nA queue that nobody may jump is the last fair thing in a city. I have waited in many.\n"


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_PEOPLE", str(tmp_path / "people"))


async def test_texts_are_imported_listed_and_wait_to_be_built(web: Any) -> None:
    code, told = await web.post("/api/personas", name="Ada <b>Queue</b>", text=ESSAY)
    assert code == 400, "a name is letters"
    code, told = await web.post("/api/personas", name="Ada Queue", text=ESSAY)
    assert code == 201 and (told["id"], told["texts"]) == ("ada-queue", 1)
    found = (await web.json("/personas"))["personas"]
    assert [person["state"] for person in found] == ["not built", "comes with Assay", "comes with Assay"]
    _, page = await web.get("/personas/ada-queue")
    assert "Ada Queue" in page and "Build it" in page and "Let it debate" not in page
    _, shipped = await web.get("/personas/maud-tarrowby")
    assert "What would change this mind" in shipped and "Let it debate" in shipped


async def test_a_folder_is_imported_by_its_place(web: Any, tmp_path: Path) -> None:
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    (shelf / "one.md").write_text(ESSAY, encoding="utf-8")
    code, told = await web.post("/personas", name="Ada Queue", path=str(shelf))
    assert code == 201 and told["texts"] == 1


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"name": "Ada"}, "one of the two"),
        ({"name": "Ada", "text": ESSAY, "path": "/"}, "one of the two"),
        ({"name": "Ada", "path": "essays"}, "in full"),
        ({"name": "Ada", "path": "/nowhere/at/all"}, "no such file"),
        ({"text": ESSAY}, "whose they are"),
    ],
)
async def test_what_cannot_be_imported_is_refused_in_words(web: Any, said: dict[str, Any], why: str) -> None:
    code, told = await web.post("/personas", **said)
    assert code == 400 and why in told["message"], told


async def test_a_build_is_a_run_that_can_be_stopped(web: Any) -> None:
    pytest.importorskip("bm25s", reason="the extra debate is not installed")
    await web.post("/api/personas", name="Ada Queue", text=ESSAY)
    code, told = await web.post("/api/personas/ada-queue/build", model="terminal:")
    assert code == 201, told
    run_id = told["run_id"]
    watch = web.site.hub.watch(run_id)
    async with asyncio.timeout(PATIENCE):
        while not (await web.json(f"/runs/{run_id}/asks"))["asks"]:
            await watch.changed(watch.version, 0.1)
    _, page = await web.get(f"/runs/{run_id}")
    assert "What is being built" in page and "Your turn" in page
    await web.post(f"/runs/{run_id}/stop")
    assert web.store.summary(run_id).state == "stopped"


async def test_nobody_and_whoever_comes_with_assay_are_not_built(web: Any) -> None:
    code, _ = await web.post("/api/personas/nobody/build", model="terminal:")
    assert code == 404
    code, told = await web.post("/api/personas/maud-tarrowby/build", model="terminal:")
    assert code == 400 and "comes with Assay" in told["message"]
