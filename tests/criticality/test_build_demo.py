"""The recorded demonstration: real checks over hand-written answers, and bugs put into what it delivers."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from criticality.mutation import deciding_tests, spread
from turnstile_system import needs_toolchain

from assay.demo import demo_answers
from assay.launch import result_of
from assay.protocols.criticality.commands import criticality
from criticality import Nobody, load_config, read_project
from criticality.artifacts import Body
from criticality.asking import Asking
from criticality.languages import language
from criticality.languages.python.toolchain import Toolchain
from criticality.machine.states import Active, SelectingFunction
from criticality.tree import full_tree
from criticality.work import Work
from llm_runtime.store import open_store

pytestmark = [needs_toolchain, pytest.mark.toolchain, pytest.mark.long]

#: Changes that keep every stated claim and contract: they are no bugs, and no test can tell them apart.
EQUIVALENT = (
    # even_split promises as many shares as it was given heads, so both sequences are of one length.
    ("expenses.shares_of", "strict=False"),
    # Paying the larger of two sums settles whoever has it and turns the other's sign: each transfer still takes one
    # person out, and the last one two. All is zero in the end, after fewer transfers than there are people.
    ("balances.settlement", "max("),
    # balance_sheet goes through everyone(), which is sorted: the keys are in order, though no contract says so.
    ("reports.statement", "list(sheet)"),
)
SEEDS = (1, 7, 42, 1234, 20261120)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("demo") / "kitty"
    cli = CliRunner()
    made = cli.invoke(
        criticality,
        ["init", "shared-kitty", "-C", str(root), "--seed", str(demo_answers("build").manifest["seed"])],
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
    lines = [json.loads(line) for line in (demo / ".criticality/events.jsonl").read_text().splitlines()]
    kinds = Counter(line["data"]["type"].rpartition(".")[2] for line in lines)
    assert kinds["delegated"] == 1 and kinds["contradictions_reported"] == 1 and kinds["escalated"] == 1
    assert kinds["semantics_verified"] == 2
    assert sum(1 for line in lines if line["data"].get("passed") is False) == 1, "one cluster fails first"
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


@asynccontextmanager
async def bench_of(root: Path) -> AsyncGenerator[Work]:
    """What a project has come to, with tools of its own and no model."""
    _, artifacts, ledger, _ = read_project(root)
    config = load_config(root / "criticality.toml")

    async def unreachable(request: Any) -> Any:
        raise AssertionError("no model is asked")

    async with Toolchain(parallel=2) as tools:
        yield Work(
            state=Active(phase=SelectingFunction()), artifacts=artifacts, ledger=ledger,
            ask=Asking(unreachable, config.models, 1), tools=tools, config=config, human=Nobody(),
            language=language("python"),
        )  # fmt: skip


async def test_no_seeded_bug_that_a_stated_claim_could_show_is_accepted(demo: Path) -> None:
    async with bench_of(demo) as work:
        seeded = [
            (n, text)
            for n, body in work.artifacts.bodies.items()
            for text in spread(work.language.mutants(body.text), 6)
        ]
        assert len(seeded) >= 60
        verdicts = await asyncio.gather(*(accepted(work, name, text) for name, text in seeded))
        kept = [(n, text) for (n, text), yes in zip(seeded, verdicts, strict=True) if yes]
    bugs = [(n, t) for n, t in kept if not any(n == name and mark in t for name, mark in EQUIVALENT)]
    assert bugs == []


async def test_correct_bodies_are_accepted_whatever_values_are_drawn(demo: Path) -> None:
    """The tests that decide on each function, over values drawn from other seeds than the one that is used."""
    async with bench_of(demo) as work:
        tree = full_tree(work.language, work.artifacts)
        harness = tree["tests/harness.py"]
        every = sorted(path for path in tree if "/test_" in path)
        reports = await asyncio.gather(
            *(work.tools.test(tree | {"tests/harness.py": reseeded(harness, seed)}, every) for seed in SEEDS)
        )
        of_function = {name: promised_by(tree, deciding_tests(work, name)) for name in work.artifacts.bodies}
    verdicts = [
        report.state == "done" and not {test.name for test in report.failures} & tests
        for report in reports
        for tests in of_function.values()
    ]
    assert len(verdicts) == 25 * len(SEEDS)
    assert sum(verdicts) / len(verdicts) >= 0.99


def reseeded(harness: str, seed: int) -> str:
    """The harness with another seed for what it draws."""
    fixed, drawing = "derandomize=True", "        draw()\n"
    assert fixed in harness and drawing in harness
    seeded = drawing.replace("draw()", f"hypothesis.seed({seed})(draw)()")
    return harness.replace(fixed, "derandomize=False").replace(drawing, seeded)


def promised_by(tree: dict[str, str], files: list[str]) -> set[str]:
    """The tests in some files."""
    return {name for path in files for name in re.findall(r"^def (test_\w+)", tree[path], re.MULTILINE)}


async def accepted(work: Work, name: str, text: str) -> bool:
    """Whether a body passes everything that stands before the deliverable."""
    artifacts = work.artifacts
    assert artifacts.spec is not None
    body = artifacts.bodies[name]
    bodies = {**artifacts.bodies, name: Body(text, body.key, body.tier, 1)}
    if await work.tools.check(work.language.sources(artifacts.spec, artifacts.plan, bodies)):
        return False
    tests, tree = deciding_tests(work, name), full_tree(work.language, artifacts, bodies)
    if not (await work.tools.test(tree, tests, stop_early=True)).passed:
        return False
    examples = work.config.orchestrator.mesoscopic_examples
    return (await work.tools.test(tree, tests, stop_early=True, examples=examples, seconds=120)).passed
