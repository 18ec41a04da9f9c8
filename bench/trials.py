"""Sealed trials: what an attempt costs beyond its model, the gain of several at once, how fast a ledger is read."""

from __future__ import annotations

import gc
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from bench.figures import Figure

ATTEMPTS = 20
EVENTS = 50_000
WRITE = ("write_file", {"path": "total.py", "content": "def total(n):\n    return sum(range(1, n + 1))\n"})
READ = ("read_file", {"path": "total.py"})
TRY = ("exec", {"argv": ["python3", "-c", "import total; print(total.total(3))"]})
SUBMIT = ("submit", {"summary": "n is counted"})


def solver(seconds: float = 0.0) -> Any:
    """A mockllm that reads, repairs, tries and submits; each answer takes ``seconds``."""
    from assay.protocols.ai_crucible.inspect.trials import scripted_model

    steps = (READ, WRITE, TRY, SUBMIT)
    return scripted_model("bench", lambda _, turn: steps[min(turn, len(steps) - 1)], seconds)


def run(k: int, at_once: int, seconds: float = 0.0) -> float:
    """Wall seconds of a trial of ``k`` attempts at one puzzle: boxes, grading, log and signed ledger included."""
    from ai_crucible import Workshop

    with tempfile.TemporaryDirectory() as folder:
        shop = Workshop.at(Path(folder) / "shop", anchors=Path(folder) / "anchors")
        begun = time.perf_counter()
        report = shop.run(["off-by-one-total"], model=solver(seconds), k=k, at_once=at_once)
        wall = time.perf_counter() - begun
        if not all(attempt.passed for attempt in report.attempts):
            raise RuntimeError(f"an attempt of the benchmark did not pass: {report.attempts}")
        return wall


def one_trial() -> float:
    """Median wall seconds of a trial of one attempt whose model takes no time, over seven after a first."""
    return median([run(1, 1) for _ in range(8)][1:])


def of_twenty() -> tuple[float, float]:
    """Wall seconds of one of twenty attempts, one after the other and with four at once; the best of three each."""
    alone, together = (min(run(ATTEMPTS, many) for _ in range(3)) / ATTEMPTS for many in (1, 4))
    return alone, together


def verified() -> float:
    """Events that ``verify`` checks in a second."""
    from ai_crucible import Ledger, Signer
    from ai_crucible.events import AttemptGraded

    def graded(number: int) -> AttemptGraded:
        return AttemptGraded(
            trial="neutral-0a1b2c3d",
            puzzle="off-by-one-total",
            kind="off-by-one",
            epoch=number,
            model="openrouter/vendor/model",
            arm="neutral",
            passed=number % 3 > 0,
            failed=[] if number % 3 else ["solved", "quality"],
            terminated_by="submitted",
            sample_digest=f"{number:064x}",
        )

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        ledger = Ledger(place / "ledger.jsonl", place / "anchors", Signer.built_in(place / "key"), lambda: 1)
        ledger.append([graded(number) for number in range(1, EVENTS + 1)])
        walls: list[float] = []
        for _ in range(5):
            begun = time.perf_counter()
            found = ledger.verify()
            walls.append(time.perf_counter() - begun)
            if not found.ok or found.length != EVENTS:
                raise RuntimeError(f"the ledger of the benchmark does not verify: {found.findings[:3]}")
        return EVENTS / median(walls)


def figures() -> Iterator[Figure]:
    """All of this part, as they are measured."""
    yield Figure("trial: verify, events of the ledger", verified(), "1/s", at_least=50_000)
    with warnings.catch_warnings():
        # Inspect leaves sockets and loops of its own to the collector.
        warnings.simplefilter("ignore", ResourceWarning)
        yield Figure("trial: one attempt by mockllm, box and grading", one_trial(), "s", at_most=1.5)
        alone, together = of_twenty()
        yield Figure("trial: one of 20 attempts, one after another", alone, "s", at_most=1.0)
        yield Figure("trial: 20 attempts, 4 at once against 1", alone / together, "x", at_least=1.2)
        gc.collect()
