"""One run carried out: the model function that it may ask, within its bounds, and how it ended."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import lru_cache, partial
from math import inf
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel

from assay.hooks import hooks_of
from assay.launch.naming import asked_of
from assay.launch.words import Words
from assay.protocol import RunContext, RunType, Served, unknown_window
from assay.registry import Prepared, protocol_of
from assay.seat_tools.using import TOOL
from assay.terms import Terms
from llm_runtime.answerer import Answerer
from llm_runtime.behaviour import Numbers
from llm_runtime.errors import (
    BudgetExceeded,
    ConfigurationError,
    DeadlineExceeded,
    LlmRuntimeError,
    RunPaused,
    StoreError,
)
from llm_runtime.events import Emit, Event, RunFinished, RunStarted
from llm_runtime.gateway import Gateway
from llm_runtime.http import Http
from llm_runtime.messages import Generate, Reply, Request, unwatched
from llm_runtime.price import Price
from llm_runtime.pricing import PriceTable, load_prices
from llm_runtime.replay import Recording
from llm_runtime.routing import HUMAN_PROVIDERS, Router, Target, parse_model
from llm_runtime.settings import Settings
from llm_runtime.shared import Shared
from llm_runtime.structs import Struct
from llm_runtime.tasks import first_error
from llm_runtime.wires import Held
from llm_runtime.wrappers.accounts import Account, Budget, Caps, spent_before
from llm_runtime.wrappers.budgeted import budgeted
from llm_runtime.wrappers.chosen import chosen
from llm_runtime.wrappers.recording import Who
from llm_runtime.wrappers.timed import Deadline, timed

#: What the caps of a budget are called among the terms.
_BOUNDS = {"cost": "budget", "calls": "max_calls", "tokens": "max_tokens"}


class Outcome(Struct):
    """How a run ended.

    Args:
        run_id: its id in the store.
        state: ``"finished"``, ``"stopped"`` (it can be resumed) or ``"failed"``.
        result: the protocol's own result as data, or how a paused run stands; else empty.
        error: why it did not finish.
    """

    run_id: str
    state: Literal["finished", "stopped", "failed"]
    result: dict[str, Any]
    error: Exception | None = None


class PerRun(Struct):
    """A way to models that many runs share.

    Args:
        make: the function by which one run asks, under that run's budget.
        who: tells who answers.
        capped: whether it asks nobody for whom no purse pays.
    """

    make: Callable[[Budget, Followers], Generate]
    who: Who | None = None
    capped: bool = False


class Followers(Struct):
    """Who follows a run.

    Args:
        listeners: take every event after the log has it.
        person: answers for ``terminal:``; the keyboard where left out.
        words: follows the answers on their way.
    """

    listeners: Sequence[Emit] = ()
    person: Generate | None = None
    words: Words | None = None


class Execution(Struct):
    """A run to be carried out; of a resumed run the log says more once it is held.

    Args:
        numbers: of the behaviours that are older than today's.
    """

    run: Prepared
    started: RunStarted
    terms: Terms
    settings: Settings
    answers: Recording
    followers: Followers
    model: Generate | PerRun | None = None
    numbers: Numbers = ()
    resumed: bool = False
    before: Account | None = None


class LateEmit:
    """Lets the gateway speak before the log is open: what it says then has no run to belong to."""

    def __init__(self) -> None:
        self.target: Emit | None = None

    def emit(self, event: Event) -> Awaitable[None] | None:
        return None if self.target is None else self.target(event)


class Reached(Struct):
    """The models of a run.

    Args:
        generate: asks them, within the run's bounds.
        local: whether a model on this machine answers.
        window: returns how many tokens the smallest of them reads; ``None`` where that is not known.
        who: tells who answers a request.
        budget: in whose name they are asked, where there is one.
    """

    generate: Generate
    local: bool = False
    window: Callable[[], Awaitable[int | None]] = unknown_window
    who: Who | None = None
    budget: Budget | None = None


async def model_of(
    job: Execution, settings: Settings, terms: Terms, events: list[Event], relay: LateEmit, shared: Shared,
    stack: AsyncExitStack,
) -> Reached:  # fmt: skip
    """Return the models of a run; one whose models cannot be reached is refused."""
    run = job.run
    if run.hooks.own_models:
        if job.started.origin == "live":
            run.hooks.ready(run.task, run.options, terms)
        return Reached(_nobody)
    caps = terms.caps
    budget = Budget(caps, job.before or _before(run, events), emit=relay.emit)
    if isinstance(job.model, PerRun):
        timely = timed(job.model.make(budget, job.followers), Deadline(caps.seconds or inf))
        return Reached(timely, who=job.model.who, budget=budget)
    if job.model is not None:
        model = chosen(job.model, settings.config)
        if caps == Caps():
            return Reached(model)
        timely = timed(model, Deadline(caps.seconds or inf))
        return Reached(budgeted(timely, budget, partial(price_of, settings)), budget=budget)
    gateway = Gateway(
        settings,
        budget=budget,
        emit=relay.emit,
        person=job.followers.person,
        named=run.hooks.panel(run.options),
        on_delta=job.followers.words.hear if job.followers.words else unwatched,
        shared=shared,
        needs=needs_of(job.run.run.name, terms, job.run),
    )
    await stack.enter_async_context(gateway)
    targets = [await gateway.ready(name) for name in asked_of(run.run, run.options)]
    targets += [await gateway.router.resolve(name, named=True) for name in settings.config.seats.values()]

    async def window() -> int | None:
        models = {target for target in targets if target.provider not in HUMAN_PROVIDERS}
        sizes = [(await gateway.capacity(target)).window for target in sorted(models, key=str)]
        return min((size for size in sizes if size), default=None)

    return Reached(gateway.generate, gateway.local, window, gateway.who, budget)


def who_of(job: Execution, reached: Reached) -> Who:
    """Return what tells who answers a run's calls: its recording, its tools, or what its models say."""

    async def who(request: Request) -> Answerer | None:
        if job.started.origin == "demo":
            return Answerer(kind="recording")
        if request.model.startswith(TOOL):
            return Answerer.of("tool", request.model)
        return await reached.who(request) if reached.who else None

    return who


def needs_of(kind: str, terms: Terms, run: Prepared | None = None) -> frozenset[Held]:
    """Return what a wire must hold for a kind of run within its bounds, and for what this one shows; the gateway
    knows what settings say."""
    needs, held = protocol_of(kind).needs, set[Held]()
    if needs and needs.json == "always":
        held.add("schema")
    if terms.caps.bounded:
        held.add("max_tokens")
    if run is not None and run.hooks.shows(run.task):
        held.add("pictures")
    return frozenset(held)


async def served(settings: Settings, http: Http, model: Generate | PerRun | None, name: str) -> Served:
    """Return who serves a model that answers no calls, as :attr:`~assay.protocol.RunContext.served` says it.

    Raises:
        ConfigurationError: it may not be named, nothing serves it, or nobody could pay for it.
    """
    router = Router(settings, http)
    target = await router.resolve(name, named=True)
    endpoint = await router.endpoint(target.provider)
    if isinstance(model, PerRun) and model.capped and not endpoint.local:
        raise ConfigurationError(
            f"{name[:60]}: it is counted in no budget, and yours has bounds; name one on this machine"
        )
    return http, endpoint, target.model


def beside_panel(settings: Settings, run: RunType, options: BaseModel) -> Settings:
    """Return the user's settings as they hold for a run: a panel takes the place of the configured model."""
    if not hooks_of(run).panel(options):
        return settings
    return replace(settings, config=settings.config.model_copy(update={"model": None}))


def _before(run: Prepared, events: list[Event]) -> Account:
    """Return what bounds must count already: of log and folder, which hold the same answers, whichever has more."""
    before = spent_before(events)
    before.spent = before.spent.or_more(run.hooks.spent(run.task))
    return before


def price_of(settings: Settings, asked: str) -> Price | None:
    """Return what a model costs by its name alone, before anybody has looked where it is served."""
    target = parse_model(asked, settings.config.endpoints) or Target("", asked)
    address = settings.endpoint(target.provider).base_url if (target.provider in settings.config.endpoints) else ""
    return _prices(settings.prices_path).find(target.provider, target.model, address)


@lru_cache(maxsize=4)
def _prices(own: Path | None) -> PriceTable:
    # The jobs of a batch ask for the same table, run by run.
    return load_prices(own)


async def _nobody(request: Request) -> Reply:
    raise ConfigurationError(f"nobody answers {request.label}: this run reaches its models by itself")


async def carry_through(run: Prepared, context: RunContext) -> Outcome:
    """Run the protocol, and say in the log how it ended.

    Raises:
        StoreError: the log cannot be written.
        Exception: an error that is not ours; the log says which.
    """
    emit = context.emit
    try:
        result = await run.hooks.run(run.task, run.options, context)
    except asyncio.CancelledError:
        emit(RunFinished(state="stopped", error="Interrupted", message="interrupted"))
        raise
    except Exception as error:
        cause = first_error(error)
        if isinstance(cause, StoreError):
            raise cause from None
        if not isinstance(cause, LlmRuntimeError):
            emit(RunFinished(state="failed", error=type(cause).__name__, message=str(cause)))
            raise
        state = "stopped" if isinstance(cause, BudgetExceeded | DeadlineExceeded | RunPaused) else "failed"
        result = cause.result if isinstance(cause, RunPaused) else {}
        ended = RunFinished(
            state=state,
            result=result,
            error=type(cause).__name__,
            message=str(cause),
            advice=cause.advice or None,
            bound=_BOUNDS.get(cause.cap, "budget") if isinstance(cause, BudgetExceeded) else None,
        )
        emit(ended)
        return Outcome(context.run_id, state, result, cause)
    emit(RunFinished(state="finished", result=result))
    return Outcome(context.run_id, "finished", result)
