"""What each recording runs: protocol, task and settings, and the model function that answers in it."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from assay.demo import Recorded, load
from llm_runtime.errors import MissingExtraError
from llm_runtime.messages import Generate

RECORDINGS = ("council", "circle", "trial", "build", "debate")
"""In the order in which a newcomer meets the protocols."""
_NEEDS = {
    "trial": ("the recorded trial", "eval", ("inspect_ai",)),
    "build": ("the recorded build", "code", ("libcst", "hypothesis", "pytest", "mypy")),
    "debate": ("the recorded debate", "debate", ("sklearn", "networkx")),
}


@dataclass(frozen=True, slots=True)
class Opening:
    """A recording, ready to be run.

    Args:
        protocol: as in ``RunStarted``.
        statement: where its answers come from.
        model: makes the model function that answers, at a speed; ``None`` where the run brings its own.
    """

    protocol: str
    title: str
    task: dict[str, Any]
    settings: dict[str, Any]
    seed: int
    statement: str
    model: Callable[[float], Generate] | None = None


def missing(name: str) -> MissingExtraError | None:
    """What keeps a recording from being played here; ``None`` where nothing does."""
    if name not in _NEEDS:
        return None
    feature, extra, modules = _NEEDS[name]
    return MissingExtraError(feature, extra) if any(find_spec(module) is None for module in modules) else None


def opening(name: str, folder: Path, speed: float = 1.0) -> Opening:
    """The recording ``name``.

    Args:
        folder: where a recording that works on a folder may make one.
        speed: how fast solvers of a trial are.

    Raises:
        MissingExtraError: it cannot be played without an optional part.
    """
    if (fault := missing(name)) is not None:
        raise fault
    return _trial(folder, speed) if name == "trial" else _words(load(name), folder)


def engine_of(recorded: Recorded) -> dict[str, Any]:
    """Protocol, task and engine of a recording of words, as ``assay.console.session.start_run`` takes them."""
    manifest = recorded.manifest
    if recorded.name == "debate":
        from assay.protocols.crux.demo import opening as debate

        return debate(recorded)
    if recorded.name == "circle":
        models = manifest["settings"]["models"]
        engine: dict[str, Any] = {"mode": "fire_circle", "models": models, "circle": {}, "calls": {}}
        return {"protocol": "fire_circle", "task": manifest["prompt"], "engine": engine}
    return {"protocol": "crucible", "task": {"query": manifest["question"]}, "engine": {"delta": "judge"}}


def _words(recorded: Recorded, folder: Path) -> Opening:
    manifest = recorded.manifest
    if recorded.name == "build":
        return _build(recorded, folder)
    found = engine_of(recorded)
    settings = {name: found[name] for name in ("engine", "personas") if name in found}
    pace = manifest["settings"]["pace"]
    return Opening(
        found["protocol"],
        manifest["title"],
        found["task"],
        settings,
        manifest["settings"]["seed"],
        manifest["statement"],
        lambda speed: recorded.model(speed * pace),
    )


def _build(recorded: Recorded, folder: Path) -> Opening:
    manifest = recorded.manifest
    text = resources.files("assay.protocols.criticality.demo").joinpath("answers.toml").read_text(encoding="utf-8")
    name = manifest["project"]["name"]
    task = {"name": name, "folder": str(folder / name), "language": "python", "answers": tomllib.loads(text)}
    said = manifest.get("statement") or "The answers in this recording were written by hand; no model wrote any."
    # Its time goes into the checks and tests, which are real; waiting for answers on top would only make it long.
    return Opening("criticality", manifest["title"], task, {}, manifest["seed"], said, lambda _: recorded.model(0))


def _trial(folder: Path, speed: float) -> Opening:
    from assay.protocols.ai_crucible.demo import load as load_trial

    manifest = load_trial().manifest
    task = {"demo": True, "speed": speed, "folder": str(folder / "trials")}
    return Opening("trial", manifest["title"], task, {}, manifest["seed"], manifest["statement"])
