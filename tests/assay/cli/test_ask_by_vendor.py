"""`assay ask` with nothing but one vendor's key, and what is said of endpoints that cannot be."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from llm_runtime.testing import LoopbackServer, Received

Assay = Any
KEY = "sk-or-canary-0123456789abcdef"
GONE = "claude-sonnet-4-20250514"
NOW = {
    "openrouter": [{"id": "anthropic/claude-sonnet-5", "created": 1_780_000_000}, {"id": "openrouter/auto"}],
    "anthropic": [{"id": "claude-sonnet-5", "created_at": "2026-06-01T00:00:00Z"}],
}


def vendor(council: Callable[[Received], str]) -> Callable[[Received], Any]:
    """Answer as both do since the model that triage is specified with was retired."""

    def answer(received: Received) -> Any:
        if not received.model.endswith(GONE):
            return council(received)
        if received.kind == "anthropic":
            return 404, {"type": "error", "error": {"type": "not_found_error", "message": f"model: {GONE}"}}
        return 400, {"error": {"message": f"{received.model} is not a valid model ID", "code": 400}}

    return answer


@pytest.mark.parametrize("name", ["openrouter", "anthropic"])
async def test_the_first_command_of_the_readme_works_with_that_key_alone(
    assay: Assay, council: Callable[[Received], str], tmp_path: Path, name: str
) -> None:
    async with LoopbackServer(vendor(council), models=NOW[name], cost=0.001) as server:
        suffix = "" if name == "anthropic" else "/v1"
        environment = {f"{name.upper()}_API_KEY": KEY, f"{name.upper()}_BASE_URL": server.url + suffix}
        question = "Should we migrate to microservices?"
        done = await assay("ask", question, "--out", "report.html", **environment)
        assert (done.code, "Use SQLite" in done.out) == (0, True), done.err
        report = (tmp_path / "report.html").read_text("utf-8")
        assert "does not serve" in report and "claude-sonnet-5 answers instead of" in report
        asked = len(server.requests)
        again = await assay("ask", question, "--model", f"{name}:{GONE}", **environment)
        assert again.code == 4 and len(server.requests) == asked + 1, "a named model is never replaced"
        assert len(again.err.strip().splitlines()[-1]) < 400 and GONE in again.err


async def test_a_vendors_key_and_a_server_of_ones_own_are_all_it_takes(
    assay: Assay, server: LoopbackServer, tmp_path: Path
) -> None:
    done = await assay(
        *("ask", "Which?", "--model", "groq:openai/gpt-oss-120b", "--effort", "low", "--json"),
        GROQ_API_KEY="gsk-0123456789",
        GROQ_BASE_URL=f"{server.url}/v1",
    )
    assert done.code == 0 and {one.model for one in server.requests} == {"openai/gpt-oss-120b"}
    assert {one.payload["reasoning_effort"] for one in server.requests} == {"low"}
    (tmp_path / "config").mkdir(exist_ok=True)
    (tmp_path / "config/config.toml").write_text(
        f'[endpoints.work]\ndialect = "openai"\nbase_url = "{server.url}/v1"\nkey = "env:WORK"\n'
    )
    done = await assay("ask", "Which?", "--model", "work:tiny", WORK="key-0123456789")
    assert done.code == 0 and server.requests[-1].headers["authorization"] == "Bearer key-0123456789"
    listed = json.loads((await assay("models", "--json", WORK="key-0123456789")).out)
    assert [one["provider"] for one in listed["endpoints"]] == ["work"]
    assert "work" in (await assay("keys", "list", WORK="key-0123456789")).out
    assert f"work                   {server.url}/v1, key from environment" in (await assay("doctor", WORK="k" * 12)).out
    assert (await assay("keys", "set", "work", stdin="another-0123456789\n", WORK="key-0123456789")).code == 0


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ("modle = 'x'", "endpoints.work.modle"),
        ("base_url = 'ftp://models.example.org'", "must look like https://host/path"),
        ("base_url = 'http://models.example.org'\nkey = 'env:WORK'", "that is not this machine"),
    ],
)
@pytest.mark.parametrize("command", [("ask", "Which?"), ("models",), ("keys", "list")])
async def test_an_endpoint_that_cannot_be_is_one_line_and_exit_code_2(
    assay: Assay, tmp_path: Path, table: str, says: str, command: tuple[str, ...]
) -> None:
    (tmp_path / "config").mkdir(exist_ok=True)
    (tmp_path / "config/config.toml").write_text(f"[endpoints.work]\n{table}\n")
    done = await assay(*command, WORK=KEY)
    assert done.code == 2 and done.out == ""
    assert len(done.err.strip().splitlines()) == 1 and says in done.err


async def test_an_address_without_an_api_and_a_name_that_nobody_knows_are_one_line(
    assay: Assay, council: Callable[[Received], str]
) -> None:
    def page(received: Received) -> Any:
        return (404, {"error": {"message": "The model `none` does not exist"}}) if received.model == "none" else {}

    async with LoopbackServer(page) as server:
        no_api = await assay("ask", "Which?", "--model", f"{server.url}/v1#m")
        no_model = await assay("ask", "Which?", "--model", f"{server.url}/v1#none")
    for done in (no_api, no_model):
        assert done.code == 4 and "Traceback" not in done.err
        assert "base URL" in done.err or "does not exist" in done.err
    nowhere = await assay("ask", "Which?", "--model", "acme/none")
    assert nowhere.code == 2 and "nothing that is reached here serves acme/none" in nowhere.err
