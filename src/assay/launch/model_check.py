"""Whether a model can carry each protocol: what was measured against what a usual run needs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import click

from assay.report.clean import one_line

if TYPE_CHECKING:
    from assay.protocol import Needs, Protocol
    from llm_runtime.capabilities import Capabilities, Grade

Carries = Literal["ready", "limits", "no"]

#: Minutes beyond which a usual run is called slow.
PATIENCE = 20
_COLOURS = {"ready": "green", "limits": "yellow", "no": "red"}
_MARKS: dict[Grade, tuple[str, str]] = {
    "ok": ("ok", "green"),
    "weak": ("--", "yellow"),
    "no": ("no", "red"),
    "unknown": ("?", "bright_black"),
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a model can carry a protocol, and why not or not well."""

    protocol: str
    carries: Carries
    why: tuple[str, ...]


def verdicts(capabilities: Capabilities, protocols: Iterable[Protocol]) -> list[Verdict]:
    """Return what a model's capabilities mean for each protocol that says what it needs."""
    made: list[Verdict] = []
    for protocol in protocols:
        if protocol.needs is not None:
            lacks, limits = list(_lacks(capabilities, protocol.needs)), list(_limits(capabilities, protocol.needs))
            made.append(
                Verdict(protocol.command[0], "no" if lacks else "limits" if limits else "ready", (*lacks, *limits))
            )
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
    waiting = needs.asked / reading if reading else needs.calls * speed.get("first", 0.0)
    return (needs.answered / pace + waiting) / 60


def show(capabilities: Capabilities, judged: list[Verdict]) -> None:
    """Print what was measured, and what it means for each protocol."""
    where = f"{capabilities.model} at {capabilities.provider}" if capabilities.model else "the model"
    click.secho(one_line(where, 120), bold=True, nl=False)
    click.echo(f"  {capabilities.calls} calls, {capabilities.tokens:,} tokens")
    for found in capabilities.findings:
        mark, colour = _MARKS[found.grade]
        click.echo(f"  {click.style(f'{mark:<3}', fg=colour)} {found.name:<14} {one_line(found.detail, 200)}")
    click.echo()
    width = max(len(verdict.protocol) for verdict in judged)
    for verdict in judged:
        carries = click.style(f"{verdict.carries:<7}", fg=_COLOURS[verdict.carries])
        click.echo(f"  {verdict.protocol:<{width}}  {carries} {'; '.join(verdict.why)}".rstrip())


def as_data(capabilities: Capabilities, judged: list[Verdict]) -> dict[str, Any]:
    """Return all of it as JSON data."""
    from dataclasses import asdict

    return {**asdict(capabilities), "protocols": [asdict(verdict) for verdict in judged]}
