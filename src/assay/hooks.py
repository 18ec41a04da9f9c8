"""What a kind of run does: a class of ordinary methods, which is loaded when the first of them is needed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeAlias, TypeVar, get_args

from assay.protocol import Handout, Measures, Ref, RunContext, RunType, load
from llm_runtime.errors import ConfigurationError

if TYPE_CHECKING:
    from pydantic import BaseModel

    from assay.report.run import RunFold
    from assay.report.standing import RunVerdict
    from assay.terms import Terms
    from llm_runtime.wrappers.accounts import Spend

Data: TypeAlias = dict[str, Any]
"""JSON data by field: of a task, of options, of a result."""
TaskT = TypeVar("TaskT", bound="BaseModel")
OptionsT = TypeVar("OptionsT", bound="BaseModel")


class Hooks(Generic[TaskT, OptionsT]):
    """Base of what a kind of run does: ``class Review(Hooks[Task, Options])``, with those hooks that it needs.

    A public name of a subclass that is none of these is refused when the class is made: it would never be used.

    Attributes:
        task: the pydantic model of what is asked, as the class says it.
        options: the pydantic model of how it is done, likewise.
        told: the class of its fold; the one that is always there knows calls, costs, and how a run ended.
        measures: what a batch's table shows of a result.
        absent: options, as those stood for what logs and job files of before version 0.2 do not name.
        changed: options whose default changed: the engine, the number of its behaviour from which on it is as now,
            and what it was before.
        older: fields of its task of which versions before 0.2 wanted one in each row of a batch; empty where they
            made no batches of it.
        older_looked: whether those looked at what the task names, too.
        always_asked: models that must be reached before it begins, beside those that its options name.
        follow: the field of its task that names the run which it goes on from; empty where there is none.
        challenge: the field of its task that takes a sentence of what that run says, to attack it; empty likewise.
        pictures: the field of its task that takes pictures as ``data:`` addresses; empty where it takes none. A run
            that takes them answers a chat in the form that it asks for, too.
        extra: whether it needs the optional part of its protocol, where that has one.
        several: whether it does many times what the protocol's usual run does once; :meth:`units` says how often.
        seatless: whether nobody has a seat whose words are followed while it works.
        replayable: whether its log alone is enough to fork or replay it.
        own_models: whether it reaches its models by itself; then no gateway is made.
        file: what :meth:`handout` gives; ``None`` where its log is all there is.
    """

    task: type[TaskT]
    options: type[OptionsT]
    told: ClassVar[Ref] = "assay.report.generic:GenericFold"
    measures: ClassVar[Measures] = {}
    absent: ClassVar[Mapping[str, Any]] = {}
    changed: ClassVar[Mapping[str, tuple[str, int, Any]]] = {}
    older: ClassVar[tuple[str, ...]] = ()
    older_looked: ClassVar[bool] = False
    always_asked: ClassVar[tuple[str, ...]] = ()
    follow: ClassVar[str] = ""
    challenge: ClassVar[str] = ""
    pictures: ClassVar[str] = ""
    extra: ClassVar[bool] = True
    several: ClassVar[bool] = False
    seatless: ClassVar[bool] = False
    replayable: ClassVar[bool] = True
    own_models: ClassVar[bool] = False
    file: ClassVar[Handout | None] = None

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for base in vars(cls).get("__orig_bases__", ()):
            cls.task, cls.options = get_args(base)
        known = {*dir(Hooks), *Hooks.__annotations__}
        if unknown := sorted(name for name in vars(cls) if not name.startswith("_") and name not in known):
            raise TypeError(f"{cls.__qualname__}.{unknown[0]} is no hook; a name of its own begins with _")

    @classmethod
    def defaults(cls, behaviours: Mapping[str, int]) -> Data:
        """Return options that a log of such behaviours does not name; without any it is of before version 0.2."""
        changed = cls.changed.items()
        older = {name: was for name, (engine, since, was) in changed if behaviours.get(engine, 1) < since}
        return {**older, **({} if behaviours else cls.absent)}

    async def run(self, task: TaskT, options: OptionsT, context: RunContext) -> Data:
        """Do it; return the result as JSON data."""
        raise NotImplementedError

    def fold(self, keep: int | None) -> RunFold:
        """Return what takes its events in and tells them, of settled calls the last ``keep``, or all.

        It is made by :attr:`told`, which is loaded here: the options of a command do without it.
        """
        return load(self.told)(keep)

    def prepare(self, task: TaskT, options: OptionsT) -> tuple[TaskT, OptionsT]:
        """Return both complete and checked, before anything is spent; twice changes nothing.

        Raises:
            LlmRuntimeError: it is not possible, or this machine lacks something.
        """
        return task, options

    def seated(self, options: OptionsT, terms: Terms) -> OptionsT:
        """Return the options with the seats named after who will answer in them."""
        return options

    def panel(self, options: OptionsT) -> tuple[str, ...]:
        """Return the models that the user put into seats: they answer in place of the configured one."""
        return ()

    def shows(self, task: TaskT) -> bool:
        """Return whether it shows pictures to models: each that is named must see."""
        return False

    def ready(self, task: TaskT, options: OptionsT, terms: Terms) -> None:
        """Refuse what models cannot do that it reaches by itself."""

    def upgrade(self, task: Mapping[str, Any], settings: Mapping[str, Any]) -> tuple[Data, Data]:
        """Return task and options of a log or job file of before version 0.2, whose settings have no options."""
        return dict(task), dict(settings.get("engine", {}))

    def take_up(self, task: TaskT, parent: Mapping[str, Any]) -> TaskT:
        """Return the task completed from the run that :attr:`follow` names.

        Args:
            parent: ``{"run_id", "state", "task", "result"}`` of that run.
        """
        return task

    def spent(self, task: TaskT) -> Spend:
        """Return what it took, by the account in its own folder; bounds count the greater of that and the log's."""
        from llm_runtime.wrappers.accounts import Spend  # help is shown without it

        return Spend()

    def title_of(self, task: TaskT) -> str:
        """Return one line for lists; empty takes the first text of the task."""
        return ""

    def units(self, task: TaskT) -> int:
        """Return how often it does what the protocol's usual run does once."""
        return 1

    def each(self, options: OptionsT) -> int:
        """Return how many calls one of these takes at most; 0 where the options do not say."""
        return 0

    def read_anew(self, options: OptionsT) -> Collection[str]:
        """Return the fields of a result that code reads out of answers: a later release may read them otherwise."""
        return ()

    def outcome(self, result: Mapping[str, Any]) -> RunVerdict | str:
        """Return what it came to; a text is taken as the outcome, an empty one as none."""
        return ""

    def chat_fields(self, turns: Sequence[tuple[str, str]]) -> Data:
        """Return what a chat says of task and options, by field.

        Args:
            turns: pairs of role (``"system"``, ``"user"``, ``"assistant"``) and text, oldest first; one at least is
                the user's.
        """
        return {}

    def chat_answer(self, result: Mapping[str, Any]) -> str:
        """Return what a chat is answered, as Markdown; empty takes the report."""
        return ""

    def handout(self, task: TaskT, options: OptionsT, run_id: str) -> bytes:
        """Return what a finished run made outside its log as one file, which may take its time.

        Raises:
            LlmRuntimeError: it is gone.
        """
        return b""


def hooks_of(run: RunType) -> Hooks[Any, Any]:
    """Return what a kind of run does, loaded once.

    Raises:
        ConfigurationError: what its description names is no such class.
    """
    return _made(run.hooks)


@cache
def _made(ref: Ref) -> Hooks[Any, Any]:
    made = load(ref)
    if not (isinstance(made, type) and issubclass(made, Hooks)):
        raise ConfigurationError(f"{ref} is no subclass of assay.hooks.Hooks")
    return made()  # pyright: ignore[reportUnknownVariableType] - what a reference names has no type
