"""The queue and the store's sums, as a browser and Prometheus meet them."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest
from tests.assay.batch.batch_shell import Shell
from tests.assay.queue.test_queue_service import assay
from tests.assay.web.conftest import served

from llm_runtime.store import open_store

pytest.importorskip("prometheus_client", reason="the extra otel is not installed")


def sums(text: str) -> dict[str, float]:
    """Add up each metric over its labels."""
    total: dict[str, float] = defaultdict(float)
    for line in text.splitlines():
        if not line.startswith("#"):
            name, _, value = line.rpartition(" ")
            total[name.partition("{")[0]] += float(value)
    return total


async def test_the_form_leaves_a_run_to_a_worker(shell: Shell, postgres_url: str) -> None:
    shell.environment["ASSAY_STORE"] = postgres_url
    store = open_store(postgres_url)
    async with served(store) as web:
        assert "Leave to a worker" in (await web.get("/new?kind=crucible.council"))[1]
        code, put = await web.post("/runs", kind="crucible.council", query="Why <b>?", queue="1")
        assert code == 202 and put["entry"] == 1
        assert "Why &lt;b&gt;?" in (await web.get("/queue"))[1]
        code, refused = await web.post("/runs", kind="crucible.council", query="", queue="1")
        assert code == 400 and "query" in refused["message"]
        await assay(shell, "work", "--until-empty")
        assert store.summary(put["run_id"]).state == "finished"
        assert [each["state"] for each in (await web.json("/queue"))["entries"]] == ["done"]
        _, again = await web.post("/runs", kind="crucible.council", query="Why?", queue="1")
        assert (await web.post(f"/queue/{again['entry']}/cancel"))[0] == 200
        assert [each["state"] for each in (await web.json("/queue"))["entries"]] == ["cancelled", "done"]

        seen = sums((await web.get("/metrics"))[1])
        runs = store.runs()
        assert seen["assay_runs"] == len(runs) == 1
        assert seen["assay_calls"] == runs[0].calls and seen["assay_input_tokens"] == runs[0].input_tokens
        assert seen["assay_cost_microdollars"] == runs[0].cost and seen["assay_queue_entries"] == 2
        async with web.client.get(f"{web.url}/metrics", headers={"Authorization": "Bearer wrong"}) as answer:
            assert answer.status == 403 and "assay_runs" not in await answer.text()
    store.close()


async def test_a_store_in_a_file_has_sums_and_no_queue(tmp_path: Path) -> None:
    store = open_store(tmp_path / "runs.db")
    async with served(store) as web:
        assert "Leave to a worker" not in (await web.get("/new?kind=crucible.council"))[1]
        assert "Nothing waits" in (await web.get("/queue"))[1]
        code, refused = await web.post("/runs", kind="crucible.council", query="Why?", queue="1")
        assert code == 400 and "postgresql://" in refused["message"]
        assert (await web.get("/metrics"))[0] == 200
    store.close()
