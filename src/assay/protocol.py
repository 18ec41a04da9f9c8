"""What a protocol is to the application: plain data, whose references load nothing until they are used.

Every door (command line, web form, batch, programs) is derived from these descriptions. ``docs/add-a-protocol.md``
builds one from nothing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict, cast

from llm_runtime.errors import ConfigurationError

if TYPE_CHECKING:
    from assay.terms import Terms
    from llm_runtime.endpoints import Endpoint
    from llm_runtime.events import Emit
    from llm_runtime.http import Http
    from llm_runtime.messages import Generate

Ref: TypeAlias = str
"""``"module:attribute"``, resolved when it is first needed."""
Served: TypeAlias = "tuple[Http, Endpoint, str]"
Measures: TypeAlias = "Mapping[str, Callable[[Mapping[str, Any]], Any]]"
"""What a batch's table shows of one result: whether, how much or of what kind, by name; ``None`` is left out."""


async def unknown_window() -> None:
    """Return ``None``: how much the models read is not known."""
    return None


async def nowhere(model: str) -> Served:
    """Refuse a model that is no part of a conversation: nothing says where it is.

    Raises:
        ConfigurationError: always.
    """
    raise ConfigurationError(f"{model[:60]}: this run has no way to a model that answers no calls")


@dataclass(frozen=True, slots=True)
class RunContext:
    """What a run works with beside its task and options.

    Args:
        run_id: its id in the store.
        seed: 0 to 2^53-1; all its randomness derives from it.
        generate: the model function; recorded, limited and priced.
        emit: takes the events of the run's public story.
        clock: milliseconds since 1970.
        terms: models and bounds in force; the model function keeps them already.
        local: whether a model on this machine answers, which may take minutes for its first words.
        window: returns how many tokens the smallest of its models reads; ``None`` where that is not known.
        served: returns who serves a model that answers no calls, such as one of embeddings: the client, the
            endpoint and the model's name there, as the settings of whoever runs this have it.
    """

    run_id: str
    seed: int
    generate: Generate
    emit: Emit
    clock: Callable[[], int]
    terms: Terms
    local: bool = False
    window: Callable[[], Awaitable[int | None]] = unknown_window
    served: Callable[[str], Awaitable[Served]] = nowhere


@dataclass(frozen=True, slots=True)
class Seat:
    """A role or phase that a model, or a person, can be set for.

    Args:
        name: as in ``--seat NAME=MODEL``.
        about: what whoever sits there does, for a person who may take it; empty keeps it off the forms.
        model: who sits there unless the terms say otherwise; empty leaves it to them.
        tools: whether who sits there uses the tools that a field of type ``assay.seat_tools.offered.Tools`` names.
    """

    name: str
    about: str = ""
    model: str = ""
    tools: bool = False


@dataclass(frozen=True, slots=True)
class Chat:
    """How a kind of run answers in a chat, as one of the models of ``/v1/models``.

    Args:
        model: its name there, behind ``assay/``.
        fields: ``(turns) -> dict``, what the chat says of task and options, by field. Turns are pairs of role
            (``"system"``, ``"user"``, ``"assistant"``) and text, oldest first; one at least is the user's.
        answer: ``(result) -> str``, Markdown; empty takes the report.
    """

    model: str
    fields: Ref
    answer: Ref = ""


@dataclass(frozen=True, slots=True)
class Opening:
    """How a kind of run takes what somebody typed before choosing one.

    Args:
        field: of its task or options, that takes the text; empty where it asks for something else.
        signs: pairs of a pattern that is looked for in the text, whatever its case, and what it says of the text.
    """

    field: str = ""
    signs: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Handout:
    """What a finished kind of run gives as one file, of what lies outside its log.

    Args:
        words: what it is, for whoever may have it.
        ending: of the file's name: ``"zip"``.
        make: ``(task, options, run_id) -> bytes``; it may raise where that is gone, and takes its time.
    """

    words: str
    ending: str
    make: Ref


@dataclass(frozen=True, slots=True)
class RunType:
    """One kind of run of a protocol.

    Args:
        name: in logs, batches and programs: ``"crucible.council"``.
        title: what starting one means: ``"Ask a council"``.
        about: what a person gets from it, in one sentence.
        noun: what one run is called: ``"council"``.
        task: the pydantic model of what is asked.
        options: the pydantic model of how it is done.
        run: ``async (task, options, RunContext) -> dict``; the result as JSON data.
        fold: ``(keep: int | None) -> RunFold``; empty takes the one that knows only calls.
        aliases: names under which older logs and job files hold it.
        prepare: ``(task, options) -> (task, options)``, complete and checked before anything is spent; doing it
            twice changes nothing. It may raise where this machine lacks something.
        seated: ``(options, terms) -> options``, with the seats named after who will answer in them.
        ready: ``(task, options, terms)``, of a run that reaches its models by itself: refuses what they cannot do.
        upgrade: ``(task, settings) -> (task, options)`` as data, from the forms of logs and job files of before
            version 0.2.
        take_up: ``(task, parent) -> task``, of a run that goes on from the one its field ``follow`` names, which is
            ``{"run_id", "state", "task", "result"}``.
        spent: ``(task) -> Spend``, what the files in the work's own folder say that it took. Bounds count that sum
            where it is more than the log's.
        title_of: ``(task) -> str``, one line for lists; empty takes the first text of the task.
        seats: roles and phases that a model can be set for; empty for a run whose seats cannot be set one by one.
            ``"*"`` as a name allows any.
        units: ``(task) -> int``, how often it does what the protocol's usual run does once; empty for once.
        bounds: which of the terms' bounds can be set.
        measures: its :data:`Measures`.
        outcome: ``(result) -> RunVerdict`` of :mod:`assay.report.standing`; a text is taken as its outcome.
        batch: whether jobs of a batch can be of this kind.
        form: whether the web offers a form.
        seatless: whether nobody has a seat whose words are followed while it works.
        replayable: whether its log alone is enough to fork or replay it.
        own_models: whether it reaches its models by itself; then no gateway is made.
        chat: how it answers in a chat; ``None`` where it does not.
        opening: how it takes a text that was typed before anything was chosen; ``None`` keeps it from that box.
        handout: what it gives as one file; ``None`` where its log is all there is.
    """

    name: str
    title: str
    about: str
    noun: str
    task: Ref
    options: Ref
    run: Ref
    fold: Ref = ""
    aliases: tuple[str, ...] = ()
    prepare: Ref = ""
    seated: Ref = ""
    ready: Ref = ""
    upgrade: Ref = ""
    take_up: Ref = ""
    spent: Ref = ""
    title_of: Ref = ""
    seats: tuple[Seat, ...] = ()
    units: Ref = ""
    bounds: tuple[str, ...] = ("budget", "max_calls", "deadline", "max_tokens", "effort")
    measures: Ref = ""
    outcome: Ref = ""
    batch: bool = True
    form: bool = True
    seatless: bool = False
    replayable: bool = True
    own_models: bool = False
    chat: Chat | None = None
    opening: Opening | None = None
    handout: Handout | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that logs have for it."""
        return (self.name, *self.aliases)

    @property
    def tooled_seats(self) -> frozenset[str]:
        """The roles and phases that use tools."""
        return frozenset(seat.name for seat in self.seats if seat.tools)


class Parts(TypedDict, total=False):
    """References of a :class:`RunType` to what one module holds."""

    task: Ref
    options: Ref
    run: Ref
    prepare: Ref
    seated: Ref
    ready: Ref
    upgrade: Ref
    take_up: Ref
    spent: Ref
    title_of: Ref
    measures: Ref
    outcome: Ref


def parts_of(module: str, *names: str, **elsewhere: Ref) -> Parts:
    """Refer to what a module holds under the usual names, and to what is somewhere else.

    These are ``Task`` and ``Options`` and, where named, functions called as their field is and data so in capitals.
    """
    named = {name: f"{module}:{name.upper() if name == 'measures' else name}" for name in names}
    return cast("Parts", {"task": f"{module}:Task", "options": f"{module}:Options", **named, **elsewhere})


@dataclass(frozen=True, slots=True)
class Demo:
    """A protocol's recording.

    Args:
        name: as in ``assay demo NAME``.
        folder: the package or folder that holds ``manifest.toml`` and the answers.
        about: what is seen, and how long it takes, on one line of the command's help.
        shows: the same for the web's first page.
        own: how to do the same with models, for whoever has seen it.
        prepare: ``(folder, speed) -> PreparedDemo``.
    """

    name: str
    folder: str
    about: str
    shows: str
    own: str
    prepare: Ref


@dataclass(frozen=True, slots=True)
class Needs:
    """What a usual run asks of a model, as its recorded run shows it; `assay models check` compares.

    Args:
        json: ``"always"`` where no step goes on without an object that can be read, ``"helps"`` where one is asked
            for and words are read too, empty where none is asked for.
        window: tokens of its longest prompt and the answer to it.
        calls: how many it makes.
        answered: tokens of all its answers.
        asked: tokens of all its prompts.
    """

    json: Literal["always", "helps", ""] = ""
    window: int = 4_096
    calls: int = 1
    answered: int = 500
    asked: int = 1_000


@dataclass(frozen=True, slots=True)
class Protocol:
    """One protocol: everything that the doors need to know, and where it is.

    Args:
        name: of its folder: ``"crucible"``.
        title: for people: ``"Crucible"``.
        about: what a person gets from it, in one sentence.
        how: how that comes about.
        command: its command: the word after ``assay``, and where it is.
        command_about: the command in one line.
        runs: its kinds of run, the main one first.
        pages: its own addresses in the web application: a tuple of :class:`assay.web.endpoints.Endpoint`. One that
            has a ``title`` is linked from the bar, or from runs of its ``kinds``.
        extra: the optional part it needs, and its modules.
        demo: its recording.
        needs: what a model must be able to do for it; ``None`` is not told.
        behaviours: the :class:`~llm_runtime.behaviour.Behaviour` of each engine that decides its requests. A log
            says their numbers, and goes on by them.
    """

    name: str
    title: str
    about: str
    how: str
    command: tuple[str, Ref]
    command_about: str
    runs: tuple[RunType, ...]
    pages: Ref = ""
    extra: str = ""
    modules: tuple[str, ...] = ()
    demo: Demo | None = None
    needs: Needs | None = None
    behaviours: tuple[Ref, ...] = ()

    @property
    def package(self) -> str:
        """The package in which its command stands; empty where that is no package.

        Beside code it may hold what pages need: ``templates/``, rendered as ``"NAME/file.html"``, ``static/``,
        served under ``/static/NAME/``, and words, in ``glossary.toml``.
        """
        return self.command[1].partition(":")[0].rpartition(".")[0]


def load(ref: Ref) -> Any:
    """Load what a reference names."""
    return resolve_name(ref)
