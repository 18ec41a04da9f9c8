"""A build from the pages: the interview happens there, a stop loses nothing, and the page says where it stands."""

from __future__ import annotations

import asyncio
import io
import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest
from tests.extent import PATIENCE
from tests.lazily import needs

from assay.protocols.criticality.seat_human import SeatHuman
from assay.web.asking import Ask, asking
from criticality import Reply as Answered
from llm_runtime.events import RunFinished, RunStarted
from llm_runtime.messages import Reply, Request, Usage

needs("msgpack", reason="the code extra is not installed")


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


async def asked(web: Any, run_id: str, beyond: str = "") -> dict[str, Any]:
    """The open question of a run, once there is one that is not ``beyond``."""
    watch = web.site.hub.watch(run_id)
    async with asyncio.timeout(PATIENCE):
        while True:
            version = watch.version
            asks = (await web.json(f"/runs/{run_id}/asks"))["asks"]
            if asks and asks[0]["name"] != beyond:
                return asks[0]
            assert web.store.summary(run_id).state == "running", web.store.summary(run_id)
            await watch.changed(version, 0.2)


async def start(web: Any, tmp_path: Path, **said: Any) -> str:
    code, told = await web.post(
        "/runs", protocol="criticality", name="kitty", folder=str(tmp_path / "kitty"), model="terminal:", **said
    )
    assert code == 201, told
    return told["run_id"]


async def test_an_interview_on_the_page_goes_on_after_a_stop(web: Any, tmp_path: Path) -> None:
    run_id = await start(web, tmp_path)
    first = await asked(web, run_id)
    assert "What problem does the system solve" in first["messages"][0][1]
    _, page = await web.get(f"/runs/{run_id}")
    assert "Where it stands" in page and "Ignition, interview" in page and 'placeholder="Your answer' in page
    await web.post(f"/runs/{run_id}/answers", name=first["name"], text="Nobody knows who owes whom.")
    second = await asked(web, run_id, first["name"])
    assert "How will you know" in second["messages"][0][1]
    code, _ = await web.post(f"/runs/{run_id}/stop")
    assert code == 200 and (tmp_path / "kitty" / ".criticality" / "events.jsonl").is_file()
    code, told = await web.post(f"/runs/{run_id}/resume")
    assert code == 201, told
    again = await asked(web, run_id)
    assert again["messages"] == second["messages"]
    story = (await web.json(f"/runs/{run_id}"))["story"]
    interview = next(section for section in story["sections"] if section["heading"] == "The interview")
    assert [block["text"] for block in interview["blocks"]] == ["Nobody knows who owes whom."]
    await web.post(f"/runs/{run_id}/stop")


async def test_what_the_answers_hold_is_not_asked(web: Any, tmp_path: Path) -> None:
    given = dict.fromkeys(("problem_users", "success_criteria", "core_features", "language_platform"), "Said.")
    given |= dict.fromkeys(("integrations", "performance", "security", "compliance"), "None.")
    answers = "[answers]\n" + "\n".join(f'{name} = "{text}"' for name, text in given.items())
    run_id = await start(web, tmp_path, answers=answers)
    architect = await asked(web, run_id)
    assert architect["title"].startswith("ignition · architect")
    features = {"features": [{"name": "balances", "classification": "core", "question": "Is it core?"}]}
    await web.post(f"/runs/{run_id}/answers", name=architect["name"], text=json.dumps(features))
    left = await asked(web, run_id, architect["name"])
    assert "How should errors be handled?" in left["messages"][0][1], "all before it was in the answers"
    await web.post(f"/runs/{run_id}/stop")


async def test_a_choice_is_buttons_and_a_form_is_fields() -> None:
    shown: list[str] = []

    async def seat(request: Request) -> Reply:
        ask = Ask("q1", "interview", (("user", request.messages[0].content),), request.schema or "")
        shown.append(asking("run-1", (ask,)))
        text = "core" if len(shown) == 1 else json.dumps({"choice": "delegate", "notes": "Keep it small."})
        return Reply(text, "terminal", "terminal", Usage(0, 0))

    person = SeatHuman(seat, None, place=lambda: 3)
    assert await person.answer("feature:x", "Is it core?", ("core", "bolt-on")) == Answered(text="core")
    assert '<button name="text" value="bolt-on">' in shown[0] and "<textarea" not in shown[0]
    left = await person.answer("delegation:constraints", "Go on?", ("continue", "delegate", "delegate with notes"))
    assert left == Answered(text="Keep it small.", delegate=True)
    assert 'type="radio" name="field-choice" value="delegate"' in shown[1] and 'name="field-notes"' in shown[1]


async def test_fields_of_a_page_become_one_answer(web: Any, tmp_path: Path) -> None:
    run_id = await start(web, tmp_path)
    ask = await asked(web, run_id)
    said = {"field-answer": "Nobody knows.", "field-notes": "  "}
    code, _ = await web.post(f"/runs/{run_id}/answers", name=ask["name"], **said)
    assert code == 200
    await asked(web, run_id, ask["name"])
    story = (await web.json(f"/runs/{run_id}"))["story"]
    interview = next(section for section in story["sections"] if section["heading"] == "The interview")
    assert json.loads(interview["blocks"][0]["text"]) == {"answer": "Nobody knows."}
    await web.post(f"/runs/{run_id}/stop")


async def test_a_folder_with_something_else_in_it_and_a_bad_answer_are_refused(web: Any, tmp_path: Path) -> None:
    full = tmp_path / "full"
    full.mkdir()
    (full / "thesis.txt").write_text("mine", encoding="utf-8")
    for said, why in (
        ({"name": "kitty", "folder": str(full)}, "is not empty"),
        ({"name": "kitty", "folder": "here"}, "in full"),
        ({"name": "Kitty!"}, "lower case"),
        ({"name": "kitty", "answers": "= nothing"}, "TOML"),
        ({"name": "kitty", "answers": "[answers]\nx = 1"}, "do not fit"),
    ):
        code, told = await web.post("/runs", protocol="criticality", model="terminal:", **said)
        assert code == 400 and why in told["message"], told
    assert not (await web.json("/runs"))["runs"]


async def test_a_build_is_not_forked(web: Any, tmp_path: Path) -> None:
    run_id = await start(web, tmp_path)
    await asked(web, run_id)
    await web.post(f"/runs/{run_id}/stop")
    code, told = await web.post(f"/runs/{run_id}/fork", at=1)
    assert code == 400 and "copy the folder" in told["message"]
    _, page = await web.get(f"/runs/{run_id}")
    assert "/fork" not in page


async def test_a_finished_build_hands_out_its_project_and_nothing_beside_it(web: Any, tmp_path: Path) -> None:
    folder = tmp_path / "kitty"
    for name in (".criticality/lock", "src/kitty/money.py", ".env", "src/__pycache__/money.pyc"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x = 1\n")
    (folder / "src" / "elsewhere.py").symlink_to("/etc/hostname")
    task = {"name": "kitty", "folder": str(folder), "language": "python"}
    started = RunStarted(
        run_id="b-1", protocol="criticality.build", title="Kitty", task=task, settings={"options": {}}, seed=1
    )
    log = web.store.start(started)
    assert (await web.get("/runs/b-1/file"))[0] == 404, "it is not finished"
    log.emit(RunFinished(state="finished", result={}))
    log.close()
    assert 'href="/runs/b-1/file"' in (await web.get("/runs/b-1"))[1]
    async with web.client.get(f"{web.url}/runs/b-1/file") as answer:
        packed = zipfile.ZipFile(io.BytesIO(await answer.read()))
        assert answer.headers["content-disposition"] == 'attachment; filename="b-1.zip"'
    assert packed.namelist() == ["kitty/src/kitty/money.py"]
    shutil.rmtree(folder)
    status, said = await web.get("/runs/b-1/file", accept="application/json")
    assert status == 400 and "not on this machine" in said
