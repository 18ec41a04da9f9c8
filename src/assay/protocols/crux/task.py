"""What a debate is about, who holds it, how it can be set, and how one is held."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field

from assay.fields import Ui, like, read_ui
from assay.hooks import Data, Hooks
from assay.protocol import RunContext
from assay.protocols.crux import PROTOCOL
from assay.protocols.crux.people import PeopleFolder, open_people, panel_of
from assay.protocols.crux.retrieving import EmbedOption, embedder, index_folder
from assay.report.standing import Leaning, RunVerdict
from assay.report.units import count_noun
from crux import ChosenModel, Debate, DebateConfig, Evidence, ModelTable, Persona
from crux.debate import MAX_TOPIC
from llm_runtime.errors import ConfigurationError, MissingExtraError
from llm_runtime.messages import Generate, Reply, Request
from llm_runtime.models import Model, fits
from llm_runtime.names import FieldsOf, ModelName
from llm_runtime.rewording import instead

_TABLE = ModelTable()
_OF_THE_ENGINE = ("aspects", "rooms_per_aspect", "flip_test", "baselines", "anyway", "questions")


def _on_one_line(topic: Any) -> Any:
    return " ".join(topic.split()) if isinstance(topic, str) else topic


def _number(aspects: Any) -> Any:
    """``"3"`` of a flag, a form or a column as 3; everything else is left to the type."""
    return int(aspects) if isinstance(aspects, str) and aspects.isdecimal() else aspects


FIELDS = read_ui(__package__ or "")


class Task(Model):
    """What is debated."""

    ui: ClassVar[Mapping[str, Ui]] = FIELDS["topic"]

    topic: Annotated[str, BeforeValidator(_on_one_line)] = Field(
        min_length=1, max_length=MAX_TOPIC, description="give a question that can be answered yes or no"
    )
    evidence: Annotated[list[Evidence], Ui(hidden=True)] = []
    """Texts that are read out in crux rooms: ``{"id", "text", "room", "after_turn"}``."""


class Options(Model):
    """Who debates, and how it goes."""

    ui: ClassVar[Mapping[str, Ui]] = FIELDS["debate"]

    personas: tuple[str, ...] = ()
    """Who debates, one name or id a line; two or more."""
    aspects: Annotated[Literal["auto", 2, 3, 4], BeforeValidator(_number)] = like(DebateConfig, "aspects")
    """How many rounds."""
    rooms_per_aspect: int = like(DebateConfig, "rooms_per_aspect")
    """Rooms that dig for a crux, at most so many a round."""
    flip_test: bool = like(DebateConfig, "flip_test")
    """Grant each card's opposite answer, and a placebo, three times a side: 12 calls a card."""
    baselines: bool = like(DebateConfig, "baselines")
    """Also ask for an answer without a debate, in two ways: 2 calls."""
    questions: tuple[str, ...] = like(DebateConfig, "questions")
    """Questions that are the rounds, one a line, up to 4; else the topic is broken down."""
    anyway: bool = like(DebateConfig, "anyway")
    """Debate a topic on which nobody wrote anything, too."""
    fast: ModelName = _TABLE.fast.id
    """The model of the small steps."""
    strong: ModelName = _TABLE.strong.id
    """The model that speaks and writes cards."""
    embed: EmbedOption = "none"
    """Find passages by meaning too, with a model that makes vectors."""
    models: tuple[ModelName, ...] = ()
    """Models that the debaters take in turn to speak, one a line: ids, or PROVIDER:MODEL."""
    takes_temperature: bool = True
    """Whether the models take a temperature."""
    engine: Annotated[dict[str, Any], FieldsOf(DebateConfig), Ui(hidden=True)] = {}
    """Rarer settings, by their name in ``DebateConfig``."""
    panel: Annotated[list[dict[str, Any]], Ui(hidden=True)] = []
    """The personas whole, texts included: so a run can be replayed and forked wherever its log is."""
    people: Annotated[PeopleFolder, Ui(hidden=True)] = ""
    """The folder that the personas were looked up in."""

    def _own(self) -> tuple[str, str]:
        """Return the models that belong to no debater: the panel's first, where the user named none."""
        fast, strong = self.fast, self.strong
        if self.models:
            fast = self.models[0] if fast == _TABLE.fast.id else fast
            strong = self.models[0] if strong == _TABLE.strong.id else strong
        return fast, strong

    def config(self) -> DebateConfig:
        """Return the engine's configuration.

        Raises:
            CruxConfigurationError: one setting is out of range or contradicts another.
        """
        named = (*self._own(), *self.models)
        fast, strong, *panel = (ChosenModel(id=one, takes_temperature=self.takes_temperature) for one in named)
        settings: dict[str, Any] = {"models": ModelTable(fast=fast, strong=strong, panel=tuple(panel))}
        settings |= {name: getattr(self, name) for name in _OF_THE_ENGINE}
        return DebateConfig(**{**settings, **self.engine})


class DebateHooks(Hooks[Task, Options]):
    """What a debate does."""

    told = "assay.protocols.crux.report:DebateFold"
    older = ("topic",)
    measures = {
        "crux cards": lambda result: len(result.get("cards", ())),
        "aspects": lambda result: len(result.get("aspects", ())),
        "shifts of position": lambda result: len(result.get("shifts", ())),
    }

    async def run(self, task: Task, options: Options, context: RunContext) -> Data:
        """Hold the debate; the result is ``DebateResult`` as data.

        Raises:
            ConfigurationError: the topic, a persona or a setting cannot be used.
            LlmRuntimeError: whatever ended the debate; what there was by then is in its ``crux.debate_ended``.
        """
        clock = ThinkingClock(context.generate)
        debate = Debate(
            task.topic,
            seated(options),
            generate=clock.generate,
            config=options.config(),
            emit=context.emit,
            seed=context.seed,
            clock=clock,
            evidence=task.evidence,
            embed=await embedder(options.embed, context),
            index=index_folder(),
        )
        async for _ in debate.events():
            pass
        if debate.stopped_by is not None:
            raise debate.stopped_by
        return debate.result().model_dump(mode="json")

    def prepare(self, task: Task, options: Options) -> tuple[Task, Options]:
        """Look the panel up and check the settings.

        Raises:
            ConfigurationError: there are fewer than two personas, one is named twice or unknown, or a setting is
                wrong.
        """
        options.config()
        if options.panel:
            seated(options)
            return task, options
        panel = panel_of(options.personas, open_people(options.people))
        data = [persona.model_dump(mode="json") for persona in panel]
        names = tuple(persona.id for persona in panel)
        return task, options.model_copy(update={"panel": data, "personas": names, "people": ""})

    def upgrade(self, task: Mapping[str, Any], settings: Mapping[str, Any]) -> tuple[Data, Data]:
        """Return task and options of an older log or job file: ``{"models", "takes_temperature", "debate"}``.

        Raises:
            ConfigurationError: they are damaged.
        """
        refused = ConfigurationError("a debate: the settings in the log are damaged")
        with instead(refused, TypeError, ValueError, LookupError):
            return dict(task), _upgraded(dict(settings.get("engine", {})), settings.get("personas", []))

    def outcome(self, result: Mapping[str, Any]) -> RunVerdict:
        """Return how many questions it turns on, and how many of them are settled."""
        cards = result["cards"]
        if not cards:
            return RunVerdict("no crux was found")
        resolved, gist = sum(card["resolved"] for card in cards), " · ".join(card["question"] for card in cards)
        doubt = f"{len(cards) - resolved} unresolved" if resolved < len(cards) else ""
        leaning: Leaning = "open" if doubt else "good"
        return RunVerdict(count_noun(len(cards), "crux card"), f"{resolved} resolved", doubt, leaning, gist)

    def chat_fields(self, turns: Sequence[tuple[str, str]]) -> Data:
        """Return the last message as a topic, before the two authors that come with Assay."""
        from crux.personas.shipped import shipped_authors

        topic = next(text for role, text in reversed(turns) if role == "user")
        return {"topic": topic, "personas": list(shipped_authors())}

    def panel(self, options: Options) -> tuple[str, ...]:
        """Return the models that the user put into seats."""
        return options.models


def need_extra() -> None:
    """Refuse at once what would fail at the first retrieval.

    Raises:
        MissingExtraError: a library of the extra ``debate`` is not installed.
    """
    if any(find_spec(module) is None for module in PROTOCOL.modules):
        raise MissingExtraError("a debate", "debate")


def seated(options: Options) -> list[Persona]:
    """Return the panel as the run holds it.

    Raises:
        ConfigurationError: a persona's data is damaged.
    """
    with fits("a persona in the run's log is damaged at "):
        return [Persona.model_validate(data) for data in options.panel]


class ThinkingClock:
    """The clock of a debate: milliseconds that models have thought so far.

    Wall time would make a replay differ from its recording; this is recorded with the answers.
    """

    def __init__(self, generate: Generate) -> None:
        self._generate = generate
        self._milliseconds = 0

    async def generate(self, request: Request) -> Reply:
        """Ask the model, and count how long it thought."""
        reply = await self._generate(request)
        self._milliseconds += reply.latency_ms
        return reply

    def __call__(self) -> int:
        return self._milliseconds


def _upgraded(old: dict[str, Any], panel: list[Any]) -> dict[str, Any]:
    debate = dict(old.pop("debate", {}))
    own = {name: debate.pop(name) for name in list(debate) if name in _OF_THE_ENGINE}
    if models := old.pop("models", None):
        own |= {"fast": models[0], "strong": models[-1]}
    return {**own, **old, "engine": debate, "panel": panel}
