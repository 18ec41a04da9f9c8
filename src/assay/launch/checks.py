"""What a kind of run does not allow: seats, bounds, forks."""

from __future__ import annotations

from collections.abc import Mapping

from assay.hooks import hooks_of
from assay.protocol import RunType
from assay.registry import Prepared, tools_of
from assay.terms import Terms
from llm_runtime.errors import ConfigurationError
from llm_runtime.store import RunStore
from llm_runtime.store.verify import verify


def check_terms(run: RunType, terms: Terms, names: Mapping[str, str] | None = None) -> None:
    """Refuse a seat that a run does not have, or a bound that cannot hold for it.

    Args:
        names: what the door calls the fields of the terms, where it has names of its own.

    Raises:
        ConfigurationError: names those that there are.
    """
    called = names or {}
    seats = [seat.name for seat in run.seats]
    for seat in terms.seats:
        if "*" not in seats and seat not in seats:
            listed = f"there are: {', '.join(seats)}" if seats else "its seats cannot be set one by one"
            raise ConfigurationError(f"{called.get('seats', 'seats')}: a {run.noun} has no {seat}; {listed}")
    for bound in ("budget", "max_calls", "deadline", "max_tokens", "effort"):
        if bound not in run.bounds and getattr(terms, bound) is not None:
            possible = f"use {', '.join(run.bounds)}" if run.bounds else "it has no bounds"
            raise ConfigurationError(f"{called.get(bound, bound)}: a {run.noun} is not bounded so; {possible}")


def require_replayable(run: RunType) -> None:
    """Refuse to fork or replay what works on something outside its log.

    Raises:
        ConfigurationError: the run does.
    """
    if not hooks_of(run).replayable:
        raise ConfigurationError(
            f"a {run.noun} works on a folder, so its log alone cannot be forked or replayed; copy the folder and "
            "start from it"
        )


def require_own_tools(store: RunStore, run_id: str, run: Prepared) -> None:
    """Refuse to go on with a run that names tools and that nobody here has signed: its log may name any folder.

    Raises:
        ConfigurationError: the run is such a one.
    """
    tools = tools_of(run)
    if tools and not verify(store, run_id).anchored:
        raise ConfigurationError(
            f"run {run_id} names tools ({', '.join(tools)[:200]}), and its log was not signed here; ask anew, with "
            "--tools of your own"
        )
