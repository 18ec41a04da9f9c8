"""The report on a suite: what must not pass, first; then every case, what it cost, and what changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from typing import Any

from assay.protocols.fire_circle.report.study_fold import StudyFold
from assay.protocols.fire_circle.report.study_story import FORMS, cost
from assay.report.clean import one_line
from assay.report.outline import Writing, read_outline
from assay.report.story import Block, Plain, Quote, Story
from fire_circle.gates.verdicts import CaseVerdict, GateResult
from fire_circle.hidden import visible


def gate_story(result: GateResult) -> Story:
    """Return the story of a suite's result."""
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
    return _outline().story(Writing({**result.__dict__, **made}, _FORMS, {"patterns": _patterns}))


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
    "spent": lambda verdict: "lock" if verdict.from_lock else cost(verdict.spend),
    "state": lambda verdict: "passed" if verdict.passed else "stopped" if verdict.stops else "excused",
    "visible": lambda text: visible(text).text,
}
_outline = cache(partial(read_outline, __package__ or "", "gate.toml"))


class GateFold(StudyFold):
    """The :class:`assay.report.run.RunFold` of suites."""

    protocol = "Gate"

    def found(self, result: Mapping[str, Any]) -> Story:
        """Return the report on a suite's result."""
        return gate_story(GateResult.model_validate(result))
