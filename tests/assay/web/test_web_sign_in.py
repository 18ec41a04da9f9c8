"""Signing in under fire, and names that somebody had before: nobody is locked out, and nobody inherits."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import uvicorn
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import BaseRoute, Route

from assay.api.keys import ApiKey, ApiKeys
from assay.web.app_state import AppState
from assay.web.guard import Gate, PasswordQueue
from assay.web.people import People, Person
from assay.web.serving import configuration
from llm_runtime.errors import ConfigurationError
from llm_runtime.store import RunStore
from llm_runtime.store.upkeep import mark

from .conftest import TOKEN
from .test_web_people import PASSWORD, House, house

__all__ = ["house"]


@pytest.fixture
def people(tmp_path: Path) -> People:
    people = People(tmp_path / "people.toml")
    secret = people.add(Person(name="anna", role="member"))
    people.enter("anna", secret, PASSWORD)
    return people


class Slept:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now = 0.0
        self.each: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.each.append(seconds)
        self.now += seconds


@pytest.mark.long
async def test_sixty_wrong_passwords_slow_a_stranger_and_lock_nobody_out(people: People) -> None:
    slept = Slept()
    gate = Gate(token=TOKEN, people=people, line=PasswordQueue(lambda: slept.now, slept.sleep))
    for number in range(60):
        assert await gate.enter(f"nobody-{number}", "wrong", "", "10.0.0.9") is None
    guessed, slept.each = slept.each, []
    assert sum(guessed) >= 20
    for address in ("10.0.0.9", "10.0.0.1"):
        person = await gate.enter("anna", PASSWORD, "", address)
        assert person is not None and person.name == "anna"
    for _ in range(8):
        assert await gate.enter("anna", "wrong", "", "10.0.0.9") is None
    assert slept.each[-1] > slept.each[0] or max(slept.each) == 5.0
    slept.each.clear()
    assert await gate.enter("anna", PASSWORD, "", "10.0.0.9") is not None
    assert await gate.enter("anna", PASSWORD, "", "10.0.0.1") is not None
    # Behind somebody who guesses at the same name it takes seconds; from elsewhere no time.
    assert len(slept.each) == 1 and slept.each[0] <= 5.0


async def test_the_line_is_bounded_and_one_address_fills_its_own_part_alone() -> None:
    opened, looks = threading.Event(), list[str]()
    line = PasswordQueue()

    def look(name: str) -> str:
        looks.append(name)
        opened.wait(10)
        return name

    many = [asyncio.create_task(line.tried("10.0.0.9", "x", lambda: look("x"))) for _ in range(16)]
    await asyncio.sleep(0)
    with pytest.raises(ConfigurationError, match="try again"):
        await line.tried("10.0.0.9", "x", lambda: look("x"))
    other = asyncio.create_task(line.tried("10.0.0.1", "anna", lambda: look("anna")))
    await asyncio.sleep(0)
    # No more hashes at one time than these, whoever asks.
    assert len(looks) <= 2
    opened.set()
    assert await other == "anna"
    for task in many:
        task.cancel()
    await asyncio.gather(*many, return_exceptions=True)


async def test_who_gets_a_name_that_somebody_had_inherits_nothing(house: House) -> None:
    carl = await house.enter("carl", calls=1)
    _, run_id = await carl.start()
    await house.over(run_id, "stopped")
    keys = ApiKeys()
    secret = keys.add(ApiKey(name="notes", hash="", person="carl"))
    house.people.remove("carl")
    await asyncio.sleep(0.002)
    other = await house.enter("carl", calls=1)
    assert (await other.ask("GET", f"/runs/{run_id}.json"))[0] == 404
    assert run_id not in (await other.ask("GET", "/runs.json"))[1]
    assert (await other.start())[0] == 201, "the purse is a new one"
    bearer = {"Authorization": f"Bearer {secret}"}
    async with house.web.client.get(f"{house.web.url}/v1/models", headers=bearer) as answer:
        assert answer.status == 403


async def test_a_key_that_has_the_name_of_another_sees_nothing_of_it(house: House) -> None:
    keys, ids = ApiKeys(), list[str]()
    chat = {"model": "assay/crucible", "messages": [{"role": "user", "content": "Why?"}]}
    for _ in range(2):
        bearer = {"Authorization": f"Bearer {keys.add(ApiKey(name='notes', hash='', budget=5))}"}
        async with house.web.client.post(f"{house.web.url}/v1/chat/completions", json=chat, headers=bearer) as answer:
            ids.append((await answer.json())["assay"]["run_id"])
        keys.remove("notes")
    assert ids[0] != ids[1]


async def test_people_of_an_older_file_keep_their_runs(house: House, council: Any) -> None:
    run_id = await council("council-1")
    mark(house.web.store, run_id, "owner:anna")
    secret = house.people.add(Person(name="anna", role="member"))
    text = house.people.path.read_text()
    house.people.path.write_text(
        "\n".join(line for line in text.splitlines() if not line.startswith(("id =", "since =")))
    )
    anna = await house.sign_in("anna", secret, PASSWORD)
    assert (await anna.ask("GET", f"/runs/{run_id}.json"))[0] == 200
    assert house.people.find("anna").allowance.owner == "person:anna"


@asynccontextmanager
async def echoing(store: RunStore, proxies: Sequence[str]) -> AsyncIterator[str]:
    """The application as it is served, with an address that tells where a request came from."""

    async def where(request: Request) -> PlainTextResponse:
        assert request.client is not None
        return PlainTextResponse(f"{request.url.scheme} {request.client.host}")

    @asynccontextmanager
    async def doors(site: AppState) -> AsyncIterator[Sequence[BaseRoute]]:
        yield [Route("/where", where)]

    site = AppState(store, Gate(token=TOKEN))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(configuration(site, doors, proxies))
        task = asyncio.create_task(server.serve([listener]))
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/where"
        server.should_exit = True
        await task


@pytest.mark.parametrize(
    ("proxies", "seen"), [((), "http 127.0.0.1"), (("10.1.1.1",), "http 127.0.0.1"), (("127.0.0.1",), "https 8.8.8.8")]
)
async def test_where_a_request_came_from_is_told_by_a_named_proxy_alone(
    store: RunStore, proxies: tuple[str, ...], seen: str
) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}", "X-Forwarded-For": "1.2.3.4, 8.8.8.8", "X-Forwarded-Proto": "https"}
    async with (
        echoing(store, proxies) as url,
        aiohttp.ClientSession(headers=headers) as client,
        client.get(url) as answer,
    ):
        assert await answer.text() == seen
    store.close()
