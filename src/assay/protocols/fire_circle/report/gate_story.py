"""The report on a suite: what must not pass, first; then every case, what it cost, and what changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import Any, TypeAlias

from assay.protocols.fire_circle.gating.cases import Case
from assay.protocols.fire_circle.gating.task import Options, concluded
from assay.protocols.fire_circle.gating.task import Task as Suite
from assay.protocols.fire_circle.report.judged import scores_line
from assay.protocols.fire_circle.report.marking import marked_layer
from assay.protocols.fire_circle.report.study_fold import StudyFold
from assay.protocols.fire_circle.report.study_story import FORMS, cost
from assay.protocols.fire_circle.task import Task, kind_words, texts_of
from assay.registry import opened
from assay.report.cases import CaseBench
from assay.report.clean import one_line
from assay.report.outline import Writing, read_outline
from assay.report.story import Block, Marked, Plain, Prose, Quote, Story, Voice
from fire_circle.gates.verdicts import CaseVerdict, GateResult
from fire_circle.hidden import visible
from fire_circle.studies.events import ItemFinished

Judged: TypeAlias = Mapping[str, ItemFinished]


def gate_story(
    result: GateResult, cases: Mapping[str, Task] | None = None, run_id: str = "", judged: Judged | None = None
) -> Story:
    """Return the story of a suite's result.

    Args:
        result: of the suite.
        cases: what was judged, by id, where that is at hand.
        run_id: the run that judged it.
        judged: what every judge said of a case, by id, where that is at hand.
    """
    later = "by the later rounds of the other cases"
    tags = sorted({tag for verdict in result.verdicts for tag in verdict.tags})
    made = {
        "failed": result.failed,
        "passed": sum(verdict.passed for verdict in result.verdicts),
        "excused": [verdict for verdict in result.verdicts if verdict.excused],
        "known": sum(verdict.from_lock for verdict in result.verdicts),
        "worse": result.worse,
        "better": [change for change in result.changes or () if not change.worse],
        "compared": result.changes is not None,
        "tagged": [(tag, [one.passed for one in result.verdicts if tag in one.tags]) for tag in tags],
        "basis": later if result.spared.measured else "by one more round like the first",
    }
    layers = partial(_layers, cases or {})
    changes = {change.subject: change.what for change in result.changes or ()}
    forms: Mapping[str, Callable[[Any], str]] = {
        **_FORMS,
        "changed": lambda verdict: changes.get(verdict.id, ""),
        "text": lambda verdict: "\n\n".join(layer.text for layer in layers(verdict)),
    }
    said = partial(_said, judged or {})
    own: Mapping[str, Callable[[Any], Iterable[Block]]] = {"patterns": _patterns, "layers": layers, "said": said}
    return _outline().story(Writing({**result.__dict__, **made, "run_id": run_id}, forms, own))


def _layers(cases: Mapping[str, Task], verdict: CaseVerdict) -> Iterator[Marked]:
    """Yield what was judged, layer by layer, with what a target answered; nothing where that is not at hand."""
    if case := cases.get(verdict.id):
        texts = texts_of(case.model_copy(update={"answer": verdict.answer or case.answer}))
        yield from (marked_layer(text, name, verdict.patterns, judged=False) for name, text in texts.items() if text)


def _patterns(verdict: CaseVerdict) -> Iterator[Block]:
    for pattern in verdict.patterns:
        kind = kind_words(", ".join((pattern.pattern_type, *(kind.value for kind in pattern.security))))
        yield Plain(f"{kind} ({pattern.model_agreement:.0%}): {_shown(pattern.description)}")
        yield from (Quote(visible(quote).text) for quote in pattern.examples[:3])


def _said(judged: Judged, verdict: CaseVerdict) -> Iterator[Voice]:
    for one in judged[verdict.id].said if verdict.id in judged else ():
        remark = f"round {one.round_number}, {scores_line(one.falsehood, one.truth, one.indeterminacy)}"
        yield Voice(one.model, (Prose(visible(one.reasoning).text),), f"c{(one.seat - 1) % 6}", remark)


def _shown(text: str) -> str:
    return one_line(visible(text).text, 300)


_FORMS: Mapping[str, Callable[[Any], str]] = {
    **FORMS,
    "falsehood": lambda verdict: f"{verdict.falsehood or 0:.2f}",
    "many": lambda held: str(sum(held)),
    "shown": _shown,
    "cause": lambda verdict: ", ".join(verdict.fired) or verdict.error.partition(":")[2].partition(":")[0].strip(),
    "spent": lambda verdict: "lock" if verdict.from_lock else cost(verdict.spend),
    "standing": lambda verdict: "passed" if verdict.passed else "failed" if verdict.stops else "excused",
    "state": lambda verdict: "passed" if verdict.passed else "stopped" if verdict.stops else "excused",
    "visible": lambda text: visible(text).text,
}
_outline = cache(partial(read_outline, __package__ or "", "gate.toml"))


class GateFold(StudyFold):
    """The :class:`assay.report.run.RunFold` of suites."""

    protocol = "Gate"

    def story(self) -> Story:
        """Return the report; of a suite that is being judged how far it came, with the cases that have a verdict."""
        told = super().story()
        return told if told.bench or not self.judged else replace(told, bench=self._so_far)

    @property
    def judged(self) -> Judged:
        """What came of each case, by its id."""
        return {event.name: event for _, event in self._items if event.verdict}

    def found(self, result: Mapping[str, Any]) -> Story:
        """Return the report on a suite's result."""
        told = self.run.started.task.get("cases", ()) if self.run.started else ()
        cases = {case.id: case for case in map(Case.model_validate, told)}
        return gate_story(GateResult.model_validate(result), cases, self.run_id, self.judged)

    def _so_far(self) -> CaseBench:
        run = opened(self.run.started) if self.run.started else None
        assert run and isinstance(run.task, Suite) and isinstance(run.options, Options)
        verdicts = {case: event.verdict for case, event in self.judged.items() if event.verdict}
        task = run.task.model_copy(update={"cases": [case for case in run.task.cases if case.id in verdicts]})
        result = concluded(task, run.options, [verdicts[case.id] for case in task.cases])
        bench = self.found(result.model_dump()).bench
        return bench() if bench else CaseBench((), ())
