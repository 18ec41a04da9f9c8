"""The process of one trial: an order on standard input, events as JSON lines on standard output.

With a further line of input it begins no further attempt, and ends those under way. It stops when its input ends,
which is what happens when whoever ordered it is gone, however that came about.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TextIO

from assay.protocols.ai_crucible.events import AttemptEnded, TrialBegan
from assay.protocols.ai_crucible.report.trial_events import attempt_event, seal_event
from llm_runtime.errors import LlmRuntimeError

if TYPE_CHECKING:
    from ai_crucible.observability import TrialReport
    from ai_crucible.workshop import Workshop

Say = Callable[[str, Any], None]
_PATIENCE_S = 20.0
_ENOUGH = threading.Event()
_PLANNED = ("trial", "k", "seed", "nonce", "redraws", "against", "arm", "protocol")
_AS_ASKED = ("agent", "at_once", "untagged", "reducer", "chrome", "box_root")


def main() -> int:
    """Make the trial that is ordered."""
    say = _mouth()
    order: dict[str, Any] = json.loads(sys.stdin.readline())
    threading.Thread(target=_stop_with_input, daemon=True).start()
    try:
        _make(order, say)
    except LlmRuntimeError as fault:
        say("fault", str(fault))
        return fault.exit_code
    except KeyboardInterrupt:
        return 130
    return 0


def _make(order: dict[str, Any], say: Say) -> None:
    from assay.protocols.ai_crucible.report import read_trials
    from assay.protocols.ai_crucible.trials import need_box, need_inspect, workshop

    need_inspect("a trial")
    need_box(order["box_root"])
    shop = workshop(order["folder"] or None)
    if order["tell"]:
        ended = {"trial": order["trial"], "status": "success"}
    else:
        ended = _end((_recorded if order["demo"] else _live)(order, shop, say))
    records = read_trials(shop, [order["trial"]])
    for attempt in records.attempts:
        say("attempt", attempt_event(attempt).model_dump(mode="json"))
    say("sealed", seal_event(records.seal).model_dump(mode="json"))
    say("figures", {**records.data(), "attempts": len(records.attempts), **ended})


def _end(report: TrialReport) -> dict[str, Any]:
    """Return whether the trial is complete, and what is missing."""
    first = next(iter(report.errors), None)
    reason = ((first.error if first else "") or "no reason given").splitlines()[0][:300]
    return {
        "trial": report.trial,
        "status": report.status,
        "unpaid": report.unpaid,
        "graded": len(report.attempts) - len(report.errors),
        "without": len(report.errors),
        "first": f"; the first: {first.puzzle}: {reason}" if first else "",
    }


def _live(order: dict[str, Any], shop: Workshop, say: Say) -> TrialReport:
    """Let a model attempt the puzzles."""
    from ai_crucible.attestation import holding
    from ai_crucible.attested import recovered
    from ai_crucible.catalog_paths import resolve_puzzles
    from ai_crucible.puzzle_loader import load_puzzles
    from assay.protocols.ai_crucible.inspect.trials import inspect_faults, tell_price
    from assay.protocols.ai_crucible.trials import solver_of
    from llm_runtime.pricing import load_prices
    from llm_runtime.settings import load_settings

    solver, *cohort = (solver_of(name or None) for name in (order["model"], *order["cohort"]))
    judges = [solver_of(name) for name in order["judges"]]
    critic = solver_of(order["critic"]) if order["critic"] else ""
    how: Any = {name: order[name] for name in (*_PLANNED, *_AS_ASKED)}
    how |= {"judges": judges, "critic": critic, "cohort": cohort}
    if order["max_cost"] is not None:
        prices = load_prices(load_settings().prices_path)
        for model in filter(None, (solver, *judges, critic, *cohort)):
            tell_price(model, prices)
    trial, puzzles = order["trial"], load_puzzles(resolve_puzzles(order["puzzles"]))
    # A process whose owner was killed a moment ago may still be putting this trial's log in order.
    busy = f"another process works on the trial {trial}; wait for it, or stop it first"
    with holding(shop.folder / "locks" / f"{trial}.lock", _PATIENCE_S, busy), inspect_faults():
        known = shop.attested().get(trial)
        _begin(say, trial, order["k"], len(puzzles), known.done if known else 0)
        for puzzle, epoch, passed in recovered(shop.folder, known) if known and order["against"] else ():
            say("past", {"puzzle": puzzle, "epoch": epoch, "passed": passed})
        cost, enough, tell = order["max_cost"], _ENOUGH.is_set, _attempt(say)
        return shop.run(order["puzzles"], model=solver, total_cost=cost, enough=enough, on_attempt=tell, **how)


def _recorded(order: dict[str, Any], shop: Workshop, say: Say) -> TrialReport:
    """Let the solvers of the recording attempt theirs, in real boxes and with real grading."""
    from assay.protocols.ai_crucible.demo import load
    from assay.protocols.ai_crucible.inspect.trials import scripted_model

    recorded = load()
    manifest, speed = recorded.manifest, float(order["speed"])
    seconds = manifest["pace_s"] / speed if speed > 0 else 0.0
    _begin(say, order["trial"], manifest["k"], len(recorded.steps), 0)
    return shop.run(
        list(recorded.steps),
        model=scripted_model(manifest["name"], recorded.step, seconds),
        k=manifest["k"],
        seed=manifest["seed"],
        trial=order["trial"],
        on_attempt=_attempt(say),
    )


def _begin(say: Say, trial: str, k: int, puzzles: int, done: int) -> None:
    say("began", TrialBegan(trial=trial, attempts=k * puzzles, puzzles=puzzles, done=done).model_dump(mode="json"))


def _attempt(say: Say) -> Callable[[str, bool, int], None]:
    from assay.protocols.ai_crucible.inspect.trials import used_by_this_attempt

    def attempted(puzzle: str, passed: bool, epoch: int) -> None:
        tokens, dollars = used_by_this_attempt()
        ended = AttemptEnded(puzzle=puzzle, passed=passed, tokens=tokens, cost=round(dollars * 1_000_000), epoch=epoch)
        say("ended", ended.model_dump(mode="json"))

    return attempted


def _mouth() -> Say:
    """Take standard output for us alone: whatever else prints goes to standard error."""
    out: TextIO = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    lock = threading.Lock()

    def say(kind: str, body: Any) -> None:
        with lock:
            out.write(json.dumps({"kind": kind, "body": body}, ensure_ascii=False, default=str) + "\n")
            out.flush()

    return say


def _stop_with_input() -> None:
    for _ in sys.stdin:
        _ENOUGH.set()
    os.kill(os.getpid(), signal.SIGINT)


if __name__ == "__main__":
    sys.exit(main())
