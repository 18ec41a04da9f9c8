"""Tests of contracts and claims as C++: from the typed plan of a test to a file of ``tests/``."""

from __future__ import annotations

from collections.abc import Sequence

from criticality.languages.base.brackets import bare
from criticality.languages.base.expressions.nodes import Call, Expression, Variable, walk
from criticality.languages.base.naming import pascal
from criticality.languages.base.typed_tests import ClaimCase, ClaimTests, ClauseTest, ContractTests, Growth
from criticality.languages.cpp.expressions import Renderer, quoted
from criticality.languages.cpp.generators import generator
from criticality.languages.cpp.growth import grown
from criticality.languages.cpp.names import ident
from criticality.lattice_plan import ModulePlan
from criticality.spec.spec import Spec
from criticality.spec.types import Param
from criticality.testing import TestFile


class TestWriter:
    """Writes the test files of one system."""

    __test__ = False

    def __init__(self, spec: Spec, plan: Sequence[ModulePlan]) -> None:
        self.spec = spec
        self.modules = [module.name for module in plan]
        self.renderer = Renderer(spec)

    def contract(self, tests: ContractTests) -> TestFile:
        """One test for each clause, and one that nothing else goes wrong."""
        module, _, function = tests.function.partition(".")
        suite = pascal(f"{module}_{function}")
        promises: dict[str, str] = {}
        parts: list[str] = []
        for clause in tests.clauses:
            name = f"{function}_{clause.name}"
            promises[name] = clause.promise
            parts.append(
                _test(suite, name, clause.promise, self._drawing(tests.parameters, self._clause(tests, clause)))
            )
        name = f"{function}_raises_only_what_is_promised"
        promises[name] = "no error but those that the contract promises"
        body = self._drawing(tests.parameters, self._errors(tests, promises[name]))
        parts.append(_test(suite, name, promises[name], body))
        if tests.growth is not None:
            name = f"{function}_complexity"
            promises[name] = tests.growth.words
            body = grown(self.spec, tests.parameters, tests.growth, quoted(promises[name]), [], self._called(tests))
            parts.append(_test(suite, name, promises[name], body))
        head = f"What {tests.function} promises: made from its contract before it had a body."
        return TestFile(f"tests/{module}_{function}_test.cpp", self._file(head, "", parts), promises)

    def claim(self, tests: ClaimTests, cluster: str = "") -> TestFile:
        """Return the tests of one claim, or its scenarios in a cluster."""
        stem = f"scenario_{cluster}_{tests.id}" if cluster else f"claim_{tests.id}"
        promises: dict[str, str] = {}
        parts: list[str] = []
        for case in tests.cases:
            name = f"{tests.id}_{case.name}"
            promises[name] = f"claim {tests.id}: {tests.text}"
            parts.append(_test(pascal(stem), name, tests.text, self._claim_body(tests, case)))
        promise = f"const std::string kPromise = {quoted(f'claim {tests.id} ({tests.text})')};\n\n"
        head = f"Claim {tests.id}: made from the specification before there were bodies."
        return TestFile(f"tests/{stem}_test.cpp", self._file(head, promise, parts), promises)

    def _file(self, words: str, promise: str, parts: list[str]) -> str:
        own = "\n".join(f'#include "{self.spec.package}/{name}.hpp"' for name in self.modules)
        return (
            f'// {words}\n#include "support/generators.hpp"\n\n{own}\n\nnamespace {{\n\n'
            f"using namespace {self.spec.package};\n\n{promise}" + "\n".join(parts) + "\n}  // namespace\n"
        )

    def _drawing(self, variables: Sequence[Param], body: list[str]) -> list[str]:
        """Return a body for drawn values; an example where there are none."""
        drawn = [f"const auto {ident(param.name)} = {generator(self.spec, param.type)};" for param in variables]
        how = "property" if variables else "example"
        return [f"support::{how}([] {{", *_indented([*drawn, *body]), "});"]

    def _assumed(self, conditions: Sequence[Expression]) -> list[str]:
        return [f"support::assume({bare(self.renderer.render(condition))});" for condition in conditions]

    def _clause(self, tests: ContractTests, clause: ClauseTest) -> list[str]:
        lines = self._assumed(tests.assume)
        lines += [f"const auto {old.name} = {self.renderer.render(old.value)};" for old in clause.olds]
        lines += self._outcome(tests)
        named = any(isinstance(node, Variable) and node.name == "result" for node in walk(clause.condition))
        if not clause.on_error or named:
            lines.append("if (!outcome.result) return;")
        if named:
            lines.append("const auto& result = *outcome.result;")
        return [*lines, *_holds(quoted(clause.promise), self.renderer.render(clause.condition))]

    def _errors(self, tests: ContractTests, promise: str) -> list[str]:
        cases = [
            f"(outcome.raises<{allowed.error}>() && {self.renderer.render(allowed.when)})"
            for allowed in tests.allowed
        ]
        condition = " || ".join(["outcome.result.has_value()", *cases])
        return [*self._assumed(tests.assume), *self._outcome(tests), *_holds(quoted(promise), condition)]

    def _outcome(self, tests: ContractTests) -> list[str]:
        called = self._called(tests)
        shown = _shown([param.name for param in tests.parameters], "outcome.words()")
        return [
            f"const auto outcome = support::call([&] {{ return {called}; }});",
            f"const auto shown = [&] {{ return {shown}; }};",
        ]

    def _called(self, tests: ContractTests) -> str:
        given = tuple(Variable(param.type, param.name) for param in tests.parameters)
        return self.renderer.render(Call(tests.result, tests.function, given))

    def _claim_body(self, tests: ClaimTests, case: ClaimCase) -> list[str]:
        names = [param.name for param in case.variables]
        lines = self._assumed(case.assume)
        if tests.type == "temporal":
            lines.append("support::Clock clock;")
        inner: list[str] = []
        kept = case.steps[:-1] if case.raises else case.steps
        for step in kept:
            value = self.renderer.render(step.value)
            made = f"support::step(kPromise, {quoted(step.name)}, [&] {{ return {value}; }})"
            inner.append(f"const auto {ident(step.name)} = {made};")
            names = [*names, step.name]
        if case.raises:
            value = self.renderer.render(case.steps[-1].value)
            inner.append(f"const auto outcome = support::call([&] {{ return {value}; }});")
            inner.append(f"const auto shown = [&] {{ return {_shown(names, 'outcome.words()')}; }};")
            inner += _holds("kPromise", f"outcome.raises<{case.raises}>()")
        else:
            inner.append(f"const auto shown = [&] {{ return {_shown(names)}; }};")
        for check in case.check:
            inner += _holds("kPromise", self.renderer.render(check))
        if tests.type == "concurrent":
            made = ", ".join(ident(step.name) for step in kept)
            inner = [
                "support::in_lanes(kPromise, [&] {",
                *_indented([*inner, f"return std::make_tuple({made});"]),
                "});",
            ]
        body = self._drawing(case.variables, [*lines, *inner])
        return body + (self._grown(case, case.growth) if case.growth is not None else [])

    def _grown(self, case: ClaimCase, growth: Growth) -> list[str]:
        steps = [f"const auto {ident(step.name)} = {self.renderer.render(step.value)};" for step in case.steps]
        return grown(self.spec, case.variables, growth, "kPromise", steps, ident(case.steps[-1].name))


def _holds(promise: str, condition: str) -> list[str]:
    return [f"support::holds({promise}, shown, [&] {{", f"  return {bare(condition)};", "});"]


def _shown(names: Sequence[str], tail: str = "") -> str:
    """Return every value by its name, as a text."""
    parts = [f'"{", " if place else ""}{name}=" + support::show({ident(name)})' for place, name in enumerate(names)]
    shown = " + ".join(parts) or "std::string()"
    return f'{shown} + "; " + {tail}' if tail else shown


def _test(suite: str, name: str, doc: str, body: list[str]) -> str:
    words = " ".join(doc.split()).rstrip("\\")
    return "\n".join([f"// {words}", f"TEST({suite}, {name}) {{", *_indented(body), "}", ""])


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"  {line}" for line in lines]
