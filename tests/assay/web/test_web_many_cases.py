"""What is measured of much: answers that were taken, cases that are looked through. Long, for they are counted out."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from assay.batch.batches import open_batches
from assay.batch.jobs import Job
from assay.batch.ledger import Batch, Ledger
from assay.batch.purses import Purses
from llm_runtime.events import RunStarted
from llm_runtime.messages import CallLabel, Message, Request
from llm_runtime.store import RunStore
from llm_runtime.wrappers.accounts import Caps

from .conftest import TOKEN, Web, served

pytestmark = [pytest.mark.browser, pytest.mark.long]
FALSE = ("did not send", "was not taken", "cannot be reached", "was refused")
DELAY_S = 2
RUNS, QUESTIONS = 4, 50
HEAP = 60_000_000


async def answered_in_two_tabs(page: Any, web: Web, run_id: str) -> list[str]:
    """Answer the questions of one run in two tabs by turns, each POST two seconds on its way; return what is false."""
    log = web.store.start(RunStarted(run_id=run_id, protocol="weather", title="Rain?", task={}, settings={}, seed=1))
    ask, false = web.site.questions.person(run_id), list[str]()
    context = await page.context.browser.new_context()
    context.set_default_timeout(180_000)
    tabs = [await context.new_page() for _ in range(2)]
    await tabs[0].goto(f"{web.url}/open?key={TOKEN}")

    async def late(route: Any) -> None:
        """Half of the POSTs reach the server late; of the others its word comes back late, after the stream's."""
        before = late.many % 2  # type: ignore[attr-defined]
        late.many += 1  # type: ignore[attr-defined]
        if before:
            await asyncio.sleep(DELAY_S)
        response = await route.fetch(max_redirects=0)
        if not before:
            await asyncio.sleep(DELAY_S)
        await route.fulfill(response=response)

    late.many = 0  # type: ignore[attr-defined]
    for tab in tabs:
        await tab.route("**/answers", late)
        await tab.goto(f"{web.pages}/runs/{run_id}")
    for number in range(QUESTIONS):
        asking = asyncio.ensure_future(
            ask(Request("m", (Message("user", f"Question {number}?"),), CallLabel("weather", f"ask{number}")))
        )
        here = tabs[number % 2]
        for tab in tabs:
            await tab.get_by_label("Your answer").wait_for()
        async with here.expect_response("**/answers"):
            await here.get_by_label("Your answer").fill(f"Answer {number}.")
            await here.get_by_role("button", name="Answer").click()
        assert (await asking).text == f"Answer {number}."
        for tab in tabs:
            await tab.locator("form.ask:visible").wait_for(state="detached")
            told = await tab.locator("body").inner_text()
            false += [f"{run_id}, question {number}: {words}" for words in FALSE if words in told]
    log.close()
    await context.close()
    return false


async def test_of_two_hundred_answers_none_is_called_lost(page: Any, web: Web) -> None:
    found = await asyncio.gather(*(answered_in_two_tabs(page, web, f"w-{n}") for n in range(RUNS)))
    assert [each for several in found for each in several] == []
    await page.goto("about:blank")


_DONE = """UPDATE jobs SET due_at = NULL, cost = row_number * 7 % 1000,
    state = CASE row_number % 9 WHEN 0 THEN 'dead' ELSE 'done' END,
    error = CASE row_number % 9 WHEN 0 THEN 'ServerFault' ELSE '' END,
    result = '{"final_response": "Answer ' || (row_number % 7 + configuration) || '. ' || ? || '"}'
    WHERE batch_id = ?"""


@pytest.fixture
async def many(store: RunStore, tmp_path: Path) -> AsyncIterator[Web]:
    """A server with batches of 400 and of 10,000 jobs that are done."""
    database = open_batches(str(tmp_path / "runs.db"))
    ledger = Ledger(database)
    models = [{"terms": {"model": name}} for name in ("one", "two", "three", "four")]
    for batch_id, rows in (("b-400", 100), ("b-10000", 2_500)):
        made = ledger.create(Batch(batch_id, batch_id[2:8], "Many", "crucible.council", "", models, {}, "loading"))
        Purses(database).open(batch_id, Caps())
        jobs = [
            Job(f"{batch_id}-{row}-{at}", row, at, 0, json.dumps({"query": f"Question {row}, of many?"}))
            for row in range(rows)
            for at in range(4)
        ]
        ledger.load(made, jobs)
        ledger.set_state(batch_id, "open")
        database.execute(_DONE, ("Because of the clouds. " * 30, batch_id))
    database.close()
    async with served(store) as web:
        yield web
    store.close()


#: Milliseconds of filter, sort, search and group, each nine times, until the rows stand there.
_TIMES = """() => {
  const times = { filter: [], sort: [], search: [], group: [] };
  const took = (name, act) => {
    const began = performance.now();
    act();
    document.querySelector("#rows").getBoundingClientRect(); // laid out
    times[name].push(performance.now() - began);
  };
  const put = (field, value) => { field.value = value; field.dispatchEvent(new Event("input", { bubbles: true })); };
  const form = document.querySelector("#choosing");
  const filter = document.querySelector(".filters select[aria-label*=State], .filters td:nth-child(2) select");
  for (let round = 0; round < 9; round += 1) {
    took("filter", () => put(filter, "failed"));
    put(filter, "");
    took("sort", () => document.querySelector("th[data-sort=case] button").click());
    took("search", () => put(form.elements.find, "clouds"));
    put(form.elements.find, "");
    took("group", () => put(form.elements.group, "cause"));
    put(form.elements.group, "");
  }
  return { times, rows: document.querySelectorAll("#rows tbody tr").length };
}"""


async def test_ten_thousand_cases_take_no_more_rows_and_little_more_room(page: Any, many: Web) -> None:
    tools = await page.context.new_cdp_session(page)
    await tools.send("HeapProfiler.enable")
    told: dict[str, dict[str, float]] = {}
    await page.goto(f"{many.url}/open?key={TOKEN}")
    for batch_id in ("b-400", "b-10000"):
        await page.goto(f"{many.pages}/batches/{batch_id}/cases")
        await page.locator("body[data-ready]").wait_for()
        found = await page.evaluate(_TIMES)
        await tools.send("HeapProfiler.collectGarbage")
        heap = (await tools.send("Runtime.getHeapUsage"))["usedSize"]
        told[batch_id] = {name: median(took) for name, took in found["times"].items()}
        print(batch_id, told[batch_id], f"{heap / 1e6:.1f} MB", found["rows"])
        assert found["rows"] < 80, "only those in sight are drawn"
        assert heap < HEAP
    few, much = (sum(times.values()) for times in told.values())
    assert much < 3 * 25 * few, "what is done grows with the cases, and no faster"
    await page.goto("about:blank")  # before the server goes away
