"""The source operations of one language, by name: read, splice, inspect, change and measure bodies.

Names are those in the source; nothing here knows of plans or of tests.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from criticality.bodies import Finding
from criticality.catalog import DetectedSmell
from criticality.languages.base.grammar import declared, inspection, mutants, smells, splicing
from criticality.languages.base.grammar.declarations import Declaration, declarations
from criticality.languages.base.grammar.table import Table


@dataclass(frozen=True, slots=True)
class Grammar:
    """A language's source operations; each says in its own module what it holds to."""

    table: Table

    @property
    def scanner(self) -> str:
        """What bodies are scanned with."""
        return f"criticality's own rules for {self.table.name}"

    def read_body(self, answer: str, name: str) -> str:
        """Return the body in an answer: bare, behind a code fence, or inside the whole function.

        Raises:
            SpliceRefused: too long, empty, or with characters that cannot be seen.
        """
        return splicing.read_body(self.table, answer, name)

    def splice(self, source: str, name: str, body: str) -> str:
        """Replace one body of a file; ``name`` is a name, or a whole header where the language overloads.

        Raises:
            BodyUnreadable: the result does not parse.
            SpliceRefused: there is no such function, or the body reaches beyond it.
        """
        return splicing.splice(self.table, source, name, body)

    def body_of(self, source: str, name: str) -> str:
        """Return the statements of a function as they stand, their indentation taken off.

        Raises:
            SpliceRefused: there is no such function.
        """
        return splicing.body_of(self.table, source, name)

    def declarations(self, source: str) -> tuple[Declaration, ...]:
        """Return every function that is not inside another one's body, in the order of the text.

        Raises:
            BodyUnreadable: the source does not parse.
        """
        return declarations(self.table, source)

    def leaked(self, source: str, todo: str = "") -> list[str]:
        """Return functions whose bodies are more than ``todo``, which is the language's own unless given."""
        return inspection.leaked(self.table, source, todo or self.table.todo)

    def inspect(
        self,
        body: str,
        *,
        name: str,
        parameters: Collection[str],
        callable: Collection[str],
        siblings: Collection[str],
        purity: inspection.Purity,
    ) -> list[Finding]:
        """Return what a body does that it may not.

        Args:
            callable: what it may call: planned functions, itself, what makes values of the domain.
            siblings: every function of the system.

        Raises:
            BodyUnreadable: it does not parse.
        """
        place = inspection.BodyPlace(name, parameters, callable, siblings, purity)
        return inspection.inspect(self.table, body, place)

    def security(self, body: str, known: Collection[str] = ()) -> list[Finding]:
        """Return what reaches outside of a function.

        Args:
            known: parameters and names of the domain, which may be called like something outside.

        Raises:
            BodyUnreadable: it does not parse.
        """
        return inspection.security(self.table, body, known)

    def mutants(self, body: str) -> list[str]:
        """Return every single small change of a body, each once, in the order of the text.

        Raises:
            BodyUnreadable: it does not parse.
        """
        return mutants.mutants(self.table, body)

    def declaration_fault(self, text: str) -> str:
        """Tell why a transformation may not put this before a function; empty where it may."""
        return declared.declaration_fault(self.table, text)

    def smells(self, modules: Mapping[str, str]) -> tuple[list[DetectedSmell], dict[str, dict[str, int]]]:
        """Smells in sources by module name; metrics by ``module.function`` as in the source.

        Raises:
            BodyUnreadable: a source does not parse.
        """
        return smells.detect(self.table, modules)
