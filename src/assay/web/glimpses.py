"""What a list says of a run beside its summary: what it came to, and which models it asks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from assay.launch import first_event
from assay.registry import hooks_for
from assay.report.clean import one_line
from assay.terms import in_force
from llm_runtime.events import CallFinished, Event, RunFinished, RunStarted
from llm_runtime.store import RunStore, RunSummary
from llm_runtime.store.reading import read_event

_BEGINNING = 8
"""Records among which the first answer is looked for."""
_LONGEST = 160
_MARKUP = re.compile(r"\*\*|^\s*#+ ")


@dataclass(frozen=True, slots=True)
class Glimpse:
    """A run at a glance; texts are empty where nothing is known."""

    outcome: str = ""
    models: str = ""


def glimpses(store: RunStore, runs: list[RunSummary]) -> dict[str, Glimpse]:
    """Return a glimpse of each run by its id; of every log only a few events are read."""
    return {run.run_id: _glimpse(store, run.run_id, run.events) for run in runs}


@lru_cache(maxsize=2048)
def _glimpse(store: RunStore, run_id: str, length: int) -> Glimpse:
    first = [read_event(record) for record in store.records(run_id, 0, _BEGINNING)]
    last = [read_event(record) for record in store.records(run_id, max(length - 2, 0), 2)]
    ended = next((event for event in reversed(last) if isinstance(event, RunFinished)), None)
    return Glimpse(_outcome(first_event(first), ended), _models(first_event(first), first))


def _outcome(started: RunStarted, ended: RunFinished | None) -> str:
    if ended is None:
        return ""
    if ended.state != "finished":
        return one_line(ended.message, _LONGEST)
    return outcome_of(started.protocol, ended.result) or one_line(ended.message, _LONGEST)


def outcome_of(kind: str, result: Any, longest: int = _LONGEST) -> str:
    """Return what a kind of run came to, in one line; empty where that is not known."""
    try:
        return one_line(_MARKUP.sub("", hooks_for(kind).outcome(result)), longest)
    except (KeyError, TypeError, AttributeError):  # an older or imported log may hold another result
        return ""


def _models(started: RunStarted, first: Sequence[Event]) -> str:
    options = started.settings.get("options", {})
    named = [*options.get("models", ()), *in_force([started]).routes.values()]
    if not named:
        named = [str(event.reply.get("model", "")) for event in first if isinstance(event, CallFinished)][:1]
    return ", ".join(dict.fromkeys(one_line(name, 40) for name in named if name))
