"""What a verdict and a threshold are bound to: the circle, what it does, and the words of its prompts."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from fire_circle.behaviour import BEHAVIOUR
from fire_circle.config import EvaluationConfig, FireCircleConfig
from llm_runtime.canonical import canonical_json
from llm_runtime.errors import ConfigurationError

#: How long somebody waits for an answer changes none.
_PATIENCE = {"timeout_per_round", "timeout_seconds", "base_config"}


def bound_to(config: FireCircleConfig | EvaluationConfig, routes: Mapping[str, str]) -> dict[str, Any]:
    """Return all that decides the scores of a circle, or of judges without dialogue, by name.

    Args:
        routes: models that answer in place of others, by role.

    Raises:
        ConfigurationError: a file of the circle cannot be read.
    """
    each = (config.base_config, config) if isinstance(config, FireCircleConfig) else (config,)
    settings = {
        name: value for one in each for name, value in one.model_dump(mode="json", exclude=_PATIENCE).items()
    }
    if chair := settings.get("empty_chair_prompt_path"):
        try:
            settings["empty_chair_prompt_path"] = Path(chair).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            raise ConfigurationError(f"the prompt of the empty chair, {chair}, cannot be read as UTF-8") from None
    return {**settings, "routes": dict(routes), "prompts": f"{BEHAVIOUR.number} {_prompts()}"}


@cache
def _prompts() -> str:
    """Return the digest of the judges' prompts, as this version has them."""
    folder = resources.files("fire_circle").joinpath("prompts")
    texts = sorted(
        (one.name, one.read_text(encoding="utf-8")) for one in folder.iterdir() if one.name.endswith(".md")
    )
    return hashlib.sha256(canonical_json(texts)).hexdigest()
