"""What a protocol is to the application: plain data, whose references load nothing until they are used.

Every door (command line, web form, batch, programs) is derived from these descriptions. ``docs/add-a-protocol.md``
builds one from nothing.
"""

from __future__ import annotations

import tomllib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field
from importlib import resources
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from llm_runtime.errors import ConfigurationError
from llm_runtime.structs import Struct

if TYPE_CHECKING:
    from pydantic import JsonValue

    from assay.seat_tools.offered import Call
    from assay.terms import Terms
    from llm_runtime.endpoints import Endpoint
    from llm_runtime.events import Emit
    from llm_runtime.http import Http
    from llm_runtime.messages import Generate

Ref: TypeAlias = str
"""``"module:attribute"``, resolved when it is first needed."""
Door: TypeAlias = Literal["form", "batch"]
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


class RunContext(Struct):
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
        programs: what answers its requests to ``tool:NAME``, by name, registered by the run itself. They are
            recorded as calls are, so a replay starts none.
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
    programs: dict[str, Call] = field(default_factory=dict["str", "Call"])


class Seat(Struct):
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


class Opening(Struct):
    """How a kind of run takes what somebody typed before choosing one.

    Args:
        field: of its task or options, that takes the text; empty where it asks for something else.
        examples: texts to begin with, to click.
        signs: pairs of a pattern that is looked for in the text, whatever its case, and what it says of the text.
    """

    field: str = ""
    signs: tuple[tuple[str, str], ...] = ()
    examples: tuple[str, ...] = ()


class Tool(Struct):
    """How an agent asks for a kind of run. Its parameters are the fields that a form has, and the terms.

    Args:
        name: ``"ask"``; empty takes the kind's own, with ``_`` for its dot.
        about: what it does and when it is worth it; empty takes the kind's.
        called: pairs of a field and what the tool calls it.
        also: fields that no form has, such as texts which a person would attach.
        takes: of a preset, in place of fields: its own texts: a name, what it is, whether it must be given.
        gives: of a preset: fields and what stands in them, with ``{name}`` for a parameter.
    """

    name: str = ""
    about: str = ""
    called: tuple[tuple[str, str], ...] = ()
    also: tuple[str, ...] = ()
    takes: tuple[tuple[str, str, bool], ...] = ()
    gives: Mapping[str, Any] = field(default_factory=dict[str, Any])


class Handout(Struct):
    """What a finished kind of run gives as one file, of what lies outside its log.

    Args:
        words: what it is, for whoever may have it.
        ending: of the file's name: ``"zip"``.
    """

    words: str
    ending: str


class RunType(Struct):
    """One kind of run of a protocol.

    Args:
        name: in logs, batches and programs: ``"crucible.council"``.
        title: what starting one means: ``"Ask a council"``.
        about: what a person gets from it, in one sentence.
        noun: what one run is called: ``"council"``.
        hooks: what it does, a subclass of :class:`assay.hooks.Hooks`.
        aliases: names under which older logs and job files hold it.
        seats: roles and phases that a model can be set for; ``"*"`` as a name allows any. Empty for a run whose
            seats cannot be set one by one.
        bounds: which of the terms' bounds can be set.
        doors: those that have it beside its own command: a form of the web, jobs of a batch.
        chat: the name behind ``assay/`` by which it is one of the models of ``/v1/models``; empty where it is none.
        opening: how it takes a text that was typed before anything was chosen; ``None`` keeps it from that box.
        tools: by which agents ask for it; empty where none can.
    """

    name: str
    title: str
    about: str
    noun: str
    hooks: Ref
    aliases: tuple[str, ...] = ()
    seats: tuple[Seat, ...] = (Seat("*"),)
    bounds: tuple[str, ...] = ("budget", "max_calls", "deadline", "max_tokens", "effort")
    doors: tuple[Door, ...] = ("form", "batch")
    chat: str = ""
    opening: Opening | None = None
    tools: tuple[Tool, ...] = (Tool(),)

    @property
    def names(self) -> tuple[str, ...]:
        """Every name that logs have for it."""
        return (self.name, *self.aliases)

    @property
    def tooled_seats(self) -> frozenset[str]:
        """The roles and phases that use tools."""
        return frozenset(seat.name for seat in self.seats if seat.tools)


class Demo(Struct):
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


class Needs(Struct):
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


class Protocol(Struct):
    """One protocol: everything that the doors need to know, and where it is.

    Args:
        name: of its folder: ``"crucible"``.
        title: for people: ``"Crucible"``.
        about: what a person gets from it, in one sentence.
        how: how that comes about.
        command: its command: the word after ``assay``, and where it is.
        command_about: the command in one line.
        also: further commands, each a word, where it is, and what it does in one line.
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
    also: tuple[tuple[str, Ref, str], ...] = ()
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


_PARTS = {"runs": RunType, "seats": Seat, "tools": Tool, "opening": Opening, "demo": Demo, "needs": Needs}


def read_protocol(package: str) -> Protocol:
    """Return what the ``protocol.toml`` of a package describes; ``{here}`` in it is the package."""
    text = resources.files(package).joinpath("protocol.toml").read_text(encoding="utf-8")
    table = tomllib.loads(text.replace("{here}", package))
    return Protocol(**{name: _described(name, one) for name, one in table.items()})


def _described(name: str, held: JsonValue) -> Any:
    if isinstance(held, list):
        return tuple(_described(name, one) for one in held)
    if name in _PARTS and isinstance(held, dict):
        return _PARTS[name](**{own: _described(own, one) for own, one in held.items()})
    return held


def load(ref: Ref) -> Any:
    """Load what a reference names."""
    return resolve_name(ref)
