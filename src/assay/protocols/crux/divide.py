"""What divides a group, from the texts in one place, as a run."""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field

from assay.fields import Ui, read_ui
from assay.hooks import Data, Hooks
from assay.protocol import RunContext
from assay.protocols.crux.compare import HowRead
from assay.protocols.crux.people import PeopleFolder, open_people
from assay.report.standing import RunVerdict
from assay.report.units import count_noun
from crux.book import ClaimBook
from crux.building import steps_of
from crux.claims.judge import Judgement
from crux.claims.reading import batches_of
from crux.divide import MOST_CALLS, divide, group_of, require_group
from crux.personas.carrying import carried
from crux.personas.corpus import Corpus
from crux.personas.persona import slug
from crux.results import CamelModel
from crux.sources import PlaceReading, Utterance, read_place
from llm_runtime.errors import ConfigurationError
from llm_runtime.models import Model, fits
from llm_runtime.names import Folder

FIELDS = read_ui(__package__ or "")
#: How a talk that is given as text is read, by its beginning; a chat of WhatsApp begins with a bracket, too.
_ENDINGS = ((r"\s*\{.*\}\s*\n\s*\{", "jsonl"), (r"\s*(?:\{|\[\s*[\[{])", "json"), ("WEBVTT", "vtt"))
#: Notes of a place that a report shows.
_MOST_NOTES = 20


class Task(Model):
    """Whose words are read, and what they are to decide."""

    ui: ClassVar[Mapping[str, Ui]] = FIELDS["group"]

    place: Folder = ""
    """A folder, a file, or the export of a thread; in it at least two people speak."""
    thread: str = Field(default="", max_length=20_000_000)
    """The talk itself, as text with names ("Ada: ...") or as an exported file."""
    topic: str = ""
    """What they are to decide; empty where their texts say so."""
    people: Annotated[PeopleFolder, Ui(hidden=True)] = ""
    """The folder in which what was read is kept."""


class Options(HowRead):
    """How it is done."""

    ui: ClassVar[Mapping[str, Ui]] = FIELDS["division"]

    texts: Annotated[list[dict[str, Any]], Ui(hidden=True)] = []
    """Every utterance, so that a run can be replayed wherever its log is."""
    notes: Annotated[list[str], Ui(hidden=True)] = []
    """What a reader has to know of the place: what was left out, and why."""
    book: Annotated[dict[str, Any], Ui(hidden=True)] = {}
    """What was read of this place before."""


class JudgedPairs(CamelModel):
    """What was judged of a place, so that nothing is judged twice; its claim book lies beside."""

    judged: tuple[Judgement, ...] = ()


class DivideHooks(Hooks[Task, Options]):
    """What naming a group's cruxes does."""

    told = "assay.protocols.crux.report.comparison:ComparisonFold"
    measures = {"cruxes": lambda result: len(result.get("candidates", ()))}

    async def run(self, task: Task, options: Options, context: RunContext) -> Data:
        """Divide; the result is ``Comparison`` as data. What was read and judged is kept for the next time.

        Raises:
            LlmRuntimeError: whatever ends it.
        """
        store, name = open_people(task.people), group_name(task)

        def keep(book: ClaimBook) -> None:
            if task.people:
                store.save_beside("books", name, book)
                store.save_beside("texts", name, texts)

        texts, asking = grouped(options), options.asking(context)
        book = ClaimBook.model_validate(options.book) if options.book else None
        found = await divide(
            texts, asking, topic=task.topic, book=book, known=options.known(), keep=keep, step=steps_of(context.emit)
        )
        if task.people:
            store.save_beside("judged", name, JudgedPairs(judged=found.judged))
        return found.model_copy(update={"warnings": (*found.warnings, *options.notes)}).model_dump(mode="json")

    def prepare(self, task: Task, options: Options) -> tuple[Task, Options]:
        """Read the place, and look up what was read of it before.

        Raises:
            ConfigurationError: there is no place, or fewer than two people speak in it.
            CorpusError: it cannot be read.
        """
        if options.texts:
            require_group(grouped(options))
            return task, options
        task = _given(task)
        people = open_people(task.people)
        reading = read_place(Path(task.place)) if task.place else _read_thread(task.thread)
        texts = group_of(reading.utterances)
        require_group(texts)
        whole = {"place": task.place and str(Path(task.place).absolute()), "people": str(people.root.absolute())}
        task = task.model_copy(update=whole)
        name = group_name(task)
        book, kept = people.book(name), people.beside("judged", name, JudgedPairs)
        if book and (old := people.beside("texts", name, Corpus)):
            book = carried(book, old, texts)
        read = {
            "texts": [item.model_dump(mode="json") for item in texts.items],
            "notes": [reading.balance.line(), *reading.notes[:_MOST_NOTES]],
            "book": book.model_dump(mode="json") if book else {},
            "judged": [one.model_dump(mode="json") for one in kept.judged] if kept else [],
        }
        return task, options.model_copy(update=read)

    def title_of(self, task: Task) -> str:
        """Return one line for lists."""
        return f"What divides {Path(task.place).name or 'a thread'}{f': {task.topic}' if task.topic else ''}"

    def outcome(self, result: Mapping[str, Any]) -> RunVerdict:
        """Return how many questions the group turns on."""
        cruxes = result["candidates"]
        unconfirmed = sum(not one["confirmed"] for one in cruxes)
        return RunVerdict(
            count_noun(len(cruxes), "crux", "cruxes"),
            f"among {count_noun(len(result['authors']), 'speaker')}",
            f"{unconfirmed} not confirmed by their sentences" if unconfirmed else "",
            gist=" · ".join(one["question"] for one in cruxes),
        )


def _given(task: Task) -> Task:
    """Return what is asked for: what stood on standard input, in the place of a place, is the talk itself."""
    talk = "\n" in task.place.strip() or task.place.lstrip().startswith(('{"', "[{"))
    return task.model_copy(update={"place": "", "thread": task.place}) if talk else task


def _read_thread(text: str) -> PlaceReading:
    """Read what was given as text: as records or a transcript where it begins so, else as lines with names."""
    if not text.strip():
        raise ConfigurationError("place: give a folder, a file or the export of a thread")
    with tempfile.TemporaryDirectory(prefix="assay-thread-") as folder:
        file = Path(folder) / f"thread.{next((end for begins, end in _ENDINGS if re.match(begins, text)), 'txt')}"
        file.write_text(text, "utf-8")
        return read_place(file)


def group_name(task: Task) -> str:
    """Return under which name what was read of a place is kept."""
    whole = task.place or task.thread
    return f"{slug(Path(task.place).stem or 'thread')[:40]}-{hashlib.sha256(whole.encode()).hexdigest()[:8]}"


def grouped(options: Options) -> Corpus:
    """Return the group's texts as the run holds them.

    Raises:
        ConfigurationError: they are damaged.
    """
    with fits("the texts in the run's log are damaged at "):
        return Corpus(items=tuple(Utterance.model_validate(one) for one in options.texts))


def calls_of(options: Options) -> tuple[int, int]:
    """Return about how many calls reading takes, and the rest at most: what was read before is not read again."""
    read = ClaimBook.model_validate(options.book).authors if options.book else ()
    return len(batches_of(grouped(options), read[0].read if read else (), options.tokens_a_call)), MOST_CALLS
