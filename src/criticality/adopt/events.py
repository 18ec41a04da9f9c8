"""What an adoption tells while it works; its report is a fold over these."""

from __future__ import annotations

from typing import Any

from llm_runtime.events import Event


class PackageRead(Event, type="criticality.package_read"):
    """The package was read: functions to adopt, and by name why others cannot be."""

    package: str
    functions: list[str]
    left_out: dict[str, str]


class PromisesMade(Event, type="criticality.promises_made"):
    """A model said what a function promises; ``attempt`` is 1 for the first proposal."""

    function: str
    attempt: int
    promises: int


class PromisesBroken(Event, type="criticality.promises_broken"):
    """The code breaks some of what was promised: the promise and the case, each."""

    function: str
    broken: list[str]


class FunctionJudged(Event, type="criticality.function_judged"):
    """A function is adopted, or is not; ``adoption`` is ``Adoption`` as data."""

    function: str
    adoption: dict[str, Any]
