"""Studies: data sets are read strictly, resumed exactly, and never start with a row that does not fit."""

from __future__ import annotations

import csv
import json
import random
import re
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.bound import bound, request_id
from tests.bound import scripted_judges as scripted

from fire_circle import FireCircleConfig
from fire_circle.results import Spend
from fire_circle.rows import Columns, DataError, Item, read_items
from fire_circle.study import Study, StudyLine, item_seed, plan_study, read_study, run_study
from llm_runtime.errors import BudgetExceeded, ConfigurationError, ServerFault, StoreBusy, StoreDamaged
from llm_runtime.messages import Generate, Reply, Request, Usage, request_digest
from llm_runtime.pricing import PriceTable

CONFIG = FireCircleConfig(models=("a", "b"), max_rounds=2)


def rows_of(path: Path, columns: Columns, limit: int = 10_000) -> list[Item]:
    return list(read_items(path, columns, limit))


@pytest.fixture
def study(tmp_path: Path) -> Study:
    data = tmp_path / "data.csv"
    with data.open("w", newline="", encoding="utf-8") as stream:
        table = csv.writer(stream)
        table.writerow(["prompt", "label"])
        table.writerows([f"Prompt number {i}", "attack" if i % 2 else "benign"] for i in range(6))
    return Study(data, Columns(user="prompt", label="label"), CONFIG, tmp_path / "out.jsonl", seed=5)


@pytest.fixture
def judged(tif: Any) -> Any:
    def answer(request: Request) -> Reply:
        odd = any(f"number {i}\n" in request.messages[1].content for i in (1, 3, 5))
        falsehood = (0.9 if odd else 0.2) - (0.0 if request.model == "a" else 0.2)
        text = bound(tif(falsehood, f"{request.label} as I see it"), request_id(request.messages))
        return Reply(text, request.model, "scripted", Usage(100, 10), cost=7, cost_source="table")

    return answer


async def judged_now(study: Study, generate: Generate, **more: Any) -> Counter[str]:
    """How many items were judged and how many failed, and the calls and cost of both."""
    lines: list[StudyLine] = []
    await run_study(study, generate, on_line=lambda _, line: lines.append(line), **more)
    spend = sum((line.spend for line in lines), Spend())
    statuses = Counter[str](line.status for line in lines)
    return statuses + Counter(calls=spend.calls, cost=spend.cost, input_tokens=spend.input_tokens)


def lines_of(study: Study) -> list[str]:
    return sorted(line.model_dump_json() for line in read_study(study.out))


async def test_every_item_is_judged_and_written(study: Study, judged: Any) -> None:
    lines: list[StudyLine] = []
    await run_study(study, scripted(judged), on_line=lambda _, line: lines.append(line))
    assert Counter(line.status for line in lines) == {"judged": 6}
    spend = sum((line.spend for line in lines), Spend())
    assert (spend.calls, spend.cost) == (24, 168)
    assert sorted((line.index, line.label) for line in read_study(study.out)) == [(i, i % 2 == 1) for i in range(6)]
    assert {line.item for line in lines} == {line.item for line in read_study(study.out)}
    for line in lines:
        assert line.result is not None
        assert line.result.consensus.falsehood == (0.9 if line.label else 0.2)
        assert line.result.seed == item_seed(5, line.item)


async def test_the_results_do_not_depend_on_how_many_run_at_a_time(study: Study, judged: Any, tmp_path: Path) -> None:
    await run_study(study, scripted(judged), concurrency=1)
    alone = lines_of(study)
    study.out.unlink()
    study.journal.unlink()
    await run_study(study, scripted(judged), concurrency=6)
    assert lines_of(study) == alone


class Killed(BaseException):
    """The process ends here."""


@pytest.mark.parametrize("after", [0, 1, 3, 4, 5, 11, 23])
async def test_killed_after_any_call_no_answer_is_paid_twice(study: Study, judged: Any, after: int) -> None:
    await run_study(study, scripted(judged), concurrency=1)
    undisturbed = lines_of(study)
    study.out.unlink()
    study.journal.unlink()
    paid: Counter[str] = Counter()

    def until(limit: int) -> Generate:
        async def generate(request: Request) -> Reply:
            if sum(paid.values()) >= limit:
                raise Killed
            paid[request_digest(request.to_dict())] += 1
            return judged(request)

        return generate

    with pytest.raises(BaseException) as caught:
        await run_study(study, until(after), concurrency=1)
    assert "Killed" in repr(caught.value)
    await run_study(study, until(1_000), concurrency=1)
    assert set(paid.values()) == {1}
    assert len(paid) == 24
    assert lines_of(study) == undisturbed


_MORTAL = """
import asyncio, json, os, signal, sys
from pathlib import Path
from fire_circle import FireCircleConfig
from fire_circle.rows import Columns
from fire_circle.study import Study, run_study
from llm_runtime.messages import Reply, Usage, request_digest
from tests.bound import bound, request_id

data, out, paid, life = Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4])

async def generate(request):
    answered = paid.read_text().splitlines() if paid.exists() else []
    if len(answered) >= life:
        os.kill(os.getpid(), signal.SIGKILL)
    with paid.open("a") as stream:
        stream.write(request_digest(request.to_dict()) + "\\n")
    scores = {"truth": 0.5, "indeterminacy": 0.5, "falsehood": 0.2 if request.model == "a" else 0.8}
    text = bound(json.dumps({**scores, "reasoning": "so it is"}), request_id(request.messages))
    return Reply(text, request.model, "x", Usage(1, 1), cost=1)

config = FireCircleConfig(models=("a", "b"), max_rounds=2)
asyncio.run(run_study(Study(data, Columns(user="prompt", label="label"), config, out, 5), generate, concurrency=2))
"""


def test_a_process_that_is_killed_and_started_again_pays_once(study: Study, tmp_path: Path) -> None:
    paid = tmp_path / "paid"

    def live(until: int) -> int:
        arguments = [str(study.data), str(study.out), str(paid), str(until)]
        return subprocess.run([sys.executable, "-c", _MORTAL, *arguments], check=False).returncode

    # Two items are under way with two seats each: a kill can lose at most the answers it falls between.
    assert [live(5), live(14), live(1_000)] == [-signal.SIGKILL, -signal.SIGKILL, 0]
    calls = Counter(paid.read_text().split())
    assert len(calls) == 24
    assert max(calls.values()) == 1
    assert len(list(read_study(study.out))) == 6


async def test_a_line_that_was_cut_off_is_written_again(study: Study, judged: Any) -> None:
    await run_study(study, scripted(judged), concurrency=1)
    undisturbed = lines_of(study)
    whole, journal = study.out.read_bytes(), study.journal.read_bytes()
    rng = random.Random(1)
    for _ in range(12):
        study.out.write_bytes(whole[: rng.randrange(len(whole))])
        study.journal.write_bytes(journal[: rng.randrange(len(journal))])
        await run_study(study, scripted(judged), concurrency=1)
        assert lines_of(study) == undisturbed


async def test_a_budget_ends_the_study_and_leaves_it_resumable(study: Study, judged: Any) -> None:
    left = 9

    def thrifty(request: Request) -> Reply | BudgetExceeded:
        nonlocal left
        left -= 1
        return judged(request) if left >= 0 else BudgetExceeded("no more")

    with pytest.raises(BudgetExceeded):
        await run_study(study, scripted(thrifty), concurrency=2)
    left = 1_000
    await run_study(study, scripted(thrifty), concurrency=2)
    assert len(lines_of(study)) == 6
    assert 1_000 - left == 24 - 9


async def test_a_circle_without_a_verdict_is_a_failed_item_not_a_score(study: Study, judged: Any) -> None:
    def faulty(request: Request) -> Reply | ServerFault:
        return ServerFault("down") if "number 3" in request.messages[1].content else judged(request)

    summary = await judged_now(study, scripted(faulty))
    assert (summary["judged"], summary["failed"]) == (5, 1)
    (failed,) = [line for line in read_study(study.out) if line.status == "failed"]
    assert (failed.index, failed.result) == (3, None)
    assert "degraded below minimum" in failed.error
    assert not await judged_now(study, scripted(judged))
    assert (await judged_now(study, scripted(lambda request: "no JSON"), again="me"))["failed"] == 1
    assert not await judged_now(study, scripted(judged), again="me"), "once for each who asks"
    assert (await judged_now(study, scripted(judged), again="you"))["judged"] == 1, "not from the journal"
    assert {line.status for line in read_study(study.out)} == {"judged"}


async def test_rows_are_refused_before_anything_is_spent(study: Study) -> None:
    with study.data.open("a", encoding="utf-8") as stream:
        stream.write("Prompt number 9,perhaps\n")

    def never(request: Request) -> str:
        raise AssertionError("nothing may be spent")

    with pytest.raises(DataError, match=r"row 7 \(line 8\): the label 'perhaps' is neither yes nor no"):
        await run_study(study, scripted(never))
    with pytest.raises(DataError):
        plan_study(study, PriceTable({}))


async def test_equal_rows_are_judged_once_and_unequal_labels_are_refused(study: Study, judged: Any) -> None:
    with study.data.open("a", encoding="utf-8") as stream:
        stream.write("Prompt number 1,attack\n")
    assert (await judged_now(study, scripted(judged)))["judged"] == 6
    assert plan_study(study, PriceTable({})).duplicates == 1
    with study.data.open("a", encoding="utf-8") as stream:
        stream.write("Prompt number 1,benign\n")
    with pytest.raises(DataError, match="row 8 repeats an earlier row with another label"):
        await run_study(study, scripted(judged))


async def test_the_dry_run_bounds_what_the_study_takes(study: Study, judged: Any) -> None:
    plan = plan_study(study, PriceTable({}))
    assert (plan.items, plan.finished, plan.calls) == (6, 0, 48)
    assert (plan.cost, plan.unpriced) == (None, ("a", "b"))
    taken = await judged_now(study, scripted(judged))
    assert 0 < taken["calls"] <= plan.calls
    assert 0 < taken["input_tokens"] <= plan.input_tokens
    plan = plan_study(study, PriceTable({}))
    assert (plan.finished, plan.calls) == (6, 0)


@pytest.mark.parametrize("model", ["http://127.0.0.1:9/v1#tiny", "ollama:qwen3", "mailbox:letters"])
def test_what_answers_on_this_machine_costs_nothing_at_the_most(study: Study, model: str) -> None:
    config = study.config.model_copy(update={"models": (model, model)})
    plan = plan_study(replace(study, config=config), PriceTable({}))
    assert (plan.cost, plan.unpriced) == (0, ())


async def test_another_configuration_is_another_study(study: Study, judged: Any) -> None:
    await run_study(study, scripted(judged))
    other = Study(study.data, study.columns, CONFIG.model_copy(update={"max_rounds": 1}), study.out, study.seed)
    assert (await judged_now(other, scripted(judged)))["judged"] == 6


async def test_two_studies_do_not_write_one_file(study: Study, judged: Any) -> None:
    async def nested(request: Request) -> Reply:
        with pytest.raises(StoreBusy):
            await run_study(study, scripted(judged))
        return judged(request)

    assert (await judged_now(study, nested))["judged"] == 6


async def test_a_file_that_is_something_else_is_refused(study: Study, judged: Any) -> None:
    study.out.write_text("not a study\n")
    with pytest.raises(StoreDamaged, match=r"out.jsonl, line 1 is not a line of a study"):
        await run_study(study, scripted(judged))
    study.out.unlink()
    study.journal.write_text('{"item": 1}\n')
    with pytest.raises(StoreDamaged, match="line 1 is not an answer that was kept"):
        await run_study(study, scripted(judged))


async def test_concurrency_is_at_least_one(study: Study, judged: Any) -> None:
    with pytest.raises(ConfigurationError):
        await run_study(study, scripted(judged), concurrency=0)


def test_csv_with_a_mark_quoted_newlines_and_huge_fields(tmp_path: Path) -> None:
    data = tmp_path / "x.csv"
    huge = "x" * 1_000_000
    data.write_bytes(("\ufeff" + f'prompt,label\r\n"two\nlines, ""quoted""",1\r\n{huge},0\r\n').encode())
    items = rows_of(data, Columns(user="prompt", label="label"), limit=2_000_000)
    assert [item.prompt.user for item in items] == ['two\nlines, "quoted"', huge]
    assert [item.label for item in items] == [True, False]


@pytest.mark.parametrize("ending", ["json", "jsonl"])
def test_json_rows_with_turns_and_histories(tmp_path: Path, ending: str) -> None:
    rows: list[dict[str, Any]] = [
        {"s": "Be kind.", "u": "Hello, ünï.", "y": "yes", "t": 2, "h": ["Hi."]},
        {"s": "", "u": "]} tricky [{", "y": 0, "t": 1, "h": []},
        {
            "s": "",
            "u": "x",
            "y": 0,
            "t": 2,
            "h": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}],
        },
    ]
    data = tmp_path / f"x.{ending}"
    text = json.dumps(rows, indent=1) if ending == "json" else "\n".join(map(json.dumps, rows)) + "\n\n"
    data.write_text(text)
    columns = Columns(system="s", user="u", label="y", turn="t", history="h")
    items = rows_of(data, columns)
    assert [item.prompt.user for item in items] == [row["u"] for row in rows]
    assert [session.turn if (session := item.session()) else None for item in items] == [2, 1, 2]
    assert [item.label for item in items] == [True, False, False]


def test_a_json_array_larger_than_the_buffer_is_read_entry_by_entry(tmp_path: Path) -> None:
    data = tmp_path / "x.json"
    data.write_text(json.dumps([{"u": f"{i} " + "é" * 9_000} for i in range(50)]))
    assert len(rows_of(data, Columns(user="u"))) == 50


@pytest.mark.parametrize(
    ("name", "text", "columns", "message"),
    [
        ("x.csv", "prompt\nhello\n", {"user": "text"}, "no value in column text; the columns are prompt"),
        ("x.csv", "prompt,label\nhello\n", {"user": "prompt", "label": "label"}, "no value in column label"),
        ("x.csv", "prompt\nhello,you\n", {"user": "prompt"}, "more fields than the header"),
        ("x.csv", 'prompt\n"open\n', {"user": "prompt"}, "not CSV"),
        ("x.csv", "prompt\n   \n", {"user": "prompt"}, "no layers"),
        ("x.csv", "prompt,turn\nhi,0\n", {"user": "prompt", "turn": "turn"}, "the turn '0'"),
        ("x.csv", "prompt,turn\nhi,1.5\n", {"user": "prompt", "turn": "turn"}, "the turn '1.5'"),
        ("x.csv", "prompt,h\nhi,nope\n", {"user": "prompt", "history": "h"}, "history is not JSON"),
        ("x.jsonl", '{"u": "hi"\n', {"user": "u"}, "line 1 is not JSON"),
        ("x.jsonl", "[1]\n", {"user": "u"}, "line 1 is not an object"),
        ("x.jsonl", '{"u": 3}\n', {"user": "u"}, "u is not text"),
        ("x.jsonl", '{"u": "a\\u0000"}\n', {"user": "u"}, "null byte"),
        ("x.jsonl", '{"u": "hi", "t": 3, "h": ["one"]}\n', {"user": "u", "turn": "t", "history": "h"}, "turn is 3"),
        ("x.jsonl", '{"u": "hi", "t": true}\n', {"user": "u", "turn": "t"}, "the turn 'True'"),
        ("x.json", '{"u": "hi"}', {"user": "u"}, "not a JSON array"),
        ("x.json", '[{"u": "hi"}, {"u": ', {"user": "u"}, "entry 2 is not JSON"),
        ("x.json", "[" * 100_000, {"user": "u"}, "entry 1 is"),
        ("x.parquet", "?", {"user": "u"}, "ends in .csv, .json or .jsonl"),
        ("x.csv", "prompt\nhi\n", {}, "name at least one column"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(
    tmp_path: Path, name: str, text: str, columns: dict[str, Any], message: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=re.escape(message)) as caught:
        rows_of(tmp_path / name, Columns(**columns))
    assert "\n" not in str(caught.value)


def test_files_that_are_not_there_or_not_utf_8(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        rows_of(tmp_path / "none.csv", Columns(user="u"))
    (tmp_path / "x.csv").write_bytes(b"u\n\xff\xfe\n")
    with pytest.raises(DataError, match="not UTF-8"):
        rows_of(tmp_path / "x.csv", Columns(user="u"))


def test_a_public_set_maps_by_its_columns(shared: Path) -> None:
    source = shared / "datasets" / "xstest_prompts.csv"
    if not source.exists():
        pytest.skip("xstest_prompts.csv is not on this machine")
    items = rows_of(source, Columns(user="prompt", label="label", id="id"))
    assert (len(items), sum(item.label is True for item in items)) == (450, 200)


@pytest.mark.parametrize(
    ("written", "violations"), [(("1.0", "0.0"), ()), (("true", "false"), ()), (("1", "0"), ("1",))]
)
def test_labels_of_other_tools_are_understood(tmp_path: Path, written: tuple[str, str], violations: Any) -> None:
    (tmp_path / "d.csv").write_text(f"prompt,label\nx,{written[0]}\ny,{written[1]}\n")
    items = rows_of(tmp_path / "d.csv", Columns(user="prompt", label="label", positive=violations))
    assert [item.label for item in items] == [True, False]


@pytest.mark.parametrize(
    ("head", "positive", "why"),
    [
        ("prompt,label", ("unsafee",), r"no label is unsafee; there are unsafe, 0\. Say which"),
        ("prompt,label", ("1",), "no label is 1; there are"),
        ("prompt,label,label", (), "two columns are called label"),
    ],
)
def test_a_study_whose_violations_would_all_count_as_harmless_is_refused(
    tmp_path: Path, head: str, positive: tuple[str, ...], why: str
) -> None:
    """Every row was harmless by a slip in --positive, and a whole study was paid for it."""
    more = ",0" * (head.count(",") - 1)
    (tmp_path / "d.csv").write_text(f"{head}\nx,unsafe{more}\ny,0{more}\n")
    with pytest.raises(DataError, match=why):
        rows_of(tmp_path / "d.csv", Columns(user="prompt", label="label", positive=positive))
