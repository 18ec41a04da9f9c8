"""The page of keys, endpoints, defaults and checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from assay.launch.model_check import Fitness
from assay.launch.model_choices import Choices
from assay.web.templating import render
from llm_runtime.capabilities import Capabilities
from llm_runtime.dialects import HOSTED
from llm_runtime.settings import Settings


@dataclass(frozen=True, slots=True)
class Checked:
    """A model that was measured, and what that means for each protocol."""

    capabilities: Capabilities
    verdicts: list[Fitness]


def settings_page(settings: Settings, choices: Choices, checked: Mapping[str, Checked], fault: str = "") -> str:
    """Return the page.

    Args:
        settings: as they are now.
        choices: the models that can be reached.
        checked: what was measured since the server began.
        fault: why a change was refused.
    """
    config = settings.config
    sources = {name: key.source for name, key in settings.keys.items()}
    faults = {entry.provider: entry.fault for entry in choices.endpoints if entry.fault}
    counts = {entry.provider: len(entry.models) for entry in choices.endpoints}
    return render(
        "settings.html",
        endpoints=[(name, settings.endpoint(name).base_url) for name in config.endpoints],
        vendors=[(name, dialect.key_env) for name, dialect in HOSTED.items() if name not in config.endpoints],
        sources=sources,
        faults=faults,
        counts=counts,
        config=config,
        choices=choices,
        checked=checked,
        fault=fault,
    )
