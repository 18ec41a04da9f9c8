"""Keys that a program prints, and keys that lie about for other reasons."""

from __future__ import annotations

from pathlib import Path

import pytest

from llm_runtime.errors import ConfigurationError, NoModelError
from llm_runtime.gateway import Gateway
from llm_runtime.messages import CallLabel, Message, Request
from llm_runtime.settings import Settings, load_settings
from llm_runtime.testing import LoopbackServer
from llm_runtime.testing.loopback import Received, ServerAnswer

QUESTION = Request("work:m", (Message("user", "What?"),), CallLabel("t", "x"))


def settings_of(tmp_path: Path, url: str, script: str) -> Settings:
    program = tmp_path / "print-key"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    (tmp_path / "config.toml").write_text(
        f'[endpoints.work]\ndialect = "generic"\nbase_url = "{url}/v1"\nkey = "command:{program} \'two words\'"\n'
    )
    return load_settings({"ASSAY_LOCAL_SERVERS": ""}, tmp_path, tmp_path)


async def test_a_key_is_printed_once_and_again_where_it_is_refused(tmp_path: Path) -> None:
    asked = tmp_path / "asked"

    def answer(received: Received) -> ServerAnswer:
        if received.headers["authorization"].endswith("-1"):
            return 401, {"error": {"message": "token expired"}}
        return "It is."

    async with LoopbackServer(answer) as server:
        settings = settings_of(tmp_path, server.url, f'echo "$1" >> {asked}; echo key-of-$(grep -c . {asked})')
        assert not asked.exists()
        async with Gateway(settings) as gateway:
            replies = [await gateway.generate(QUESTION) for _ in range(2)]
        keys = [received.headers["authorization"] for received in server.requests]
    assert [reply.text for reply in replies] == ["It is.", "It is."]
    assert keys == ["Bearer key-of-1", "Bearer key-of-2", "Bearer key-of-2"]
    assert asked.read_text() == "two words\ntwo words\n"


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo 'log in first' >&2; exit 3", r"ends with code 3 \(log in first\)"),
        ("exit 0", "prints no key"),
        ("echo 'two'; echo 'lines'", "cannot be sent"),
    ],
)
async def test_a_command_that_prints_no_key_is_one_line(tmp_path: Path, script: str, words: str) -> None:
    async with LoopbackServer() as server, Gateway(settings_of(tmp_path, server.url, script)) as gateway:
        with pytest.raises(ConfigurationError, match=words):
            await gateway.ready("work:m")
    assert server.requests == []


async def test_a_token_that_lies_about_for_other_reasons_is_used_only_where_it_is_named(tmp_path: Path) -> None:
    async with LoopbackServer("It is.") as server:
        environment = {
            "GITHUB_TOKEN": "a-token-0123456789",
            "HF_TOKEN": "another-0123456789",
            "ASSAY_LOCAL_SERVERS": "",
        }
        settings = load_settings(environment, tmp_path, tmp_path)
        assert settings.endpoint("github").base_url == "https://models.github.ai/inference"
        async with Gateway(settings) as gateway:
            with pytest.raises(NoModelError):
                await gateway.ready("openai/gpt-5")
            assert (await gateway.router.resolve("github:openai/gpt-5", named=True)).provider == "github"
    assert server.requests == []
