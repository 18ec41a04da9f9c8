"""Several people on one server: each sees, does and spends what they may, at every address, and no more."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from pydantic import SecretStr
from tests.extent import PATIENCE

from assay.api.doors import program_doors
from assay.api.keys import ApiKey, ApiKeys
from assay.web.endpoints import Endpoint
from assay.web.guard import Gate
from assay.web.people import People, Person
from assay.web.routes import endpoints
from llm_runtime.errors import ConfigurationError
from llm_runtime.events import RunStarted
from llm_runtime.keys import Key
from llm_runtime.messages import CallLabel, Message, Request
from llm_runtime.settings import ConfigFile, Settings
from llm_runtime.store import RunStore
from llm_runtime.store.upkeep import mark
from llm_runtime.testing import LoopbackServer

from .conftest import TOKEN, Web, served

PASSWORD = "correct horse battery"
CANARY = "Whether the canary sings"
COUNCIL = {"kind": "crucible.council", "query": CANARY}


class Browser:
    """A browser in which somebody is signed in; what it asks for may be refused."""

    def __init__(self, web: Web, cookie: str = "") -> None:
        self.web, self.cookie = web, cookie

    async def ask(self, method: str, path: str, **more: Any) -> tuple[int, str]:
        headers = {"Cookie": self.cookie, "Origin": self.web.url, "Accept": "application/json"}
        base = self.web.pages if self.cookie else self.web.url
        client = self.web.client
        async with client.request(method, base + path, headers=headers, allow_redirects=False, **more) as answer:
            return answer.status, "" if "event-stream" in answer.content_type else await answer.text()

    async def start(self, **more: Any) -> tuple[int, str]:
        """Start a council; return its id, or why not."""
        status, text = await self.ask("POST", "/runs", json={**COUNCIL, **more})
        return status, re.findall(r'"run_id":"([^"]+)"', text)[0] if status == 201 else text


class House:
    """A server with people."""

    def __init__(self, web: Web, people: People, models: str) -> None:
        self.web, self.people, self.models = web, people, models

    async def enter(self, name: str, **fields: Any) -> Browser:
        """Add somebody and sign them in."""
        secret = self.people.add(Person(name=name, **{"role": "member", **fields}))
        return await self.sign_in(name, secret, PASSWORD)

    async def over(self, run_id: str, state: str) -> str:
        """Wait until a run is not under way any more, as ``state`` says; return why."""
        watch = self.web.site.hub.watch(run_id)
        with watch.viewed():
            while watch.state == "running":
                await watch.changed(watch.version, PATIENCE)
        assert watch.state == state, watch.head.message
        return watch.head.message

    async def sign_in(self, name: str, key: str, password: str = "") -> Browser:
        form = {"name": name, "key": key, "password": password}
        headers = {"Origin": self.web.url}
        async with self.web.client.post(
            f"{self.web.url}/open", data=form, headers=headers, allow_redirects=False
        ) as answer:
            why = "" if answer.status == 303 else await answer.text()
            assert answer.status == 303, re.findall(r'role="status">([^<]+)', why)
            return Browser(self.web, answer.headers["set-cookie"].partition(";")[0])


@pytest.fixture
async def house(store: RunStore, tmp_path: Path, models: LoopbackServer) -> AsyncIterator[House]:
    people = People(tmp_path / "people.toml")
    people.add(Person(name="root", role="admin"))
    prices = tmp_path / "prices.toml"
    prices.write_text('[prices]\n"*" = { input = 1, output = 1 }\n')
    keys = {"openrouter": Key(SecretStr("sk-canary-0123456789"), "given")}
    settings = Settings(keys, {"openrouter": f"{models.url}/v1"}, ConfigFile(), prices, {"ASSAY_LOCAL_SERVERS": ""})
    gate = Gate(token=TOKEN, people=people)
    doors = program_doors()
    async with (
        served(store, lambda: settings, gate, doors) as web,
        aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as client,
    ):
        yield House(Web(web.url, web.site, client), people, models.url)
    store.close()


async def test_a_run_is_its_owners_until_it_is_shared(house: House) -> None:
    anna, bob = await house.enter("anna"), await house.enter("bob")
    status, run_id = await anna.start()
    assert status == 201
    await house.over(run_id, "finished")
    assert CANARY in (await anna.ask("GET", "/runs.json"))[1]
    assert CANARY not in (await bob.ask("GET", "/runs.json"))[1]
    assert (await bob.ask("GET", f"/runs/{run_id}.json"))[0] == 404
    assert (await anna.ask("POST", f"/runs/{run_id}/share", data={"shared": "yes"}))[0] == 200
    assert CANARY in (await bob.ask("GET", "/runs.json"))[1]
    assert (await bob.ask("GET", f"/runs/{run_id}.json"))[0] == 200
    assert (await bob.ask("POST", f"/runs/{run_id}/share", data={"shared": ""}))[0] == 403


#: What is answered to a reader and to a member who ask for another's run, or for nothing in particular: refused
#: (403), not there for them (404), or passed on to the address itself.
REFUSED: dict[str, dict[str, tuple[int | None, int | None]]] = {
    "private": {"known": (None, None), "see": (404, 404), "start": (403, None), "note": (404, 404)}
    | {"act": (404, 404), "admin": (403, 403)},
    "shared": {"known": (None, None), "see": (None, None), "start": (403, None), "note": (403, None)}
    | {"act": (403, 403), "admin": (403, 403)},
}


@pytest.mark.parametrize("shared", REFUSED)
async def test_every_address_has_a_decision_and_keeps_to_it(house: House, council: Any, shared: str) -> None:
    run_id = await council("council-1", query=CANARY)
    mark(house.web.store, run_id, "owner:anna")
    if shared == "shared":
        mark(house.web.store, run_id, "shared:all")
    reader, member = await house.enter("eve", role="reader"), await house.enter("bob")
    nobody = Browser(house.web)
    for address in endpoints():
        assert address.need is not None, f"{address.method} {address.path}: decide who may ask (need=...)"
        if address.need == "open" or address.path == "/leave":
            continue
        path = _filled(address, run_id)
        assert (await nobody.ask(address.method, path))[0] == 403, path
        for who, expected in zip((reader, member), REFUSED[shared][address.need], strict=True):
            status, text = await who.ask(address.method, path)
            if expected is None:
                assert status not in (403, 500), (address.method, path, text)
            else:
                assert status == expected, (address.method, path, text)
            if shared == "private":
                assert CANARY not in text, path


def _filled(address: Endpoint, run_id: str) -> str:
    path = address.path.replace("{run_id}", run_id).replace("{kind}", "json").replace("{seq}", "2")
    return re.sub(r"\{\w+\}", "nobody", path)


async def test_a_program_with_a_persons_key_works_for_them_and_ends_with_them(house: House) -> None:
    anna, bob = await house.enter("anna"), await house.enter("bob")
    key = {"Authorization": f"Bearer {ApiKeys().add(ApiKey(name='notes', hash='', person='anna'))}"}
    chat = {"model": "assay/crucible", "messages": [{"role": "user", "content": CANARY}]}
    client, url = house.web.client, house.web.url
    async with client.post(f"{url}/v1/chat/completions", json=chat, headers=key) as answer:
        run_id = (await answer.json())["assay"]["run_id"]
    assert (await anna.ask("GET", f"/runs/{run_id}.json"))[0] == 200
    assert (await bob.ask("GET", f"/runs/{run_id}.json"))[0] == 404
    house.people.remove("anna")
    async with client.get(f"{url}/v1/models", headers=key) as answer:
        assert answer.status == 403, await answer.text()


async def test_what_is_spent_is_refused_in_one_line_at_every_door(house: House) -> None:
    anna = await house.enter("anna", calls=2)
    _, run_id = await anna.start()
    assert "/" not in run_id
    assert "ask whoever runs this server" in await house.over(run_id, "stopped")
    for path, data in (("/runs", COUNCIL), (f"/runs/{run_id}/resume", {}), (f"/runs/{run_id}/fork", {"at": 1})):
        status, text = await anna.ask("POST", path, json=data)
        assert status == 402 and "the budget is spent" in text and "\\n" not in text, path
    house.people.change("anna", calls=None)
    assert (await anna.ask("POST", f"/runs/{run_id}/resume", json={}))[0] == 201


@pytest.mark.hastened
async def test_a_person_who_is_removed_sees_no_more_even_of_an_open_stream(house: House) -> None:
    anna, bob = await house.enter("anna"), await house.enter("bob")
    started = RunStarted(run_id="w-1", protocol="weather", title=CANARY, task={}, settings={}, seed=1)
    log = house.web.store.start(started)
    for tag in ("owner:anna", "shared:all"):
        mark(house.web.store, "w-1", tag)
    streams = []
    for who in (anna, bob):
        headers = {"Cookie": who.cookie}
        streams.append(await house.web.client.get(f"{house.web.pages}/runs/w-1/stream", headers=headers))
        assert b"retry" in await streams[-1].content.readuntil(b"\n\n")
    house.people.remove("bob")
    async with asyncio.timeout(PATIENCE):
        assert b"event: end" not in await streams[1].read()
    assert (await bob.ask("GET", "/runs/w-1.json"))[0] == 403
    house.people.change("anna", role="reader")
    async with asyncio.timeout(PATIENCE):
        await streams[0].read()
    assert (await anna.ask("GET", "/runs/w-1.json"))[0] == 200
    assert (await anna.ask("POST", "/runs/w-1/share", data={"shared": ""}))[0] == 403
    log.close()


@pytest.mark.browser
async def test_who_was_signed_out_is_told_where_to_sign_in(page: Any, house: House) -> None:
    anna = await house.enter("anna")
    name, _, value = anna.cookie.partition("=")
    await page.context.add_cookies([{"name": name, "value": value, "url": house.web.pages}])
    await page.goto(f"{house.web.pages}/new?kind=crucible.council")
    await page.get_by_role("textbox", name="Question").fill(CANARY)
    await page.context.clear_cookies()
    await page.get_by_role("button", name="Start").click()
    await page.get_by_text(f"Sign in again at {house.web.url}/open.").wait_for()
    page.said.clear()  # the browser itself reports what was refused
    await page.goto("about:blank")


async def test_a_budget_that_is_none_is_refused_in_words_of_the_page(house: House) -> None:
    boss = await house.enter("boss", role="admin")
    status, text = await boss.ask("POST", "/people", json={"name": "cleo", "role": "member", "budget": "5/week"})
    assert status == 422 and "5/week is no budget: write dollars" in text and "--budget" not in text


def test_people_of_a_file_that_an_editor_marked_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "people.toml"
    path.write_text('[anna]\nrole = "reader"\n', encoding="utf-8-sig")
    People(path).add(Person(name="bob", role="member"))
    assert {name: one.role for name, one in People(path).all().items()} == {"anna": "reader", "bob": "member"}


async def test_whose_a_run_is_an_admin_reads_by_name(house: House, council: Any) -> None:
    await council("theirs-1", query=CANARY)
    await house.enter("anna")
    boss = await house.enter("boss", role="admin")
    mark(house.web.store, "theirs-1", f"owner:{house.people.find('anna').whose}")
    for path in ("/runs", "/runs/theirs-1"):
        async with house.web.client.get(house.web.pages + path, headers={"Cookie": boss.cookie}) as answer:
            page = await answer.text()
        assert set(re.findall(">(owner:[^<]+)<", page)) == {"owner:anna"}


async def test_two_people_who_answer_one_question_are_both_heard_out(house: House) -> None:
    anna, boss = await house.enter("anna"), await house.enter("boss", role="admin")
    started = RunStarted(run_id="w-1", protocol="weather", title=CANARY, task={}, settings={}, seed=1)
    log = house.web.store.start(started)
    mark(house.web.store, "w-1", f"owner:{house.people.find('anna').whose}")
    request = Request("m", (Message("user", "Why?"),), CallLabel("weather", "ask"))
    asking = asyncio.ensure_future(house.web.site.questions.person("w-1")(request))
    await asyncio.sleep(0)
    both = await asyncio.gather(
        *(who.ask("POST", "/runs/w-1/answers", json={"name": "q1", "text": "Rain."}) for who in (anna, boss))
    )
    assert sorted(status for status, _ in both) == [200, 400]
    assert any("not open any more" in text for _, text in both)
    assert (await asking).text == "Rain."
    log.close()


async def test_a_member_reaches_nothing_of_the_servers_own(house: House, council: Any) -> None:
    await council("hidden-1", query=CANARY)
    anna = await house.enter("anna")
    for fields in (
        {"model": "mailbox:/tmp/letters"},
        {"model": "http://127.0.0.1:1/v1"},
        {"seats": {"red_team": "mailbox:x"}},
        {"kind": "criticality.build", "query": None, "name": "kitty", "folder": "/etc"},
        {"follow": "hidden-1"},
        {"follow": "latest"},
        {"follow": "hidden"},
        {"queue": "1"},
    ):
        status, text = await anna.start(**fields)
        assert status in (400, 403, 404), (fields, status, text)
        assert "hidden-1" not in text or fields == {"follow": "hidden-1"}
    status, text = await anna.ask("POST", "/runs/hidden-1/tags", data={"add": "owner:anna"})
    assert status == 404
    assert len(house.web.store.runs()) == 1


async def test_what_the_server_or_a_person_is_set_to_ask_may_be_an_address(house: House) -> None:
    own = f"{house.models}/v1#tiny"
    anna = await house.enter("anna", model=own, calls=1)
    _, run_id = await anna.start()
    await house.over(run_id, "stopped")
    house.people.change("anna", calls=None)
    status, text = await anna.ask("POST", f"/runs/{run_id}/resume", json={})
    assert status == 201, text
    await house.over(run_id, "finished")
    status, text = await anna.ask("POST", f"/runs/{run_id}/fork", json={"at": 1, "model": f"{own}-other"})
    assert status == 400 and "only an admin" in text


async def test_signing_in_is_slow_for_guesses_once_for_links_and_over_for_everybody(house: House) -> None:
    secret = house.people.add(Person(name="anna", role="member"))
    with pytest.raises(AssertionError, match="12 characters"):
        await house.sign_in("anna", secret, "short")
    browsers = [await house.sign_in("anna", secret, PASSWORD), await house.sign_in("anna", PASSWORD)]
    with pytest.raises(AssertionError, match="do not fit"):
        await house.sign_in("anna", secret, PASSWORD)
    boss = await house.enter("boss", role="admin")
    assert (await boss.ask("POST", "/people/anna/sign-out"))[0] == 200
    assert [(await each.ask("GET", "/runs"))[0] for each in browsers] == [403, 403]
    again = await house.sign_in("anna", PASSWORD)
    house.people.link("anna")
    assert (await again.ask("GET", "/runs"))[0] == 403
    assert secret not in house.people.path.read_text() and PASSWORD not in house.people.path.read_text()
    for _ in range(5):
        with pytest.raises(AssertionError, match="do not fit"):
            await house.sign_in("anna", "wrong")
    await house.sign_in("boss", PASSWORD)


async def test_somebody_changes_their_password_and_stays_in_this_browser_alone(house: House) -> None:
    here, there = await house.enter("anna"), await house.sign_in("anna", PASSWORD)
    assert "Your password" in (await here.ask("GET", "/people"))[1]
    for key, new, why in [("wrong", PASSWORD * 2, "not your password"), (PASSWORD, "short", "12 characters")]:
        status, text = await here.ask("POST", "/password.json", data={"key": key, "password": new})
        assert status == 400 and why in text
    headers = {"Cookie": here.cookie, "Origin": house.web.url}
    form = {"key": PASSWORD, "password": "another horse battery"}
    async with house.web.client.post(
        f"{house.web.pages}/password", data=form, headers=headers, allow_redirects=False
    ) as answer:
        assert answer.status == 303
        stays = Browser(house.web, answer.headers["set-cookie"].partition(";")[0])
    assert (await stays.ask("GET", "/runs"))[0] == 200
    assert [(await each.ask("GET", "/runs"))[0] for each in (here, there)] == [403, 403]
    with pytest.raises(AssertionError, match="do not fit"):
        await house.sign_in("anna", PASSWORD)
    await house.sign_in("anna", "another horse battery")


def test_the_file_says_what_does_not_fit_and_keeps_what_a_person_wrote(tmp_path: Path) -> None:
    people = People(tmp_path / "people.toml")
    with pytest.raises(ConfigurationError, match="cannot be read") as refused:
        people.all()
    assert "assay people add" in refused.value.told
    people.add(Person(name="anna", role="member", budget=5))
    people.path.write_text("# our house\n" + people.path.read_text())
    people.change("anna", role="admin", budget=None)
    assert people.path.read_text().startswith("# our house") and people.find("anna").role == "admin"
    for wrong in ("[anna]\nrole = 'king'", "anna = 1", "[anna", "[anna]\nrole = 'member'\nbugdet = 1"):
        people.path.write_text(wrong)
        with pytest.raises(ConfigurationError, match=r"people\.toml"):
            people.all()
