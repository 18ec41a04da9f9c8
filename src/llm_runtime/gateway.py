"""Settings in, one model function out: the only place where providers and wrappers are put together.

From the outside in, a call passes::

    billed       the reply costs what all its attempts took
    chosen       the user's model for the seat, the phase or the run, where one is set
    fallback     the next model, where one cannot answer
    routed       the endpoint, and the model's name there
    seeing       no pictures to a model that does not see
    fitting      what is too long for the model's window is not sent
    retrying     the same model again, where that may help
    pausing      nothing, while the endpoint's server fails again and again
    limiting     rates and calls in flight, per endpoint and model
    budgeted     what an attempt may cost is held before it is sent
    priced       a cost for the reply, where the provider reports none
    timed        none past the run's deadline
    a provider   HTTP with its clocks, a mailbox, a keyboard

Recording goes around all of this (``wrappers/recording.py``), so a replay replaces all of it.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Self

from llm_runtime.answerer import Answerer
from llm_runtime.dialects import HOSTED, HUMAN_PROVIDERS
from llm_runtime.errors import AuthenticationFailed, CallError, ConfigurationError, LlmRuntimeError, ModelNotFound
from llm_runtime.events import CallsQueued, Emit, ModelSubstituted, silent
from llm_runtime.keys import Key
from llm_runtime.messages import Generate, OnDelta, Reply, Request, unwatched
from llm_runtime.price import Price
from llm_runtime.pricing import PriceTable, load_prices, priced
from llm_runtime.routing import Router, Target
from llm_runtime.settings import Limits, Settings
from llm_runtime.shared import Shared
from llm_runtime.structs import Struct
from llm_runtime.wires import Held, Link, Wire, require_held, speaking, wire_of
from llm_runtime.wrappers.accounts import Budget, Caps, billed
from llm_runtime.wrappers.budgeted import budgeted
from llm_runtime.wrappers.chosen import chosen, chosen_model
from llm_runtime.wrappers.fallback import fallback
from llm_runtime.wrappers.fitting import Reading, counted, fitting
from llm_runtime.wrappers.limiting import Limiter, limiting
from llm_runtime.wrappers.pausing import Outage
from llm_runtime.wrappers.retrying import Backoff, retrying
from llm_runtime.wrappers.seeing import seeing, why_blind
from llm_runtime.wrappers.timed import Deadline, timed

if TYPE_CHECKING:
    from pydantic import SecretStr

    from llm_runtime.endpoints import Endpoint
    from llm_runtime.windows import Capacity


class _Route(Struct):
    """What a model id was found to mean: its target, the stack to it, and why it is another model, if it is."""

    target: Target
    generate: Generate
    instead: str = ""


class Gateway:
    """A model function over everything that is configured; the module's text shows the order of its parts.

    Args:
        settings: keys, addresses, models, limits.
        caps: what the run may spend.
        emit: told of retries and substitutions.
        budget: one that is already under way, for a resumed run; made from ``caps`` where left out.
        backoff: the patience of retries.
        person: who answers for ``terminal:``, where that is not simply the keyboard.
        named: models that the user asked for, beside those of the settings: no other will do in their place.
        shared: what other gateways use, too; its connections are not closed here.
        on_delta: told of each piece of each answer as it comes, by the request that was sent. Progress with 0
            tokens begins an attempt, once it is admitted: what came of an earlier one is void.
        needs: what a wire must hold beside the bounds and the effort that are set.

    Use it as ``async with``, or call :meth:`aclose`.
    """

    def __init__(
        self, settings: Settings, *, caps: Caps | None = None, emit: Emit = silent,
        budget: Budget | None = None, backoff: Backoff | None = None, person: Generate | None = None,
        named: Iterable[str] = (), shared: Shared | None = None, on_delta: OnDelta = unwatched,
        needs: frozenset[Held] = frozenset(),
    ) -> None:  # fmt: skip
        from llm_runtime.http import Http

        self.settings = settings
        self.budget = budget or Budget(caps or Caps(), emit=emit)
        self.prices: PriceTable = load_prices(settings.prices_path)
        self.shared = shared or Shared(Http())
        self.http = self.shared.http
        self._owns_http = shared is None
        self.router = Router(settings, self.http)
        self._emit = emit
        self._person = person
        self._on_delta = on_delta
        self._needs = needs
        self._backoff = backoff or Backoff()
        self._stacks: dict[Target, Generate] = {}
        self._routes: dict[str, _Route] = {}
        #: Calls that wait, by provider.
        self._queue = Counter[str]()
        #: Of the endpoints that are no vendor's by their name, for what they charge.
        self._addresses: dict[str, str] = {}
        self._capacities: dict[Target, Capacity] = {}
        config = settings.config
        # Where one model is set for the whole run, it answers for a panel, too.
        chosen_models = (config.model, *config.seats.values()) if config.model else (*config.seats.values(), *named)
        self._named = {name for name in chosen_models if name}
        self._deadline = Deadline(self.budget.caps.seconds or inf)
        #: Whether a model that was asked for so far is on this machine: it may take minutes for its first words.
        self.local = False
        self.generate: Generate = billed(chosen(fallback(self._routed, emit=emit), config))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections that are its own; a gateway that is used again opens new ones."""
        for outage in self.shared.outages.values():
            outage.told.discard(self._emit)
        if self._owns_http:
            await self.http.aclose()

    async def ready(self, asked: str = "openrouter/auto") -> Target:
        """Find where a call for ``asked`` goes that no seat decides about, and every model that the user named.

        Raises:
            NoModelError: nowhere, or an endpoint that is named has no key or does not answer.
            ConfigurationError: a model that is named is not served, or cannot see what is to be shown to it.
        """
        names = (*sorted(self._named), self.settings.config.model or asked)
        targets = [(await self._route(name)).target for name in names]
        for target in targets if "pictures" in self._needs else ():
            if why := await self._blind(target):
                raise ConfigurationError(why)
        return targets[-1]

    async def who(self, request: Request) -> Answerer | None:
        """Return who answers a request first, as it is routed; ``None`` where it leads nowhere."""
        asked = chosen_model(request, self.settings.config) or request.model
        with suppress(LlmRuntimeError):
            target = (self._routes.get(asked) or await self._route(asked)).target
            return Answerer.of(target.provider, target.model)
        return None

    async def _routed(self, request: Request) -> Reply:
        asked = request.model
        route = self._routes.get(asked) or await self._route(asked)
        try:
            return await self._along(route, request)
        except ModelNotFound:
            # What the user named is never replaced.
            if asked in self._named or (next_one := await self._instead_of(request, route)) is None:
                raise
            return await self._along(next_one, request)

    async def _instead_of(self, request: Request, gone: _Route) -> _Route | None:
        """Return the route that from now on takes the place of one whose model is not served, if there is any; what
        chooses by itself comes after the request's own fallbacks.
        """
        asked = request.model
        if self._routes[asked].target == gone.target:
            target = await self.router.successor(gone.target)
            if target is None and not request.fallbacks:
                target = await self.router.any_model(gone.target)
            if target is None:
                return None
            reason = f"{gone.target.provider} does not serve {gone.target.model}"
            self._routes[asked] = _Route(target, await self._stack_to(target), reason)
        return self._routes[asked]

    async def _along(self, route: _Route, request: Request) -> Reply:
        if route.instead:
            label, used = str(request.label), route.target.model
            self._emit(ModelSubstituted(label=label, asked=request.model, used=used, reason=route.instead))
        # Only OpenRouter knows ids of other vendors; elsewhere the fallback wrapper has to route them.
        fallbacks = request.fallbacks if route.target.provider == "openrouter" else ()
        if route.target.model != request.model or fallbacks != request.fallbacks:
            request = dataclasses.replace(request, model=route.target.model, fallbacks=fallbacks)
        return await route.generate(request)

    async def _route(self, asked: str) -> _Route:
        target = await self.router.resolve(asked, named=asked in self._named)
        own_name = asked in (target.model, f"{target.provider}/{target.model}") or self.router.written(asked)
        instead = "" if own_name else f"{target.provider} is what this machine reaches"
        route = self._routes[asked] = _Route(target, await self._stack_to(target), instead)
        return route

    async def _stack_to(self, target: Target) -> Generate:
        if (stack := self._stacks.get(target)) is None:
            # Calls that arrive together must end up with one limiter between them.
            call = seeing(await self._stack(target), target, partial(self._blind, target))
            stack = self._stacks.setdefault(target, call)
        return stack

    async def _stack(self, target: Target) -> Generate:
        name, deadline = target.provider, self._deadline
        await self._learn_prices(target)
        call = await self._provider(target)
        if name in HUMAN_PROVIDERS:
            call = await self.admitted(priced(timed(call, deadline), self.price(name)), target)
            return retrying(call, Backoff(attempts=1), emit=self._emit, sleep=deadline.sleep)
        endpoint = await self.router.endpoint(name)
        if name not in HOSTED:
            self._addresses[name] = endpoint.base_url
        price = self.price(name)(target.model)
        if not endpoint.local or (price and not price.free):
            call = counted(call)
        call = await self.admitted(priced(timed(call, deadline), self.price(name)), target)
        call = retrying(self.paused(call, endpoint), self._backoff, emit=self._emit, sleep=deadline.sleep)
        return fitting(call, self._reading(target, endpoint))

    async def _blind(self, target: Target) -> str:
        return await why_blind(target, self.router.endpoint, self._wire_to, partial(self.capacity, target))

    async def capacity(self, target: Target) -> Capacity:
        """Return how much a model reads and how many calls its server takes at once; it is asked once."""
        if target not in self._capacities:
            from llm_runtime.windows import capacity

            endpoint = await self.router.endpoint(target.provider)
            self._capacities[target] = await capacity(endpoint, target.model, self.http)
        return self._capacities[target]

    async def limits(self, target: Target) -> dict[str, Limits]:
        """Return every limit that a call must keep, by the entry that sets it; a local server's slots are one."""
        limits = self.settings.limits_for(target.provider, target.model)
        named = [entry for name, entry in self.settings.config.limits.items() if name in limits]
        local = (await self.router.endpoint(target.provider)).local
        if not local or any("in_flight" in entry.model_fields_set for entry in named):
            return limits
        if (slots := (await self.capacity(target)).slots) is None:
            return limits
        # Of the server, whichever of its models is asked.
        return limits | {target.provider: limits.get(target.provider, Limits()).model_copy(update={"in_flight": slots})}

    def _reading(self, target: Target, endpoint: Endpoint) -> Reading:
        from llm_runtime.windows import count_tokens

        async def count(request: Request) -> int | None:
            return await count_tokens(request, (await self.capacity(target)).server, endpoint, self.http)

        return Reading(endpoint.name, local=endpoint.local, capacity=partial(self.capacity, target), count=count)

    async def admitted(self, generate: Generate, target: Target) -> Generate:
        """Put ``generate`` behind what admits each attempt: the budget and the endpoint's limits.

        What keeps money and rates elsewhere overrides this; it is called once for each endpoint and model.
        """
        name = target.provider
        call = budgeted(generate, self.budget, self.price(name))
        if name not in HUMAN_PROVIDERS:
            endpoint = await self.router.endpoint(name)
            queued = partial(self._queued, name) if endpoint.local else None
            for entry, limits in (await self.limits(target)).items():
                call = limiting(call, self.limiter(entry, endpoint, limits), self._deadline, queued)
        return call

    def limiter(self, entry: str, endpoint: Endpoint, limits: Limits) -> Limiter:
        """Return what lets calls through: one for all runs of the process where somebody has said what the endpoint
        takes; else a run's own.
        """
        if entry != endpoint.name and entry not in self.settings.config.limits:
            return Limiter(limits)
        return self.shared.limiters.setdefault((entry, endpoint, limits), Limiter(limits))

    def paused(self, generate: Generate, endpoint: Endpoint) -> Generate:
        """Put ``generate`` behind what holds calls back while the endpoint is out of order.

        What knows of outages from elsewhere overrides this.
        """
        outage = self.shared.outages.setdefault(endpoint, Outage(endpoint.name))
        outage.told.add(self._emit)
        return limiting(generate, outage, self._deadline)

    def _queued(self, provider: str, more: int) -> None:
        self._queue[provider] += more
        self._emit(CallsQueued(provider=provider, waiting=self._queue[provider]))

    def price(self, provider: str) -> Callable[[str], Price | None]:
        """Return what each model of ``provider`` costs, as far as is known by now."""
        return lambda model: self.prices.find(provider, model, self._addresses.get(provider, ""))

    async def _learn_prices(self, target: Target) -> None:
        """Read the provider's own list once, where it has one, if there is a cap in USD."""
        if self.budget.caps.cost is None or target.provider != "openrouter" or self.prices.listed:
            return
        from llm_runtime.providers.catalogue import list_prices

        # Without the list the price stays unknown, and the budget refuses the call in words of its own.
        with suppress(CallError):
            listed = await list_prices(await self.router.endpoint(target.provider), self.http)
            self.prices = self.prices.with_listed(listed)

    async def _provider(self, target: Target) -> Generate:
        """Return the model function of a target.

        Raises:
            ConfigurationError: its wire does not hold what the run asks of it.
        """
        if target.provider == "mailbox":
            from llm_runtime.providers.mailbox import mailbox

            if not target.model:
                raise ConfigurationError("mailbox: needs a folder, as in --model mailbox:./letters")
            return mailbox(Path(target.model))
        if target.provider == "terminal":
            from llm_runtime.providers.terminal import terminal

            return self._person or terminal()
        endpoint = await self.router.endpoint(target.provider)
        self.local = self.local or endpoint.local
        patience = self.settings.patience(local=endpoint.local, vendor=target.provider in HOSTED)
        wire = self._wire_to(endpoint, target.provider)

        def link(at: Endpoint) -> Link:
            return Link(at, self.http, self._on_delta, patience, self._ceiling(target), self._deadline.sleep)

        if endpoint.key_command:
            return self._with_newest_key(target.provider, lambda at: speaking(wire, link(at)))
        return speaking(wire, link(endpoint))

    def _wire_to(self, endpoint: Endpoint, provider: str) -> Wire:
        """Return the wire of an endpoint, which holds what the run asks of it."""
        wire, config, needs = wire_of(endpoint.dialect.wire), self.settings.config, self._needs
        if endpoint.program:
            if self.budget.caps.cost is not None:
                raise ConfigurationError(
                    f"{provider} is paid for by a subscription, so no budget in dollars holds; leave it out",
                    advice="bound the calls by --max-calls and the answers by --max-tokens",
                )
            # A program that enforces no schema is told it in the prompt, and its model follows it as others do.
            wire, needs = dataclasses.replace(wire, holds=endpoint.program.holds), needs - {"schema"}
        asked: dict[Held, bool] = {
            "max_tokens": config.max_tokens is not None or self.budget.caps.bounded,
            "effort": config.effort is not None,
        }
        require_held(wire, needs.union(one for one in asked if asked[one]), provider)
        return wire

    def _with_newest_key(self, provider: str, make: Callable[[Endpoint], Generate]) -> Generate:
        """Ask with the key that the endpoint's command prints now; one that is refused is asked for anew, once."""
        made: dict[Endpoint, Generate] = {}

        async def call(request: Request) -> Reply:
            endpoint = await self.router.endpoint(provider)
            try:
                return await made.setdefault(endpoint, make(endpoint))(request)
            except AuthenticationFailed:
                renewed = await self.router.renewed(endpoint)
                if renewed == endpoint:
                    raise
                return await made.setdefault(renewed, make(renewed))(request)

        return call

    def _ceiling(self, target: Target) -> tuple[float, float] | None:
        """Bound the router's choice, under a cap in USD, by the price that was held for it."""
        if target.provider != "openrouter" or self.budget.caps.cost is None:
            return None
        price = self.prices.find(target.provider, target.model)
        return (price.input, price.output) if price else None


def openrouter(api_key: SecretStr, base_url: str | None = None, emit: Emit = silent) -> Gateway:
    """Make a gateway that knows one key and reads no configuration: what a library embeds."""
    urls = {"openrouter": base_url or HOSTED["openrouter"].base_url}
    return Gateway(Settings(keys={"openrouter": Key(api_key, "given")}, base_urls=urls), emit=emit)
