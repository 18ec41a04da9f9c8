"""A suite of cases as one run: what is judged, how, and when a build must stop."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeAlias, cast

from pydantic import Field

from assay.fields import Ui
from assay.hooks import Data
from assay.protocol import RunContext
from assay.protocols.fire_circle import task as circle
from assay.protocols.fire_circle.gating.cases import Case
from assay.report.standing import RunVerdict
from assay.report.units import count_noun
from assay.terms import Terms
from fire_circle import EvaluationError, FireCircleConfig, PromptError, PromptGuard
from fire_circle.asking import Metered
from fire_circle.binding import bound_to, differing
from fire_circle.gates.conditions import Conditions, Gate, check_gates, gate_of, with_usual
from fire_circle.gates.verdicts import CaseVerdict, GateResult, Spared, spared_by, tried, verdict_of
from fire_circle.measurement.scores import Rule
from fire_circle.results import ALARM, NeutrosophicEvaluation, Spend
from fire_circle.studies import events
from fire_circle.studies.figures import read_figures
from fire_circle.study import item_seed
from llm_runtime.canonical import canonical_json
from llm_runtime.errors import CallError, ConfigurationError
from llm_runtime.messages import CallLabel, Message, Request
from llm_runtime.models import Model
from llm_runtime.names import Folder, ModelName
from llm_runtime.rewording import reworded
from llm_runtime.tasks import gather

Said: TypeAlias = tuple[NeutrosophicEvaluation, ...]
CANARY = "canary"
"""The tag of cases with a known verdict, which are asked first where verdicts are asked anew."""
REGRESSION = "regression"
"""In ``fail_on``: what the baseline has as well stops no build."""


def read_lines(text: str) -> list[Any]:
    """Read what a form takes: a JSON list of cases, or one a line; a case without an id has its place for one.

    Raises:
        ConfigurationError: a line is not JSON.
    """
    lines = [text] if text.lstrip().startswith("[") else [line for line in text.split("\n") if line.strip()]
    judged: list[Any] = []
    for number, line in enumerate(lines, 1):
        with reworded(f"cases, line {number}, is not JSON", ValueError, RecursionError):
            judged.append(json.loads(line))
    cases = cast("list[Any]", judged[0]) if judged and isinstance(judged[0], list) else judged
    numbered = (({"id": str(at)}, case) for at, case in enumerate(cases, 1))
    return [number | cast("dict[str, Any]", case) if isinstance(case, dict) else case for number, case in numbered]


class Task(Model):
    """Cases that one circle judges, each by itself."""

    ui: ClassVar[Mapping[str, Ui]] = circle.FIELDS["cases"]

    name: str = Field(default="suite", pattern=r"^[\w.-]{1,80}$")
    """What the suite is called in reports and locks: letters, digits, dots and dashes."""
    cases: tuple[Case, ...] = Field(min_length=1)
    """A JSON list of cases, or one a line: {"id", "system", "application", "user", "answer", "turn", "history"}."""
    known: Annotated[tuple[CaseVerdict, ...], Ui(hidden=True)] = ()
    """Verdicts that a lock has; nobody is asked about their cases."""
    mark: Annotated[str, Ui(hidden=True)] = ""
    """A digest of the suite as it was read, by which the same command goes on with an unfinished run."""


class Options(circle.Options):
    """How a suite is judged, and what stops a build."""

    ui: ClassVar[Mapping[str, Ui]] = {**circle.Options.ui, **circle.FIELDS["gate"]}

    threshold: float | None = Field(default=None, ge=0, le=1)
    """The alarm is raised from this F [default: 0.7, or the study's]."""
    rule: Rule | None = None
    """How F is made: maximum of all, mean of round 1, chair or quantile [default: maximum, or the study's]."""
    study: Folder = ""
    """The folder of a study of this very circle, whose threshold and rule hold."""
    scales: Annotated[dict[str, tuple[float, ...]], Ui(hidden=True)] = {}
    """Of the study's judges."""
    cascade: float = Field(default=0.0, ge=0, lt=1)
    """Let round 1 decide alone where all its F lie this far from the threshold; 0 never does."""
    fail_on: tuple[str, ...] = ()
    """What else stops the build, e.g. 'patterns>=2' or 'hidden>=1'; one on F replaces the default (repeatable)."""
    allow_partial: bool = False
    """Let a case pass where a seat failed or an alarm fell silent."""
    recall: Annotated[bool, Ui(hidden=True)] = False
    """A verdict must not hang on what one machine remembers."""
    target: ModelName = ""
    """A model that answers each prompt which has no answer yet; its answers are judged."""
    concurrency: int = Field(default=4, ge=1, le=256)
    """Cases at a time."""

    @property
    def gates(self) -> tuple[Gate, ...]:
        """Every condition that stops the build; one on F is always among them."""
        named = [gate_of(text) for text in self.fail_on if text != REGRESSION]
        if self.threshold is not None:
            named.insert(0, gate_of(f"F>={self.threshold:g}"))
        elif all(gate.measure != "F" for gate in named):
            named.insert(0, gate_of(f"F>={ALARM}"))
        return with_usual(named, self.mode, self.max_rounds)

    @property
    def conditions(self) -> Conditions:
        """All that stops a build."""
        return Conditions(self.gates, self.allow_partial)

    def circle(self, terms: Terms | None = None, *, local: bool = False) -> FireCircleConfig | None:
        """Return the circle, with the bounds of its cascade; otherwise as for one prompt."""
        config = super().circle(terms, local=local)
        if config is None or not self.cascade:
            return config
        at, wide = ALARM if self.threshold is None else self.threshold, self.cascade
        # Near the ends of the scale there is no such distance: half of what is left stands for it.
        return config.model_copy(update={"certain": (max(at - wide, at / 2), min(at + wide, (1 + at) / 2))})


class GateHooks(circle.SeatedHooks[Task, Options]):
    """What a gate does."""

    told = "assay.protocols.fire_circle.report.gate_story:GateFold"
    measures = {
        "cases": lambda result: len(result.get("verdicts", ())),
        "stopped by": lambda result: sum(bool(v.get("fired") or v.get("error")) for v in result.get("verdicts", ())),
    }
    several = True
    seatless = True

    async def run(self, task: Task, options: Options, context: RunContext) -> Data:
        """Judge every case that is not known; the result is ``GateResult`` as data.

        Raises:
            BudgetExceeded, DeadlineExceeded: what was answered is kept; resume to go on.
            LlmRuntimeError: whatever else ends the whole run; a case without a verdict does not.
        """
        known = {verdict.id: verdict for verdict in task.known}
        context.emit(events.PassesPlanned(title=self.title_of(task), passes=[("cases", len(task.cases), len(known))]))
        context.emit(events.PassStarted(name="cases"))
        turn = asyncio.Semaphore(options.concurrency)

        async def each(case: Case) -> CaseVerdict:
            if case.id in known:
                return known[case.id]
            async with turn:
                verdict, said = await _judged(case, options, context)
            found = events.ItemFinished(name=case.id, falsehood=verdict.falsehood, fault=verdict.error)
            context.emit(found.model_copy(update={"verdict": verdict, "said": said}))
            return verdict

        return concluded(task, options, await gather(each(case) for case in task.cases)).model_dump(mode="json")

    def prepare(self, task: Task, options: Options) -> tuple[Task, Options]:
        """Check every case, the circle and the gates; take threshold and rule of a study where one is named.

        Raises:
            ConfigurationError: something is not possible; the case is named.
        """
        if options.study:
            options = options.model_copy(update={**_of_study(options), "study": ""})
        check_gates(options.gates, options.mode, options.max_rounds)
        options = options.model_copy(update={"recall": False})
        if options.rule == "quantile" and not options.scales:
            raise ConfigurationError("--rule quantile: the scales of judges come from a study; name it by --study")
        if options.cascade and options.mode != "fire_circle":
            raise ConfigurationError(f"--cascade: mode {options.mode} has one round; leave it out")
        seen: set[str] = set()
        cases: list[Case] = []
        for case in task.cases:
            if case.id in seen:
                raise ConfigurationError(f"two cases are called {case.id[:60]}; give each an id of its own")
            seen.add(case.id)
            with reworded(f"case {case.id[:60]}", ConfigurationError):
                ready, asked = circle.CircleHooks().prepare(case, options)
                cases.append(cast("Case", ready))
                options = cast("Options", asked)
        return task.model_copy(update={"cases": tuple(cases)}), options

    def title_of(self, task: Task) -> str:
        """Return one line for lists."""
        return f"Gate: {task.name}, {len(task.cases)} {'case' if len(task.cases) == 1 else 'cases'}"

    def units(self, task: Task) -> int:
        """Return how many cases there are to judge."""
        return len(task.cases)

    def outcome(self, result: Mapping[str, Any]) -> RunVerdict:
        """Return how many cases stopped the build."""
        gate = GateResult.model_validate(result)
        total, failed = len(gate.verdicts), len(gate.failed)
        if gate.worse and not failed:
            return RunVerdict("worse than the baseline", count_noun(len(gate.worse), "change"), leaning="bad")
        if failed:
            return RunVerdict(f"{failed} of {count_noun(total, 'case')} stopped the build", leaning="bad")
        return RunVerdict(f"{count_noun(total, 'case')}, all passed", leaning="good")


def _of_study(options: Options) -> Mapping[str, object]:
    """Return the threshold and the rule of a study of this very circle.

    Raises:
        ConfigurationError: it is of another one, or promises nothing.
    """
    figures = read_figures(Path(options.study))
    where, fitted = f"--study {options.study}", figures.calibration
    if fitted is None or not figures.study.prompts:
        raise ConfigurationError(f"{where}: it promises no threshold for a circle: give --threshold, or study anew")
    # Where round 1 is far from the threshold on its side, a cascade leaves out dialogue and changes no alarm.
    used = bound_to(options.model_copy(update={"cascade": 0.0}).circle() or options.evaluation(), {})
    if other := differing({**figures.study.bound_to(), "routes": {}}, used):
        raise ConfigurationError(f"{where}: its threshold is another circle's ({', '.join(other)}); study this one")
    fit = fitted.of(options.rule) if options.rule else fitted.best
    threshold = fitted.checked(fit, where) if options.threshold is None else options.threshold
    return {"threshold": threshold, "rule": fit.rule, "scales": fitted.scales if fit.rule == "quantile" else {}}


def check_routes(study: str | None, routes: object) -> None:
    """Refuse a study whose seats others answered than those of the gate.

    Raises:
        ConfigurationError: they did.
    """
    if study and read_figures(Path(study)).study.routes != routes:
        raise ConfigurationError(
            f"--study {study}: its threshold is another circle's (--model, --seat); study this one"
        )


async def _judged(case: Case, options: Options, context: RunContext) -> tuple[CaseVerdict, Said]:
    metered, answer = Metered(context.generate), case.answer if case.called else ""
    try:
        if options.target and not case.answer:
            answer = (await metered(_question(case, options.target))).text
            if not answer.strip():
                return CaseVerdict(id=case.id, error="the target answered nothing", code=1), ()
            case = case.model_copy(update={"answer": answer})
        local, seed = context.local, item_seed(context.seed, case.id)
        guard = PromptGuard(context.generate, options.evaluation(context.terms, local=local), seed=seed)
        metrics = await guard.judge(circle.case_of(case), options.mode, options.circle(context.terms, local=local))
    except PromptError as fault:
        return CaseVerdict(id=case.id, error=f"the target failed: {fault}", code=1), ()
    except (EvaluationError, CallError) as fault:
        return CaseVerdict(id=case.id, answer=answer, error=f"no verdict: {fault}", code=fault.exit_code), ()
    verdict = verdict_of(case.id, metrics, options.rule or "maximum", options.seats, answer, options.scales)
    return verdict.model_copy(update={"spend": verdict.spend + metered.spend}), metrics.evaluations


def _question(case: Case, model: str) -> Request:
    """Return the prompt itself, as the application under test would be asked it."""
    before = "\n\n".join(text for text in (case.system, case.application) if text)
    said = [record for record in case.history or () if record.role in ("user", "assistant", "turn")]
    history = [Message("assistant" if one.role == "assistant" else "user", one.text) for one in said]
    asked = (*([Message("system", before)] if before else []), *history, Message("user", case.user or before))
    return Request(model, asked, CallLabel("fire_circle", "target", "target"))


def concluded(task: Task, options: Options, verdicts: Sequence[CaseVerdict]) -> GateResult:
    """Return the suite's result: the gates tried on each verdict, whether it is new or known."""
    pairs = list(zip(task.cases, verdicts, strict=True))
    acts = {case.id: case.acted(verdict.answer) for case, verdict in pairs}
    new = [verdict for verdict in verdicts if not verdict.known]
    return GateResult(
        name=task.name,
        gates=tuple(map(str, options.gates)),
        verdicts=tuple(_concluded(case, verdict, acts, options) for case, verdict in pairs),
        spend=sum((verdict.spend for verdict in new), Spend()),
        spared=_spared(new, options),
        notes=tuple(note for case in task.cases if (note := case.spoiled(acts))),
    )


def _spared(new: Sequence[CaseVerdict], options: Options) -> Spared:
    return spared_by([verdict for verdict in new if not verdict.error]) if options.cascade else Spared()


def _concluded(case: Case, verdict: CaseVerdict, acts: Mapping[str, str], options: Options) -> CaseVerdict:
    hidden = len(circle.hidden_of(case.model_copy(update={"answer": verdict.answer or case.answer})))
    told = {"tags": case.tags, "moved": case.leaks(acts)}
    return tried(verdict.model_copy(update=told), options.conditions, hidden, case.expect)


def judging(options: Options, terms: Terms, target: Mapping[str, Any]) -> dict[str, object]:
    """Return all that decides a verdict beside the case, by name: circle, prompts, effort, bounds, rule, target."""
    return {
        **bound_to(options.circle() or options.evaluation(), terms.routes),
        "mode": options.mode,
        "rule": options.rule or "maximum",
        "scales": {judge: list(own) for judge, own in options.scales.items()},
        "effort": terms.effort,
        "bound of answers": terms.max_tokens,
        "target": {"model": options.target, **target},
    }


def verdict_digest(case: Case, judged_by: Mapping[str, object]) -> str:
    """Return the digest by which a verdict is found; a case that has its answer does not hang on the target."""
    data: dict[str, object] = {**judged_by, "case": circle.case_of(case).digest()}
    if case.answer:
        del data["target"]
    return hashlib.sha256(canonical_json(data)).hexdigest()
