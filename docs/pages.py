"""Every page of the web application: where it is, and a store in which each of them has something to show.

``python -m docs.screenshots`` photographs them; tests/assay/web/test_web_every_page.py holds each to the same
bounds. No model is asked: what no recording answers, a script does.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.batch.batches import enter, open_batches
from assay.batch.configurations import combinations
from assay.batch.jobs import complete
from assay.batch.loading import checked
from assay.demo import demo_answers, demos, has_log, import_played, prepare_demo
from assay.hooks import hooks_of
from assay.launch import Launcher, PerRun
from assay.registry import Prepared, find
from assay.terms import Terms
from assay.web.app_state import AppState
from assay.web.forms import forms
from assay.web.people import People, Person
from crux.book import Standing
from crux.comparison import Answer, Comparison, CruxCandidate, Match, Read, SideView
from crux.results import Place
from llm_runtime.events import RunFinished, RunStarted
from llm_runtime.messages import Generate, Reply, Request, Usage
from llm_runtime.settings import Settings
from llm_runtime.store.notes import Note, write_note

Step = Callable[[Any], Awaitable[object]]
"""Something done with a page of playwright."""
TASKS = {
    "What is 17 times 24?": ("408", "408", "398"),
    "Which database should a team of three run?": ("PostgreSQL", "PostgreSQL", "SQLite, until it hurts"),
    "Is 2027 a prime number?": ("yes", "yes", "yes"),
}
"""Questions: what is right, and what two models answer."""
_SCORES = {"truth": 0.8, "indeterminacy": 0.1, "falsehood": 0.2, "reasoning": "It asks for what it says."}


@dataclass(frozen=True, slots=True)
class Shown:
    """A page as somebody sees it.

    Args:
        path: below the launch's own.
        step: what is done before it is looked at.
        several: whether the server has people of its own.
        outside: whether the browser is not signed in.
        refused: whether the server refuses something here, which browsers write to their console.
    """

    path: str
    step: Step | None = None
    several: bool = False
    outside: bool = False
    refused: bool = False


async def fill(site: AppState, folder: Path) -> None:
    """Put runs, a batch and people into the application; a run is called as its recording, or as what it shows.

    Args:
        site: over an empty store of SQLite.
        folder: where files that runs read can lie.
    """
    for name in demos():
        if has_log(name):
            import_played(site.store, name, name)
        else:
            await _play(site, name, name)
    await _play(site, "council", "again")
    tasks = [{"id": asked[:9], "question": asked, "expected": right} for asked, (right, *_) in TASKS.items()]
    await _finish(site, "methods", "compare.tasks", {"tasks": tasks}, {"methods": ["single", "self-consistency"]})
    (folder / "wishes.csv").write_text("text,label\na poem,no\na key,yes\na recipe,no\na lock,yes\n", encoding="utf-8")
    columns = {"user": "text", "label": "label"}
    study = {"data": str(folder / "wishes.csv"), "columns": columns, "out": str(folder / "study")}
    await _finish(site, "study", "fire_circle.study", study, {"models": ["lab/a", "lab/b", "lab/c"]})
    _compare_authors(site)
    for name in ("live", "stopped"):
        await _ask_a_person(site, name)
    await site.runs.stop("stopped")
    _enter_batch(site, folder)
    write_note(site.store, Note("council", "ada", "Clear, and it names what it does not know.", 4, "right"))
    site.gate.people = People(folder / "people.toml")
    site.gate.people.add(Person(name="root", role="admin"))
    site.gate.people.add(Person(name="anna", role="member", budget=5))


async def _play(site: AppState, name: str, run_id: str) -> None:
    demo = prepare_demo(name, Path(), 0)
    running = await Launcher(site.store, Settings).start(
        demo.run, seed=demo.seed, title=demo.title, run_id=run_id, origin="demo", model=demo.model
    )
    await running.outcome()


async def _finish(site: AppState, run_id: str, kind: str, task: dict[str, Any], options: dict[str, Any]) -> None:
    run = find(kind)
    hooks = hooks_of(run)
    prepared = Prepared(run, hooks.task.model_validate(task), hooks.options.model_validate(options))
    running = await Launcher(site.store, Settings).start(prepared, run_id=run_id, seed=7, model=_answer)
    if (outcome := await running.outcome()).state != "finished":
        raise RuntimeError(f"{kind} {outcome.state}: {outcome.error}")


async def _answer(request: Request) -> Reply:
    asked = request.messages[-1].content
    answers = next((answers for question, answers in TASKS.items() if question in asked), None)
    named = {"request": asked.partition('"request": "')[2][:8], "verdict": "keeps", "conclusion": "keeps"}
    text = f"I looked twice.\n\nANSWER: {answers[1]}" if answers else json.dumps({**named, **_SCORES})
    return Reply(text, "vendor/model-1", "scripted", Usage(120, 30), cost=900, cost_source="table")


async def _ask_a_person(site: AppState, run_id: str) -> None:
    """Start the recorded council with a person in the red team's seat; return when it waits for them."""
    demo, person = prepare_demo("council", Path(), 0), site.questions.person(run_id)
    if demo.model is None:
        raise RuntimeError("the recorded council reaches its models by itself")
    model: Generate = demo.model

    async def answer(request: Request) -> Reply:
        return await (person if request.label.phase == "critique" else model)(request)

    await site.runs.start(
        demo.run, Terms(), seed=demo.seed, run_id=run_id, model=PerRun(lambda budget, followers: answer)
    )
    watch = site.hub.watch(run_id)
    while not site.questions.of_run(run_id):
        await watch.changed(watch.version, 0.1)


def _compare_authors(site: AppState) -> None:
    """Store a finished comparison of two authors, whose claims readers can vote on."""

    def view(author: str, answer: Answer, claim: str, text: str, quote: str) -> SideView:
        places = (Place(item="t1", start=0, end=len(quote), quote=quote),)
        return SideView(claim=claim, text=text, stance="holds", places=places, author=author, answer=answer)

    def read(name: str) -> Read:
        return Read(name=name, texts=2, passages=4, standing=Standing(read=1, held=4, in_themes=1), claims=4)

    pay = view(
        "Ann Ash",
        "YES",
        "a1",
        "Whoever crosses a bridge should pay for it",
        "Whoever crosses should pay for the planks.",
    )
    free = view(
        "Ben Birch",
        "NO",
        "b1",
        "Crossing a public street should be free",
        "Nobody should pay to cross a public street.",
    )
    question = "Should whoever crosses a bridge pay for it?"
    found = Comparison(
        topic="tolls",
        authors=(read("Ann Ash"), read("Ben Birch")),
        opposed=(Match(sides=(pay, free), question=question),),
        candidates=(CruxCandidate(question=question, sides=(pay, free), confirmed=True, rests=2),),
        alone=(
            (view("Ann Ash", "", "a2", "A toll keeps a bridge in repair", "A toll keeps the bridge in repair."),),
            (view("Ben Birch", "", "b2", "A toll ruins the poor", "A toll ruins the poor of the town."),),
        ),
    )
    began = RunStarted(run_id="authors", protocol="crux.compare", title="Tolls", task={}, settings={}, seed=7)
    log = site.store.start(began)
    log.emit(RunFinished(state="finished", result=found.model_dump(mode="json")))
    log.close()


def _enter_batch(site: AppState, folder: Path) -> None:
    """Enter a batch of questions to two models, most of them answered, without anybody who works on it."""
    rows = folder / "questions.jsonl"
    rows.write_text("\n".join(json.dumps({"query": question}) for question in TASKS), encoding="utf-8")
    job_file = checked(
        {
            "id": "questions",
            "title": "Questions to two models",
            "run": "crucible.council",
            "grid": {"terms.model": ["vendor/model-1", "vendor/model-2"]},
            "input": {"path": rows, "columns": {"query": "query"}},
        }
    )
    database = open_batches(str(folder / "runs.db"))
    enter(database, job_file, complete(job_file, list(combinations(job_file))))
    done = "UPDATE jobs SET state = 'done', due_at = NULL, cost = 4200, result = ? "
    for row, (_, *answers) in enumerate(list(TASKS.values())[:2], start=1):
        for model, answer in enumerate(answers):
            result = json.dumps({"final_response": answer})
            database.execute(f"{done}WHERE row_number = ? AND configuration = ?", (result, row, model))
    database.close()


async def _summon(page: Any) -> None:
    await page.keyboard.press("Control+k")
    await page.locator("#palette .chosen").wait_for()


async def _open_call(page: Any) -> None:
    await page.locator("summary.line").nth(1).click()
    await page.locator(".texts").first.wait_for()


async def _drawn(page: Any) -> None:
    await page.locator("body[data-ready]").wait_for()


async def _be_refused(page: Any) -> None:
    await page.get_by_role("textbox", name="Question").fill("Which database?")
    await page.get_by_label("Model", exact=True).fill("nobody:nothing")
    await page.get_by_role("button", name="Start", exact=True).click()
    await page.get_by_role("alert").wait_for()


def every_page() -> dict[str, Shown]:
    """Return each page by the name of its picture, over what :func:`fill` left."""
    found = {
        "entrance": Shown("/open", outside=True, refused=True),
        "sign-in": Shown("/open", several=True, outside=True),
        "start": Shown("/"),
        "start-typed": Shown("/?text=Which+database+should+a+team+of+three+run%3F"),
        "runs": Shown("/runs"),
        "runs-none": Shown("/runs?search=nowhere"),
        "settings": Shown("/settings"),
        "batches": Shown("/batches"),
        "batch-new": Shown("/batches/new"),
        "batch": Shown("/batches/questions"),
        "batch-cases": Shown("/batches/questions/cases?who=ada&case=0", _drawn),
        "run-cases": Shown("/runs/methods/cases?group=cause", _drawn),
        "trial-cases": Shown("/runs/trial/cases?show=failed", _drawn),
        "queue": Shown("/queue"),
        "pick": Shown("/compare?run=council"),
        "compare": Shown("/compare?run=council&run=again"),
        "live": Shown("/runs/live"),
        "live-timeline": Shown("/runs/live/timeline"),
        "shared": Shown("/runs/council", several=True),
        "stopped": Shown("/runs/stopped"),
        "resume": Shown("/runs/stopped/resume"),
        "fork": Shown("/runs/council/fork"),
        "event": Shown("/runs/council/events/2"),
        "call": Shown("/runs/council/calls/2"),
        "call-opened": Shown("/runs/council/timeline", _open_call),
        "go-to": Shown("/runs/council", _summon),
        "people": Shown("/people", several=True),
        "personas": Shown("/personas"),
        "persona": Shown(f"/personas/{demo_answers('debate').manifest['personas'][0]}"),
        "votes": Shown("/votes/authors?reader=reader-0001"),
        "part-refused": Shown("/part/authors/a-key-that-opens-nothing", outside=True, refused=True),
        "not-found": Shown("/nowhere", refused=True),
        "no-run": Shown("/runs/nowhere", refused=True),
        "refused": Shown("/new?kind=crucible.council", _be_refused, refused=True),
    }
    for name in (*demos(), "methods", "study", "authors"):
        for view in ("", "/timeline", "/events"):
            found[f"{name}{view.replace('/', '-')}"] = Shown(f"/runs/{name}{view}")
    for kind in (run.name for run in forms()):
        found[f"new-{kind}"] = Shown(f"/new?kind={kind}")
    return found
