"""Functions that stand in a package already, as data, and what a language does so that they can be adopted."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from criticality.artifacts import Artifacts, Body
from criticality.language import Language
from criticality.spec.spec import DataField, DataModel
from llm_runtime.errors import ConfigurationError
from llm_runtime.models import Model
from llm_runtime.structs import Struct

AS_IS = Body("", "", "hand", 0)
"""The function as its package has it."""
PREFIX = 50
"""Items that are taken of what a lazy function gives."""
_CALLS_SHOWN, _AROUND = 6, 1


class NamedTypes(Model):
    """The records and enums that a function takes and gives, where a compiler tells them.

    Args:
        enums: members by name; ``literals`` has what each stands for in the source.
        records: types of fields by name; ``keys`` has what each field is called in the source.
        own: types that have another word in the source, by record and field; by an empty name, the function's own.
        invariants: of records.
        source: what reads and writes them, in the function's language.
        told: all of them in words, a line each.
    """

    enums: dict[str, list[str]] = {}
    literals: dict[str, dict[str, str]] = {}
    records: dict[str, dict[str, str]] = {}
    keys: dict[str, dict[str, str]] = {}
    own: dict[str, dict[str, str]] = {}
    invariants: dict[str, list[str]] = {}
    source: str = ""
    told: str = ""

    def models(self) -> dict[str, DataModel]:
        """Return the records as a specification has them."""
        return {
            name: DataModel(fields=[DataField(name=f, type=of) for f, of in held.items()], invariants=rules)
            for (name, held), rules in zip(self.records.items(), self.invariants.values(), strict=True)
        }


_NONE = NamedTypes()


class Parameter(Struct):
    """One named parameter.

    Args:
        default: its source, empty where there is none.
        type: the neutral one, where a compiler tells it; a number is an Int, which may stand for a Float.
    """

    name: str
    default: str = ""
    keyword: bool = False
    type: str = ""


class Candidate(Struct):
    """One function of a package, or something else that cannot be adopted and why.

    Args:
        id: as the specification has it, ``module.function``.
        module: its dotted name.
        path: its file.
        source: the whole function, its decorators too.
        written, exported: its name in the source and outside, where that is another one.
        body: its statements, without documentation.
        span: where the body stands in the file, in characters, where another one is put in its place.
        result: the neutral type of what it gives, where a compiler tells it; ``title`` is then its language's.
        examples: source and expected text of its doctests.
        refused: why it cannot be adopted; empty where it can.
        handed: what it takes or gives that is no plain value, in words; empty where there is nothing of the kind.
        steps: lines that make it of what is drawn, which ``parameters`` then are, call it, and look at the result.
        lazy: it gives its items one by one; the first :data:`PREFIX` are judged, as a list.
        named: types that it takes and gives and that are not built in.
        members: of a class, what can be asked of it by the name that it has in clauses; no function has any.
        observers: of a class, expressions over ``self`` by name, as they were proposed.
    """

    id: str
    module: str
    name: str
    path: Path
    line: int = 0
    source: str = ""
    doc: str = ""
    parameters: tuple[Parameter, ...] = ()
    examples: tuple[tuple[str, str], ...] = ()
    refused: str = ""
    written: str = ""
    body: str = ""
    span: tuple[int, int] = (0, 0)
    result: str = ""
    title: str = ""
    exported: str = ""
    handed: str = ""
    steps: tuple[str, ...] = ()
    lazy: bool = False
    named: NamedTypes = _NONE
    members: dict[str, Candidate] = field(default_factory=dict[str, "Candidate"])
    observers: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def digest(self) -> str:
        """A digest of its text."""
        return hashlib.sha256(self.source.encode()).hexdigest()

    @property
    def shown(self) -> str:
        """Its name for people."""
        return f"{self.module}.{self.written or self.name}".rstrip(".")


class Adopted(Struct):
    """One function that was adopted, with what holds of it.

    Args:
        artifacts: its specification, plan and claims.
        cases: arguments, status and value of cases that the judge tried, as JSON.
    """

    candidate: Candidate
    artifacts: Artifacts
    cases: list[list[Any]]


class Package(Struct):
    """A package, or a module that stands alone.

    Args:
        root: the folder that it is imported from; ``top`` is its own folder or file.
        candidates: in the order of the files and of their text.
        texts: of its files, by path.
        language: that it is written in.
        beside: folders in it that are not its own.
    """

    root: Path
    top: Path
    candidates: tuple[Candidate, ...]
    texts: dict[Path, str]
    language: str = "python"
    beside: tuple[str, ...] = ("__pycache__",)

    @property
    def name(self) -> str:
        """What it is imported as."""
        return self.top.stem if self.top.is_file() else self.top.name

    def digest(self) -> str:
        """Return a digest of every file below it, byte for byte; what an interpreter keeps for itself is not."""
        files = [self.top] if self.top.is_file() else sorted(p for p in self.top.rglob("*") if p.is_file())
        files = [path for path in files if not set(self.beside) & set(path.relative_to(self.root).parts)]
        parts = (f"{path.relative_to(self.root)}\0".encode() + path.read_bytes() for path in files)
        return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()

    def calls(self, candidate: Candidate) -> list[str]:
        """Return places that call a function, each with the lines around it."""
        name = candidate.written or candidate.name
        called, shown = re.compile(rf"(?<!def )(?<!class )(?<!function )\b{re.escape(name)}\("), list[str]()
        for path, text in self.texts.items():
            lines = text.split("\n")
            for at, line in enumerate(lines):
                if called.search(line) and not line.lstrip().startswith((">>>", "#")):
                    around = "\n".join(lines[max(0, at - _AROUND) : at + 1 + _AROUND])
                    shown.append(f"{path.name}:{at + 1}\n{around}")
        return shown[:_CALLS_SHOWN]


class Adopter(Struct):
    """What a language does for adoption.

    Args:
        takes: tells whether a folder or a file is of this language.
        read: reads a package's folder, or one file of it; nothing of it runs. It raises ``ConfigurationError``
            where there is none, it cannot be read, or it is of another language.
        import_faults: tells why modules cannot be imported, by their names, after trying it in a sealed process. It
            raises ``ConfigurationError`` where there is no box to do it in.
        language: gives the language with one function where it stands: :data:`AS_IS` is its own body.
        tests: gives tests for the person by path below a folder: calls that were judged, with their results.
    """

    takes: Callable[[Path], bool]
    read: Callable[[Path], Package]
    import_faults: Callable[[Package, Sequence[Candidate]], Awaitable[dict[str, str]]]
    language: Callable[[Package, Candidate], Language]
    tests: Callable[[Package, Sequence[Adopted], Path], dict[str, str]]


def chosen(package: Package, names: Iterable[str]) -> list[Candidate]:
    """Return the functions of some names, ``function``, ``module.function`` or dotted in full; ``*`` is all.

    Raises:
        ConfigurationError: there is none of that name, several are, or it cannot be adopted.
    """
    result: dict[str, Candidate] = {}
    for name in names:
        if name == "*":
            result |= {one.id: one for one in package.candidates if not one.refused}
            continue
        fitting = [one for one in package.candidates if f".{one.shown}".endswith(f".{name}")]
        if not fitting:
            raise ConfigurationError(f"{package.name} has no function {name[:80]}; --list shows those that there are")
        if len(fitting) > 1:
            raise ConfigurationError(f"{name} is {' or '.join(one.shown for one in fitting[:4])}; name it in full")
        if fitting[0].refused:
            raise ConfigurationError(f"{fitting[0].shown} cannot be adopted: {fitting[0].refused}")
        result[fitting[0].id] = fitting[0]
    if not result:
        raise ConfigurationError(f"nothing in {package.name} can be adopted; --list says why")
    return list(result.values())


def by_keyword(wanted: Collection[str], candidate: Candidate) -> set[str]:
    """Return those of the wanted parameters that go by name: those behind one that is left out, too."""
    names: set[str] = set()
    left_out = False
    for parameter in candidate.parameters:
        if parameter.name not in wanted:
            left_out = True
        elif parameter.keyword or left_out:
            names.add(parameter.name)
    return names
