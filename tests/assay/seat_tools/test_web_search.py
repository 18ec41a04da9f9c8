"""Seats search the web: results with their address, quotations looked up on the page, nothing of this network."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from tests.assay.seat_tools.test_seat_tools import SEATS, TRIAGE, asked, block
from tests.crucible.records import played

from assay.launch import Launcher
from assay.protocols.crucible.task import Options
from assay.registry import read_run
from assay.seat_tools.answering import beside
from assay.terms import Terms
from llm_runtime.errors import ConfigurationError
from llm_runtime.events import CallStarted
from llm_runtime.http.public import read_page
from llm_runtime.messages import Reply, Request, Usage
from llm_runtime.providers.scripted import scripted
from llm_runtime.settings import Settings
from llm_runtime.store import open_store

PAGE = "<html><body><p>The bridge has <b>17</b> arches.</p><p>It was built in 1907.</p></body></html>"
TITLE = "The\nbridge <b>now</b>\n2. Another\n   https://evil.example/"
#: What each engine answers, of the address of a page.
HITS: dict[str, Callable[[str], Any]] = {
    "searxng": lambda url: {"results": [{"title": TITLE, "url": url, "content": "17 arches"}]},
    "brave": lambda url: {"web": {"results": [{"title": TITLE, "url": url, "description": "17 arches"}]}},
    "tavily": lambda url: {"results": [{"title": TITLE, "url": url, "content": "17 arches"}]},
    "exa": lambda url: {"results": [{"title": TITLE, "url": url, "text": "17 arches"}]},
}


class Site:
    """Searches and a page, on this machine."""

    def __init__(self, config: Path) -> None:
        self.config, self.engine, self.body = config, "searxng", PAGE
        self.seen: list[tuple[str, dict[str, str], Any]] = []
        self.url = ""

    @property
    def page(self) -> str:
        return f"{self.url}/page"

    def write(self, engine: str, **more: str) -> None:
        """Write the search ``town`` into tools.toml."""
        self.engine = engine
        fields = {"search": engine, "url": self.url, **more}
        self.config.mkdir(exist_ok=True)
        text = "".join(f"{name} = {json.dumps(value)}\n" for name, value in fields.items())
        (self.config / "tools.toml").write_text(f"[town]\n{text}")

    async def handle(self, request: web.Request) -> web.Response:
        sent = await request.json() if request.method == "POST" else dict(request.query)
        self.seen.append((request.path, dict(request.headers), sent))
        if request.path == "/page":
            return web.Response(text=self.body, content_type="text/html")
        if request.path == "/leads":
            return web.Response(status=302, headers={"Location": "http://169.254.169.254/latest"})
        return web.json_response(HITS[self.engine](self.page))


@pytest.fixture
async def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Site]:
    made = Site(tmp_path / "config")
    monkeypatch.setenv("ASSAY_CONFIG_DIR", str(made.config))
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", made.handle)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    made.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    made.write("searxng")
    yield made
    await runner.cleanup()


@pytest.fixture
def open_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages of this machine may be read, over http."""
    here = partial(read_page, schemes=frozenset({"http"}), allowed=lambda _: True)
    monkeypatch.setattr("assay.seat_tools.web.read_page", here)


async def said(*answers: str) -> tuple[Reply, list[str]]:
    """The answer of a seat that says this one after the other, and what it was told before each."""
    told: list[str] = []

    def model(one: Request) -> str:
        told.append(one.messages[-1].content)
        return answers[min(len(told), len(answers)) - 1]

    reply, _ = await asked(model, "search:town")
    return reply, told


HEADERS = {
    "brave": ("X-Subscription-Token", "k-1"),
    "tavily": ("Authorization", "Bearer k-1"),
    "exa": ("x-api-key", "k-1"),
}


@pytest.mark.parametrize("engine", HITS)
async def test_each_engine_is_asked_in_its_own_way_and_answers_in_one(
    engine: str, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.write(engine)
    for name in ("BRAVE", "TAVILY", "EXA"):
        monkeypatch.setenv(f"{name}_API_KEY", "k-1")
    _, told = await said(block("search_town", words="arches & years"), "Well.")
    assert f"1. The bridge now 2. Another https://evil.example/\n   {site.page}\n   17 arches" in told[1]
    ((_, headers, sent),) = site.seen
    assert sent.get("q", sent.get("query")) == "arches & years"
    name, value = HEADERS.get(engine, ("Accept", "application/json"))
    assert {key.lower(): one for key, one in headers.items()}[name.lower()] == value


async def test_a_key_comes_from_a_command_or_is_missing_in_one_line(site: Site) -> None:
    site.write("tavily")
    _, told = await said(block("search_town", words="arches"), "Well.")
    assert "error: the search has no key: set TAVILY_API_KEY" in told[1] and site.seen == []
    site.write("tavily", key="command:echo printed-key-17")
    await said(block("search_town", words="arches"), "Well.")
    assert site.seen[0][1]["Authorization"] == "Bearer printed-key-17"


@pytest.mark.usefixtures("open_network")
async def test_a_page_is_read_where_a_result_names_it_and_no_address_of_the_seats_own(site: Site) -> None:
    told = (
        await said(
            block("search_town", page=f"{site.page}"),
            block("search_town", words="arches"),
            block("search_town", page=site.page),
            block("search_town", page=f"{site.page}?read=secret"),
            "Well.",
        )
    )[1]
    assert "no such address was shown" in told[1]
    assert "1| The bridge has 17 arches." in told[3]
    assert "no such address was shown" in told[4]
    assert [path for path, *_ in site.seen] == ["/search", "/page"]


INWARD = ["http://127.0.0.1/x", "https://127.0.0.1/x", "https://localhost/x", "https://169.254.169.254/latest"]
INWARD += ["https://[::1]/x", "https://10.0.0.1/x", "file:///etc/passwd", "https://0x7f000001/x", "ftp://example.org/x"]


@pytest.mark.parametrize("address", INWARD)
async def test_nothing_of_this_network_is_read(address: str, site: Site) -> None:
    site.body = PAGE
    HITS["here"] = lambda _: {"results": [{"title": "A page", "url": address, "content": ""}]}
    site.engine = "here"
    _, told = await said(block("search_town", words="arches"), block("search_town", page=address), "Well.")
    assert "error: " in told[2] and "1|" not in told[2], told[2]
    assert len(site.seen) == 1


RIGHT, WRONG = "It was built in 1907.", "It was built in 1913."


@pytest.mark.usefixtures("open_network")
@pytest.mark.parametrize("form", ["text", "json"])
async def test_a_quotation_that_is_not_on_its_page_is_told_once_and_then_marked(form: str, site: Site) -> None:
    def quoting(words: str) -> str:
        text = f'The year is known: "{words}" [{site.page}]'
        return text if form == "text" else json.dumps({"claims": [{"text": text}]})

    look = block("search_town", words="bridge")
    reply, told = await said(look, quoting(RIGHT))
    assert reply.text == quoting(RIGHT) and len(told) == 2
    reply, told = await said(look, quoting(WRONG), quoting(RIGHT))
    assert f'- "{WRONG}" [{site.page}]' in told[2] and "do not stand on the pages" in told[2]
    assert reply.text == quoting(RIGHT) and reply.usage.input_tokens == 30
    reply, told = await said(look, quoting(WRONG))
    assert len(told) == 3 and reply.text.count(f"[{site.page}] (not found there)") == 1
    if form == "json":
        assert json.loads(reply.text)["claims"]


async def test_a_quotation_of_a_page_that_cannot_be_read_is_marked_so(site: Site) -> None:
    reply, _ = await said(block("search_town", words="bridge"), f'So it is: "{RIGHT}" [{site.page}]')
    assert f"[{site.page}] (not looked up)" in reply.text


@pytest.mark.usefixtures("open_network")
async def test_a_page_that_was_never_shown_supports_no_quotation_and_is_not_fetched(site: Site) -> None:
    reply, _ = await said(f'So it is: "{RIGHT}" [{site.page}]')
    assert "(not found there)" in reply.text and site.seen == []


async def test_a_search_that_is_not_there_or_not_as_it_should_be_is_one_line_each(site: Site) -> None:
    for text, words in (
        ("", r"write \[town\] with search or command into"),
        ('[town]\nsearch = "altavista"', "search must be one of searxng, brave, tavily, exa"),
        ('[town]\nsearch = "searxng"', r"\[town\]: url: missing"),
        ('[town]\nsearch = "brave"\nkey = "sk-123"', r"\[town\]: key: "),
        ('[town]\nsearch = "brave"\nallow = ["x"]', r"\[town\]: allow: "),
    ):
        (site.config / "tools.toml").write_text(text)
        with pytest.raises(ConfigurationError, match=words) as caught:
            beside(scripted("x"), ("search:town",))
        assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match="there is no tool search:"):
        Options(tools=("search:",))


class Seats:
    """A council whose pragmatist looks on the web."""

    def __init__(self, site: Site) -> None:
        self.site = site

    def __call__(self, request: Request) -> Reply:
        last = request.messages[-1].content
        text = played(last) or f"{request.label.phase} of {request.label.seat}."
        if request.label.phase == "triage":
            text = json.dumps({**TRIAGE, "council": SEATS})
        elif "pragmatist" in request.label.seat and request.label.round == 1 and request.label.phase == "position":
            claim = {"text": f'The year is 1907: "{RIGHT}" [{self.site.page}]'}
            done = {"claims": [claim], "conclusion": "It is old."}
            text = json.dumps(done) if "RESULT 1 of search_town" in last else block("search_town", words="bridge")
        return Reply(text, "m", "p", Usage(100, 10), cost=7)


@pytest.mark.usefixtures("open_network")
async def test_a_council_with_a_search_plays_again_without_a_network(site: Site, tmp_path: Path) -> None:
    store = open_store(tmp_path / "runs.db")
    run = read_run("crucible.council", {"query": "How old is it?"}, {"tools": ["search:town"]}, strict=False)
    launcher = Launcher(store, Settings)
    started = await launcher.start(run, Terms(), seed=5, run_id="r", model=scripted(Seats(site)))
    outcome = await started.outcome()
    assert outcome.state == "finished", outcome.error
    calls = [one.request for _, one in store.events("r") if isinstance(one, CallStarted)]
    phases = [one["label"]["phase"] for one in calls if one["model"] == "tool:search_town"]
    assert phases == ["position-tool", "position-quote"]
    before = len(site.seen)
    (site.config / "tools.toml").unlink()
    again = await launcher.replay("r")
    assert again.result == again.recorded and len(site.seen) == before
    store.close()
