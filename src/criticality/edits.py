"""What a person changed by hand in a project's files, as events: taken in, refused, or left alone."""

from __future__ import annotations

from typing import Any

from llm_runtime.events import Event


class Kept(Event):
    """Bodies that keep every promise.

    ``tests`` counts what was tried; ``cases`` are those worth keeping, with their results; ``measured`` says by
    function which other bodies the cases told from it.
    """

    bodies: dict[str, str]
    keys: dict[str, str]
    tests: int = 0
    cases: dict[str, list[list[Any]]] = {}
    measured: dict[str, dict[str, Any]] = {}


class BodyEdited(Kept, type="criticality.body_edited"):
    """A person wrote bodies in a file of the project; they stand from now on, and ``units`` are accepted with them."""

    path: str
    units: list[str]


class EditRefused(Event, type="criticality.edit_refused"):
    """What a person wrote in a file breaks a promise, which ``what`` names with its case; the file stays as it is.

    ``text`` is the whole file; ``units`` are those that a model would be asked for.
    """

    path: str
    text: str
    what: str
    units: list[str] = []


class FilesKept(Event, type="criticality.files_kept"):
    """A person changed files that are not judged; they stay as they are and are written no more."""

    paths: list[str]


class SpecEdited(Event, type="criticality.spec_edited"):
    """A person changed ``spec/spec.toml``: a new revision.

    ``planned`` says that the plan of modules still serves, so that only what changed is done again.
    """

    version: int
    spec: dict[str, Any]
    planned: bool


class ClaimsEdited(Event, type="criticality.claims_edited"):
    """A person changed the tests of claims in ``spec/claims.toml``; ``units`` break them, as ``what`` says."""

    claims: list[dict[str, Any]]
    units: list[str] = []
    what: str = ""
