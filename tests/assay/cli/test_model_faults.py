"""What goes wrong with a model ends a command with one line that says what to do, and with the right code."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.assay.cli.conftest import Assay
from tests.commands import Done

from llm_runtime.testing import Fault, LoopbackServer

QUESTION = "Should the archive be moved to the new building before winter?"
QUOTA = {"error": {"message": "You exceeded your current quota.", "type": "insufficient_quota", "code": None}}
FLAGGED = {
    "error": {
        "code": 403,
        "message": "Your chosen model requires moderation and your input was flagged",
        "metadata": {"reasons": ["violence"], "flagged_input": "...", "provider_name": "OpenAI"},
    }
}
TOO_LONG = {"error": {"message": "prompt is too long: 9000 tokens > 4096 maximum", "type": "invalid_request_error"}}
ELSEWHERE = {"error": {"message": "This model is only supported in v1/responses.", "type": "invalid_request_error"}}


def fault(done: Done) -> str:
    """Return the one line that says what went wrong."""
    assert "Traceback" not in done.err
    (line,) = [line for line in done.err.splitlines() if "failed: " in line]
    return line


async def ask(assay: Assay, server: LoopbackServer) -> Done:
    return await assay("ask", QUESTION, "--model", f"{server.url}/v1#tiny")


async def test_a_window_that_is_too_small_is_told_before_anything_is_sent(assay: Assay) -> None:
    entry = {"id": "tiny", "owned_by": "vllm", "max_model_len": 512}
    async with LoopbackServer("never", models=[entry]) as server:
        done = await ask(assay, server)
    assert done.code == 4
    assert server.requests == []
    assert "the model reads 512" in fault(done)
    assert "choose a model with a larger window" in fault(done)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((429, QUOTA), "a limit of the account is used up"),
        ((403, FLAGGED), "the provider flagged the prompt"),
        ((400, TOO_LONG), "longer than the model can read"),
        ((404, ELSEWHERE), "does not answer chat completions"),
        ((404, {"detail": "Not Found"}), "wrong base URL?"),
        ((429, {"error": {"message": "Please try again in 3h20m0s."}}), "in 3 h 20 min at the earliest"),
    ],
)
async def test_what_no_second_try_mends_is_asked_once(
    assay: Assay, answer: tuple[int, dict[str, object]], words: str
) -> None:
    async with LoopbackServer(lambda _: answer) as server:
        done = await ask(assay, server)
    assert done.code == 4
    assert len(server.requests) == 1
    assert words in fault(done)


async def test_an_address_that_is_no_api_is_asked_once(assay: Assay) -> None:
    async with LoopbackServer(faults=Fault.HTML_PAGE) as server:
        done = await ask(assay, server)
    assert done.code == 4
    assert len(server.requests) == 1
    assert "a web page answers there" in fault(done) and "wrong base URL?" in fault(done)


async def test_a_server_that_is_gone_is_named(assay: Assay) -> None:
    async with LoopbackServer("once") as server:
        address = f"{server.url}/v1#tiny"
    done = await assay("ask", QUESTION, "--model", address)
    assert done.code == 4
    assert "is the server running" in fault(done)


async def test_who_is_not_signed_in_hears_how_to_and_nothing_of_keys(assay: Assay, tmp_path: Path) -> None:
    words = '{"type":"result","is_error":true,"result":"Please run /login","api_error_status":401}'
    program = tmp_path / "claude"
    program.write_text(f"#!/bin/sh\ncat >/dev/null\necho '{words}'\nexit 1\n")
    program.chmod(0o755)
    done = await assay("ask", "Q?", "--model", "agent:claude", "-q", PATH=f"{tmp_path}:/usr/bin:/bin")
    assert done.code and "not signed in: run claude once" in done.err, done.err
    assert "keys set" not in done.err + done.out and "assay runs resume" in done.err
