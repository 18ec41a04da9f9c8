"""The process of one trial: an order on standard input, events as JSON lines on standard output.

It stops when its input ends, which is what happens when whoever ordered it is gone, however that came about.
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
    from ai_crucible.workshop import TrialReport, Workshop

Say = Callable[[str, Any], None]


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
    need_box()
    shop = workshop(order.get("folder") or None)
    report = (_recorded if order.get("demo") else _live)(order, shop, say)
    records = read_trials(shop, [report.trial])
    for attempt in records.attempts:
        say("told", attempt_event(attempt).model_dump(mode="json"))
    say("sealed", seal_event(records).model_dump(mode="json"))
    say(
        "figures",
        {**records.data(), "attempts": len(records.attempts), "trial": report.trial, "status": report.status},
    )


def _live(order: dict[str, Any], shop: Workshop, say: Say) -> TrialReport:
    """A model attempts the puzzles."""
    from assay.protocols.ai_crucible.inspect.trials import finished_attempts, inspect_faults, tell_price
    from assay.protocols.ai_crucible.trials import plan_of, solver_of
    from llm_runtime.pricing import load_prices
    from llm_runtime.settings import load_settings

    plan = plan_of(
        order["puzzles"], solver_of(order.get("model") or None), order["k"], order["arm"], order["protocol"], ()
    )
    if order.get("max_cost") is not None:
        tell_price(plan.model, load_prices(load_settings().prices_path))
    trial = order["trial"]
    plan.keep(shop, trial)
    done = finished_attempts(shop.folder / "logs" / trial)
    _begin(say, trial, plan.k, len(plan.puzzles), done)
    with inspect_faults():
        return shop.run(
            order["puzzles"],
            model=plan.model,
            k=plan.k,
            arm=order["arm"],
            trial=trial,
            protocol=plan.protocol,
            at_once=order["at_once"],
            total_cost=order.get("max_cost"),
            on_attempt=_attempt(say),
        )


def _recorded(order: dict[str, Any], shop: Workshop, say: Say) -> TrialReport:
    """The solvers of the recording, in real boxes and with real grading."""
    from assay.protocols.ai_crucible.demo import load
    from assay.protocols.ai_crucible.inspect.trials import scripted_model

    recorded = load()
    manifest, speed = recorded.manifest, float(order.get("speed", 1))
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
    began = TrialBegan(trial=trial, attempts=k * puzzles, puzzles=puzzles, done=done)
    say("began", began.model_dump(mode="json"))


def _attempt(say: Say) -> Callable[[str, bool], None]:
    from assay.protocols.ai_crucible.inspect.trials import used_by_this_attempt

    def attempted(puzzle: str, passed: bool) -> None:
        tokens, dollars = used_by_this_attempt()
        cost = round(dollars * 1_000_000)
        ended = AttemptEnded(puzzle=puzzle, passed=passed, tokens=tokens, cost=cost)
        say("ended", ended.model_dump(mode="json"))

    return attempted


def _mouth() -> Say:
    """Standard output for us alone: whatever else prints goes to standard error."""
    out: TextIO = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    lock = threading.Lock()

    def say(kind: str, body: Any) -> None:
        with lock:
            out.write(json.dumps({"kind": kind, "body": body}, ensure_ascii=False, default=str) + "\n")
            out.flush()

    return say


def _stop_with_input() -> None:
    sys.stdin.read()
    os.kill(os.getpid(), signal.SIGINT)


if __name__ == "__main__":
    sys.exit(main())
