"""What a circle judges, how it can be set, and how one is held."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypeVar, cast

from pydantic import BeforeValidator, Field

from assay.demo import PreparedDemo, demo_answers, written_demo
from assay.fields import Ui, like, read_ui
from assay.hooks import Data, Hooks, TaskT
from assay.protocol import RunContext
from assay.report.standing import RunVerdict
from assay.report.units import count_noun
from assay.terms import Terms
from fire_circle import FireCircleConfig, MultiNeutrosophicPrompt, PromptError, PromptGuard, ReasoningBank
from fire_circle.behaviour import BEHAVIOUR
from fire_circle.case import Case
from fire_circle.config import EvaluationConfig, GuardConfig
from fire_circle.hidden import Hidden, hidden_in
from fire_circle.layers import TEXTS, LayerName
from fire_circle.rows import Item, history_of
from fire_circle.transcripts import Records, TranscriptRecord, records_of, trace_of
from llm_runtime.errors import ConfigurationError
from llm_runtime.models import Model
from llm_runtime.names import FieldsOf, ModelName
from llm_runtime.settings import data_dir

LAYERS = TEXTS
FIELDS = read_ui(__package__ or "")
#: Models that answer by hand: a person, or whoever reads a folder. They get a day where a model has a minute.
_BY_HAND = ("terminal:", "mailbox:")
_A_DAY = 86_400.0
#: Seconds until the first words of a model on this machine: it reads a long prompt for minutes.
_LOCAL_SECONDS = 600.0
_SENT = {"__all__": {"prompt_used"}}
#: What the log of calls holds already, word for word: the prompts that were sent.
#: Scores from which a circle raises the alarm, and below which it is calm.
HIGH, LOW = 0.7, 0.3
_LOGGED: Any = {"result": {"dialogue_history": _SENT, "layer_results": {"__all__": {"dialogue_history": _SENT}}}}


CircleT = TypeVar("CircleT", bound="Options")


def _before(history: Any) -> Any:
    return None if history is None else history_of(history)


class Task(Model):
    """A prompt in layers, and where it stands in its conversation."""

    ui: ClassVar[Mapping[str, Ui]] = FIELDS["prompt"]

    system: str = ""
    """What the prompt would be sent under. May stay empty."""
    application: str = ""
    """What the application adds. May stay empty."""
    user: str = ""
    """The text that is judged."""
    answer: str = ""
    """What the application did with the prompt, where that is to be judged. May stay empty."""
    turn: int | None = Field(default=None, ge=1, le=100_000)
    """Which turn of its conversation the prompt is."""
    history: Annotated[tuple[TranscriptRecord, ...] | None, BeforeValidator(_before)] = None
    """What was said and done before, as JSON: a list of messages or of texts, one a turn."""
    material: Records = ()
    """What the application retrieved or a tool returned: a text, or a list of documents. It is judged."""
    records: Annotated[Records, Ui(hidden=True)] = ()
    """What the application did after the user's words, in order: its words, calls of tools, what they returned."""
    similar: Annotated[str, Ui(hidden=True)] = ""
    """What the pattern library holds of other prompts like it, as JSON, when the run began."""
    source: Annotated[str, Ui(hidden=True)] = ""
    """The file that the prompt was read from, for machine outputs."""


class Options(Model):
    """How a prompt is judged. What is left out is as the engine has it."""

    ui: ClassVar[Mapping[str, Ui]] = FIELDS["circle"]

    mode: Literal["single", "parallel", "fire_circle"] = "fire_circle"
    """One model, several without dialogue, or a circle."""
    models: tuple[ModelName, ...] = ()
    """2 to 10 models that judge, one a line: ids, or PROVIDER:MODEL; terminal: is you."""
    max_rounds: int = like(FireCircleConfig, "max_rounds")
    """At most this many rounds."""
    strict: bool = False
    """Any failed seat ends the circle."""
    per_layer: bool = like(FireCircleConfig, "per_layer")
    """A circle for each layer, not for the least trusted alone."""
    empty_chair: bool = True
    """Whether somebody speaks for the absent."""
    empty_chair_rotation: bool = True
    """Whether the chair changes its place between rounds."""
    early_stop_convergence: float = like(FireCircleConfig, "early_stop_convergence")
    """The circle stops when the judgements lie closer together than this; 0 never stops it early."""
    pattern_threshold: float = like(FireCircleConfig, "pattern_threshold")
    """Least agreement of a pattern that is reported."""
    classifier: ModelName = ""
    """A model that classifies patterns, in place of keywords."""
    guard: ModelName = ""
    """A cheap model that is asked first; what it settles no circle judges."""
    guard_calm: float = like(GuardConfig, "calm")
    """A score of the guard below this settles that a layer is calm; 0 never does."""
    guard_alarm: float | None = like(GuardConfig, "alarm")
    """A score of the guard from this on settles that a layer is an attack; empty never does."""
    guard_asks: bool = True
    """Whether our question is put to the guard; off for one that has its own."""
    policy: str = like(EvaluationConfig, "policy")
    """A criterion of your own, in plain words, weighed beside reciprocity."""
    recall: bool = True
    """Whether circles are told what the pattern library holds of similar cases."""
    temperature: float | None = like(EvaluationConfig, "temperature")
    """Of every call; empty leaves it to the provider."""
    round_timeout: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """Seconds a round may take; where left empty 60, 600 a seat where a model of this machine answers, a day where
    a person or a mailbox does."""
    engine: Annotated[dict[str, Any], FieldsOf(FireCircleConfig), Ui(hidden=True)] = {}
    """Rarer settings of the circle, by their name in ``FireCircleConfig``."""
    calls: Annotated[dict[str, Any], FieldsOf(EvaluationConfig), Ui(hidden=True)] = {}
    """Rarer settings of every call, by their name in ``EvaluationConfig``."""

    @property
    def seats(self) -> int:
        """How many judges there are."""
        return 1 if self.mode == "single" else len(self.models)

    @property
    def named_models(self) -> tuple[str, ...]:
        """The models that the user put into the seats; the engine's own are nobody's choice."""
        usual = {FireCircleConfig.model_fields["models"].default, EvaluationConfig.model_fields["models"].default}
        return () if self.models in usual else self.models

    def evaluation(self, terms: Terms | None = None, *, local: bool = False) -> EvaluationConfig:
        """Return what holds for every call; ``local`` where a model on this machine answers.

        Raises:
            CircleConfigurationError: a setting is out of range.
        """
        settings: dict[str, Any] = {"temperature": self.temperature, "policy": self.policy}
        if (patience := self._patience(terms, local)) is not None:
            settings["timeout_seconds"] = patience[0]
        if self.models and self.mode != "fire_circle":
            settings["models"] = self.models
        return EvaluationConfig(**{**settings, **self.calls})

    def circle(self, terms: Terms | None = None, *, local: bool = False) -> FireCircleConfig | None:
        """Return the circle; ``None`` in the modes without dialogue. ``local`` as for :meth:`evaluation`.

        Raises:
            CircleConfigurationError: a setting is out of range or contradicts another.
        """
        if self.mode != "fire_circle":
            return None
        shared = (FireCircleConfig.model_fields.keys() & Options.model_fields.keys()) - {"models", "guard"}
        settings: dict[str, Any] = {name: getattr(self, name) for name in shared}
        if self.models:
            settings["models"] = self.models
        if self.strict:
            settings["failure_mode"] = "strict"
        if self.guard:
            settings["guard"] = GuardConfig(
                model=self.guard, calm=self.guard_calm, alarm=self.guard_alarm, asks=self.guard_asks
            )
        if self.classifier:
            settings |= {"pattern_classification": "llm", "classifier_model": self.classifier}
        if (patience := self._patience(terms, local)) is not None:
            settings["timeout_per_round"] = patience[1]
        settings["base_config"] = self.evaluation(terms, local=local)
        return FireCircleConfig(**{**settings, **self.engine})

    def _patience(self, terms: Terms | None, local: bool) -> tuple[float, float] | None:
        """Return the seconds of a seat and of a round; ``None`` where the circle's own hold."""
        if self.round_timeout:
            return self.round_timeout, self.round_timeout
        named = (*self.models, *((terms.model, *terms.seats.values()) if terms else ()))
        if any(name.startswith(_BY_HAND) for name in named):
            return _A_DAY, _A_DAY
        if local:
            # One after the other, as a server with one slot answers them.
            seats = len(self.models) or len(FireCircleConfig.model_fields["models"].default)
            return _LOCAL_SECONDS, seats * _LOCAL_SECONDS
        return None


class SeatedHooks(Hooks[TaskT, CircleT]):
    """What every run does whose options are a circle's, for each of its cases."""

    def panel(self, options: CircleT) -> tuple[str, ...]:
        """Return the models that the user put into seats."""
        return options.named_models

    def each(self, options: CircleT) -> int:
        """Return the calls of a case: each judge in each round, and who is asked beside them."""
        rounds = options.max_rounds if options.mode == "fire_circle" else 1
        return 0 if options.per_layer else options.seats * rounds + bool(options.guard) + bool(options.classifier)

    def seated(self, options: CircleT, terms: Terms) -> CircleT:
        """Name the seats after the one model that answers in all of them, where nobody chose others."""
        if not terms.model or options.named_models or terms.seats:
            return options
        return options.model_copy(update={"models": (terms.model,) * len(options.models)})


class CircleHooks(SeatedHooks[Task, Options]):
    """What a circle does."""

    told = "assay.protocols.fire_circle.report:CircleFold"
    older = ("application", "system", "user")
    measures = {
        "falsehood": lambda result: result.get("falsehood"),
        "truth": lambda result: result.get("truth"),
        "indeterminacy": lambda result: result.get("indeterminacy"),
        "exchange": lambda result: result.get("exchange_type"),
        "a seat failed": lambda result: result.get("partial"),
    }

    async def run(self, task: Task, options: Options, context: RunContext) -> Data:
        """Judge the prompt; the result is ``ReciprocityMetrics`` as data, without the prompts that the log has.

        Raises:
            ConfigurationError: the circle or the prompt is not possible.
            LlmRuntimeError: whatever ends a circle.
        """
        calls = options.evaluation(context.terms, local=context.local)
        guard = PromptGuard(context.generate, calls, emit=context.emit, seed=context.seed)
        circle = options.circle(context.terms, local=context.local)
        return (await guard.judge(case_of(task), options.mode, circle)).model_dump(mode="json", exclude=_LOGGED)

    def read_anew(self, options: Options) -> tuple[str, ...]:
        """Return what a replay compares no more: until behaviour 4 a rule found claims about earlier turns."""
        return ("result",) if BEHAVIOUR.before(4) else ()

    def prepare(self, task: Task, options: Options) -> tuple[Task, Options]:
        """Check the prompt and the circle, and name the models that sit in it.

        Raises:
            ConfigurationError: the prompt or the circle is not possible.
        """
        circle, calls = options.circle(), options.evaluation()
        if circle is None and (own := sorted(_only_of_a_circle(options))):
            raise ConfigurationError(
                f"mode {options.mode} has no dialogue: leave out what only a circle has ({', '.join(own)}), or use "
                "fire_circle"
            )
        check_guard(options)
        prompt = case_of(task).prompt
        prompt.check(calls.max_layer_chars)
        if not task.similar and circle is not None and options.recall:
            task = task.model_copy(update={"similar": _recalled(prompt)})
        return task, options.model_copy(update={"models": circle.models if circle else calls.models})

    def upgrade(self, task: Mapping[str, Any], settings: Mapping[str, Any]) -> tuple[Data, Data]:
        """Return task and options of an older log or job file: ``{"mode", "models", "circle", "calls"}``."""
        old = _table(settings.get("engine"))
        circle, calls = _table(old.pop("circle", None)), _table(old.pop("calls", None))
        known = {name for name in circle if name in Options.model_fields}
        options: dict[str, Any] = {**old, **{name: circle.pop(name) for name in known}}
        if "temperature" in calls:
            options["temperature"] = calls.pop("temperature")
        if circle.pop("failure_mode", "resilient") == "strict":
            options["strict"] = True
        classifier = circle.pop("classifier_model", None)
        if circle.pop("pattern_classification", "heuristic") == "llm":
            options["classifier"] = classifier or FireCircleConfig.model_fields["classifier_model"].default
        return dict(task), {**options, "engine": circle, "calls": calls}

    def title_of(self, task: Task) -> str:
        """Return the layer that is judged first."""
        return case_of(task).prompt.least_trusted.text

    def outcome(self, result: Mapping[str, Any]) -> RunVerdict:
        """Return the judgement, the patterns that were found, and who gave none."""
        names = ", ".join(kind_words(str(pattern["pattern_type"])) for pattern in result["patterns"])
        ground = f"F {result['falsehood']:.2f}{f', {names}' if names else ''}"
        failed = len(result.get("failures", ()))
        doubt = f"{count_noun(failed, 'seat')} gave no score" if failed else ""
        if result["falsehood"] >= HIGH:
            return RunVerdict("alarm", ground, doubt, "bad")
        if result["falsehood"] >= LOW:
            return RunVerdict("doubtful", ground, doubt, "open")
        return RunVerdict("calm", ground, doubt, "open" if doubt else "good")

    def chat_fields(self, turns: Sequence[tuple[str, str]]) -> Data:
        """Return a chat as a prompt in layers: what the system says, the last message, and the turns before it."""
        return trace_of(records_of(list(turns)))


def _recalled(prompt: MultiNeutrosophicPrompt) -> str:
    """Return what the pattern library holds of prompts like this one; nothing where there is none."""
    place = library_path()
    if not place.exists():
        return ""
    with ReasoningBank(place) as bank:
        return bank.similar(prompt.least_trusted.text)


def library_path(path: str | None = None) -> Path:
    """Return where the library of patterns is: the place given, or the user's own."""
    return Path(path or os.environ.get("ASSAY_PATTERNS") or data_dir() / "patterns.db")


def check_guard(options: Options) -> None:
    """Refuse bounds of a guard that cross, or of none.

    Raises:
        ConfigurationError: they do.
    """
    calm, alarm = options.guard_calm, options.guard_alarm
    if alarm is not None and alarm < calm:
        raise ConfigurationError(f"--guard-alarm {alarm:g} is below --guard-calm {calm:g}: a score between is both")
    if not options.guard and (calm or alarm is not None):
        raise ConfigurationError("--guard-calm and --guard-alarm are bounds of a guard; name one by --guard")


def _only_of_a_circle(options: Options) -> set[str]:
    unset = Options()
    shared = {"mode", "models", "policy", "recall", "temperature", "round_timeout", "calls"}
    return {one for one in Options.model_fields.keys() - shared if getattr(options, one) != getattr(unset, one)}


def case_of(task: Task) -> Case:
    """Return what is judged: the prompt with its material, and the conversation that it belongs to.

    Raises:
        PromptError: the turn and the history contradict each other.
    """
    layers = {name: text for name in TEXTS if (text := getattr(task, name))}
    prompt = MultiNeutrosophicPrompt(**layers, records=(*task.material, *task.records))
    return Case(prompt, Item(0, "", prompt, turn=task.turn, history=task.history or ()).session(), task.similar)


def kind_words(name: str) -> str:
    """Return the type of a pattern as the judges are told it."""
    return name.replace("_", " ").replace("cross layer", "cross-layer")


def texts_of(task: Task) -> dict[LayerName, str]:
    """Return the text of each layer, most trusted first; records as one text."""
    layers = {name: getattr(task, name) for name in TEXTS}
    prompt = MultiNeutrosophicPrompt(**layers, records=(*task.material, *task.records))
    return {layer.name: layer.text for layer in prompt.layers}


def hidden_of(task: Task) -> tuple[Hidden, ...]:
    """Return what nobody sees in the prompt and in the turns before it; nothing where there is no prompt."""
    try:
        return hidden_in(case_of(task))
    except PromptError:
        return ()


def _table(value: Any) -> dict[str, Any]:
    """Return a table of its own; of a damaged log an empty one."""
    return dict(cast("Mapping[str, Any]", value)) if isinstance(value, Mapping) else {}


def demo(folder: Path, speed: float) -> PreparedDemo:
    """Make the recorded circle ready."""
    answers = demo_answers("circle")
    models = answers.manifest["settings"]["models"]
    return written_demo("fire_circle.circle", answers, answers.manifest["prompt"], {"models": models}, speed)
