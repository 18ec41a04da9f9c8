"""What the settings of a protocol's run need beyond the fields of its form."""

from __future__ import annotations

import os
import re
import tomllib
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from llm_runtime.errors import ConfigurationError, MissingExtraError
from llm_runtime.settings import data_dir

if TYPE_CHECKING:
    from assay.web.works import Terms
    from crux import Persona
    from crux.personas import PersonaStore

_PROJECT = re.compile(r"[a-z][a-z0-9-]{0,40}")
_BY_HAND = ("terminal:", "mailbox:")
_A_DAY = 86_400.0
"""Seconds that a person gets, where a model would have a minute."""


def fit_circle(task: dict[str, Any], engine: dict[str, Any], terms: Terms) -> dict[str, Any]:
    """The settings of a circle, checked before anything is asked.

    Raises:
        ConfigurationError: the seats or the prompt are not possible.
    """
    from assay.protocols.fire_circle.task import configured, subject

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


def fit_debate(task: dict[str, Any], engine: dict[str, Any], terms: Terms) -> dict[str, Any]:
    """The settings of a debate: the personas in full, and the engine's options, checked before anything is asked.

    Raises:
        ConfigurationError: there are fewer than two personas, one is named twice or unknown, or an option is wrong.
        MissingExtraError: the libraries of the extra ``debate`` are not installed.
    """
    from assay.protocols.crux.task import configured
    from crux import ModelTable

    need_debate()
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


def fit_trial(task: dict[str, Any], engine: dict[str, Any], terms: Terms) -> dict[str, Any]:
    """The settings of a trial, with its puzzles and its model looked up before anything is asked.

    Raises:
        ConfigurationError: there is no such puzzle, the model cannot be named so, or none is configured.
        MissingExtraError: Inspect is not installed.
    """
    from ai_crucible.catalog_paths import resolve_puzzles
    from ai_crucible.puzzle_loader import load_puzzles
    from assay.protocols.ai_crucible.trials import need_inspect, solver_of

    need_inspect("a trial")
    load_puzzles(resolve_puzzles(task["puzzles"]))
    if terms.max_calls is not None or terms.deadline is not None or terms.max_tokens is not None:
        raise ConfigurationError("a trial is bounded by its budget and its attempts; leave the other bounds empty")
    task |= {"model": terms.model, "max_cost": terms.budget, "protocol": task.pop("tools")}
    solver_of(terms.model or None)
    return {}


def fit_build(task: dict[str, Any], engine: dict[str, Any], terms: Terms) -> dict[str, Any]:
    """The settings of a build: its folder in full, its answers read.

    Raises:
        ConfigurationError: the name or the answers cannot be used, or the folder is not one of a project.
        MissingExtraError: the toolchain is not installed.
    """
    from assay.protocols.criticality.task import answers_of

    if any(find_spec(module) is None for module in ("libcst", "hypothesis", "pytest", "mypy")):
        raise MissingExtraError("a build", "code")
    name = task["name"] = task["name"].strip()
    if not _PROJECT.fullmatch(name):
        raise ConfigurationError(f"Project: {name[:80]!r} is no name; use lower case letters, digits and hyphens")
    folder = str(task.get("folder") or "").strip()
    root = Path(folder).expanduser() if folder else data_dir() / "projects" / name
    if not root.is_absolute():
        raise ConfigurationError(f"Folder: write it in full, from the root of the disk, not {folder[:80]}")
    if root.exists() and not (root / ".criticality").exists() and any(root.iterdir()):
        raise ConfigurationError(f"Folder: {root} is not empty and holds no project; name another")
    task["folder"] = str(root)
    task["language"] = str(task.get("language") or "").strip().lower() or "python"
    if task["language"] not in known_languages():
        raise ConfigurationError(f"Language: there are {', '.join(known_languages())}")
    if task.get("answers"):
        task["answers"] = _toml(task["answers"])
        answers_of(task)
    return {}


def _toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as fault:
        raise ConfigurationError(f"Answers: this is not TOML: {fault}") from None


def known_languages() -> list[str]:
    """The languages that a build can write."""
    from criticality.language import LANGUAGES

    return list(LANGUAGES)


def known_puzzles() -> list[str]:
    """The ids of the puzzles that come with Assay."""
    from ai_crucible.catalog_paths import built_in_ids

    return ["all", *built_in_ids()]


def need_debate() -> None:
    """Refuse what cannot run without the extra.

    Raises:
        MissingExtraError: the libraries of the extra ``debate`` are not installed.
    """
    if find_spec("sklearn") is None or find_spec("networkx") is None:
        raise MissingExtraError("a debate", "debate")


def known_personas() -> list[str]:
    """The ids of everybody who can sit on a panel: what was built here, then the authors that come with Assay."""
    from assay.protocols.crux.demo import shipped

    return list(dict.fromkeys([*people().names(), *shipped()]))


def persona_of(name: str) -> Persona:
    """A persona by name or id, in any case.

    Raises:
        ConfigurationError: there is none, or it was not built.
    """
    from assay.protocols.crux.demo import shipped, shipped_persona
    from crux.personas.persona import slug

    shelf, wanted = people(), slug(name)
    kept = next((known for known in shelf.names() if slug(known) == wanted), None)
    if kept is not None:
        return shelf.load(kept)
    if wanted in shipped():
        return shipped_persona(wanted)
    raise ConfigurationError(f"there is no persona called {name[:80]}; there are {', '.join(known_personas())}")


def people_folder() -> Path:
    """Where personas are kept."""
    folder = os.environ.get("ASSAY_PEOPLE")
    return Path(folder) if folder else data_dir() / "personas"


def people() -> PersonaStore:
    """The folder of personas, made when something is first written."""
    from crux.personas import PersonaStore

    return PersonaStore(people_folder())
