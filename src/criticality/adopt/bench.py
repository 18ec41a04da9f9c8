"""What one adopted function is judged with: its promises as a project, its language, the court."""

from __future__ import annotations

from dataclasses import dataclass

from criticality.artifacts import Artifacts
from criticality.config import Config
from criticality.judging.court import Court
from criticality.language import Language


@dataclass
class Bench:
    """What one function is judged with."""

    artifacts: Artifacts
    language: Language
    court: Court
    config: Config
