"""A run that proves findings by tests: what it is given, how it is set, and how it goes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property, partial
from math import inf
from typing import Annotated, Any

from assay.fields import Ui
from assay.hooks import Data, Hooks
from assay.protocol import RunContext
from assay.protocols.crucible.proved import Shown, findings_section, headline, shown
from assay.report.cases import BenchCase, CaseBench, headings
from assay.report.generic import GenericFold
from assay.report.standing import RunVerdict
from assay.report.story import Fact, Plain, Section, Story
from assay.report.units import count_noun
from crucible.asking import Asker
from crucible.config import EngineConfig
from crucible.material import Attachment
from crucible.openrouter.client import OpenRouterClient
from crucible.proving import BoxRequest, ProvenChange, Ran, States, judge, predict
from crucible.proving.events import FindingProven
from crucible.proving.prover import FindingCase, Proven, Texts, prove
from crucible.proving.records import Proof, Witness
from crucible.records import FindingRecord, Severity
from crucible.reviewing import CheckedFinding, at_least, checked
from llm_runtime.errors import BudgetExceeded, UnknownPrice
from llm_runtime.events import Event
from llm_runtime.messages import CallLabel, Message, Request
from llm_runtime.models import Model
from llm_runtime.names import ModelName
from llm_runtime.rewording import reworded
from llm_runtime.tasks import gather
from llm_runtime.wrappers.timed import Deadline, timed

_LABEL = CallLabel("crucible", "box")
#: So many files of tests are shown to a prover.
_NEAR = 2


class ProofTask(Model):
    """Findings, and the change that they are about; the log needs no repository to be replayed."""

    findings: Annotated[list[FindingRecord], Ui(hidden=True)] = []
    dossier: Annotated[list[Attachment], Ui(hidden=True)] = []
    change: Annotated[ProvenChange, Ui(hidden=True)] = ProvenChange()
    review: Annotated[str, Ui(hidden=True)] = ""
    """The run that found them; empty where they come from elsewhere."""
    looked_at: Annotated[str, Ui(hidden=True)] = ""
    """What was examined, as the review says it."""
    issue: Annotated[str, Ui(hidden=True)] = ""
    """The words of whoever reported them, which may say what is right."""

    @cached_property
    def listed(self) -> list[CheckedFinding]:
        """The findings with their places, the gravest first; their numbers are those of their places here."""
        return checked(self.findings, self.dossier)

    def shown(self, proven: Mapping[int, Proven]) -> list[Shown]:
        """Return them with what running showed, by their numbers."""
        return shown(self.listed, proven, {file.path: file.head or "" for file in self.change.files})


class ProofOptions(Model):
    """Which findings are proved, and by whom."""

    weight: Annotated[Severity, Ui(flag="--weight", show_default=True)] = "minor"
    """The least grave findings that are proved."""
    default_model: Annotated[ModelName, Ui(metavar="MODEL")] = EngineConfig.model_fields["default_model"].default
    """The model that proves, where neither Model nor Panel names one."""
    models: Annotated[tuple[ModelName, ...], Ui(metavar="A,B,C", label="Panel")] = ()
    """Models of the review, who found them first: the second proves, so that nobody vouches for their own."""
    prove_budget: Annotated[float | None, Ui(hidden=True)] = None
    """Dollars that proofs may take; what is left then stays opinion, and the run ends well."""
    env: Annotated[tuple[str, ...], Ui(metavar="PATH")] = ()
    """A folder that the tests need to read besides, such as one with installed packages outside the repository."""

    @property
    def provers(self) -> tuple[str, ...]:
        """Who proves, who stands in, and who reads words blind."""
        finder, *others = self.models or (self.default_model,)
        prover = (others or [finder])[0]
        return prover, others[1] if len(others) > 1 else prover, finder


class ProofHooks(Hooks[ProofTask, ProofOptions]):
    """What a run of proofs does."""

    told = "assay.protocols.crucible.proof:ProofFold"

    def title_of(self, task: ProofTask) -> str:
        """Return one line for lists."""
        return f"Proofs of {count_noun(len(task.findings), 'finding')} of {task.change.revisions or 'what is here'}"

    def panel(self, options: ProofOptions) -> tuple[str, ...]:
        """Return the models that the user put into seats."""
        return options.models

    def outcome(self, result: Mapping[str, Any]) -> RunVerdict:
        """Return how many findings are proved."""
        proved = sum(one["proof"]["verdict"] == "proved" for one in result["proofs"])
        told = f"{proved} of {count_noun(len(result['proofs']), 'tried finding')} proved"
        return RunVerdict(told, "by tests that ran", leaning="bad" if proved else "neutral")

    async def run(self, task: ProofTask, options: ProofOptions, context: RunContext) -> Data:
        """Have each finding proved, side by side; the result has a :class:`Proven` for each that was tried.

        Raises:
            ConfigurationError: there is no box, or the repository of the change is not here.
            LlmRuntimeError: the budget or the time ends it.
        """
        chosen = at_least(task.listed, options.weight)
        asker = Asker(OpenRouterClient(context.generate, context.emit), context.emit)
        # What is left of a budget goes to the gravest first.
        turn = asyncio.Semaphore(len(chosen) + 1 if options.prove_budget is None else 1)
        with ExitStack() as stack:
            box = _Box(task.change, context, stack, options.env)

            async def each(number: int, one: CheckedFinding) -> Data:
                case = _case(task, number, one, box)
                try:
                    async with turn:
                        came = await prove(case, asker, options.provers, context.seed)
                except BudgetExceeded as fault:
                    if options.prove_budget is None or isinstance(fault, UnknownPrice):
                        raise
                    spent = Proof(finding=case.id, verdict="not reproduced", refused="the budget for proofs is spent")
                    came = Proven(proof=spent)
                proven = came.model_dump(mode="json")
                told = {"verdict": came.proof.verdict, "title": one.found.title}
                context.emit(FindingProven(number=number, proven=proven, **told))
                return proven

            return {"proofs": await gather(each(number, one) for number, one in enumerate(chosen, 1))}


class _Box:
    """Runs tests, each asked for once: the log keeps what came of it, and a replay takes it from there."""

    def __init__(self, change: ProvenChange, context: RunContext, stack: ExitStack, env: Sequence[str]) -> None:
        self._change, self._stack, self._env = change, stack, env
        self._states: States | None = None
        self._ask = timed(context.generate, Deadline(context.terms.deadline or inf))
        self._ran, self._turns = dict[str, Ran](), dict[str, asyncio.Lock]()
        context.programs[_LABEL.phase] = self._answer

    async def __call__(self, ask: BoxRequest) -> Ran:
        async with self._turns.setdefault(ask.key, asyncio.Lock()):
            if ask.key not in self._ran:
                request = Request(f"tool:{_LABEL.phase}", (Message("user", ask.model_dump_json()),), _LABEL)
                self._ran[ask.key] = Ran.model_validate_json((await self._ask(request)).text)
        return self._ran[ask.key]

    async def _answer(self, asked: Mapping[str, Any]) -> str:
        from sandbox import NoIsolation

        with reworded("nothing can be proved without a box", NoIsolation):
            # States are laid out when the first run is wanted, and taken away at the end.
            self._states = self._states or self._stack.enter_context(States(self._change, env=self._env))
            return (await self._states(BoxRequest.model_validate(asked))).model_dump_json()


def _case(task: ProofTask, number: int, one: CheckedFinding, box: _Box) -> FindingCase:
    change, places, found = task.change, [str(place) for place in one.places], one.found

    async def judged(witness: Witness) -> Proof:
        check = await predict(change, witness, box)
        if not check.ok:
            refused = {"refused": check.what, "checks": [check], "runs": check.runs, "witness": witness}
            return Proof.model_validate({"finding": one.fingerprint, "verdict": "not reproduced", **refused})
        told = {"issue": task.issue} if task.issue else {}
        return await judge(change, witness, places, one.fingerprint, box, told=told)

    told = filter(None, (found.title, one.place, found.quote, found.fails, found.mend, task.issue))
    return FindingCase(one.fingerprint, number, "\n\n".join(told), _material(change, one), change.command, judged)


def _material(change: ProvenChange, one: CheckedFinding) -> Texts:
    """Return what a prover reads: the change, the finding's files on both sides, tests near it, words about it."""
    lines = {place.file: place.lines[0] if place.lines else 1 for place in one.places}
    texts = [("THE CHANGE", change.diff, 1)]
    for file in change.files:
        if not lines or file.path in lines:
            sides = (("AFTER", file.head), ("BEFORE", None if change.single else file.base))
            texts += [(f"{file.path}, {side}", text or "", lines.get(file.path, 1)) for side, text in sides]
    texts += [(f"TESTS NEAR IT: {page.path}", page.text, 1) for page in change.near[:_NEAR]]
    texts.append(("DOCUMENTATION", "\n\n".join(f"{at.path}:{at.line}\n{at.text}" for at in change.docs), 1))
    return [one for one in texts if one[1].strip()]


class ProofFold(GenericFold):
    """The fold of a run of proofs: it tells what is proved by now, also where the run was stopped."""

    protocol = "Crucible, proofs"
    lines = {FindingProven: "{verdict}: {title:line}"}

    def _start(self) -> None:
        self.proven: dict[int, Proven] = {}

    def _take(self, event: Event, at: int) -> None:
        if isinstance(event, FindingProven):
            self.proven[event.number] = Proven.model_validate(event.proven)

    @cached_property
    def _task(self) -> ProofTask:
        told = self.run.started.task if self.run.started else {}
        return ProofTask.model_validate({name: told[name] for name in ProofTask.model_fields if name in told})

    @property
    def shown(self) -> list[Shown]:
        """The findings with what running showed of them by now."""
        return self._task.shown(self.proven)

    def story(self) -> Story:
        """Return the report: the findings by what running showed of them, then how the run went."""
        told, ones = super().story(), self.shown
        looked = Section("What was looked at", (Plain(self._task.looked_at),)) if self._task.looked_at else None
        facts = (Fact("Findings", headline(ones)), *told.facts)
        parts = (findings_section(ones), looked, *told.sections)
        return replace(told, facts=facts, sections=tuple(one for one in parts if one), bench=partial(self._bench, ones))

    def _bench(self, ones: list[Shown]) -> CaseBench:

        def one(shown: Shown) -> BenchCase:
            found, cells = shown.finding, (shown.finding.severity, shown.standing, shown.finding.place)
            proved, text = shown.standing == "proved", "\n\n".join((*shown.prose, found.found.quote))
            rest = (text, shown.standing, self.run_id, found.fingerprint)
            state = "failed" if proved else "done"
            return BenchCase(found.found.title, state, cells, *rest, detail=lambda: shown.blocks)

        return CaseBench(headings("Severity", "Shown", "Place"), tuple(map(one, ones)))
