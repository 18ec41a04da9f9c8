"""Which protocols and kinds of run there are: ours, and whatever is installed under ``assay.protocols``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast

from assay.hooks import Hooks, hooks_of
from assay.protocol import Protocol, RunType, load
from llm_runtime.errors import ConfigurationError, MissingExtraError
from llm_runtime.plugins import FOREIGN, found, unloadable
from llm_runtime.structs import Struct

if TYPE_CHECKING:
    from pydantic import BaseModel

    from assay.fields import Names
    from assay.report.run import RunFold, RunTotals
    from assay.report.standing import RunStanding, RunVerdict
    from assay.report.story import Story
    from llm_runtime.events import Event, Record, RunStarted
    from llm_runtime.store import RunStore

OURS = ("crucible", "fire_circle", "ai_crucible", "criticality", "crux", "compare")
"""In the order in which a newcomer meets them. Named here: to search for them would slow `--help`."""
GROUP = "assay.protocols"
LIVE_CALLS = 64
"""How many settled calls a live display remembers one by one."""


def protocols() -> dict[str, Protocol]:
    """Return every protocol by its name, ours first.

    One that cannot be loaded, or takes a name that is taken, is left out; :func:`left_out` says why.
    """
    return _look()[0]


def left_out() -> dict[str, str]:
    """Return why an installed protocol is not there, by the name of its entry point."""
    return _look()[1]


def leave_out(name: str, reason: str) -> None:
    """Go on without a protocol of which a part is found to be broken."""
    known, faults = _look()
    del known[name]
    faults[name] = reason
    for kept in (packages, run_types, _by_any_name):
        kept.cache_clear()


@cache
def _look() -> tuple[dict[str, Protocol], dict[str, str]]:
    known, faults = {name: ours(name) for name in OURS}, dict[str, str]()
    for name, place in found(GROUP).items():
        try:
            protocol = cast("Protocol", load(place))
            clash = _clash(protocol, known.values())
        except FOREIGN as fault:
            faults[name] = unloadable(place, fault)
            continue
        if clash:
            faults[name] = f"{place}: {clash} is taken"
        else:
            known[protocol.name] = protocol
    return known, faults


def _clash(protocol: Protocol, others: Iterable[Protocol]) -> str:
    """Return what of a protocol has a name that another has already; empty where nothing has."""
    for other in others:
        names = {name for run in other.runs for name in run.names}
        if protocol.name == other.name or protocol.command[0] in (other.command[0], *(one[0] for one in other.also)):
            return f"the name {protocol.name} or the command {protocol.command[0]}"
        if twice := sorted(names & {name for run in protocol.runs for name in run.names}):
            return f"the kind of run {twice[0]}"
    return ""


def ours(name: str) -> Protocol:
    """Return one of the protocols that come with Assay."""
    return cast("Protocol", load(f"assay.protocols.{name}:PROTOCOL"))


@cache
def packages() -> tuple[str, ...]:
    """Return the packages in which protocols keep words, templates and files."""
    return tuple(protocol.package for protocol in protocols().values() if protocol.package)


@cache
def run_types() -> dict[str, RunType]:
    """Return every kind of run by its name, older names left out."""
    return {run.name: run for protocol in protocols().values() for run in protocol.runs}


@cache
def _ours_by_any_name() -> dict[str, RunType]:
    return {name: run for one in map(ours, OURS) for run in one.runs for name in run.names}


@cache
def _by_any_name() -> dict[str, RunType]:
    return {name: run for run in run_types().values() for name in run.names}


def find(kind: str) -> RunType:
    """Return a kind of run by its name or an older one.

    Raises:
        ConfigurationError: this version has none of that name.
    """
    run = known(kind)
    if run is None:
        listed = ", ".join(run_types())
        raise ConfigurationError(f"this version knows no kind of run called {kind[:80]}; it knows: {listed}")
    return run


def protocol_of(kind: str) -> Protocol:
    """Return the protocol that a kind of run belongs to."""
    run = find(kind)
    return next(protocol for protocol in protocols().values() if run in protocol.runs)


def known(kind: str) -> RunType | None:
    """Return a kind of run, or ``None`` where this version has none of that name."""
    # To look for those of others takes longer than many a command.
    return _ours_by_any_name().get(kind) or _by_any_name().get(kind)


class _Unknown(Hooks[Any, Any]):
    """What every run does, whatever its kind."""

    replayable = False


def hooks_for(kind: str) -> Hooks[Any, Any]:
    """Return what runs of a kind do, also of one that this version does not know."""
    run = known(kind)
    return _Unknown() if run is None else hooks_of(run)


class Prepared(Struct):
    """A run that can be started: its kind, and its task and options as models."""

    run: RunType
    task: BaseModel
    options: BaseModel

    @property
    def hooks(self) -> Hooks[Any, Any]:
        """What its kind of run does."""
        return hooks_of(self.run)

    @property
    def title(self) -> str:
        """One line for lists."""
        return " ".join((self.hooks.title_of(self.task) or self._first_text())[:4_000].split())[:200]

    def _first_text(self) -> str:
        values = (getattr(self.task, name) for name in type(self.task).model_fields)
        return next((value for value in values if isinstance(value, str) and value.strip()), self.run.title)

    def data(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return task and options as a log keeps them."""
        return self.task.model_dump(mode="json", exclude_defaults=True), self.options.model_dump(mode="json")


def read_run(
    kind: str, task: Mapping[str, Any], options: Mapping[str, Any] | None = None, *, strict: bool = False,
    names: Names | None = None,
) -> Prepared:  # fmt: skip
    """Make task and options of a door's values; :func:`prepared` completes them.

    Raises:
        ConfigurationError: one sentence that names the field as the door calls it.
    """
    from assay.fields import by_name, read

    run, names = find(kind), names or by_name
    hooks = hooks_of(run)
    data = read(hooks.task, task, strict=strict, names=names)
    return Prepared(run, data, read(hooks.options, options or {}, strict=strict, names=names))


def tools_of(run: Prepared) -> tuple[str, ...]:
    """Return the tools that a run's seats may use."""
    from llm_runtime.names import names_in

    return tuple(name.text for name in names_in(run.options) if name.kind == "tool")


def prepared(run: Prepared) -> Prepared:
    """Complete a run and check it, before anything is spent; once more changes nothing.

    Raises:
        LlmRuntimeError: it is not possible, or this machine lacks what it needs.
    """
    noun = run.run.noun
    if tools_of(run) and not run.run.tooled_seats:
        raise ConfigurationError(f"tools: no seat of a {noun} uses any; leave them out")
    owner = protocol_of(run.run.name) if run.hooks.extra else None
    if owner is not None and any(find_spec(module) is None for module in owner.modules):
        raise MissingExtraError(f"{'an' if noun[0] in 'aeio' else 'a'} {noun}", owner.extra)
    return Prepared(run.run, *run.hooks.prepare(run.task, run.options))


def opened(started: RunStarted) -> Prepared:
    """Return what a log's first event says, whatever version wrote it.

    Raises:
        ConfigurationError: no such kind of run, or its task or options do not fit.
    """
    return stored(started.protocol, started.task, started.settings, started.behaviours)


def stored(
    kind: str, task: Mapping[str, Any], settings: Mapping[str, Any], behaviours: Mapping[str, int] | None = None
) -> Prepared:
    """Return what a log or a batch holds as task and settings.

    Args:
        behaviours: the numbers that it names: none of a log of before version 0.2. Today's where left out.
    """
    from llm_runtime.models import fits

    run = find(kind)
    hooks, options = hooks_of(run), settings.get("options", settings.get("engine", {}))
    if isinstance(options, Mapping) and "options" not in settings:
        task, options = hooks.upgrade(task, settings)
        behaviours = {}
    if isinstance(options, Mapping) and behaviours is not None:
        options = {**hooks.defaults(behaviours), **options}
    with fits(f"a {run.noun}: "):
        return Prepared(run, hooks.task.model_validate(task), hooks.options.model_validate(options))


def fold_for(kind: str, keep: int | None = None) -> RunFold:
    """Return a fresh fold for runs of a kind; one that knows calls only where there is none of its own.

    Args:
        kind: as in ``RunStarted.protocol``.
        keep: how many settled calls to remember one by one; ``None`` keeps all, as reports need.
    """
    return hooks_for(kind).fold(keep)


def story_of(records: Iterable[Record], state: str = "") -> Story:
    """Return the report of a recorded run, whatever its kind; ``state`` is how the store knows it.

    Raises:
        StoreDamaged: an event's data does not fit its type.
    """
    from assay.report.run import timed_events

    return story_of_events(timed_events(records), state)


def story_of_events(events: Iterable[tuple[Event, int]], state: str = "") -> Story:
    """Return the same for events with their stamps in milliseconds since 1970."""
    from assay.report.frame import headed
    from assay.report.generic import GenericFold
    from assay.report.run import RunTotals
    from llm_runtime.events import RunStarted

    fold: RunFold = GenericFold()
    head = RunTotals()
    for event, at in events:
        if isinstance(event, RunStarted):
            fold = fold_for(event.protocol)
        fold.apply(event, at)
        head.apply(event, at)
    return headed(fold.story(), standing(head, state))


def standing_in(store: RunStore, run_id: str) -> RunStanding:
    """Return how a stored run stands."""
    from assay.report.run import RunTotals, timed_events

    head = RunTotals()
    for event, at in timed_events(store.records(run_id)):
        head.apply(event, at)
    return standing(head, store.summary(run_id).state)


def verdict_of(kind: str, result: object) -> RunVerdict | None:
    """Return what a kind of run came to; ``None`` where that is not known."""
    from assay.report.standing import RunVerdict

    if known(kind) is None:
        return None
    try:
        came = hooks_for(kind).outcome(cast("Mapping[str, Any]", result))
    except (LookupError, TypeError, AttributeError, ValueError):  # an older or imported log may hold another one
        return None
    if isinstance(came, RunVerdict):
        return came
    return RunVerdict(came) if came else None


def standing(run: RunTotals, state: str = "") -> RunStanding:
    """Return how a run stands, of its folded log and its state in the store."""
    from assay.report.frame import standing_of

    kind = run.started.protocol if run.started else ""
    return standing_of(run, state, verdict_of(kind, run.result) if run.state == "finished" else None)
