"""Whether a model can carry each protocol: what was measured against what a usual run needs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from llm_runtime.structs import Struct

if TYPE_CHECKING:
    from assay.protocol import Needs, Protocol
    from llm_runtime.capabilities import Capabilities
    from llm_runtime.settings import Settings

Carries = Literal["ready", "limits", "no"]

#: Minutes beyond which a usual run is called slow.
PATIENCE = 20


class Fitness(Struct):
    """Whether a model can carry a protocol, and why not or not well."""

    protocol: str
    carries: Carries
    why: tuple[str, ...]


def verdicts(capabilities: Capabilities, protocols: Iterable[Protocol]) -> list[Fitness]:
    """Return what a model's capabilities mean for each protocol that says what it needs."""
    made: list[Fitness] = []
    for protocol in protocols:
        if protocol.needs is not None:
            lacks, limits = list(_lacks(capabilities, protocol.needs)), list(_limits(capabilities, protocol.needs))
            fit = "no" if lacks else "limits" if limits else "ready"
            made.append(Fitness(protocol.command[0], fit, (*lacks, *limits)))
    return made


def _lacks(model: Capabilities, needs: Needs) -> Iterator[str]:
    if model.of("speed").grade == "no":
        yield "it answers no text"
    if needs.json == "always" and _json(model) == "none":
        yield "it writes no JSON that can be read"
    window = model.of("window").figures.get("tokens")
    if window is not None and window < needs.window:
        yield f"it reads {window:,.0f} tokens, a usual run needs {needs.window:,}"
    elif model.of("window").grade == "no":
        yield "its server cuts long prompts or refuses them"


def _limits(model: Capabilities, needs: Needs) -> Iterator[str]:
    json = _json(model)
    if needs.json and json == "weak":
        yield "its JSON breaks now and then, and what cannot be read is asked for again or left out"
    if needs.json == "helps" and json == "none":
        yield "it writes no JSON; only scores in words are read"
    if model.of("instructions").grade in ("weak", "no"):
        yield "it does not keep to a form that it is told"
    window = model.of("window")
    if (tokens := window.figures.get("tokens")) is not None and needs.window <= tokens < 2 * needs.window:
        yield f"long material will not fit into {tokens:,.0f} tokens"
    if window.grade == "weak":
        yield "it overlooks what stands far back in a long prompt"
    if (minutes := minutes_of(model, needs)) > PATIENCE:
        yield f"a usual run takes about {minutes:.0f} minutes"


def _json(model: Capabilities) -> Literal["sure", "weak", "none"]:
    """Return how far objects can be had: a schema that is kept is sure, whatever comes without one."""
    if model.of("enforced JSON").grade == "ok":
        return "sure"
    if model.of("free JSON").grade in ("ok", "weak"):
        return "weak"
    return "none" if model.of("free JSON").grade == "no" else "weak"


def minutes_of(model: Capabilities, needs: Needs) -> float:
    """Estimate the minutes of a usual run, one call after the other; 0 where the pace is not known."""
    speed = model.of("speed").figures
    if not (pace := speed.get("tokens_per_second")):
        return 0.0
    reading = model.of("window").figures.get("prompt_tokens_per_second")
    return (needs.answered / pace + (needs.asked / reading if reading else needs.calls * speed.get("first", 0.0))) / 60


async def measure_model(settings: Settings, model: str = "", *, long: bool = False) -> Capabilities:
    """Measure a model by a few small calls.

    Args:
        settings: keys and addresses; seats and lengths that they set for runs are left out.
        model: the configured one where empty.
        long: whether a prompt as long as its window is tried too.

    Raises:
        ConfigurationError: it is no model.
        LlmRuntimeError: it cannot be reached, or does not answer.
    """
    from llm_runtime.capabilities import LONGEST_NEEDLE, MOST_CALLS, MOST_TOKENS, Watch, measure
    from llm_runtime.dialects import HUMAN_PROVIDERS
    from llm_runtime.errors import ConfigurationError
    from llm_runtime.gateway import Gateway
    from llm_runtime.wrappers.accounts import Caps
    from llm_runtime.wrappers.retrying import Backoff

    config = settings.config.model_copy(
        update={"model": model or settings.config.model, "seats": {}, "max_tokens": None}
    )
    caps = Caps(calls=MOST_CALLS, tokens=MOST_TOKENS + (LONGEST_NEEDLE if long else 0))
    watch, backoff = Watch(), Backoff(attempts=2)
    async with Gateway(replace(settings, config=config), caps=caps, backoff=backoff, on_delta=watch) as gateway:
        target = await gateway.ready()
        if target.provider in HUMAN_PROVIDERS:
            raise ConfigurationError(f"{target.provider} is no model: whoever answers there cannot be measured")
        capacity = await gateway.capacity(target)
        return await measure(gateway.generate, watch, window=capacity.window, slots=capacity.slots, long=long)
