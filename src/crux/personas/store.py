"""Personas on disk: ``contracts/[Name].json``, ``corpus/[Name].json``, ``beliefs/[Name].json``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypeVar

from pydantic import Field

from crux.answers import Answers
from crux.book import ClaimBook, Correction, Standing, standing
from crux.corrections import corrected
from crux.personas.beliefs import BeliefGraph
from crux.personas.carrying import carried
from crux.personas.contract import PROSE, PersonaContract, unquoted
from crux.personas.corpus import Corpus
from crux.personas.persona import Persona, PersonaError, check_name, slug
from crux.results import CamelModel
from llm_runtime.errors import StoreUnwritable
from llm_runtime.files import saying, write_atomic
from llm_runtime.models import fits
from llm_runtime.wrappers.journal import append_from_whole_line, write_line

W = TypeVar("W", bound=CamelModel)

_MAX_BYTES = 512 * 2**20


class StoredCorpus(CamelModel):
    """What an import leaves for the build."""

    name: str
    handle: str = ""
    aliases: tuple[str, ...] = ()
    corpus: Corpus = Field(default_factory=Corpus)


class PersonaCheck(CamelModel):
    """Whether a stored persona can debate, and what is wrong with it.

    Args:
        beliefs: how many claims it holds or denies; None where there are none.
        standing: of its claim book; None where there is none: those of older builds, and of shipped authors.
        problems: one line each; empty where all is well.
        unverified: quotations that are no longer found where they are said to stand.
    """

    name: str
    texts: int = 0
    passages: int = 0
    built: bool = False
    stale: bool = False
    beliefs: int | None = None
    standing: Standing | None = None
    unverified: int = 0
    problems: tuple[str, ...] = ()


class PersonaStore:
    """A folder of personas.

    Args:
        root: made when something is first written.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def names(self) -> list[str]:
        """Return everyone whose texts were imported, in order."""
        return sorted(file.stem for file in (self.root / "corpus").glob("*.json"))

    def add_corpus(self, stored: StoredCorpus) -> None:
        """Keep a person's texts, in place of those that were kept before; what was read of them stays read.

        Raises:
            PersonaError: the name cannot be used, or another kept name has the same id.
            StoreUnwritable: the disk is full, or fails.
        """
        name = check_name(stored.name)
        for other in self.names():
            if other != name and slug(other) == slug(name):
                raise PersonaError(f"{name} and {other} would have the same id {slug(name)}; choose another name")
        book = self.beside("books", name, ClaimBook)
        if book is not None and name in self.names():
            self.save_beside("books", name, carried(book, self.corpus(name).corpus, stored.corpus))
        self.save_beside("corpus", name, stored)

    def corpus(self, name: str) -> StoredCorpus:
        """Read a person's texts.

        Raises:
            PersonaError: there are none, or the file is damaged.
        """
        return self._read("corpus", name, StoredCorpus)

    def answers(self, name: str) -> Answers:
        """Return what models answered in earlier builds of a person."""
        return Answers(self.root / "answers" / f"{check_name(name)}.jsonl")

    def beside(self, kind: str, name: str, model: type[W]) -> W | None:
        """Read what else was kept of a person under ``kind``; None where nothing was.

        Raises:
            PersonaError: the file is damaged.
        """
        return self._read(kind, name, model) if self._path(kind, name).is_file() else None

    def book(self, name: str) -> ClaimBook | None:
        """Read a person's claim book, with all that people said of it in force; None where nothing was read.

        Raises:
            PersonaError: the file is damaged.
        """
        book = self.beside("books", name, ClaimBook)
        file = self._path("corrections", name).with_suffix(".jsonl")
        if book is None or not file.is_file():
            return book
        lines = file.read_text(encoding="utf-8", errors="replace").split("\n")
        with fits(f"corrections/{file.name} is damaged: ", PersonaError):
            said = [Correction.model_validate_json(line) for line in lines if line.strip()]
        return corrected(book, said)

    def correct(self, name: str, said: Correction) -> None:
        """Keep what somebody says of a person's claim book, after all that was said before.

        Raises:
            PersonaError: nothing was read of that person, or the book has no such claim.
            StoreUnwritable: it cannot be written.
        """
        book = self.book(name)
        known = book.by_id if book else {}
        for key in filter(None, (said.claim, said.into)):
            if key not in known:
                raise PersonaError(f"the book of {name} has no claim {ascii(key)[1:-1][:40]}; show {name} lists them")
        with append_from_whole_line(self._path("corrections", name).with_suffix(".jsonl")) as lines:
            write_line(lines, said.model_dump(mode="json"), sync=False)

    def save_beside(self, kind: str, name: str, data: CamelModel) -> None:
        """Keep one thing of a person, by its kind.

        Raises:
            StoreUnwritable: the disk is full, or fails.
        """
        path = self._path(kind, name)
        text = json.dumps(data.model_dump(mode="json"), ensure_ascii=False, indent=1)
        with saying(f"{kind}/{path.name} cannot be written", StoreUnwritable):
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(path, text, private=True)

    def save(self, persona: Persona) -> None:
        """Keep what was built; a graph that is None removes the one that was kept.

        Raises:
            StoreUnwritable: the disk is full, or fails.
        """
        self.save_beside("contracts", persona.name, persona.contract)
        if persona.beliefs is not None:
            self.save_beside("beliefs", persona.name, persona.beliefs)
        else:
            self._path("beliefs", persona.name).unlink(missing_ok=True)

    def load(self, name: str) -> Persona:
        """Read a persona that was built.

        Raises:
            PersonaError: it is not there, was not built, or a file is damaged.
        """
        stored = self.corpus(name)
        if not self._path("contracts", name).is_file():
            raise PersonaError(f"{name} is imported and not built; build it first")
        graph = self._read("beliefs", name, BeliefGraph) if self._path("beliefs", name).is_file() else None
        return Persona(contract=self._read("contracts", name, PersonaContract), corpus=stored.corpus, beliefs=graph)

    def check(self, name: str) -> PersonaCheck:
        """Read a persona through and verify every quotation against the texts.

        Raises:
            PersonaError: there are no texts under that name.
        """
        corpus = self.corpus(name).corpus
        report = PersonaCheck(name=name, texts=len(corpus.items), passages=len(corpus.chunks))
        try:
            persona = self.load(name)
        except PersonaError as fault:
            return report.model_copy(update={"problems": (str(fault),)})
        return check_persona(persona, self.book(name))

    def remove(self, name: str) -> None:
        """Delete everything that is kept under a name."""
        for kind in ("contracts", "corpus", "beliefs", "books"):
            self._path(kind, name).unlink(missing_ok=True)
        for kind in ("answers", "corrections"):
            self._path(kind, name).with_suffix(".jsonl").unlink(missing_ok=True)

    def _path(self, kind: str, name: str) -> Path:
        return self.root / kind / f"{check_name(name)}.json"

    def _read(self, kind: str, name: str, model: type[W]) -> W:
        path = self._path(kind, name)
        if not path.exists():
            raise PersonaError(f"there is no persona called {name}; there are: {', '.join(self.names()) or 'none yet'}")
        where = f"{kind}/{path.name}"
        with saying(f"{where} cannot be read", PersonaError), fits(f"{where} is damaged: ", PersonaError):
            if path.stat().st_size > _MAX_BYTES:
                raise PersonaError(f"{where} is larger than {_MAX_BYTES // 2**20} MiB; import it again")
            return model.model_validate_json(path.read_bytes())


def check_persona(persona: Persona, book: ClaimBook | None = None) -> PersonaCheck:
    """Verify every quotation of a built persona against its texts, and its claim book against the gate."""
    contract, corpus, graph = persona.contract, persona.corpus, persona.beliefs
    places = [*contract.anchor_excerpts, *contract.voice.examples]
    problems: list[str] = []
    figures = standing(book, persona.name, len(corpus.chunks)) if book else None
    if graph is None:
        problems.append("no beliefs: it will argue from passages alone")
    else:
        places += [place for node in graph.nodes for place in node.places]
    if figures is not None:
        problems += [f"thin: {reason}" for reason in figures.reasons]
    wrong = sum(
        place.item not in corpus.by_id or corpus.by_id[place.item].text[place.start : place.end] != place.quote
        for place in places
    )
    prose = sum(unquoted(getattr(contract, part), corpus)[1] for part in PROSE)
    if prose:
        problems.append(f"{prose} quotations in the portrait stand nowhere in the texts")
    stale = contract.corpus_digest != corpus.digest
    if stale:
        problems.append("the texts have changed since it was built: build it again")
    if wrong:
        problems.append(f"{wrong} quotations are not where they are said to stand")
    return PersonaCheck(
        name=persona.name,
        texts=len(corpus.items),
        passages=len(corpus.chunks),
        built=True,
        stale=stale,
        beliefs=len(graph.nodes) if graph else None,
        standing=figures,
        unverified=wrong,
        problems=tuple(problems),
    )
