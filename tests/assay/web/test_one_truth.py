"""Every surface says the same of a run: who answered, what it came to, where that comes from, what can be done."""

from __future__ import annotations

import html
import io
import json
import re
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from typing import Any, Literal

import pytest
from tests.crucible.records import objection

from assay.console.tables import print_runs
from assay.demo import import_played
from assay.launch.glimpses import glimpses
from assay.registry import run_types, standing_in, story_of
from assay.report.standing import RunStanding
from assay.report.terminal import print_story
from llm_runtime.answerer import Answerer
from llm_runtime.events import CallFailed, CallFinished, CallStarted, Event, RunFinished, RunStarted
from llm_runtime.messages import CallLabel, Message, Reply, Request, Usage
from llm_runtime.settings import ConfigFile, Settings
from llm_runtime.store import RunLog, RunStore
from llm_runtime.testing import LoopbackServer

from .conftest import served

WISH = "openrouter/auto"
#: What each kind came to; the other kinds have logs that were played from their recordings.
RESULTS: dict[str, dict[str, Any]] = {
    "crucible.council": {
        "final_response": "# So\n\n**Stay** with it.",
        "loops_executed": 2,
        "early_exit": False,
        "ledger": {
            "objections": [
                {
                    "id": "O1",
                    "loop": 1,
                    "step": 1,
                    "text": {"source": "answer", "start": 0, "end": 1, "how": "exact", "words": "x"},
                }
            ]
        },
    },
    "fire_circle.circle": {
        "mode": "single",
        "truth": 0.1,
        "indeterminacy": 0.2,
        "falsehood": 0.9,
        "ayni_balance": -0.8,
        "exchange_type": "extractive",
        "trust": 0.1,
        "evaluations": [{"truth": 0.1, "indeterminacy": 0.2, "falsehood": 0.9, "model": "ollama:tiny", "seat": 1}],
        "patterns": [],
    },
    "fire_circle.gate": {
        "name": "suite",
        "gates": ["F >= 0.7"],
        "verdicts": [{"id": "a", "falsehood": 0.9, "fired": {"F >= 0.7": "F is 0.9"}}, {"id": "b", "falsehood": 0.1}],
    },
    "fire_circle.study": {
        "passes": [{"judged": 5, "items": 6, "failed": 1}],
        "complete": True,
        "lift": {"verdict": "harm"},
    },
    "ai_crucible.attempt": {"passed": False, "failed": ["tests"], "turns": 3},
    "criticality.adopt": {"adoptions": [{"refused": "", "findings": [{"kind": "finding"}]}]},
    "crux.compare": {"candidates": [{}], "opposed": [{}, {}], "shared": [], "warnings": []},
    "crux.divide": {
        "topic": "",
        "authors": [{"name": name, "texts": 1, "passages": 1, "claims": 1} for name in ("Ada", "Ben")],
        "alone": [[], []],
        "candidates": [{"question": "Is it so?", "sides": [], "confirmed": False, "rests": 0}],
    },
    "crux.fidelity": {"own": {"hits": 3, "of": 4}, "control": {"hits": 1, "of": 4}},
    "crux.persona": {"gate": {"reasons": ["few texts"]}},
    "crux.judge": {"verdicts": []},
    "compare.tasks": {
        "rows": [
            {"task": "t", "method": "council", "right": True, "error": ""},
            {"task": "t", "method": "single", "right": False, "error": ""},
        ]
    },
    "compare.direct": {"answer": "Stay.", "model": "x"},
}
PLAYED = {"ai_crucible.trial": "trial", "criticality.build": "build", "crux.debate": "debate"}
SHELL = re.compile(
    r"\bassay (runs|keys|ask|demo|models|serve|batch|doctor)\b|(?<![\w-])--[a-z][a-z-]+|OPENROUTER_API_KEY"
)
ERROR = "the provider does not accept the key"
SURFACES = ("row", "page", "html", "markdown", "terminal")
KINDS = tuple(run_types())
STATES = ("running", "waiting", "interrupted", "stopped", "failed", "finished", "recording")


@dataclass(frozen=True)
class Told:
    """What each surface shows of one run."""

    kind: str
    standing: RunStanding
    row: str
    page: str
    html: str
    markdown: str
    terminal: str
    data: dict[str, Any]


def call(kind: str, by: Answerer, text: str = "") -> list[Event]:
    """The events of one call for which the protocol asked a model that does not answer."""
    request = Request(WISH, (Message("user", "Why?"),), CallLabel(kind, "position", "1:pragmatist"))
    started = CallStarted.of(request, {}, lambda *_: False, by)
    if not text:
        return [started]
    provider = {"person": "terminal", "recording": "demo"}.get(by.kind, by.endpoint)
    reply = Reply(text, by.name, provider, Usage(3, 4), cost=0, cost_source="free")
    return [started, CallFinished.of(started, reply)]


def begin(store: RunStore, run_id: str, kind: str, origin: Literal["live", "demo"] = "live") -> RunLog:
    task, settings = {"name": "Maud"}, {"options": dict[str, Any]()}
    title = f"A title {kind}"
    return store.start(
        RunStarted(run_id=run_id, protocol=kind, title=title, task=task, settings=settings, seed=7, origin=origin)
    )


def write(store: RunStore, state: str, kind: str) -> tuple[str, RunLog | None]:
    """Make one run of a kind, in a state; return its id, and its log where that stays open."""
    run_id = f"{state}-{kind.replace('.', '-').replace('_', '-')}"
    if kind in PLAYED and state == "recording":
        return import_played(store, PLAYED[kind], run_id), None
    log = begin(store, run_id, kind, "demo" if state == "recording" else "live")
    local, person = Answerer(kind="model", name="tiny", endpoint="ollama"), Answerer(kind="person", name="Ann")
    by = Answerer(kind="recording", name="hand-written") if state == "recording" else person
    for event in call(kind, by, "Because."):
        log.emit(event)
    match state:
        case "running":
            log.emit(call(f"{kind}-later", local)[0])
            return run_id, log
        case "waiting":
            log.emit(call(f"{kind}-later", person)[0])
            return run_id, log
        case "stopped":
            log.emit(
                RunFinished(state="stopped", error="BudgetExceeded", message="100 calls are made", bound="max_calls")
            )
        case "failed":
            advice = "check it with: assay keys"
            log.emit(RunFinished(state="failed", error="AuthenticationFailed", message=ERROR, advice=advice))
        case "finished" | "recording":
            log.emit(RunFinished(state="finished", result=RESULTS.get(kind, {})))
        case _:
            pass
    log.close()
    return run_id, None


async def told(web: Any, run_id: str, kind: str, rows: dict[str, str]) -> Told:
    store = web.store
    stream = io.StringIO()
    print_story(story_of(store.records(run_id), store.summary(run_id).state), stream, whole=True)
    return Told(
        kind,
        standing_in(store, run_id),
        rows[run_id],
        *[(await web.get(f"/runs/{run_id}{path}"))[1] for path in ("", "/export.html", "/export.md")],
        stream.getvalue(),
        json.loads((await web.get(f"/runs/{run_id}/export.json"))[1]),
    )


def plain(text: str) -> str:
    """What a reader sees of HTML, Markdown or a terminal's lines: words, one blank between them."""
    text = re.sub(r"<(script|style)\b.*?</\1>|<[^>]*>", " ", text, flags=re.DOTALL)
    return " ".join(html.unescape(text).replace("\\", "").split())


async def all_told(web: Any, state: str, kinds: Iterable[str] = KINDS) -> list[Told]:
    made = [(kind, *write(web.store, state, kind)) for kind in kinds]
    try:
        _, page = await web.get("/runs")
        rows = dict(re.findall(r'<li class="item"[^>]* id="run-([^"]+)">(.*?)</li>', page, re.DOTALL))
        return [await told(web, run_id, kind, rows) for kind, run_id, _ in made]
    finally:
        for _, _, log in made:
            if log is not None:
                log.close()


#: A recording that was played takes long to draw: each has a test of its own.
ROWS = [
    *((state, KINDS) for state in STATES if state != "recording"),
    ("recording", [kind for kind in KINDS if kind not in PLAYED]),
    *(("recording", [kind]) for kind in PLAYED),
]


@pytest.mark.parametrize(("state", "kinds"), ROWS)
async def test_list_page_files_and_terminal_say_the_same_of_every_kind_of_run(
    web: Any, state: str, kinds: Iterable[str]
) -> None:
    for one in await all_told(web, state, kinds):
        words = " ".join(one.standing.words.split())
        where = f"{one.kind}, {state}"
        for surface in SURFACES:
            shown = plain(getattr(one, surface))
            assert words in shown, f"{where}: {surface} does not say {words!r}"
            assert WISH not in shown, f"{where}: {surface} names a model that did not answer"
            if surface != "terminal":
                assert not SHELL.search(shown), f"{where}: {surface} speaks shell: {SHELL.search(shown)}"
            if state == "recording" and surface != "row":
                assert "written by hand" in shown, f"{where}: {surface} has no origin"
        assert one.data["standing"] == json.loads(json.dumps(one.standing.data()))


EXPECTED = {
    "running": ("under way", "neutral", []),
    "waiting": ("waits for a person", "neutral", ["answer"]),
    "interrupted": ("broken off: its log has no end, and nobody works on it", "neutral", ["resume"]),
    "stopped": ("stopped: 100 calls are made", "neutral", ["raise_bound"]),
    "failed": (f"failed: {ERROR}", "neutral", ["add_key", "resume"]),
}


@pytest.mark.parametrize("state", EXPECTED)
async def test_how_a_run_stands_is_data_and_has_no_colour_of_a_verdict(web: Any, state: str) -> None:
    for kind in run_types():
        run_id, log = write(web.store, state, kind)
        standing = standing_in(web.store, run_id)
        if log is not None:
            log.close()
        assert (standing.words, standing.leaning, [step.kind for step in standing.next]) == EXPECTED[state]


VERDICTS = {
    "crucible.council": ("answered · 1 objection: 1 open", "open"),
    "fire_circle.circle": ("alarm · F 0.90", "bad"),
    "fire_circle.gate": ("1 of 2 cases stopped the build", "bad"),
    "fire_circle.study": ("harm · 5 of 6 items judged · 1 failed", "bad"),
    "ai_crucible.attempt": ("not passed · after 3 turns · tests", "bad"),
    "criticality.adopt": ("1 of 1 function adopted · 1 finding", "open"),
    "crux.compare": ("1 candidate crux · 2 opposed, 0 shared", "neutral"),
    "crux.divide": ("1 crux · among 2 speakers · 1 not confirmed by their sentences", "neutral"),
    "crux.fidelity": ("3 of 4 predicted from their own texts · 1 of 4 from the control's", "neutral"),
    "crux.persona": ("built · thin", "open"),
    "crux.judge": ("0 pairs judged", "neutral"),
    "compare.tasks": ("1 task · council 1 right, single 0 right", "neutral"),
    "compare.direct": ("answered · by one model · nobody objected or checked", "neutral"),
}


@pytest.mark.parametrize("kind", VERDICTS)
async def test_a_verdict_is_outcome_ground_and_doubt(web: Any, kind: str) -> None:
    run_id, _ = write(web.store, "finished", kind)
    standing = standing_in(web.store, run_id)
    assert (standing.words, standing.leaning) == VERDICTS[kind] and standing.by == ("Ann",)


async def test_a_live_run_is_not_called_broken(web: Any) -> None:
    for one in await all_told(web, "running"):
        for surface in SURFACES:
            assert not re.search(r"log ends|broken off|failed|stopped", plain(getattr(one, surface))), one.kind


async def test_the_page_says_what_to_do_next_as_links(web: Any) -> None:
    run_id, _ = write(web.store, "failed", "crucible.council")
    _, page = await web.get(f"/runs/{run_id}")
    assert f'href="/runs/{run_id}/resume"' in page.replace(web.site.gate.root, "")
    assert "Set a key" in plain(page)
    stream = io.StringIO()
    print_story(story_of(web.store.records(run_id)), stream, whole=True)
    assert f"assay runs resume {run_id}" in stream.getvalue()


async def test_a_log_of_before_says_whom_it_asked_for_and_not_that_it_answered(web: Any) -> None:
    log = begin(web.store, "old-1", "crucible.council")
    request = Request(WISH, (Message("user", "Why?"),), CallLabel("crucible", "position", "1:pragmatist"))
    log.emit(CallStarted.of(request, {}, lambda *_: False))
    _, page = await web.get("/runs/old-1")
    log.close()
    assert f"asked for {WISH}" in plain(page)
    assert standing_in(web.store, "old-1").by == ()


async def test_a_failed_call_names_who_was_asked(web: Any) -> None:
    log = begin(web.store, "lost-1", "crucible.council")
    (started,) = call("crucible", Answerer(kind="model", name="tiny", endpoint="ollama"))
    assert isinstance(started, CallStarted)
    log.emit(started)
    log.emit(CallFailed(digest=started.digest, occurrence=1, error="ConnectionFailed", message="gone"))
    log.close()
    _, page = await web.get("/runs/lost-1/timeline")
    assert "ollama:tiny" in plain(page) and WISH not in plain(page)


@pytest.fixture
async def reaching(store: RunStore, models: LoopbackServer) -> AsyncIterator[Any]:
    """The application with one model server, at an address of its own."""
    settings = Settings(config=ConfigFile(model=f"{models.url}/v1#tiny"))
    async with served(store, lambda: settings) as running:
        yield running
    store.close()


async def test_a_person_in_a_seat_is_a_person_while_it_waits_and_ever_after(reaching: Any) -> None:
    web = reaching
    _, told = await web.post("/runs", query="Which database?", seats={"red_team": "terminal:"})
    run_id, waited = told["run_id"], set[str]()
    async for kind, _, data in web.stream(run_id, "view=story"):
        if kind == "page" and "Your turn" in data["parts"].get("asks", ""):
            (ask,) = (await web.json(f"/runs/{run_id}/asks"))["asks"]
            now = await web.json(f"/runs/{run_id}")
            waited |= {now["standing"]["words"]}
            _, page = await web.get(f"/runs/{run_id}")
            assert "a person" in plain(page) and "openrouter" not in plain(page)
            doubt = objection(ask["messages"][-1][1], "I doubt it.")
            await web.post(f"/runs/{run_id}/answers", name=ask["name"], text=doubt)
    assert waited == {"waits for a person"}
    (run,) = (await web.json("/runs"))["runs"]
    by = ["127.0.0.1", "a person"]
    assert [one.partition(":")[0] for one in (await web.json(f"/runs/{run_id}"))["standing"]["by"]] == by
    for path in ("/timeline", "/export.html", "/export.md"):
        shown = plain((await web.get(f"/runs/{run_id}{path}"))[1])
        assert "a person" in shown and not re.search(r"openrouter|anthropic", shown), path
    assert "a person" in run["models"] and "openrouter" not in run["models"]


async def test_forms_and_lists_speak_no_shell(web: Any) -> None:
    forms = [f"/new?kind={kind}" for kind, run in run_types().items() if "form" in run.doors]
    for path in ("/", "/runs", "/queue", "/batches", "/personas", *forms):
        status, page = await web.get(path)
        assert status == 200 and not SHELL.search(plain(page)), path


@pytest.mark.parametrize("state", STATES)
async def test_the_terminals_list_says_the_same(store: RunStore, state: str, capsys: Any) -> None:
    made = [write(store, state, kind) for kind in KINDS if kind not in PLAYED]
    runs = store.runs(limit=100)
    print_runs(runs, glimpses(store, runs))
    listed = capsys.readouterr().out
    for run_id, log in made:
        standing = standing_in(store, run_id)
        ends = f" · {standing.words}\n" if standing.verdict else "A title"
        assert re.search(rf"{run_id} .*{re.escape(ends)}", listed), ends
        if log is not None:
            log.close()
    store.close()
