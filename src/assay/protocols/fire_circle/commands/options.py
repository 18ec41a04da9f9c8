"""Options that say how a circle sits and talks, and the settings they become."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from llm_runtime.errors import ConfigurationError

F = TypeVar("F", bound=Callable[..., Any])

#: Models that answer by hand: a person, or whoever reads a folder. They get a day.
_BY_HAND = ("terminal:", "mailbox:")
_A_DAY = 86_400.0


def circle_options(command: F) -> F:
    """Seats, rounds, the chair, what counts as a pattern."""
    for option in (
        click.option(
            "--round-timeout",
            type=click.FloatRange(0, min_open=True),
            metavar="SECONDS",
            help="What a round may take [default: 60; a day where a person or a mailbox answers].",
        ),
        click.option("--temperature", type=float, help="Of every call, 0 to 2 [default: the provider's]."),
        click.option(
            "--classifier", metavar="MODEL", help="A model that classifies patterns, in place of keywords."
        ),
        click.option(
            "--pattern-threshold", type=float, metavar="SHARE", help="Least agreement of a pattern [default: 0.5]."
        ),
        click.option(
            "--early-stop",
            type=float,
            metavar="SPREAD",
            help="Stop below this spread of F [default: 0.1; 0: never].",
        ),
        click.option("--fixed-chair", is_flag=True, help="The chair of round 2 keeps its place."),
        click.option("--no-chair", is_flag=True, help="Nobody speaks for the absent."),
        click.option("--per-layer", is_flag=True, help="A circle for each layer, not for the least trusted alone."),
        click.option("--strict", is_flag=True, help="Any failed seat ends the circle."),
        click.option("--rounds", type=int, help="At most this many, 1 to 4 [default: 3]."),
        click.option(
            "--models", metavar="A,B,C", help="2 to 10 seats: model ids, or PROVIDER:MODEL as in --model."
        ),
    ):
        command = option(command)
    return command


def engine_from(
    mode: str,
    *,
    model: str | None,
    max_tokens: int | None,
    models: str | None,
    rounds: int | None,
    strict: bool,
    per_layer: bool,
    no_chair: bool,
    fixed_chair: bool,
    early_stop: float | None,
    pattern_threshold: float | None,
    classifier: str | None,
    temperature: float | None,
    round_timeout: float | None,
) -> dict[str, Any]:
    """A run's settings for ``assay.protocols.fire_circle.task``: what the flags say, and nothing of the rest.

    Raises:
        ConfigurationError: the settings are out of range or contradict each other.
    """
    from assay.protocols.fire_circle.task import configured

    seats = None if models is None else [name.strip() for name in models.split(",")]
    by_hand = any(name.startswith(_BY_HAND) for name in (model or "", *(seats or ())))
    patience = round_timeout or (_A_DAY if by_hand else None)
    calls = {"temperature": temperature, "max_tokens": max_tokens, "timeout_seconds": patience}
    circle = {
        "max_rounds": rounds,
        "failure_mode": "strict" if strict else None,
        "per_layer": per_layer or None,
        "empty_chair": False if no_chair else None,
        "empty_chair_rotation": False if fixed_chair else None,
        "early_stop_convergence": early_stop,
        "pattern_threshold": pattern_threshold,
        "pattern_classification": "llm" if classifier else None,
        "classifier_model": classifier,
        "timeout_per_round": patience,
    }
    engine: dict[str, Any] = {"mode": mode, "circle": _given(circle), "calls": _given(calls)}
    if mode != "fire_circle" and engine["circle"]:
        raise ConfigurationError(
            f"mode {mode} has no dialogue: leave out what only a circle has, or use fire_circle"
        )
    if seats is not None:
        engine["models"] = seats
    every, seated = configured(engine)
    engine["models"] = list(seated.models if seated else every.models)
    return engine


def _given(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}
