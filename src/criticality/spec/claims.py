"""Claims: what the specification promises, in words and, once parsed, in a form that tests are made from."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from llm_runtime.models import Model

ClaimType: TypeAlias = Literal["invariant", "behavioral", "negative", "temporal", "concurrent", "performance"]


class Claim(Model):
    """A claim of ``spec.toml``: a sentence, its kind, and whether a test can show it."""

    text: Annotated[str, Field(min_length=3, max_length=400)]
    type: ClaimType
    testable: bool = True


# The docstrings of these models are in the JSON schema that a model is sent, and so in the digest by which a
# recorded call is found: changing a word of them makes old recordings useless.
class ClaimTest(Model):
    """One test of a claim, as data; a template turns it into code (specification 6).

    Args:
        name: what is shown, in lower case with underscores.
        variables: ``name: Type`` each, drawn at random from the type; none makes it an example.
        assume: predicates that drawn values must fulfil, else they are drawn again.
        steps: ``name = expression`` each, in order.
        check: predicates that must hold at the end.
        raises: the error that the last step must end with; empty where none may occur.
    """

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{2,60}$")]
    variables: list[str] = Field(default=[], max_length=8)
    assume: list[str] = Field(default=[], max_length=6)
    steps: list[str] = Field(default=[], max_length=12)
    check: list[str] = Field(default=[], max_length=8)
    raises: str = ""


class StructuredClaim(Model):
    """A claim as specification 6 wants it parsed, with the tests that show it.

    Args:
        functions: ids (``module.name``) of the functions that make the claim true or false.
    """

    id: Annotated[str, Field(pattern=r"^[a-z_]+_[0-9]+$")]
    type: ClaimType
    subject: Annotated[str, Field(min_length=1, max_length=200)]
    predicate: Annotated[str, Field(min_length=1, max_length=300)]
    scope: str = ""
    testable: bool = True
    requires_mocking: list[str] = []
    suggested_generators: list[str] = []
    functions: list[str] = Field(default=[], max_length=12)
    tests: list[ClaimTest] = Field(default=[], max_length=6)


class StructuredClaims(Model):
    """The structurer's answer: every claim it was given, parsed."""

    claims: list[StructuredClaim]
