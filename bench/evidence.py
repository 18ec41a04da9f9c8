"""What a council is worth, by a plan that is fixed before the first call, and a page that anybody makes again.

``python -m bench.evidence run MODEL`` plans, asks and exports; ``page`` writes the page's part from the logs,
``check`` makes it again, without a model, and compares. ``make evidence`` and ``make evidence-check`` do it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from assay.protocols.compare.events import MethodAnswered
from assay.protocols.compare.figures import Figures, Row, figures
from assay.protocols.compare.story import in_short
from assay.protocols.compare.task import Options
from bench.checkable import tasks
from llm_runtime.errors import LlmRuntimeError
from llm_runtime.events import Event, RunStarted
from llm_runtime.store import open_store
from llm_runtime.store.transfer import import_run
from llm_runtime.store.verify import verify

FOLDER, PAGE = Path("docs/evidence"), Path("docs/evidence.md")
BEGINS, ENDS = "<!-- made by bench/evidence.py: begin -->", "<!-- made by bench/evidence.py: end -->"
METHODS = ("single", "self-consistency", "self-correction", "council", "routed")
#: What a pair of differences can be shown with 80 to 90% power at, by simulation; tasks, points, power.
POWER = ((24, 20, 14), (200, 15, 90), (400, 10, 88))
#: Tokens of a council a task, in and out, as its recording has them; dollars a million tokens.
TOKENS, PRICES = (24_600, 6_500), {"a cheap model": (0.15, 0.60), "a strong one": (3.0, 15.0)}


class Refused(Exception):
    """Says in one line what is wrong with plan or logs."""


def digest_of(plan: dict[str, Any]) -> str:
    """Return the digest of a plan, 16 hexadecimal digits."""
    return hashlib.sha256(json.dumps(plan, sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:16]


def plan_of(model: str, seed: int, count: int) -> dict[str, Any]:
    """Return what is fixed before the first call."""
    asked = tasks(count, seed)
    return {
        "question": "Is a council right more often than self-consistency, at equal spend?",
        "primary": ["council", "self-consistency"],
        "figure": "difference of shares right, Newcombe's 95% interval, McNemar's exact p at most 0.05",
        "stopping": "all tasks are asked; none is added afterwards",
        "model": model,
        "methods": list(METHODS),
        "seed": seed,
        "count": count,
        "tasks": hashlib.sha256(json.dumps(asked).encode()).hexdigest(),
    }


def run(model: str, seed: int, count: int, more: list[str], folder: Path) -> int:
    """Write the plan, ask by it, and export the log; the plan's digest is in the log's first event."""
    folder.mkdir(parents=True, exist_ok=True)
    plan = plan_of(model, seed, count)
    digest = digest_of(plan)
    place = folder / f"{digest}.plan.json"
    place.write_text(json.dumps(plan, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"plan {digest}: {count} tasks, seed {seed}; publish this before you go on reading", flush=True)
    with tempfile.TemporaryDirectory() as room:
        asked = Path(room, f"plan-{digest}.jsonl")
        asked.write_text("".join(json.dumps(one) + "\n" for one in tasks(count, seed)), encoding="utf-8")
        command = [sys.executable, "-m", "assay", "compare", str(asked), "--model", model, "--seed", str(seed)]
        command += ["--methods", ",".join(METHODS), "--json", *more]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if not done.stdout.strip():
        return done.returncode
    run_id = json.loads(done.stdout)["run_id"]
    subprocess.run([sys.executable, "-m", "assay", "runs", "export", run_id, str(folder / f"{digest}.log")], check=True)
    return done.returncode


def checked(folder: Path) -> Iterator[tuple[dict[str, Any], RunStarted, list[Row]]]:
    """Yield each plan with what its log holds, once plan, tasks and chain are found to be what they say.

    Raises:
        Refused: one of them is not.
    """
    for place in sorted(folder.glob("*.plan.json")):
        digest, plan = place.name.partition(".")[0], json.loads(place.read_text(encoding="utf-8"))
        if digest_of(plan) != digest:
            raise Refused(f"{place}: the plan was changed after it was named")
        asked = tasks(plan["count"], plan["seed"])
        if hashlib.sha256(json.dumps(asked).encode()).hexdigest() != plan["tasks"]:
            raise Refused(f"{place}: its seed gives other tasks than it says")
        log = folder / f"{digest}.log"
        if not log.exists():
            raise Refused(f"{log} is missing: the run of this plan was not exported")
        events = _events(log)
        started = next(event for event in events if isinstance(event, RunStarted))
        if started.task.get("source") != f"plan-{digest}.jsonl":
            raise Refused(f"{log} is the log of another plan: {started.task.get('source')}")
        if [one["question"] for one in started.task["tasks"]] != [one["question"] for one in asked]:
            raise Refused(f"{log}: other tasks were asked than those of the plan")
        yield plan, started, [Row.model_validate(e.row) for e in events if isinstance(e, MethodAnswered)]


def _events(log: Path) -> list[Event]:
    with tempfile.TemporaryDirectory() as room, closing(open_store(str(Path(room, "runs.db")))) as store:
        try:
            with log.open("rb") as file:
                run_id = import_run(store, file)
        except LlmRuntimeError as fault:
            raise Refused(f"{log}: {fault}") from None
        if not verify(store, run_id).intact:
            raise Refused(f"{log}: its chain does not hold")
        return [event for _, event in store.events(run_id)]


def part(folder: Path) -> str:
    """Return what the page says of all plans."""
    told = [_of_plan(*one) for one in checked(folder)]
    sizes = ["| tasks | shows a difference of | in | with a cheap model | with a strong one |", "|---|---|---|---|---|"]
    for count, points, power in POWER:
        costs = [count * 2 * sum(map(_product, zip(TOKENS, price, strict=True))) for price in PRICES.values()]
        sizes.append(f"| {count} | {points} points | {power}% | ${costs[0]:.0f} | ${costs[1]:.0f} |")
    words = "Council and self-consistency at equal spend; prices per million tokens: " + "; ".join(
        f"{name} ${read:g} in, ${wrote:g} out" for name, (read, wrote) in PRICES.items()
    )
    unknown = "**Not known.** Nobody has run a plan of this kind with a real model and published its logs here."
    return "\n\n".join([BEGINS, *(told or [unknown]), "\n".join(sizes), f"{words}.", ENDS])


def _product(pair: tuple[int, float]) -> float:
    return pair[0] * pair[1] / 1_000_000


def _of_plan(plan: dict[str, Any], started: RunStarted, rows: list[Row]) -> str:
    options = Options.model_validate(started.settings["options"])
    order = {one["id"]: at for at, one in enumerate(started.task["tasks"])}
    rows = sorted(rows, key=lambda row: order[row.task])
    found: Figures = figures(rows, options.methods, options.rules(started.seed, plan["count"]))
    table = ["| method | right | 95% | no answer | calls | tokens |", "|---|---|---|---|---|---|"]
    for one in found.methods:
        reach = f"{one.score.low:.0%} to {one.score.high:.0%}" if one.score else "–"
        cells = (one.method, f"{one.right} of {one.checkable}", reach, one.errors, f"{one.calls:,}", f"{one.tokens:,}")
        table.append(f"| {' | '.join(map(str, cells))} |")
    who = f"{plan['model']}, {plan['count']} tasks by seed {plan['seed']}"
    head = f"**Plan {digest_of(plan)}**, {who}: {plan['question']}"
    return "\n\n".join([head, "\n".join(table), in_short(found)])


def page_with(made: str) -> str:
    """Return the page with the part that is made."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGINS)
    return f"{before}{made}{rest.partition(ENDS)[2]}"


def main(arguments: list[str]) -> int:
    """Do what is asked for."""
    parser = argparse.ArgumentParser(prog="python -m bench.evidence", description=__doc__)
    parser.add_argument("what", choices=("run", "page", "check"))
    parser.add_argument("model", nargs="?", default="")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tasks", type=int, default=400)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    own, more = parser.parse_known_args(arguments)
    try:
        if own.what == "run":
            return run(own.model, own.seed, own.tasks, more, own.folder)
        made = page_with(part(own.folder))
    except Refused as fault:
        print(f"evidence: {fault}", file=sys.stderr)
        return 1
    if own.what == "check":
        same = made == PAGE.read_text(encoding="utf-8")
        print("the page is what its logs say" if same else "evidence: the page says something else than its logs")
        return 0 if same else 1
    PAGE.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
