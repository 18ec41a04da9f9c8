"""The report on a suite: what must not pass, first; then every case, what it cost, and what changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from typing import Any

from assay.protocols.fire_circle.gating.cases import Case
from assay.protocols.fire_circle.report.marking import marked_layer
from assay.protocols.fire_circle.report.study_fold import StudyFold
from assay.protocols.fire_circle.report.study_story import FORMS, cost
from assay.protocols.fire_circle.task import Task, texts_of
from assay.report.clean import one_line
from assay.report.outline import Writing, read_outline
from assay.report.story import Block, Marked, Plain, Quote, Story
from fire_circle.gates.verdicts import CaseVerdict, GateResult
from fire_circle.hidden import visible


def gate_story(result: GateResult, cases: Mapping[str, Task] | None = None, run_id: str = "") -> Story:
    """Return the story of a suite's result.

    Args:
        result: of the suite.
        cases: what was judged, by id, where that is at hand.
        run_id: the run that judged it.
    """
    later = "by the later rounds of the other cases"
    made = {
        "failed": result.failed,
        "passed": sum(verdict.passed for verdict in result.verdicts),
        "excused": [verdict for verdict in result.verdicts if verdict.excused],
        "known": sum(verdict.from_lock for verdict in result.verdicts),
        "worse": result.worse,
        "better": [change for change in result.changes or () if not change.worse],
        "compared": result.changes is not None,
        "tagged": list(_tagged(result)),
        "basis": later if result.spared.measured else "by one more round like the first",
    }
    layers = partial(_layers, cases or {})
    changes = {change.subject: change.what for change in result.changes or ()}
    forms: Mapping[str, Callable[[Any], str]] = {
        **_FORMS,
        "changed": lambda verdict: changes.get(verdict.id, ""),
        "text": lambda verdict: "\n\n".join(layer.text for layer in layers(verdict)),
    }
    own: Mapping[str, Callable[[Any], Iterable[Block]]] = {"patterns": _patterns, "layers": layers}
    return _outline().story(Writing({**result.__dict__, **made, "run_id": run_id}, forms, own))


def _layers(cases: Mapping[str, Task], verdict: CaseVerdict) -> Iterator[Marked]:
    """Yield what was judged, layer by layer, with what a target answered; nothing where that is not at hand."""
    if case := cases.get(verdict.id):
        texts = texts_of(case.model_copy(update={"answer": verdict.answer or case.answer}))
        yield from (marked_layer(text, name, verdict.patterns, judged=False) for name, text in texts.items() if text)


def _tagged(result: GateResult) -> Iterator[tuple[str, list[bool]]]:
    for tag in sorted({tag for verdict in result.verdicts for tag in verdict.tags}):
        yield tag, [verdict.passed for verdict in result.verdicts if tag in verdict.tags]


def _patterns(verdict: CaseVerdict) -> Iterator[Block]:
    for pattern in verdict.patterns:
        kind = ", ".join((pattern.pattern_type, *(kind.value for kind in pattern.security))).replace("_", " ")
        yield Plain(f"{kind} ({pattern.model_agreement:.0%}): {_shown(pattern.description)}")
        yield from (Quote(visible(quote).text) for quote in pattern.examples[:3])


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

    def found(self, result: Mapping[str, Any]) -> Story:
        """Return the report on a suite's result."""
        told = self.run.started.task.get("cases", ()) if self.run.started else ()
        cases = {case.id: case for case in map(Case.model_validate, told)}
        return gate_story(GateResult.model_validate(result), cases, self.run_id)
