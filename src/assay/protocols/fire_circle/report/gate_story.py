"""The report on a suite: what must not pass, first; then every case, what it cost, and what changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assay.protocols.fire_circle.gating.verdicts import CaseVerdict, GateResult
from assay.protocols.fire_circle.report.study_fold import StudyFold
from assay.protocols.fire_circle.report.study_story import cost
from assay.report.clean import one_line
from assay.report.story import Block, Column, Fact, Note, Plain, Prose, Quote, Section, Story, Table, Voice
from assay.report.units import count, count_noun, money
from fire_circle.hidden import visible


def gate_story(result: GateResult, worse: Sequence[str] | None = None) -> Story:
    """Return the story of a suite's result.

    Args:
        worse: what became worse since a baseline, one line each; ``None`` where there was none to compare with.
    """
    failed = result.failed
    total, known = len(result.verdicts), sum(verdict.from_lock for verdict in result.verdicts)
    sections = [Section(_shown(verdict.id), _why(verdict)) for verdict in failed]
    sections.append(Section("Every case", (_table(result.verdicts), Plain(f"Gates: {', '.join(result.gates)}."))))
    if worse is not None:
        lines = tuple(Note(visible(line).text, "warning") for line in worse) or (Plain("Nothing became worse."),)
        sections.append(Section("Since the baseline", lines))
    spared = result.spared
    if spared.cases:
        basis = "by the later rounds of the other cases" if spared.measured else "by one more round like the first"
        words = f"{count_noun(spared.cases, 'case')} needed no dialogue: about {count(spared.calls)} calls"
        sections.append(Section("The cascade", (Plain(f"{words} and {money(spared.cost)} saved, {basis}."),)))
    return Story(
        title=f"Gate: {result.name}",
        subtitle="Fire Circle gate",
        facts=(
            Fact("Passed", f"{total - len(failed)} of {total}"),
            Fact("From the lock", count(known)),
            Fact("Calls", count(result.spend.calls)),
            Fact("Cost", cost(result.spend)),
        ),
        sections=tuple(sections),
    )


def _why(verdict: CaseVerdict) -> tuple[Block, ...]:
    blocks: list[Block] = [Note(_shown(verdict.why), "bad")]
    if verdict.reasoning:
        scores = f"T {verdict.truth:.2f}, I {verdict.indeterminacy:.2f}, F {verdict.falsehood or 0:.2f}"
        blocks.append(Voice(verdict.by, (Prose(visible(verdict.reasoning).text),), "c0", scores))
    for pattern in verdict.patterns:
        kind = ", ".join((pattern.pattern_type, *(kind.value for kind in pattern.security))).replace("_", " ")
        blocks.append(Plain(f"{kind} ({pattern.model_agreement:.0%}): {_shown(pattern.description)}"))
        blocks += [Quote(visible(quote).text) for quote in pattern.examples[:3]]
    return tuple(blocks)


def _table(verdicts: Sequence[CaseVerdict]) -> Table:
    names = ("F", "Patterns", "Rounds", "Cost")
    rows = tuple(
        (
            _shown(verdict.id),
            "passed" if verdict.passed else "stopped",
            "–" if verdict.falsehood is None else f"{verdict.falsehood:.2f}",
            str(len(verdict.patterns)),
            str(verdict.rounds),
            "lock" if verdict.from_lock else cost(verdict.spend),
        )
        for verdict in verdicts
    )
    return Table((Column("Case"), Column("Gate"), *(Column(name, "number") for name in names)), rows)


def _shown(text: str) -> str:
    return one_line(visible(text).text, 300)


class GateFold(StudyFold):
    """The :class:`assay.report.run.RunFold` of suites."""

    protocol = "Gate"

    def found(self, result: Mapping[str, Any]) -> Story:
        """Return the report on a suite's result."""
        return gate_story(GateResult.model_validate(result))
