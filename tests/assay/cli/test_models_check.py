"""`assay models check`: what a model can do is measured, and each protocol is told whether that is enough."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.assay.cli.conftest import Assay
from tests.commands import Done

from llm_runtime.testing import Fault, LoopbackServer, Received
from llm_runtime.testing.loopback import ServerAnswer

COLOURS = {"colours": [{"name": name, "warm": name == "red"} for name in ("red", "green", "blue")]}
FRANCE = {"capital": "Paris", "island": False, "rivers": ["Seine", "Loire"]}


def able(received: Received) -> str:
    """Answer as a model that can do everything."""
    asked = received.messages[-1].content
    if "response_format" in received.payload:
        return json.dumps(COLOURS)
    if "JSON object" in asked:
        return json.dumps(FRANCE)
    if "three fruits" in asked:
        return "- APPLE\n- PEAR\n- FIG"
    if "contradict" in asked:
        return "YES. Whales are one or the other."
    return "heron-4417" if "code word" in asked else "one, two, three"


def small(received: Received) -> str:
    """Answer as a model that talks, and keeps to no form."""
    return f"Sure! Here is what I think about {received.messages[-1].content[:20]}"


def unenforced(received: Received) -> ServerAnswer:
    """Answer as an able model behind a server that takes no schema."""
    if "response_format" in received.payload:
        return 400, {"error": {"message": "response_format is not supported"}}
    return "Red, green and blue." if "colours of light" in received.messages[-1].content else able(received)


async def check(assay: Assay, script: Callable[[Received], ServerAnswer], *more: str, **server: Any) -> Any:
    """Return the exit code, what was said as JSON, and the requests that it took."""
    async with LoopbackServer(script, **server) as running:
        done: Done = await assay("models", "check", f"{running.url}/v1#m", "--json", *more)
    return done.code, json.loads(done.out), running.requests


async def test_a_model_that_can_do_everything_is_ready_for_everything(assay: Assay) -> None:
    code, said, requests = await check(assay, able)
    assert code == 0
    assert {verdict["carries"] for verdict in said["protocols"]} == {"ready"}
    assert len(requests) <= 8 and said["calls"] == len(requests) and 0 < said["tokens"] <= 3000
    assert all("max_tokens" in request.payload for request in requests)
    grades = {found["name"]: found["grade"] for found in said["findings"]}
    assert grades["enforced JSON"] == grades["free JSON"] == grades["instructions"] == "ok"


async def test_a_model_without_json_cannot_carry_what_needs_it(assay: Assay) -> None:
    code, said, _ = await check(assay, small)
    verdicts = {verdict["protocol"]: verdict for verdict in said["protocols"]}
    assert code == 1
    assert verdicts["ask"]["carries"] == verdicts["debate"]["carries"] == "no"
    assert "JSON" in verdicts["ask"]["why"][0]
    assert verdicts["circle"]["carries"] == "limits"


async def test_json_that_nothing_enforces_is_a_limit(assay: Assay) -> None:
    code, said, requests = await check(assay, unenforced)
    verdicts = {verdict["protocol"]: verdict for verdict in said["protocols"]}
    assert code == 1 and verdicts["ask"]["carries"] == "limits" and verdicts["trial"]["carries"] == "ready"
    assert len(requests) <= 8


async def test_a_needle_is_looked_for_where_it_is_wanted(assay: Assay) -> None:
    _, short, _ = await check(assay, able)
    _, long, requests = await check(assay, able, "--long")
    assert "--long" in next(found["detail"] for found in short["findings"] if found["name"] == "window")
    assert "found" in next(found["detail"] for found in long["findings"] if found["name"] == "window")
    assert len(requests) <= 8 and max(len(one.messages[-1].content) for one in requests) > 30_000


async def test_a_model_that_thinks_until_it_is_cut_is_not_called_unable(assay: Assay) -> None:
    def thinking(received: Received) -> dict[str, Any]:
        details = {"reasoning_tokens": 160}
        usage = {"prompt_tokens": 30, "completion_tokens": 160, "completion_tokens_details": details}
        message = {"role": "assistant", "content": "", "reasoning_content": "Let me think."}
        choice = {"index": 0, "message": message, "finish_reason": "length"}
        return {"id": "1", "model": received.model, "choices": [choice], "usage": usage}

    _, said, _ = await check(assay, thinking)
    grades = {found["name"]: found["grade"] for found in said["findings"]}
    assert grades["free JSON"] == grades["instructions"] == "unknown"


@pytest.mark.parametrize("fault", [Fault.STATUS_401, Fault.STATUS_404, Fault.HTML_PAGE])
async def test_what_does_not_answer_is_one_line_and_exit_code_4(assay: Assay, fault: Fault) -> None:
    async with LoopbackServer(able, faults=fault) as server:
        done = await assay("models", "check", f"{server.url}/v1#m")
    assert (done.code, done.out) == (4, "") and done.err.count("\n") == 1
    nobody = await assay("models", "check", "http://127.0.0.1:1/v1#m")
    assert nobody.code == 4 and nobody.err.count("\n") == 1
    assert (await assay("models", "check")).code == 78
    assert (await assay("models", "check", "terminal:")).code == 2


async def test_the_table_is_aligned_and_coloured_only_where_that_is_wanted(assay: Assay) -> None:
    async with LoopbackServer(small) as server:
        where = f"{server.url}/v1#m"
        plain = await assay("models", "check", where)
        coloured = await assay("models", "check", where, FORCE_COLOR="1")
        never = await assay("models", "check", where, FORCE_COLOR="1", NO_COLOR="1")
    assert "\x1b[" not in plain.out + never.out and "\x1b[" in coloured.out
    rows = [line for line in plain.out.splitlines() if line.endswith("ready") or " limits " in line or " no  " in line]
    carries = {min(place for word in ("ready", "limits", "no  ") if (place := row.find(word)) > 0) for row in rows[-6:]}
    assert len(rows) >= 6 and len(carries) == 1
