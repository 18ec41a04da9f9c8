"""The doors for programs on a real socket, before a model server that answers for whole councils."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the web extra is not installed")

from pydantic import SecretStr
from tests.assay.web.conftest import TOKEN, TRIAGE, Web, council_answer, served

from assay.api.doors import program_doors
from assay.api.keys import ApiKey, ApiKeys
from assay.batch.spending import read_budget
from llm_runtime.keys import Key
from llm_runtime.settings import Settings
from llm_runtime.store import RunStore, open_store
from llm_runtime.testing import LoopbackServer, Received

__all__ = ["TOKEN", "TRIAGE", "Gated", "Programs", "council_answer"]

CREATIVE = {"role": "creative", "system_prompt": "You have ideas.", "model_hint": None}


class Gated:
    """A council's answers; while ``open`` is not set, the synthesis waits for it. Who ``fails`` is refused."""

    def __init__(self) -> None:
        self.fails = ""
        self.answer: Callable[[Received], Any] = council_answer
        self.open = asyncio.Event()
        self.open.set()
        self.asked = asyncio.Event()

    async def __call__(self, received: Received) -> Any:
        first = received.messages[0].content
        if self.fails and first.startswith(self.fails):
            return 400, {"error": {"message": "no", "code": 400}}
        if first.startswith("You are the triage agent"):
            return json.dumps({**TRIAGE, "council": [*TRIAGE["council"], CREATIVE]})
        if "You write the answer to a user" in received.messages[-1].content:
            self.asked.set()
            await self.open.wait()
        return self.answer(received)


class Programs:
    """The endpoint, and what a program sends to it."""

    def __init__(self, web: Web, models: LoopbackServer, answers: Gated) -> None:
        self.web, self.models, self.answers = web, models, answers
        self.store = web.store

    @property
    def url(self) -> str:
        return f"{self.web.url}/v1"

    def key(self, name: str, budget: str = "", allow: tuple[str, ...] = (), *, background: bool = False) -> str:
        amount, per = read_budget(budget) if budget else (None, "ever")
        return ApiKeys().add(ApiKey(name=name, hash="", budget=amount, per=per, allow=allow, background=background))

    async def send(
        self, body: Any, key: str = TOKEN, path: str = "/chat/completions", **headers: str
    ) -> tuple[int, Any]:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        own = {"authorization": f"Bearer {key}", "content-type": "application/json", **headers}
        async with self.web.client.post(self.url + path, data=io.BytesIO(data), headers=own) as answer:
            return answer.status, await answer.json()

    async def chat(self, text: str, key: str = TOKEN, model: str = "assay/crucible", **more: Any) -> tuple[int, Any]:
        return await self.send({"model": model, "messages": [{"role": "user", "content": text}], **more}, key)

    def councils(self) -> int:
        """How many councils the models were asked to begin."""
        return sum(one.messages[0].content.startswith("You are the triage agent") for one in self.models.requests)


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return open_store(tmp_path / "runs.db")


@pytest.fixture
async def programs(store: RunStore, tmp_path: Path) -> AsyncIterator[Programs]:
    answers = Gated()
    async with LoopbackServer(answers, cost=0.001) as models:
        keys = {"openrouter": Key(SecretStr("sk-canary-0123456789"), "given")}
        settings = Settings(keys, {"openrouter": f"{models.url}/v1"}, prices_path=_prices(tmp_path))
        doors = program_doors(grace_s=0.2)
        async with served(store, lambda: settings, doors=doors) as web:
            yield Programs(web, models, answers)
    store.close()


def _prices(folder: Path) -> Path:
    path = folder / "prices.toml"
    path.write_text('[prices]\n"*" = { input = 1, output = 1 }\n')
    return path
