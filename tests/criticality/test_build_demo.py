"""The recorded demonstration: real checks over hand-written answers, and what it delivers."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner
from turnstile_system import needs_toolchain

from assay.demo import demo_answers
from assay.launch import result_of
from assay.protocols.criticality.commands import criticality
from llm_runtime.store import open_store

pytestmark = [needs_toolchain, pytest.mark.toolchain, pytest.mark.long]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("demo") / "kitty"
    cli = CliRunner()
    made = cli.invoke(
        criticality, ["init", "shared-kitty", "-C", str(root), "--seed", str(demo_answers("build").manifest["seed"])]
    )
    assert made.exit_code == 0, made.output
    store = str(root.with_name("runs.db"))
    outcome = cli.invoke(criticality, ["run", "-C", str(root), "--demo", "-q", "--store", store])
    assert outcome.exit_code == 0, (outcome.output, outcome.exception)
    return root


def test_it_is_a_run_of_the_store_that_ends_with_the_trace(demo: Path) -> None:
    with closing(open_store(demo.with_name("runs.db"))) as store:
        (summary,) = store.runs()
        assert (summary.protocol, summary.state, summary.origin) == ("criticality.build", "finished", "demo")
        result = result_of(event for _, event in store.events(summary.run_id))
    assert result is not None and result["state"] == "completed"
    assert result["trace"] == json.loads((demo / "trace.json").read_text())


def test_it_shows_all_that_a_project_can_go_through(demo: Path) -> None:
    lines = [json.loads(line) for line in (demo / ".criticality/events.jsonl").read_bytes().splitlines()]
    kinds = Counter(line["data"]["type"].rpartition(".")[2] for line in lines)
    assert kinds["delegated"] == 1 and kinds["contradictions_reported"] == 1 and kinds["escalated"] == 1
    assert kinds["semantics_verified"] == 2
    settled = [line["data"] for line in lines if line["data"].get("settled")]
    assert {entry["function"] for data in settled for entry in data["settled"]} == {
        "money.format_cents", "money.parse_cents",
    }, "bodies that differ have a silent contract decided"  # fmt: skip
    trace = json.loads((demo / "trace.json").read_text())
    assert len(trace["functions"]) >= 20 and len({name.partition(".")[0] for name in trace["functions"]}) >= 4
    assert {claim["result"] for claim in trace["claims"].values()} == {"holds in every test"}
    assert trace["functions"]["money.total"]["complexity"] == "O(n): steps grow no faster"
    metrics = json.loads((demo / "metrics.json").read_text())
    assert 0.9 < metrics["quality"]["testCoverage"] <= 1
    assert metrics["measured"]["targets"]["min_test_coverage"]["met"] is True


def test_its_manifest_says_who_wrote_the_answers() -> None:
    assert demo_answers("build").manifest["origin"] == "written by hand"


def test_what_it_delivers_passes_its_own_tests_outside_the_tool(demo: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=demo,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-2000:]
    checked = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "src"], cwd=demo, capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout[-2000:]
