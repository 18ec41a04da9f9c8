"""``criticality.toml`` (specification, appendix C "Configuration Reference"): what a project is told once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import Field

from criticality.budget import ContextLimits
from criticality.machine.breaker import BreakerLimits
from criticality.machine.escalation import EscalationLimits
from llm_runtime.files import saying
from llm_runtime.models import Model, fits
from llm_runtime.rewording import reworded
from llm_runtime.toml import parse_toml

_Model = TypeVar("_Model", bound=Model)


class ProjectConfig(Model):
    """The project's name and language.

    Args:
        spec_path: read by nothing, so that old files open.
        git: ``auto`` commits each accepted function where the folder is a repository of its own, ``on`` also
            where it lies within another.
    """

    name: str
    language: str = "python"
    spec_path: str = "spec/spec.toml"
    git: Literal["auto", "on", "off"] = "auto"


class Models(Model):
    """The model of each role; any that this machine reaches, where left out."""

    architect: str = "openrouter/auto"
    auditor: str = "openrouter/auto"
    structurer: str = "openrouter/auto"
    worker: str = "openrouter/auto"
    worker_fallback_1: str = ""
    worker_fallback_2: str = ""

    def of(self, role: str) -> str:
        """Return the model of a role; a tier of Injection is a role too."""
        first, second = self.worker_fallback_1 or self.structurer, self.worker_fallback_2 or self.architect
        return {"fallback1": first, "fallback2": second}.get(role) or str(getattr(self, role))


class OrchestratorConfig(Model):
    """How the orchestrator works: functions at a time, patience, and random examples for each claim at the end.

    ``timeouts`` is read by nothing, so that old files open: calls have their own time in ``[acceptance]``.
    """

    max_parallel_injections: Annotated[int, Field(ge=1, le=64)] = 8
    max_repair_attempts: Annotated[int, Field(ge=1, le=10)] = 3
    max_challenges: Annotated[int, Field(ge=0, le=10)] = 2
    mesoscopic_examples: Annotated[int, Field(ge=10, le=100_000)] = 300
    timeouts: dict[str, float] = {}


class Acceptance(Model):
    """What stands between a body and its acceptance.

    Args:
        small, text, drawn: cases of each origin at most.
        mutants: small changes of the body that the cases must tell from it.
        independent_bodies: bodies of other models for the same prompt that it is compared with.
        settle: who decides where two bodies differ and the contract is silent; ``ask`` leaves it open in the trace.
        seconds: of processor time for one call.
    """

    small: Annotated[int, Field(ge=10, le=20_000)] = 600
    text: Annotated[int, Field(ge=0, le=20_000)] = 1200
    drawn: Annotated[int, Field(ge=10, le=20_000)] = 300
    mutants: Annotated[int, Field(ge=0, le=200)] = 24
    independent_bodies: Annotated[int, Field(ge=0, le=5)] = 2
    settle: Literal["model", "ask"] = "model"
    seconds: Annotated[float, Field(gt=0, le=60)] = 2.0


class Targets(Model):
    """What Mass Defect works towards."""

    max_cyclomatic_complexity: int = 10
    max_function_length_lines: int = 50
    max_nesting_depth: int = 4
    min_test_coverage: float = 0.80


class MassDefectConfig(Model):
    """Targets, and transformations at most; ``mutants_per_function`` is read by nothing, so that old files open."""

    targets: Targets = Targets()
    max_transforms: int = 40
    mutants_per_function: Annotated[int, Field(ge=0, le=50)] = 2


class ChannelConfig(Model):
    """A webhook and the events it wants; ``secret_env`` names the variable that holds its signing key."""

    type: Literal["webhook"] = "webhook"
    endpoint: str
    enabled: bool = True
    events: list[Literal["block", "complete", "error", "phase_change"]] = ["block", "complete", "error"]
    secret_env: str = ""


class NotificationsConfig(Model):
    """Channels, and when to remind of a block: five fields as in cron."""

    enabled: bool = True
    reminder_schedule: str = "0 9 * * *"
    channels: list[ChannelConfig] = []


class Config(Model):
    """The whole of ``criticality.toml``."""

    project: ProjectConfig
    models: Models = Models()
    context: ContextLimits = ContextLimits()
    escalation: EscalationLimits = EscalationLimits()
    circuit_breaker: BreakerLimits = BreakerLimits()
    orchestrator: OrchestratorConfig = OrchestratorConfig()
    acceptance: Acceptance = Acceptance()
    mass_defect: MassDefectConfig = MassDefectConfig()
    notifications: NotificationsConfig = NotificationsConfig()


def load_config(path: Path) -> Config:
    """Read a configuration.

    Raises:
        ConfigurationError: it is not there, not TOML, or holds what is not known.
    """
    return loaded(Config, path, path.name)


def loaded(kind: type[_Model], path: Path, shown: str) -> _Model:
    """Read a file of settings.

    Args:
        shown: how the file is called where it cannot be read.

    Raises:
        ConfigurationError: it is not there, not TOML, or holds what is not known.
    """
    with reworded(f"{path.name} is not TOML", ValueError), saying(f"{shown} cannot be read"), fits(f"{path.name}: "):
        return kind.model_validate(parse_toml(path.read_text(encoding="utf-8")))
