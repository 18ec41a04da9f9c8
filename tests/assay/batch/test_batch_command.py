"""`assay batch` as a person meets it: real processes, a model server on this machine, a store."""

from __future__ import annotations

import csv
import io
import json
from typing import Any, cast

import pytest
from tests.assay.batch.batch_shell import CALLS, JOB, Shell, batch_of, ray_cluster

from llm_runtime.testing import LoopbackServer


async def test_a_batch_runs_and_running_it_again_costs_nothing(shell: Shell, server: LoopbackServer) -> None:
    shell.write(JOB, ["Why blue?", "Why red?"])
    _, err = await shell("run", "job.toml")
    batch = batch_of(err)
    paid = len(server.requests)
    assert paid == 4 * CALLS

    out, _ = await shell("status", batch, "--json")
    [status] = json.loads(out)["batches"]
    assert (status["state"], status["done"], status["jobs"], status["failed"]) == ("finished", 4, 4, {})
    assert (status["spent"], status["reserved"], status["calls"]) == (paid * 10, 0, paid)

    await shell("run", "job.toml")
    assert len(server.requests) == paid


async def test_changing_one_row_redoes_that_row_alone(shell: Shell, server: LoopbackServer) -> None:
    shell.write(JOB, ["Why blue?", "Why red?"])
    await shell("run", "job.toml")
    before = len(server.requests)
    shell.write(JOB, ["Why blue?", "Why green?"])
    await shell("run", "job.toml")
    assert len(server.requests) == before + 2 * CALLS


async def test_results_come_as_lines_cells_and_columns(shell: Shell) -> None:
    shell.write(JOB, ["=Why blue?", ""])
    _, err = await shell("run", "job.toml", code=1)
    batch = batch_of(err)
    lines = [json.loads(line) for line in (await shell("results", batch))[0].splitlines()]
    assert [(line["row"], line["repetition"], line["state"]) for line in lines] == [
        (1, 0, "done"), (1, 1, "done"), (2, 0, "dead"), (2, 1, "dead")
    ]  # fmt: skip
    assert lines[0]["task"] == {"query": "=Why blue?"}
    assert lines[2]["error"] == "BrokenInput" and "query" in lines[2]["message"]
    table = list(csv.DictReader(io.StringIO((await shell("results", batch, "--format", "csv"))[0])))
    assert [json.loads(row["task"]) for row in table[:1]] == [{"query": "=Why blue?"}]

    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    await shell("results", batch, "--out", "table.parquet")
    read = parquet.read_table(shell.folder / "table.parquet").to_pylist()
    assert [(row["row"], row["state"]) for row in read] == [(line["row"], line["state"]) for line in lines]


async def test_one_poisonous_input_stops_nothing(shell: Shell, server: LoopbackServer) -> None:
    shell.write(JOB.replace("repetitions = 2", ""), ["Why?", "poison", "How?"])
    _, err = await shell("run", "job.toml", code=1)
    assert "2 of 3 done" in err and "1 failed (1 RequestRefused" in err
    refused = sum("poison" in str(received.payload) for received in server.requests)
    assert refused == 5


async def test_a_budget_stops_the_batch_and_a_higher_one_goes_on(shell: Shell, server: LoopbackServer) -> None:
    shell.write(JOB + "[budget]\ncalls = 20\n", ["Why blue?", "Why red?"])
    _, err = await shell("run", "job.toml", code=3)
    assert "BudgetExceeded" in err
    assert len(server.requests) == 20
    shell.write(JOB + "[budget]\ncalls = 100\n", ["Why blue?", "Why red?"])
    _, err = await shell("run", "job.toml")
    assert "4 of 4 done" in err
    # What 20 calls had answered was not asked again; an answer for whose ledger nothing was left stays without one.
    assert 4 * CALLS - 4 <= len(server.requests) <= 4 * CALLS


@pytest.mark.parametrize(
    ("job", "says"),
    [
        (JOB.replace('"question"', '"topic"'), "no column 'topic'"),
        (JOB.replace("query =", "topic ="), "no field topic"),
        (JOB.replace("repetitions", "repeat"), "repeat"),
        (
            JOB.replace('"similarity"', '"guess"'),
            "job.toml: options.delta: Input should be 'conclusions', 'judge' or 'similarity'",
        ),
        (JOB.replace("questions.csv", "none.csv"), "none.csv"),
        (JOB + "[budget]\nusd = 0.000001\n", "below one call"),
        (JOB + "[budget]\ncalls = 0\n", "below one call"),
        ('model = "openrouter:no-such/model"\n' + JOB + "[budget]\nusd = 5\n", "no price is known"),
        (JOB.replace("questions.csv", "q\\u0000.csv"), "null character"),
        ("protocol =", "not readable TOML"),
    ],
)
async def test_what_cannot_work_is_refused_before_anything_is_spent(
    shell: Shell, server: LoopbackServer, job: str, says: str
) -> None:
    shell.write(job, ["Why?"])
    done = await shell.commands.run("batch", "run", "job.toml", cwd=shell.folder, env=shell.environment)
    assert done.code in (2, 3) and says in done.err, done.err
    assert server.requests == []


@pytest.mark.ray
async def test_one_job_file_gives_one_table_on_local_sqlite_and_on_ray_with_postgresql(
    shell: Shell, postgres_url: str
) -> None:
    pytest.importorskip("ray", reason="Ray is not installed")
    shell.write(JOB, ["Why blue?", "poison", "", "How?"])
    tables: list[list[dict[str, Any]]] = []
    shell.environment["RAY_AUTH_MODE"] = "disabled"
    with ray_cluster(shell.environment) as address:
        cluster = ("--engine", "ray", "--address", address, "--workers", "2", "--store", postgres_url)
        for options in ((), cluster):
            _, err = await shell("run", "job.toml", *options, code=1)
            out, _ = await shell("results", batch_of(err), *options[-2:])
            tables.append([json.loads(line) for line in out.splitlines()])
    for line in (line for table in tables for line in table):
        line["message"] = line["message"].split(" [")[0]  # the provider numbers its requests
        for history in ("run", "failures", "cost"):
            del line[history]
        _without_times(line["result"])
    assert tables[0] == tables[1]
    assert [line["state"] for line in tables[0]] == ["done"] * 2 + ["dead"] * 4 + ["done"] * 2


def _without_times(result: Any) -> None:
    """A council's trace says how long each call took; nothing else of it may differ."""
    if isinstance(result, dict):
        fields = cast("dict[str, Any]", result)
        for name in [name for name in fields if "ms" in name.split("_") or "latency" in name or "time" in name]:
            del fields[name]
        for inner in fields.values():
            _without_times(inner)
    elif isinstance(result, list):
        for inner in cast("list[Any]", result):
            _without_times(inner)
