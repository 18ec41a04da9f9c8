"""`assay ask --attach shot.png`: who is shown a picture, where its bytes are, and what is refused."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.assay.cli.test_ask_attachments import council3, phase, seen
from tests.llm_runtime.test_pictures import HOSTILE
from tests.picture_files import FILES

from assay.registry import prepared
from assay.web.forms import read_form
from llm_runtime.documents.pictures import read_picture
from llm_runtime.errors import ConfigurationError
from llm_runtime.testing import LoopbackServer, Received

__all__ = ["council3", "seen"]

Assay = Any
SEES = ("--model", "openrouter:openai/gpt-4o")
PHOTO = read_picture("photo.jpg", FILES["jpeg-gps"])


def shown(received: Received) -> list[str]:
    """The pictures of a request, as addresses."""
    parts = [one["content"] for one in received.payload["messages"] if not isinstance(one["content"], str)]
    return [part["image_url"]["url"] for content in parts for part in content if part["type"] == "image_url"]


@pytest.mark.parametrize("form", ["records", "prose"])
async def test_a_picture_reaches_every_seat_and_its_bytes_are_kept_once(
    assay: Assay, council3: LoopbackServer, seen: list[Received], tmp_path: Path, form: str
) -> None:
    (tmp_path / "photo.jpg").write_bytes(FILES["jpeg-gps"])
    (tmp_path / "notes.txt").write_text("a line\n")
    sources = ("--attach", "photo.jpg", "--attach", "notes.txt")
    asked = await assay("ask", "What is it?", *sources, *SEES, "--form", form, "--json", "-q", server=council3)
    assert asked.code == 0, asked.err
    reached = {kind: {tuple(shown(one)) for one in seen if phase(one) == kind} for kind in map(phase, seen)}
    whole = {(PHOTO.address,)}
    assert {kind: reached[kind] for kind in ("triage", "position", "critique", "synthesis")} == {
        "triage": {()},
        "position": whole,
        "critique": whole,
        "synthesis": whole,
    }
    text = next(one.messages[-1].content for one in seen if phase(one) == "position")
    assert "A1: photo.jpg (a picture, 6 × 9 pixels)" in text and "<<<ATTACHMENT A2 " in text
    assert "<<<ATTACHMENT A1 " not in text and "Nobody can check words in a picture" in text

    # Everything else names the digest; without the file the run is verified, exported, replayed and forked.
    (tmp_path / "photo.jpg").unlink()
    assert (await assay("runs", "export", "latest", "run.jsonl")).code == 0
    log = (tmp_path / "run.jsonl").read_text()
    assert log.count(PHOTO.base64) == 1 and log.count(PHOTO.digest) > 4
    assert (await assay("runs", "verify", "latest")).code == 0
    replayed = await assay("runs", "replay", "latest", "-q")
    assert replayed.code == 0 and "with the result that was recorded" in replayed.out, replayed.err
    seen.clear()
    forked = await assay("runs", "fork", "latest", "--at", "4", *SEES, "-q", server=council3)
    assert forked.code == 0, forked.err
    assert {tuple(shown(one)) for one in seen if phase(one) == "synthesis"} == whole


async def test_a_picture_comes_as_an_address_through_a_pipe_and_in_a_folder(
    assay: Assay, council3: LoopbackServer, tmp_path: Path
) -> None:
    address = f"data:image/png;base64,{b64encode(FILES['png-text']).decode()}"
    (tmp_path / "shots").mkdir()
    (tmp_path / "shots" / "a.gif").write_bytes(FILES["gif"])
    (tmp_path / "shots" / "b.svg").write_text("<svg/>")
    sources = ("--attach", address, "--attach", "-", "--attach", "shots")
    words = ("ask", "What are these?", *sources, *SEES, "--json", "-q")
    asked = await assay(*words, stdin=FILES["webp-lossy"], server=council3)
    assert asked.code == 0, asked.err
    task = asked.json["task"]
    kinds = [one["picture"].partition(";")[0] for one in task["dossier"]]
    assert kinds == ["data:image/png", "data:image/webp", "data:image/gif"] and "attach" not in task
    assert task["left_out"] == ["b.svg is no PNG, JPEG, WebP or GIF that models take; save it as one"]
    assert "Location" not in json.dumps(task)


async def test_what_is_no_picture_is_one_line_and_no_call(
    assay: Assay, council3: LoopbackServer, tmp_path: Path
) -> None:
    refused: Mapping[str, tuple[bytes, str]] = {
        "wide.png": HOSTILE["wide"],
        "many.gif": HOSTILE["ten thousand frames"],
        "vector.svg": HOSTILE["svg"],
    }
    for name, (data, says) in refused.items():
        (tmp_path / name).write_bytes(data)
        done = await assay("ask", "Q?", "--attach", name, *SEES, "-q", server=council3)
        assert done.code == 2 and says in done.err and len(done.err.splitlines()) == 1, done.err
    assert not council3.requests and (await assay("runs", "list", "--json")).json["runs"] == []


@pytest.mark.parametrize(
    ("model", "says"),
    [
        ("openrouter:openai/gpt-oss-120b", "openrouter:openai/gpt-oss-120b cannot see pictures"),
        ("openrouter:somebody/new", "vision = true under [endpoints.openrouter]"),
        ("agent:gemini", "does not hold pictures"),
    ],
)
async def test_a_seat_that_cannot_see_is_told_before_anything_is_spent(
    assay: Assay, council3: LoopbackServer, tmp_path: Path, model: str, says: str
) -> None:
    (tmp_path / "shot.png").write_bytes(FILES["png-RGB"])
    (tmp_path / "gemini").write_text("#!/bin/sh\n")
    (tmp_path / "gemini").chmod(0o755)
    named = ("--models", f"openrouter:openai/gpt-4o,{model}")
    path = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    done = await assay("ask", "Q?", "--attach", "shot.png", *named, "-q", server=council3, **path)
    assert done.code == 2 and says in done.err and len(done.err.splitlines()) == 1, done.err
    assert not council3.requests


async def test_the_report_says_that_nobody_checked_what_is_quoted_from_a_picture(assay: Assay, tmp_path: Path) -> None:
    from tests.assay.cli.conftest import TRIAGE
    from tests.crucible.records import ANSWER, played

    said = 'It reads "the pump runs dry at noon" [A1], and "not in any text at all" [A2].'

    def answer(received: Received) -> str:
        if phase(received) == "triage":
            return json.dumps(TRIAGE)
        return played(received.messages[-1].content, ANSWER | {"answer": said}) or said

    (tmp_path / "shot.png").write_bytes(FILES["png-RGB"])
    (tmp_path / "notes.txt").write_text("a line\n")
    sources = ("--attach", "shot.png", "--attach", "notes.txt")
    async with LoopbackServer(answer) as server:
        done = await assay("ask", "Q?", *sources, *SEES, "--out", "r.md", "-q", server=server)
    assert done.code == 0, done.err
    report = (tmp_path / "r.md").read_text().replace("\\", "")
    assert "a picture: not checked" in report and "as a picture: what is quoted from it is not checked" in report
    assert "1 quotation of the answer cannot be found" in report


def test_a_form_takes_a_picture_from_a_file_and_a_program_puts_it_into_attach() -> None:
    address = f"data:image/png;base64,{b64encode(FILES['png-RGB']).decode()}"
    for fields, strict in (({"material": address, "query": ""}, False), ({"attach": [address]}, True)):
        run = prepared(read_form({"kind": "crucible.council", **fields}, strict=strict)[0])
        (one,) = run.task.dossier
        assert one.size == "a picture, 9 × 6 pixels" and run.task.query and run.hooks.shows(run.task)
        # Prepared once more, by another door, it is what it was.
        assert prepared(run).task.dossier == [one]
    # A text is bounded as ever; how large a picture may be is said of the picture.
    wide = f"data:image/png;base64,{b64encode(HOSTILE['large'][0]).decode()}"
    with pytest.raises(ConfigurationError, match="attached picture has 3,750,008 bytes"):
        prepared(read_form({"kind": "crucible.council", "material": wide}, strict=False)[0])
    with pytest.raises(ConfigurationError, match="longer than 1,048,576 characters"):
        read_form({"kind": "crucible.council", "material": "a" * 2_000_000}, strict=False)
