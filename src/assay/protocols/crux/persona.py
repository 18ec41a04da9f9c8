"""A persona built from imported texts, as a run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field

from assay.fields import Ui, read_ui
from assay.hooks import Data, Hooks
from assay.protocol import RunContext
from assay.protocols.crux.people import PeopleFolder, open_people, shipped_id, stored_name
from assay.protocols.crux.retrieving import Language, TokensACall
from assay.report.standing import RunVerdict
from assay.report.units import count_noun
from crux.requests import BATCH_TOKENS
from llm_runtime.models import Model

FIELDS = read_ui(__package__ or "")


class Task(Model):
    """Whose texts are read."""

    ui: ClassVar[Mapping[str, Ui]] = FIELDS["person"]

    name: str = Field(min_length=1)
    """The name under which the texts were imported."""
    people: Annotated[PeopleFolder, Ui(hidden=True)] = ""
    """The folder of personas."""


class Options(Model):
    """How much is read."""

    ui: ClassVar[Mapping[str, Ui]] = FIELDS["building"]

    language: Language = "English"
    """In which claims are written; quotations stay as they are."""
    tokens_a_call: TokensACall = BATCH_TOKENS
    """Of the texts, so many tokens are read a call; a model with a short window needs fewer."""
    audit: bool = False
    """Read a twentieth of the passages once more, each alone, and count which of their claims were found."""
    strict: Annotated[bool, Ui(hidden=True)] = False
    most_chunks: Annotated[int, Ui(hidden=True)] = 0
    """Both unused: older logs name them."""


class PersonaHooks(Hooks[Task, Options]):
    """What the building of a persona does."""

    told = "assay.protocols.crux.report.building:PersonaFold"
    replayable = False
    seatless = True

    async def run(self, task: Task, options: Options, context: RunContext) -> Data:
        """Build the persona and keep it; the result says what came of it.

        Answers and the claim book are kept beside the texts, so a build that was stopped asks nothing twice.

        Raises:
            PersonaError: nobody's texts were imported under that name.
            LlmRuntimeError: whatever ends a build.
        """
        from crux.building import build_persona
        from crux.personas.store import PersonaStore

        store = PersonaStore(Path(task.people))
        stored = store.corpus(task.name)
        answers = store.answers(stored.name)
        built = await build_persona(
            stored.name,
            stored.corpus,
            generate=context.generate,
            book=store.book(stored.name),
            aliases=stored.aliases,
            handle=stored.handle,
            answers=answers,
            emit=context.emit,
            language=options.language,
            tokens_a_call=options.tokens_a_call,
            audited=options.audit,
            keep=lambda book: store.save_beside("books", stored.name, book),
        )
        store.save(built.persona)
        audit = {"audit": built.audit.model_dump(mode="json")} if built.audit else {}
        made = {"persona": built.persona.model_dump(mode="json"), "gate": built.standing.model_dump(mode="json")}
        unread = [f"{one.chunk.item}, from character {one.chunk.start}: {one.reason}" for one in built.unread]
        return {**made, "unread": unread, "asked": answers.asked, "reused": answers.reused, **audit}

    def prepare(self, task: Task, options: Options) -> tuple[Task, Options]:
        """Look the texts up.

        Raises:
            PersonaError: nobody's texts were imported under that name.
        """
        from crux.personas.persona import PersonaError

        people = open_people(task.people)
        if author := shipped_id(task.name, people):
            raise PersonaError(
                f"{author} comes with Assay, with a contract and beliefs written by hand, and can debate as it is; "
                "to build one from texts of your own, import them first"
            )
        stored = people.corpus(stored_name(task.name, people) or task.name)
        return Task(name=stored.name, people=str(people.root.absolute())), options

    def upgrade(self, task: Mapping[str, Any], settings: Mapping[str, Any]) -> tuple[Data, Data]:
        """Return task and options of an older log, whose task held the number of passages."""
        return {"name": task["name"], "people": task["people"]}, {}

    def title_of(self, task: Task) -> str:
        """Return one line for lists."""
        return f"{task.name}, from their texts"

    def outcome(self, result: Mapping[str, Any]) -> RunVerdict:
        """Return whether there is enough in the texts."""
        reasons, unread = len(result.get("gate", {}).get("reasons", ())), len(result.get("unread", ()))
        doubts = ("thin" if reasons else "", f"{count_noun(unread, 'passage')} not read" if unread else "")
        doubt = ", ".join(filter(None, doubts))
        return RunVerdict("built", doubt=doubt, leaning="open" if doubt else "good")
