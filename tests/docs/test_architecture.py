"""``docs/architecture.md`` says what is: its rooms are the contract's, its picture is drawn, its way is walked."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from pathlib import Path

import pytest
from docs.picture import PICTURE, ROOMS, architecture, layers
from tests.docs.pages import ROOT, text_of

from llm_runtime.testing import LoopbackServer

PAGE = "architecture.md"
#: Runs a command and writes down each function of ours as it is called, by file and qualified name.
WALK = """
import json, sys, threading

calls, target = [], sys.argv[1]

def note(frame, event, _):
    code = frame.f_code
    if event == "call" and "/src/" in code.co_filename:
        calls.append((code.co_filename.rpartition("/src/")[2], code.co_qualname))

from assay.cli import main

sys.argv = ["assay", *sys.argv[2:]]
threading.setprofile(note)  # the store opens a log in a thread
sys.setprofile(note)
try:
    main()
finally:
    sys.setprofile(None)
    threading.setprofile(None)
    with open(target, "w") as file:
        json.dump(calls, file)
"""


def test_the_picture_is_drawn_from_the_contracts_of_today() -> None:
    """`make docs` draws it anew."""
    assert PICTURE.read_text(encoding="utf-8") == architecture()
    assert {name for layer in layers() for name in layer} == set(ROOMS)


def test_every_room_is_explained_and_there() -> None:
    rows = re.findall(r"^\| `([\w/]+?)(?:\.py|/|/NAME/)` \|.*\| (`.*) \|$", text_of(PAGE), re.MULTILINE)
    assert {room for room, _ in rows} == set(ROOMS)
    for room, start in rows:
        place = ROOT / "src/assay" / room
        source = place.with_suffix(".py") if place.with_suffix(".py").is_file() else None
        for name in re.findall(r"`([\w.]+)`", start):
            if name.endswith(".py"):
                assert list(place.glob(name)) or list(place.glob(f"*/{name}")), (room, name)
            else:
                texts = [source] if source else place.glob("*.py")
                assert any(re.search(rf"^(class|def) {name}\b", one.read_text(), re.M) for one in texts), name


@pytest.mark.process
async def test_a_request_goes_the_way_of_the_table(tmp_path: Path) -> None:
    way = re.findall(r"^\| `([\w/]+\.py)` \| `([\w.]+)` \|", text_of(PAGE), re.MULTILINE)
    assert len(way) > 20
    (tmp_path / "walk.py").write_text(WALK)
    async with LoopbackServer("no configuration") as server:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, str(tmp_path / "walk.py"), str(tmp_path / "calls.json")),
            *("ask", "Why?", "--model", f"{server.url}/v1#m", "--quiet"),
            cwd=tmp_path,
            env={
                **os.environ,
                "PYTHONPATH": str(ROOT / "src"),
                "ASSAY_CONFIG_DIR": str(tmp_path),
                "ASSAY_DATA_DIR": str(tmp_path),
                "ASSAY_LOCAL_SERVERS": "",
            },
            stderr=asyncio.subprocess.PIPE,
        )
        _, told = await process.communicate()
        assert len(server.requests) == 1, told.decode()
    calls = iter(json.loads((tmp_path / "calls.json").read_text()))
    for place, function in way:
        assert any(_is(call, place, function) for call in calls), f"{place} {function} is not next on the way"


def _is(call: list[str], place: str, function: str) -> bool:
    return call[0] == place and (call[1] == function or call[1].startswith(f"{function}.<locals>"))
