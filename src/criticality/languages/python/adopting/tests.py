"""Native tests of adopted functions: calls that were judged, as pytest reads them, beside the package."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from criticality.judging.domain import Domain
from criticality.judging.wire import Codec
from criticality.languages.base.pages import page
from criticality.languages.python.adopting.objects import making
from criticality.languages.python.adopting.sequences import sequence_tests
from criticality.languages.python.cases import native_file, tables, written
from criticality.languages.python.names import PACKAGE, WORDS, used
from criticality.standing import PREFIX, Adopted, Candidate, Package, by_keyword
from llm_runtime.grouping import grouped

#: Rows of calls that return, and of calls that raise.
_MOST = 200, 60


def native_tests(package: Package, adopted: Sequence[Adopted], folder: Path) -> dict[str, str]:
    """Return test files by path: one a module, and what finds the package from there."""
    tested = [(one.candidate, *_made(package, one.candidate), tests) for one in adopted if (tests := _tests(one))]
    parts = grouped((one.id.partition(".")[0], test) for one, made, _, tests in tested for test in (*made, *tests))
    names = grouped((one.module, name) for one, _, read, _ in tested for name in read)
    homes = {one.candidate.id.partition(".")[0]: one.candidate.module for one in adopted}
    tree = {f"tests/test_{name}.py": _file(homes[name], names[homes[name]], tests) for name, tests in parts.items()}
    if tree:
        told = {"name": package.name, "way": repr(os.path.relpath(package.root, folder / "tests"))}
        tree["tests/conftest.py"] = page(PACKAGE, "conftest.jinja", {}, told) + "\n"
    return tree


def _file(module: str, names: Sequence[str], tests: Sequence[str]) -> str:
    body = page(PACKAGE, "plain.jinja", {}, {"prefix": PREFIX, "tests": "\n\n".join(tests)})
    head = f"Calls of {module} that were judged, with their results: the code as it was adopted."
    return native_file(head, used(WORDS["literals"], body), [f"from {module} import {', '.join(sorted(names))}"], body)


def _tests(adopted: Adopted) -> list[str]:
    candidate, artifacts = adopted.candidate, adopted.artifacts
    if candidate.members:
        return sequence_tests(adopted)
    assert artifacts.spec is not None
    codec = Codec(Domain(artifacts.spec), artifacts.plan)
    function = codec.functions[candidate.id]
    keywords = by_keyword([p.name for p in function.parameters], candidate)
    words = [f"{p.name}=" if p.name in keywords else "" for p in function.parameters]
    parameters = [f"{word}args[{at}]" for at, word in enumerate(words)]
    called = f"{candidate.name}_of" if candidate.steps else candidate.name
    call = f"{called}({', '.join(parameters) if keywords else '*args'})"
    cases = written(codec, candidate.id, adopted.cases, changing=True)
    return tables(
        candidate.name, cases, f"plain({call})", f"plain({call}) == plain(result)", most=_MOST, without=r"\b(nan|inf)\b"
    )


def _made(package: Package, candidate: Candidate) -> tuple[list[str], set[str]]:
    """Return what makes the values of a function, or of a class and its methods, and what that reads of the module."""
    made = [making(package, one) for one in (candidate, *candidate.members.values())]
    names = (name for _, names in made for name in names)
    return [text for text, _ in made if text], {candidate.written or candidate.name, *names}
