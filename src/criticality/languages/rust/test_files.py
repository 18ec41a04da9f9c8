"""Tests of contracts and claims as Rust: from the typed plan of a test to a file of ``tests/``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from criticality.languages.base.brackets import bare
from criticality.languages.base.expressions.nodes import Call, Expression, Variable, walk
from criticality.languages.base.typed_tests import ClaimCase, ClaimTests, ClauseTest, ContractTests
from criticality.languages.rust.expressions import Renderer, quoted
from criticality.languages.rust.generators import bound, domain_uses, drawn, typed_pattern
from criticality.languages.rust.growth import grown
from criticality.languages.rust.names import ident
from criticality.lattice_plan import FunctionPlan, ModulePlan, index
from criticality.spec.spec import Spec
from criticality.spec.types import Param
from criticality.testing import ClaimTestFault, TestFile

_ALLOW = "#![allow(unused_imports, unused_parens, unused_mut, unused_variables, clippy::all)]"


class TestWriter:
    """Writes the test files of one system."""

    __test__ = False

    def __init__(self, spec: Spec, plan: Sequence[ModulePlan]) -> None:
        self.spec = spec
        self.modules = [module.name for module in plan]
        self.functions: Mapping[str, FunctionPlan] = {
            name: function for name, (_, function) in index(tuple(plan)).items()
        }
        self.renderer = Renderer(spec, self.functions)

    def contract(self, tests: ContractTests) -> TestFile:
        """One test for each clause, and one that nothing else goes wrong."""
        module, _, function = tests.function.partition(".")
        promises: dict[str, str] = {}
        parts: list[str] = []
        for clause in tests.clauses:
            name = f"{function}_{clause.name}"
            promises[name] = clause.promise
            parts.append(_test(name, clause.promise, self._drawing(tests.parameters, self._clause(tests, clause))))
        name = f"{function}_raises_only_what_is_promised"
        promises[name] = "no error but those that the contract promises"
        parts.append(
            _test(name, promises[name], self._drawing(tests.parameters, self._errors(tests, promises[name])))
        )
        if tests.growth is not None:
            name = f"{function}_complexity"
            promises[name] = tests.growth.words
            body = grown(self.spec, tests.parameters, tests.growth, quoted(promises[name]), [], self._called(tests))
            parts.append(_test(name, promises[name], body))
        head = f"What {tests.function} promises: made from its contract before it had a body."
        return TestFile(f"tests/{module}_{function}.rs", self._head(head) + "\n".join(parts), promises)

    def claim(self, tests: ClaimTests, cluster: str = "") -> TestFile:
        """Return the tests of one claim, or its scenarios in a cluster.

        Raises:
            ClaimTestFault: the last step of a test that raises is no call.
        """
        prefix = f"scenario_{cluster}_{tests.id}" if cluster else f"claim_{tests.id}"
        promise = f"const PROMISE: &str = {quoted(f'claim {tests.id} ({tests.text})')};\n\n"
        promises: dict[str, str] = {}
        parts: list[str] = []
        for case in tests.cases:
            name = f"{tests.id}_{case.name}"
            promises[name] = f"claim {tests.id}: {tests.text}"
            parts.append(_test(name, tests.text, self._claim_body(tests, case)))
        head = f"Claim {tests.id}: made from the specification before there were bodies."
        return TestFile(f"tests/{prefix}.rs", self._head(head) + promise + "\n".join(parts), promises)

    def _head(self, words: str) -> str:
        return (
            f"//! {words}\n{_ALLOW}\n\nmod support;\n\nuse std::collections::{{BTreeMap, BTreeSet}};\n\n"
            f"use proptest::prelude::*;\n\n{domain_uses(self.spec)}\n"
            f"use {self.spec.package}::{{{', '.join(self.modules)}}};\n"
            "use support::harness::*;\nuse support::{generators, values};\n\n"
        )

    def _drawing(self, variables: Sequence[Param], body: list[str]) -> list[str]:
        """Return a body for drawn values; an example where there are none."""
        if not variables:
            return ["example(|| {", *_indented(body), "});"]
        kinds, names = [param.type for param in variables], [param.name for param in variables]
        return [
            f"property(&{drawn(self.spec, kinds)}, |{bound(names)}: {typed_pattern(kinds)}| {{",
            *_indented(body),
            "});",
        ]

    def _clause(self, tests: ContractTests, clause: ClauseTest) -> list[str]:
        lines = [f"assume({bare(self.renderer.render(condition))})?;" for condition in tests.assume]
        lines += [f"let {old.name} = {self.renderer.render(old.value)};" for old in clause.olds]
        lines += self._outcome(tests)
        if not clause.on_error or _names_result(clause.condition):
            lines.append("let Outcome::Value(result) = outcome.clone() else { return Ok(()) };")
        lines.append(f"holds({quoted(clause.promise)}, shown, || {{")
        return [*lines, f"    {bare(self.renderer.render(clause.condition))}", "})"]

    def _errors(self, tests: ContractTests, promise: str) -> list[str]:
        lines = [f"assume({bare(self.renderer.render(condition))})?;" for condition in tests.assume]
        lines += self._outcome(tests)
        cases = [
            f"(outcome.raises(&Error::{allowed.error}) && {self.renderer.render(allowed.when)})"
            for allowed in tests.allowed
        ]
        lines += [f"holds({quoted(promise)}, shown, || {{", "    outcome.is_value()"]
        return [*lines, *(f"        || {case}" for case in cases), "})"]

    def _outcome(self, tests: ContractTests) -> list[str]:
        plan, called = self.functions[tests.function], self._called(tests)
        how = "attempt" if plan.errors else f"call::<_, {'Error' if self.spec.errors else '()'}>"
        return [
            f"let outcome = {how}(|| {called});",
            f"let shown = || format!({_shown([p.name for p in tests.parameters], '; {}')}, outcome.told());",
        ]

    def _called(self, tests: ContractTests) -> str:
        given = tuple(Variable(param.type, param.name) for param in tests.parameters)
        return self.renderer.call(Call(tests.result, tests.function, given), checked=False)

    def _claim_body(self, tests: ClaimTests, case: ClaimCase) -> list[str]:
        names = [param.name for param in case.variables]
        lines = [f"assume({bare(self.renderer.render(condition))})?;" for condition in case.assume]
        if tests.type == "temporal":
            lines.append("let clock = Clock::default();")
        inner: list[str] = []
        for number, step in enumerate(case.steps, start=1):
            if case.raises and number == len(case.steps):
                inner += self._raising(case, step.value, names)
                continue
            made = f"step(PROMISE, {quoted(step.name)}, || {bare(self.renderer.render(step.value))})?"
            inner.append(f"let {ident(step.name)} = {made};")
            names = [*names, step.name]
        inner.append(f"let shown = || format!({_shown(names)});")
        inner += [f"holds(PROMISE, shown, || {bare(self.renderer.render(check))})?;" for check in case.check]
        if tests.type == "concurrent":
            made = ", ".join(f"{ident(step.name)}.clone()" for step in case.steps[: -1 if case.raises else None])
            inner = ["in_lanes(PROMISE, || {", *_indented([*inner, f"Ok(({made},))" if made else "Ok(())"]), "})"]
        else:
            inner.append("Ok(())")
        body = self._drawing(case.variables, [*lines, *inner])
        if case.growth is not None:
            steps = [f"let {ident(step.name)} = {self.renderer.render(step.value)};" for step in case.steps]
            last = ident(case.steps[-1].name) if case.steps else "()"
            body += grown(self.spec, case.variables, case.growth, "PROMISE", steps, last)
        return body

    def _raising(self, case: ClaimCase, value: Expression, names: Sequence[str]) -> list[str]:
        if not isinstance(value, Call) or case.raises not in self.functions[value.function].errors:
            raise ClaimTestFault(f"{case.name}: the last step calls a function whose contract says {case.raises}")
        condition = f"outcome.raises(&Error::{case.raises})"
        return [
            f"let outcome = attempt(|| {self.renderer.call(value, checked=False)});",
            f"let shown = || format!({_shown(names, '; {}')}, outcome.told());",
            f"holds(PROMISE, shown, || {condition})?;",
        ]


def _names_result(condition: Expression) -> bool:
    return any(isinstance(node, Variable) and node.name == "result" for node in walk(condition))


def _shown(names: Sequence[str], tail: str = "") -> str:
    """Return a format text with every value by its name."""
    return quoted(", ".join(f"{name}={{{name}:?}}" for name in names) + tail)


def _test(name: str, doc: str, body: list[str]) -> str:
    return "\n".join([f"/// {doc}", "#[test]", f"fn {name}() {{", *_indented(body), "}", ""])


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"    {line}" for line in lines]
