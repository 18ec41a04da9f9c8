"""Criticality: from an interview to working code that was checked against what was asked for.

::

    create_project(Path("kitty"), "kitty", seed=1, clock=clock)
    async with Orchestrator(Path("kitty"), generate, human=AnswersFile(load_answers(path)), clock=clock) as project:
        result = await project.run()

A project lives in its folder; killed at any instant, the next run goes on where it stood. These names are all there
is to use; everything below the package root is an implementation detail.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from criticality.config import Config, load_config
    from criticality.create import create_project
    from criticality.human import Answers, AnswersFile, Approval, Human, Nobody, Reply, Resolution, load_answers
    from criticality.orchestrator import Orchestrator, RunResult, read_project
    from criticality.spec.spec import Spec

_HOME = {
    "Answers": "human", "AnswersFile": "human", "Approval": "human", "Config": "config", "Human": "human",
    "Nobody": "human", "Orchestrator": "orchestrator", "Reply": "human", "Resolution": "human",
    "RunResult": "orchestrator", "Spec": "spec.spec", "create_project": "create", "load_answers": "human",
    "load_config": "config", "read_project": "orchestrator",
}  # fmt: skip

__all__ = [
    "Answers", "AnswersFile", "Approval", "Config", "Human", "Nobody", "Orchestrator", "Reply", "Resolution",
    "RunResult", "Spec", "create_project", "load_answers", "load_config", "read_project",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used."""
    if name not in _HOME:
        raise AttributeError(f"module 'criticality' has no attribute {name!r}")
    return getattr(import_module(f"criticality.{_HOME[name]}"), name)
