"""The toolchain server's tools: what compiler, tests and scanners say, as data.

Of the files on the disk only the body of the function in question is taken; it is put into the skeleton as the
journal has it, beside the accepted bodies of the others. So nothing else that was changed there counts.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from criticality.artifacts import Artifacts, Body
from criticality.bodies import SpliceRefused
from criticality.checks import static_failure
from criticality.config import load_config
from criticality.judging.court import Court
from criticality.language import Language, Toolchain
from criticality.lattice_plan import FunctionPlan, ModulePlan
from criticality.orchestrator import read_project
from criticality.project import files
from criticality.verdicts import Bench, judged
from llm_runtime.errors import ConfigurationError
from llm_runtime.structs import Struct

_MOST = 20


class Workbench(Struct):
    """A project and its tools, in front of one agent.

    Args:
        root: the project's folder.
        function: the one function that the agent sees, as ``module.name``; ``None`` for all.
    """

    root: Path
    language: Language
    tools: Toolchain
    court: Court
    function: str | None = None

    async def verify_structure(self) -> dict[str, Any]:
        """Return what the compiler says: ``{"passed", "errors"}``."""
        artifacts = self._lattice()
        errors = await self.tools.check(self._sources(artifacts, self._bodies(artifacts, self.function)))
        return {"passed": not errors, "errors": [str(error) for error in errors[:_MOST]]}

    async def run_function_test(self, function_name: str) -> dict[str, Any]:
        """Run a function's contract tests over its body on the disk: ``{"passed", "kind", "what", "tests"}``.

        Raises:
            ConfigurationError: there is no such function, or it is not the agent's.
        """
        artifacts = self._lattice()
        self._function(artifacts, function_name)
        return await self._judged(artifacts, function_name, [function_name], [])

    async def run_property_test(self, claim_id: str) -> dict[str, Any]:
        """Return what the tests of a claim say, likewise.

        Raises:
            ConfigurationError: there is no such claim, it has no test, or it is not about the agent's function.
        """
        artifacts = self._lattice()
        tested = [name for name, claim in artifacts.claims.items() if claim.tests]
        mine = [name for name in tested if self.function is None or self._concerns(artifacts, name, self.function)]
        if claim_id not in mine:
            raise ConfigurationError(f"no claim {claim_id[:80]!r} is yours to test; there are: {_listed(mine)}")
        own = artifacts.claims[claim_id].functions if self.function is None else [self.function]
        return await self._judged(artifacts, self.function, own, [claim_id])

    async def check_complexity(self, file_path: str) -> dict[str, Any]:
        """Complexity, length in lines and depth of nesting of each function of a module's file, by function.

        Raises:
            ConfigurationError: no module stands there, or not the agent's function.
        """
        artifacts = self._lattice()
        spec = artifacts.approved
        places = {self.language.module_path(spec, module.name): module.name for module in artifacts.plan}
        if self.function is not None:
            places = {path: module for path, module in places.items() if module == self.function.partition(".")[0]}
        if file_path not in places:
            raise ConfigurationError(f"no module stands in {file_path[:80]!r}; there are: {_listed(places)}")
        tree = self._sources(artifacts, self._bodies(artifacts, self.function))
        _, measured = await self.language.smells(artifacts.plan, {places[file_path]: tree[file_path]})
        return {name: figures for name, figures in measured.items() if self.function in (None, name)}

    async def scan_security(self, function_name: str) -> dict[str, Any]:
        """Find what is dangerous in a body on the disk: ``{"scanner", "findings"}``; no scanner is not clean.

        Raises:
            ConfigurationError: there is no such function, or it is not the agent's.
        """
        artifacts = self._lattice()
        module, function = self._function(artifacts, function_name)
        body = self._on_disk(artifacts, function_name)
        every = {other.partition(".")[2] for other in artifacts.functions}
        dangers = self.language.inspect_body(body, function, module=module.name, siblings=every)
        dangers += self.language.security_findings(body, function)
        findings = [finding.what for finding in dangers if finding.kind == "security"]
        return {"scanner": self.language.scanner() or "not run", "findings": findings[:_MOST]}

    async def _judged(
        self, artifacts: Artifacts, name: str | None, unit: list[str], claims: list[str]
    ) -> dict[str, Any]:
        try:
            bodies = self._bodies(artifacts, name)
        except SpliceRefused as refused:
            return {"passed": False, "kind": "syntax", "what": [str(refused)], "tests": 0}
        own = {} if name is None or name not in bodies else {name: bodies[name].text}
        failure = static_failure(self.language, artifacts, own)
        if failure is not None:
            return {"passed": False, **failure, "tests": 0}
        errors = await self.tools.check(self._sources(artifacts, bodies))
        if errors:
            return {"passed": False, "kind": "type", "what": [e.message for e in errors[:_MOST]], "tests": 0}
        bench = Bench(artifacts, self.language, self.court, load_config(self.root / files.CONFIG))
        verdict = await judged(bench, unit, bodies, claims)
        broken = [fault.what for fault in verdict.faults[:_MOST]]
        broken += [verdict.guilty.what] if verdict.guilty is not None else []
        kind = verdict.faults[0].kind if verdict.faults else "test" if broken else ""
        return {"passed": not broken, "kind": kind, "what": broken, "tests": verdict.cases}

    def _lattice(self) -> Artifacts:
        artifacts = read_project(self.root)[1]
        if not artifacts.order:
            raise ConfigurationError("there is no lattice yet; run the project up to its injection first")
        return artifacts

    def _function(self, artifacts: Artifacts, name: str) -> tuple[ModulePlan, FunctionPlan]:
        mine = [self.function] if self.function is not None else list(artifacts.functions)
        if name not in mine or name not in artifacts.functions:
            raise ConfigurationError(f"no function {name[:80]!r} is yours; there are: {_listed(mine)}")
        return artifacts.functions[name]

    @staticmethod
    def _concerns(artifacts: Artifacts, claim_id: str, name: str) -> bool:
        referred = name in artifacts.functions and claim_id in artifacts.functions[name][1].contract.claims
        return referred or name in artifacts.claims[claim_id].functions

    def _bodies(self, artifacts: Artifacts, name: str | None) -> dict[str, Body]:
        """Return the accepted bodies; of one function, what stands on the disk."""
        if name is None:
            return artifacts.bodies
        others = {other: body for other, body in artifacts.bodies.items() if other != name}
        text = self._on_disk(artifacts, name)
        skeleton = self._sources(artifacts, {})[self._place(artifacts, name)]
        if text == self.language.body_of(skeleton, name.partition(".")[2]):
            return others
        return others | {name: Body(text)}

    def _on_disk(self, artifacts: Artifacts, name: str) -> str:
        self._function(artifacts, name)
        place = self._place(artifacts, name)
        try:
            source = (self.root / place).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as fault:
            raise ConfigurationError(f"{place} cannot be read: {type(fault).__name__}") from None
        return self.language.body_of(source, name.partition(".")[2])

    def _place(self, artifacts: Artifacts, name: str) -> str:
        return self.language.module_path(artifacts.approved, name.partition(".")[0])

    def _sources(self, artifacts: Artifacts, bodies: dict[str, Body]) -> dict[str, str]:
        return self.language.sources(artifacts.approved, artifacts.plan, bodies)


def _listed(names: Any) -> str:
    return ", ".join(names) or "none"
