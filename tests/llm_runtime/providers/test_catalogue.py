"""What is found on this machine, and what an endpoint says it serves."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from llm_runtime.endpoints import Endpoint
from llm_runtime.http import Http
from llm_runtime.providers import catalogue
from llm_runtime.providers.catalogue import discover_local, list_models
from llm_runtime.testing import LoopbackServer

NOWHERE = 1  # a port on which nothing listens


@pytest.fixture
async def http() -> AsyncIterator[Http]:
    http = Http()
    yield http
    await http.aclose()


@pytest.fixture(autouse=True)
def nothing_else_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "_PORTS", (("llama.cpp", NOWHERE),))
    monkeypatch.setattr(catalogue, "PROBE_SECONDS", 600)  # here every server answers, however late


async def test_no_server_is_no_error(http: Http) -> None:
    assert await discover_local(http, {"OLLAMA_HOST": f"127.0.0.1:{NOWHERE}"}) == []


@pytest.mark.parametrize("form", ["127.0.0.1:{}", "http://127.0.0.1:{}", "0.0.0.0:{}", "http://127.0.0.1:{}/"])
async def test_ollama_is_found_where_its_variable_points(http: Http, form: str) -> None:
    async with LoopbackServer(models=("qwen3:8b", "llama3")) as server:
        port = server.url.rpartition(":")[2]
        [found] = await discover_local(http, {"OLLAMA_HOST": form.format(port)})
    assert found.endpoint.name == "ollama"
    assert found.endpoint.base_url == f"http://127.0.0.1:{port}/v1"
    assert found.models == ["qwen3:8b", "llama3"]
    assert "OLLAMA_HOST" in found.how


@pytest.mark.parametrize(("wanted", "names"), [("", []), ("vllm", []), ("ollama, vllm", ["ollama"])])
async def test_only_the_servers_that_are_named_are_looked_for(http: Http, wanted: str, names: list[str]) -> None:
    async with LoopbackServer(models=("llama3",)) as server:
        host = server.url.removeprefix("http://")
        found = await discover_local(http, {"OLLAMA_HOST": host, "ASSAY_LOCAL_SERVERS": wanted})
        assert [each.endpoint.name for each in found] == names


@pytest.mark.parametrize("host", ["http://[::1", "ftp://x", "127.0.0.1:99999", "a b", "://"])
async def test_a_variable_that_makes_no_sense_finds_nothing(http: Http, host: str) -> None:
    assert await discover_local(http, {"OLLAMA_HOST": host}) == []


@pytest.mark.parametrize(
    ("owner", "name"), [("vllm", "vllm"), ("organization_owner", "lmstudio"), ("someone", "llama.cpp")]
)
async def test_a_server_is_known_by_what_it_says_of_its_models(
    http: Http, owner: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with LoopbackServer(owner=owner) as server:
        port = int(server.url.rpartition(":")[2])
        monkeypatch.setattr(catalogue, "_PORTS", (("llama.cpp", port),))
        [found] = await discover_local(http, {"OLLAMA_HOST": f"127.0.0.1:{NOWHERE}"})
    assert found.endpoint.name == name


async def test_models_are_listed_for_both_protocols(http: Http) -> None:
    async with LoopbackServer(models=("b", "a")) as server:
        assert await list_models(server.endpoint(), http) == ["b", "a"]
        assert await list_models(server.endpoint(dialect="anthropic"), http) == ["b", "a"]


async def test_the_http_library_is_loaded_before_the_clock_runs() -> None:
    steps: list[str] = []

    class Watched(Http):
        async def open(self) -> None:
            steps.append("open")
            await super().open()

        async def get_json(self, endpoint: Endpoint, path: str, **more: Any) -> Any:
            steps.append("ask")
            return await super().get_json(endpoint, path, **more)

    http = Watched()
    await discover_local(http, {"OLLAMA_HOST": f"127.0.0.1:{NOWHERE}"})
    await http.aclose()
    assert steps == ["open", "ask", "ask"]
