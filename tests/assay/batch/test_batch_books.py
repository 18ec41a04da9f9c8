"""One book: what a provider charged, the run's book, the batch's purse and the screen agree to the micro-dollar."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from tests.assay.batch.batch_shell import TRIAGE, Shell, short_pauses
from tests.bound import bound, request_id
from tests.extent import PATIENCE

from assay.batch.database import Database
from assay.batch.ledger import Batch, Claim, Ledger
from assay.batch.metering import BatchBudgetExceeded
from assay.batch.performing import JobResult, JobRunner, WorkerContext
from assay.batch.purses import Purses
from assay.batch.worker import work
from assay.launch import Followers, Launcher, PerRun
from assay.registry import fold_for, read_run
from assay.report.progress import Progress
from assay.report.screen import sums_line
from assay.report.units import money
from assay.terms import Terms
from llm_runtime.events import CallFailed
from llm_runtime.gateway import Gateway
from llm_runtime.messages import Generate
from llm_runtime.settings import Key, Settings
from llm_runtime.store import open_store
from llm_runtime.testing import Fault, LoopbackServer, Received
from llm_runtime.tokens import estimate_tokens
from llm_runtime.wrappers.accounts import Budget, Caps, account_in
from llm_runtime.wrappers.retrying import Backoff

Enter = Callable[..., Batch]
SCORES = {"truth": 0.9, "indeterminacy": 0.1, "falsehood": 0.1, "reasoning": "I weighed it."}
MODEL = "openrouter:openai/gpt-4o"


def judged(received: Received) -> str:
    return bound(json.dumps(SCORES), request_id(received.messages))


class Till:
    """A provider that breaks down in turn, and writes down what it charges for, in micro-dollars."""

    def __init__(self, *, cuts: bool = True) -> None:
        self.charged = 0
        self.cut = 0
        self.met: set[str] = set()
        self._cuts = cuts

    def fault(self, received: Received) -> Fault | None:
        """Cut some answers; whether those are charged for, nobody hears."""
        if self._trouble(received) != "cut":
            return None
        self.cut += 1
        return Fault.RESET_MID_BODY

    def answer(self, received: Received) -> dict[str, Any] | tuple[int, dict[str, Any]]:
        """Answer, or refuse, or answer too little and charge for it all the same."""
        trouble = self._trouble(received)
        self.met.add(trouble)
        if trouble in ("500", "529", "429"):
            return int(trouble), {"error": {"message": "not now"}}
        self.charged += (cost := 3 + 7 * received.number)
        text = "" if trouble == "empty" else self._text(received)
        finish = "length" if trouble == "length" else "stop"
        return {
            "id": f"gen-{received.number}",
            "model": "openai/gpt-4o",
            "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}],
            "usage": {"prompt_tokens": _read(received), "completion_tokens": 9, "cost": cost / 1e6},
        }

    def _trouble(self, received: Received) -> str:
        troubles = ("", "500", "", "empty", "", "cut" if self._cuts else "", "", "length", "", "529", "")
        troubles += ("429", *troubles, "")  # after which all wait for a second
        trouble = troubles[received.number % len(troubles)]
        # Without triage or a synthesis the run would end there.
        asked = received.messages[0].content
        return (
            "" if trouble == "length" and not asked.startswith("You are a member") and "seat" not in asked else trouble
        )

    def _text(self, received: Received) -> str:
        if received.messages[0].content.startswith("You are the triage agent"):
            return TRIAGE
        asked = " ".join(message.content for message in received.messages)
        if "falsehood" in asked:
            return judged(received)
        found = re.search(r"(\d+) plus (\d+)", asked)
        return f"ANSWER: {int(found[1]) + int(found[2])}" if found else "Thought through."


def _read(received: Received) -> int:
    """Count what was sent, as a server does that reads all of it."""
    return sum(estimate_tokens(message.content) for message in received.messages)


def settings_for(server: LoopbackServer) -> Settings:
    key = Key(SecretStr("sk-or-canary-0123456789"), "test")
    return Settings(keys={"openrouter": key}, base_urls={"openrouter": f"{server.url}/v1"})


@asynccontextmanager
async def at_once(settings: Settings) -> AsyncGenerator[PerRun]:
    """Models whose attempts are made again without a pause."""
    made: list[Gateway] = []

    def make(budget: Budget, _: Followers) -> Generate:
        made.append(Gateway(settings, budget=budget, backoff=Backoff(base=0)))
        return made[-1].generate

    yield PerRun(make)
    for gateway in made:
        await gateway.aclose()


def shown(store: Any, run_id: str, kind: str) -> Progress:
    """What a live display shows at the end."""
    fold = fold_for(kind)
    for record, event in store.events(run_id):
        fold.apply(event, record.at)
    return fold.progress()


KINDS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("crucible", {"query": "Why?"}, {"delta": "similarity"}),
    ("fire_circle", {"user": "Is it meant well?"}, {"models": ["lab/a", "lab/b", "lab/c", "lab/d"]}),
    (
        "compare",
        {"tasks": [{"id": f"{n}", "question": f"What is {n} plus {n}?", "expected": 2 * n} for n in range(2)]},
        {},
    ),
]


@pytest.mark.hastened
@pytest.mark.parametrize("budget", [None, 5.0])
@pytest.mark.parametrize(("kind", "task", "options"), KINDS, ids=[kind for kind, *_ in KINDS])
async def test_the_run_s_book_and_the_screen_say_what_was_charged(
    tmp_path: Path, kind: str, task: dict[str, Any], options: dict[str, Any], budget: float | None
) -> None:
    till = Till()
    store = open_store(str(tmp_path / "runs.db"))
    async with LoopbackServer(till.answer, faults=till.fault) as server:
        settings, terms = settings_for(server), Terms(model=MODEL, budget=budget)
        run = read_run(kind, task, options)
        launcher = Launcher(store, lambda: settings)
        async with at_once(terms.settings(settings)) as models:
            outcome = await (await launcher.start(run, terms, run_id="run-1", model=models)).outcome()
    assert till.charged > 0 and till.met >= {"", "500", "empty"}
    summary, progress = store.summary("run-1"), shown(store, "run-1", kind)
    assert summary.cost == progress.cost == till.charged
    assert summary.unknown == progress.unknown
    assert bool(summary.unknown) == bool(till.cut)
    assert money(till.charged) in sums_line(progress)
    accounts = [stands for _, event in store.events("run-1") if (stands := account_in(event))]
    if budget is not None:
        assert (accounts[-1].spent.cost, accounts[-1].held.cost) == (till.charged, 0)
        assert accounts[-1].unknown.calls == till.cut
    if kind == "fire_circle" and outcome.state == "finished":
        assert outcome.result["spend"]["cost"] == till.charged
    if kind == "compare":
        assert sum(row["cost"] for row in outcome.result["rows"]) == till.charged
    store.close()


@pytest.mark.parametrize("budget", [None, 5.0])
async def test_a_run_that_is_interrupted_keeps_its_book(tmp_path: Path, budget: float | None) -> None:
    till, reached = Till(cuts=False), asyncio.Event()

    async def answer(received: Received) -> Any:
        if received.number == 5:
            reached.set()
            await asyncio.Event().wait()
        return till.answer(received)

    store = open_store(str(tmp_path / "runs.db"))
    async with LoopbackServer(answer) as server:
        settings, terms = settings_for(server), Terms(model=MODEL, budget=budget)
        launcher = Launcher(store, lambda: settings)
        async with at_once(terms.settings(settings)) as models:
            run = read_run("crucible", {"query": "Why?"})
            running = await launcher.start(run, terms, run_id="run-1", model=models)
            async with asyncio.timeout(PATIENCE):
                await reached.wait()
            await running.stop()
    summary = store.summary("run-1")
    accounts = [stands for _, event in store.events("run-1") if (stands := account_in(event))]
    assert summary.cost <= till.charged, "what was answered after nobody listened any more is not known to be paid"
    assert summary.unknown == accounts[-1].unknown.cost > 0
    assert summary.cost == accounts[-1].spent.cost
    store.close()


@pytest.mark.hastened
@pytest.mark.parametrize("caps", [Caps(), Caps(cost=5_000_000)])
async def test_a_batch_s_purse_and_the_books_of_its_runs_say_what_was_charged(
    tmp_path: Path, store_url: str, database: Database, enter: Enter, monkeypatch: pytest.MonkeyPatch, caps: Caps
) -> None:
    till = Till()
    async with LoopbackServer(till.answer, faults=till.fault) as server:
        monkeypatch.setenv("ASSAY_CONFIG_DIR", str(tmp_path / "config"))
        monkeypatch.setenv("OPENROUTER_API_KEY", "sk-or-canary-0123456789")
        monkeypatch.setenv("OPENROUTER_BASE_URL", f"{server.url}/v1")
        enter(database, "Why blue?", "Why red?", "Why green?", caps=caps, attempts=3)
        async with short_pauses(database):
            await work(store_url, "batch")
    purse = Purses(database).read("batch")
    store = open_store(store_url)
    runs = store.runs(limit=100)
    assert till.charged > 0 and till.cut > 0
    assert purse.spent.cost == sum(run.cost for run in runs) == till.charged
    assert purse.unknown.cost == sum(run.unknown for run in runs)
    assert (purse.unknown.calls, purse.held.calls) == (till.cut, 0)
    results = list(Ledger(database).results("batch"))
    assert sum(result.cost for result in results if result.state == "done") <= till.charged
    store.close()


async def test_a_job_that_failed_by_its_calls_pays_for_no_answer_again(
    tmp_path: Path, store_url: str, database: Database, enter: Enter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seats are refused for a while: eight councils come to nothing, and then all of them to an end."""
    answered: list[str] = []
    refused = 0

    def answer(received: Received) -> str | tuple[int, dict[str, Any]]:
        nonlocal refused
        first = received.messages[0].content
        triage, last = first.startswith("You are the triage agent"), received.messages[-1].content
        if not triage and refused < 60 and "red_team" not in first and hash_of(received) % 2:
            refused += 1
            return 400, {"error": {"message": "not yet"}}
        answered.append(json.dumps(received.payload["messages"]))
        # Each council speaks of its own question, so that no two jobs ask the same.
        return TRIAGE.replace('"x"', json.dumps(re.findall(r"Why \d", last)[-1])) if triage else "Thought through."

    async with LoopbackServer(answer, cost=0.000_010) as server:
        monkeypatch.setenv("ASSAY_CONFIG_DIR", str(tmp_path / "config"))
        monkeypatch.setenv("OPENROUTER_API_KEY", "sk-or-canary-0123456789")
        monkeypatch.setenv("OPENROUTER_BASE_URL", f"{server.url}/v1")
        enter(database, *(f"Why {n}?" for n in range(8)), attempts=20)
        await work(store_url, "batch")
    status = Ledger(database).status("batch")
    assert status.states == {"done": 8}
    assert refused > 8
    store = open_store(store_url)
    failed = [run for run in store.runs(limit=200) if run.state == "failed"]
    assert failed, "some councils had to come to nothing first"
    assert all(any(isinstance(e, CallFailed) for _, e in store.events(run.run_id)) for run in failed)
    assert len(answered) == len(set(answered)), "an answer was paid for twice"
    assert Purses(database).read("batch").spent.cost == 10 * len(answered)
    store.close()


CIRCLE = """
run = "fire_circle.circle"
[input]
path = "questions.csv"
[input.columns]
user = "question"
[options]
models = ["lab/a", "lab/b"]
max_rounds = 2
[work]
retry_delay = 0
"""


async def test_a_job_whose_answers_were_of_no_use_asks_that_step_alone_again(shell: Shell) -> None:
    """A circle whose second round comes to nothing keeps what its first round was answered."""
    rounds: list[int] = []
    refusals = 0

    def answer(received: Received) -> str:
        nonlocal refusals
        spoken = 2 if "ROUND 1 EVALUATIONS" in json.dumps(received.payload["messages"]) else 1
        rounds.append(spoken)
        refusals += spoken == 2
        return "I would rather not." if spoken == 2 and refusals <= 4 else judged(received)

    async with LoopbackServer(answer, cost=0.000_010) as server:
        shell.environment["OPENROUTER_BASE_URL"] = f"{server.url}/v1"
        shell.write(CIRCLE, ["Is it meant well?"])
        _, err = await shell("run", "job.toml")
    assert "1 of 1 done" in err
    assert refusals > 4 and rounds.count(1) == 2, "the first round was paid for twice"


def hash_of(received: Received) -> int:
    """Tell some requests from others, the same ones each time."""
    return sum(json.dumps(received.payload["messages"]).encode())


async def test_a_budget_that_is_raised_while_a_worker_ends_for_the_smaller_one_holds_for_it_too(
    store_url: str, database: Database, ledger: Ledger, enter: Enter
) -> None:
    enter(database, "a", "b", in_flight=1)
    tried: list[int] = []

    @asynccontextmanager
    async def make(_: WorkerContext) -> AsyncGenerator[JobRunner]:
        async def run_job(claim: Claim) -> JobResult:
            tried.append(claim.row)
            if len(tried) == 1:
                Purses(database).open("batch", Caps(calls=10))
                ledger.set_state("batch", "open")
                raise BatchBudgetExceeded("there was nothing left")
            return JobResult("{}")

        yield run_job

    await work(store_url, "batch", make)
    assert ledger.batch("batch").state == "open" and tried == [1, 1, 2]
    assert [each.state for each in ledger.results("batch")] == ["done", "done"]
