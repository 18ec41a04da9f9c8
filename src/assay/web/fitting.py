"""What the settings of a protocol's run need beyond the fields of its form."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from llm_runtime.errors import ConfigurationError, MissingExtraError
from llm_runtime.settings import data_dir

if TYPE_CHECKING:
    from crux import Persona
    from crux.personas import PersonaStore

_BY_HAND = ("terminal:", "mailbox:")
_A_DAY = 86_400.0
"""Seconds that a person gets, where a model would have a minute."""


def fit_circle(task: dict[str, Any], engine: dict[str, Any]) -> dict[str, Any]:
    """The settings of a circle, checked before anything is asked.

    Raises:
        ConfigurationError: the seats or the prompt are not possible.
    """
    from assay.runners.fire_circle import configured, subject

    chosen: dict[str, Any] = {"mode": engine["mode"], "circle": {}, "calls": {}}
    if engine.get("models"):
        chosen["models"] = engine["models"]
    if any(name.startswith(_BY_HAND) for name in engine.get("models", ())):
        chosen["calls"]["timeout_seconds"] = _A_DAY
        if engine["mode"] == "fire_circle":
            chosen["circle"]["timeout_per_round"] = _A_DAY
    calls, circle = configured(chosen)
    prompt, _ = subject(task)
    prompt.check(calls.max_layer_chars)
    chosen["models"] = list(circle.models if circle else calls.models)
    return {"engine": chosen}


def fit_debate(task: dict[str, Any], engine: dict[str, Any]) -> dict[str, Any]:
    """The settings of a debate: the personas in full, and the engine's options, checked before anything is asked.

    Raises:
        ConfigurationError: there are fewer than two personas, one is named twice or unknown, or an option is wrong.
        MissingExtraError: the libraries of the extra ``debate`` are not installed.
    """
    from assay.runners.crux import configured
    from crux import ModelTable

    if find_spec("sklearn") is None or find_spec("networkx") is None:
        raise MissingExtraError("a debate", "debate")
    personas = [persona_of(name) for name in engine.pop("personas")]
    if len({persona.id for persona in personas}) < max(len(personas), 2):
        raise ConfigurationError(
            f"a debate needs two personas or more, all distinct; there are {', '.join(known_personas())}"
        )
    aspects = engine.get("aspects", "3")
    table = ModelTable()
    chosen = {
        "models": [table.fast.id, table.strong.id],
        "takes_temperature": True,
        "debate": {"aspects": aspects if aspects == "auto" else int(aspects)},
    }
    configured(chosen)
    task.setdefault("evidence", [])
    return {"engine": chosen, "personas": [persona.model_dump(mode="json") for persona in personas]}


def known_personas() -> list[str]:
    """The ids of everybody who can sit on a panel: what was built here, then the authors that come with Assay."""
    from assay.demo.debate import shipped

    return list(dict.fromkeys([*_people().names(), *shipped()]))


def persona_of(name: str) -> Persona:
    """A persona by name or id, in any case.

    Raises:
        ConfigurationError: there is none, or it was not built.
    """
    from assay.demo.debate import shipped, shipped_persona
    from crux.personas.persona import slug

    people, wanted = _people(), slug(name)
    kept = next((known for known in people.names() if slug(known) == wanted), None)
    if kept is not None:
        return people.load(kept)
    if wanted in shipped():
        return shipped_persona(wanted)
    raise ConfigurationError(f"there is no persona called {name[:80]}; there are {', '.join(known_personas())}")


def _people() -> PersonaStore:
    from crux.personas import PersonaStore

    folder = os.environ.get("ASSAY_PEOPLE")
    return PersonaStore(Path(folder) if folder else data_dir() / "personas")
