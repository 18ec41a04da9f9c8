"""What a verdict and a threshold are bound to: the circle, what it does, and the words of its prompts."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path

from fire_circle.behaviour import BEHAVIOUR
from fire_circle.config import EvaluationConfig, FireCircleConfig
from llm_runtime.canonical import canonical_json
from llm_runtime.errors import ConfigurationError
from llm_runtime.prompts import load_prompt
from llm_runtime.rewording import instead

#: How long somebody waits for an answer changes none.
_PATIENCE = {"timeout_per_round", "timeout_seconds", "base_config"}


def bound_to(config: FireCircleConfig | EvaluationConfig, routes: Mapping[str, str]) -> dict[str, object]:
    """Return all that decides the scores of a circle, or of judges without dialogue, by name.

    Args:
        routes: models that answer in place of others, by role.

    Raises:
        ConfigurationError: a file of the circle cannot be read.
    """
    each = (config.base_config, config) if isinstance(config, FireCircleConfig) else (config,)
    settings = {name: value for one in each for name, value in one.model_dump(mode="json", exclude=_PATIENCE).items()}
    if chair := settings.get("empty_chair_prompt_path"):
        refused = ConfigurationError(f"the prompt of the empty chair, {chair}, cannot be read as UTF-8")
        with instead(refused, OSError, UnicodeDecodeError):
            settings["empty_chair_prompt_path"] = Path(chair).read_text(encoding="utf-8")
    return {**settings, "routes": dict(routes), "prompts": prompts_in_force()}


def prompts_in_force() -> str:
    """Return the number of what circles do now, and the digest of the judges' prompts."""
    return f"{BEHAVIOUR.in_force} {_digest(BEHAVIOUR.in_force)}"


@cache
def _digest(number: int) -> str:
    folder = resources.files("fire_circle").joinpath("prompts")
    names = sorted(one.name.removesuffix(".md") for one in folder.iterdir() if one.name.endswith(".md"))
    texts = [(name, load_prompt("fire_circle", name).text) for name in names]
    return hashlib.sha256(canonical_json(texts)).hexdigest()


def differing(one: Mapping[str, object], other: Mapping[str, object]) -> list[str]:
    """Return what is not the same in two of what :func:`bound_to` gives, by name."""
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))
