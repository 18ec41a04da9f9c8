"""Authors' texts compared before anybody speaks, as a run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field

from assay.fields import Ui, read_ui
from assay.hooks import Data, Hooks
from assay.protocol import RunContext
from assay.protocols.crux.people import PeopleFolder, open_people, own_name, shipped_id
from assay.protocols.crux.retrieving import Language, TokensACall
from assay.report.standing import RunVerdict
from assay.report.units import count_noun, in_words
from crux import ChosenModel, ModelTable
from crux.behaviour import BEHAVIOUR
from crux.book import ClaimBook
from crux.building import linking_calls, steps_of
from crux.claims.audit import audit_calls
from crux.claims.judge import Judgement
from crux.claims.reading import batches_of
from crux.compare import Shelf, compare
from crux.comparison import as_pair
from crux.personas.corpus import Corpus
from crux.personas.shipped import shipped_corpus
from crux.requests import BATCH_TOKENS, Questioner
from llm_runtime.errors import ConfigurationError
from llm_runtime.models import Model, fits
from llm_runtime.names import ModelName

_TABLE = ModelTable()

FIELDS = read_ui(__package__ or "")


class Task(Model):
    """Who is compared, and on what."""

    ui: ClassVar[Mapping[str, Ui]] = FIELDS["authors"]

    authors: tuple[str, ...] = Field(min_length=2, max_length=40)
    """Two or more whose texts were imported, or who come with Assay, one a line."""
    topic: str = ""
    """What the comparison is about; empty for everything."""
    people: Annotated[PeopleFolder, Ui(hidden=True)] = ""
    """The folder of personas."""


class HowRead(Model):
    """How texts are read and set side by side."""

    language: Language = "English"
    """In which claims are written; quotations stay as they are."""
    tokens_a_call: TokensACall = BATCH_TOKENS
    """Of their texts, so many tokens are read a call; a model with a short window needs fewer."""
    fast: ModelName = _TABLE.fast.id
    """The model that reads and judges."""
    strong: ModelName = _TABLE.strong.id
    """The model that compares."""
    takes_temperature: bool = True
    """Whether the models take a temperature."""
    judged: Annotated[list[dict[str, Any]], Ui(hidden=True)] = []
    """What an earlier comparison judged: ``{"premise", "claim", "verdict"}``."""

    def asking(self, context: RunContext) -> Questioner:
        """Return whom questions are put to, and how."""
        takes = self.takes_temperature
        fast, strong = (ChosenModel(id=name, takes_temperature=takes) for name in (self.fast, self.strong))
        models = ModelTable(fast=fast, strong=strong)
        return Questioner(context.generate, models, context.seed, self.language, self.tokens_a_call)

    def known(self) -> list[Judgement]:
        """Return what was judged before."""
        return [Judgement.model_validate(one) for one in self.judged]


class Options(HowRead):
    """How authors are compared."""

    ui: ClassVar[Mapping[str, Ui]] = FIELDS["comparison"]

    audit: bool = False
    """Read a twentieth of the passages once more, each alone, and count which of their claims were found."""
    shelves: Annotated[list[dict[str, Any]], Ui(hidden=True)] = []
    """The authors whole: ``{"name", "corpus", "book"?}``; so a run can be replayed wherever its log is."""


class AuthorsHooks(Hooks[Task, Options]):
    """What a comparison of authors does."""

    told = "assay.protocols.crux.report.comparison:ComparisonFold"
    measures = {
        "candidate cruxes": lambda result: len(result.get("candidates", ())),
        "opposed claims": lambda result: len(result.get("opposed", ())),
        "shared claims": lambda result: len(result.get("shared", ())),
    }

    async def run(self, task: Task, options: Options, context: RunContext) -> Data:
        """Compare; the result is ``Comparison`` as data. What was read is kept for the next comparison.

        Raises:
            LlmRuntimeError: whatever ends it.
        """
        from crux.personas.store import PersonaStore

        store = PersonaStore(Path(task.people)) if task.people else None

        def keep(name: str, book: ClaimBook) -> None:
            if store is not None:
                store.save_beside("books", name, book)

        shelves, asking = shelved(options), options.asking(context)
        known, step = options.known(), steps_of(context.emit)
        comparison = await compare(
            *shelves, asking=asking, topic=task.topic, audited=options.audit, known=known, keep=keep, step=step
        )
        return as_pair(comparison) if BEHAVIOUR.before(6) else comparison.model_dump(mode="json")

    def prepare(self, task: Task, options: Options) -> tuple[Task, Options]:
        """Look the authors up, with what was read of them before.

        Raises:
            ConfigurationError: two names mean one author.
            PersonaError: nobody's texts were imported under a name.
        """
        if options.shelves:
            shelved(options)
            return task, options
        people = open_people(task.people)
        shelves: list[dict[str, Any]] = []
        for name in task.authors:
            author = shipped_id(name, people)
            stored = shipped_corpus(author) if author else people.corpus(own_name(name, people))
            book = people.book(stored.name)
            shelf = {"name": stored.name, "corpus": stored.corpus.model_dump(mode="json")}
            shelves.append(shelf | ({"book": book.model_dump(mode="json")} if book else {}))
        names = tuple(shelf["name"] for shelf in shelves)
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise ConfigurationError(f"authors: {twice} is named twice; a comparison needs different ones")
        task = task.model_copy(update={"authors": names, "people": str(people.root.absolute())})
        return task, options.model_copy(update={"shelves": shelves})

    def title_of(self, task: Task) -> str:
        """Return one line for lists."""
        return f"{in_words(list(task.authors))}{f': {task.topic}' if task.topic else ', compared'}"

    def outcome(self, result: Mapping[str, Any]) -> RunVerdict:
        """Return how many questions the authors may turn on."""
        opposed, shared = len(result["opposed"]), len(result["shared"])
        found = count_noun(len(result["candidates"]), "candidate crux", "candidate cruxes")
        return RunVerdict(found, f"{opposed} opposed, {shared} shared", "; ".join(result["warnings"][:1]))


def shelved(options: Options) -> list[Shelf]:
    """Return the authors as the run holds them.

    Raises:
        ConfigurationError: an author's data is damaged.
    """
    try:
        with fits("an author in the run's log is damaged at "):
            return [
                Shelf(
                    data["name"],
                    Corpus.model_validate(data["corpus"]),
                    ClaimBook.model_validate(data["book"]) if "book" in data else None,
                )
                for data in options.shelves
            ]
    except KeyError as lacking:
        raise ConfigurationError(f"an author in the run's log lacks {lacking}") from None


def calls_of(options: Options) -> tuple[int, int]:
    """Return about how many calls reading and comparing will take: what was read before is not read again."""
    shelves = shelved(options)
    read = [s.book.authors[0].read if s.book and s.book.authors else () for s in shelves]
    unread = [batches_of(s.corpus, done, options.tokens_a_call) for s, done in zip(shelves, read, strict=True)]
    reading = sum(map(len, unread))
    if options.audit:
        reading += sum(audit_calls(len(shelf.corpus.chunks)) for shelf in shelves)
    return reading + sum(linking_calls(len(batches)) for batches in unread), 8
