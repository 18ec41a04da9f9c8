"""What the core needs from a target language; ``criticality.languages`` holds them.

Every name that the core hands over is a neutral one (``snake_case``); a language maps it to its own manner.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from criticality.artifacts import Body
from criticality.bodies import Finding
from criticality.catalog import DetectedSmell, Example
from criticality.judging.served import ServedProgram
from criticality.lattice_plan import FunctionPlan, ModulePlan
from criticality.spec.spec import Spec
from criticality.testing import Diagnostic
from llm_runtime.structs import Struct

Plan = tuple[ModulePlan, ...]
#: Source trees: the text of each file by its path below the project.
Tree = dict[str, str]


class Fact(Struct):
    """One tool that a language stands on.

    Args:
        version: as the tool gives it; ``None`` where it is not here.
        get: how to get it, one line.
        needed: whether nothing works without it.
    """

    name: str
    version: str | None
    get: str
    needed: bool = True


class Toolchain(AbstractAsyncContextManager["Toolchain"], Protocol):
    """A language's own tools over source trees held in memory. Use it as ``async with``."""

    @property
    def isolation(self) -> str:
        """What holds a test run, in words for the report."""
        ...

    async def check(self, tree: Tree) -> list[Diagnostic]:
        """Return what the compiler or type checker reports of a tree's sources, at its strictest."""
        ...

    async def aclose(self) -> None:
        """End every process and remove the work copies."""
        ...


class Language(Protocol):
    """One target language: names, sources, tests, prompts, bodies and tools."""

    name: str
    """As ``criticality.toml`` has it: ``python``."""
    title: str
    """As people write it: ``Python``."""
    importable: frozenset[str]
    """Standard modules that a planned module may import: computing only, nothing that reaches outside."""

    @property
    def examples(self) -> Mapping[str, Example]:
        """An example of each transformation that the language knows, by the pattern's id."""
        ...

    def usable(self, name: str, /) -> bool:
        """Tell whether a neutral name can be a function's, a module's or a parameter's."""
        ...

    def spec_fault(self, spec: Spec) -> str:
        """Return what in a specification the language cannot carry; empty where there is nothing."""
        ...

    def sources(self, spec: Spec, plan: Plan, bodies: Mapping[str, Body]) -> Tree:
        """Types and modules, with the bodies that there are; the others say that they are still to do."""
        ...

    def module_path(self, spec: Spec, module: str) -> str:
        """Tell where a module's functions stand."""
        ...

    def serve(self, spec: Spec, plan: Plan, variants: Sequence[Mapping[str, Body]]) -> ServedProgram:
        """Return the program that serves the functions of a plan to the judge.

        Args:
            variants: bodies by function id, each mapping a whole system; a function without a body is not served.
                Number 0 is what is to be accepted; the others are compared with it.
        """
        ...

    def case_files(self, spec: Spec, plan: Plan, cases: Mapping[str, list[list[Any]]]) -> Tree:
        """Return tests for the person: cases that the judge tried, with their results, and what runs them.

        Args:
            cases: by function, arguments, status and value as the judge's JSON has them.
        """
        ...

    def project_files(self, spec: Spec) -> Tree:
        """Return what a person needs to build and test the deliverable without this tool."""
        ...

    def signature(self, function: FunctionPlan) -> str:
        """Return a function's header, as prompts show it."""
        ...

    def clauses(self, function: FunctionPlan) -> list[str]:
        """Return a function's contract, with names as the language has them."""
        ...

    def shown(self, function: FunctionPlan, body: str) -> str:
        """Return a function with documentation and body, as it stands in its module."""
        ...

    def type_definitions(self, spec: Spec, function: FunctionPlan) -> str:
        """Return the source of every type that a function's signature and contract speak of, its errors too."""
        ...

    def imported(self, module: ModulePlan) -> str:
        """Return what a body may use besides, as the prompt for bodies lists it."""
        ...

    @property
    def rules(self) -> str:
        """Rules for bodies that are of the language, as list items of the prompt for bodies."""
        ...

    def read_body(self, answer: str, function: str) -> str:
        """Return the body in an answer: bare, behind a code fence, or inside the whole function.

        Raises:
            SpliceRefused: too long, empty, or no body.
        """
        ...

    def splice(self, source: str, function: str, body: str) -> str:
        """Return a module with one body replaced, everything else byte for byte as it was (CT10).

        Raises:
            SpliceRefused: there is no such function, or the body reaches beyond it.
            BodyUnreadable: the result does not parse.
        """
        ...

    def body_of(self, source: str, function: str) -> str:
        """Return the statements of a function, their indentation taken off."""
        ...

    def inspect_body(
        self, body: str, function: FunctionPlan, *, module: str, siblings: Collection[str]
    ) -> list[Finding]:
        """Return what a body names, calls or changes that it may not.

        Args:
            siblings: names of all functions of the system.
        """
        ...

    def leaked_logic(self, source: str) -> list[str]:
        """Return functions of a skeleton that hold more than documentation and what says that they are to do."""
        ...

    def security_findings(self, body: str, function: FunctionPlan) -> list[Finding]:
        """Return what a security scanner finds in a body."""
        ...

    def scanner(self) -> str | None:
        """Return what bodies are scanned with; ``None`` where nothing scans, which is never called clean (CT17)."""
        ...

    @property
    def audits(self) -> tuple[tuple[str, ...], ...]:
        """Scanners that look through a finished project, each with its command; one runs where it is installed."""
        ...

    def mutants(self, body: str) -> list[str]:
        """Return every single small change of a body, each once, in the order of the text."""
        ...

    def declaration_fault(self, text: str) -> str:
        """Tell why a transformation may not put this before a function; empty where it may."""
        ...

    async def smells(
        self, plan: Plan, modules: Mapping[str, str]
    ) -> tuple[list[DetectedSmell], dict[str, dict[str, int]]]:
        """Smells in sources by module name; ``complexity``, ``length`` and ``nesting`` by function id."""
        ...

    def toolchain(self) -> Toolchain:
        """Return the tools."""
        ...

    def facts(self) -> list[Fact]:
        """Return what the tools need, and which of it is here."""
        ...
