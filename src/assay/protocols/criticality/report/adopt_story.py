"""An adoption's report: findings first, then a section a function: what holds of it, and what is left open."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import Any, NamedTuple

from pydantic import ValidationError

from assay.report.clean import fenced, one_line
from assay.report.frame import cost_section, ending, ending_notes, head_facts, provenance_section
from assay.report.generic import GenericFold
from assay.report.outline import Own, Writing, read_outline
from assay.report.story import Block, Note, Story
from assay.report.units import count_noun
from criticality.adopt.adopting import Adoption, Finding
from criticality.adopt.deciding import Deviation, deviations
from criticality.adopt.events import FunctionJudged, PackageRead, PromisesBroken, PromisesMade
from llm_runtime.events import Event

_WORDS = {"finding": "The code breaks", "reworded": "Reworded", "withdrawn": "Withdrawn", "left_out": "Left out"}


class AdoptFold(GenericFold):
    """The :class:`assay.report.run.RunFold` of adoptions."""

    protocol = "Adoption"
    lines = {
        PackageRead: "{package}: {functions:count function} to adopt",
        PromisesMade: "{function}: {promises:count promise} to judge",
        PromisesBroken: "{function}: the code breaks {broken:count promise}",
        FunctionJudged: lambda _, event: one_line(f"{event.function}: {_ended(_read(event))}", 200),
    }

    def _start(self) -> None:
        self.package = ""
        self.functions: list[str] = []
        self.left_out: dict[str, str] = {}
        self.adoptions: dict[str, Adoption] = {}

    def _take(self, event: Event, at: int) -> None:
        if isinstance(event, PackageRead):
            self.package, self.functions, self.left_out = event.package, event.functions, event.left_out
        elif isinstance(event, FunctionJudged):
            self.adoptions[event.function] = _read(event)

    def story(self) -> Story:
        """Tell what became of each function."""
        run, adoptions = self.run, [self.adoptions[name] for name in self.functions if name in self.adoptions]
        refused = {one.function: one.refused for one in adoptions if one.refused}
        findings = [(one, f) for one in adoptions for f in one.findings if f.kind == "finding"]
        folder = str(run.result.get("folder", ""))
        scope = {
            "run_id": self.run_id,
            "title": run.title or "An adoption",
            "adopted": len(adoptions) - len(refused),
            "functions": self.functions,
            "adoptions": adoptions,
            "findings": findings,
            "folder": folder,
            "told": list(map(_Row, adoptions)),
            "looked_at": list(_rows(adoptions)),
            "left_out": refused | self.left_out,
        }
        ended = ending_notes(run, ending(run, "The adoption"))
        own: Own = {"ended": lambda _: ended, "decided": _decided}
        story = _outline().story(Writing(scope, _FORMS, own))
        cost = cost_section(run, lambda seat, phase: seat.rpartition(":")[2] or phase)
        later = filter(None, (cost, provenance_section(run, {"Folder": folder})))
        return replace(story, facts=(*story.facts, *head_facts(run)), sections=(*story.sections, *later))


class _Row(NamedTuple):
    """What is looked through: a function, or one of its deviations."""

    adoption: Adoption | None
    deviation: Deviation | None = None

    @property
    def function(self) -> str:
        one = self.deviation or self.adoption
        return one.function if one else ""


def _rows(adoptions: Iterable[Adoption]) -> Iterator[_Row]:
    for one in adoptions:
        yield _Row(one)
        yield from (_Row(None, each) for each in deviations([one]))


def _read(event: FunctionJudged) -> Adoption:
    try:
        return Adoption.model_validate(event.adoption)
    except ValidationError:  # an imported log may hold anything there
        return Adoption(function=event.function, id=event.function, refused="the log does not say what came of it")


def _ended(adoption: Adoption) -> str:
    if adoption.refused:
        return f"not adopted: {adoption.refused.rstrip('.')}"
    measured = adoption.measured
    return (
        f"adopted after {count_noun(measured.get('cases', 0), 'case')}; "
        f"{measured.get('noticed', 0)} of {measured.get('changes', 0)} changes of its body noticed"
    )


def _told(finding: Finding) -> str:
    case = f": {finding.case}" if finding.case else ""
    return f"{finding.promise}{case} ({finding.because.rstrip('.')})"


def _promised(one: Adoption) -> str:
    name, proposal = one.function.rpartition(".")[2], one.proposal
    head = f"{name}({', '.join(proposal.params)}) -> {proposal.returns}"
    return fenced("\n".join([head, *(f"  {line}" for line in proposal.contracts)]))


def _decided(row: _Row) -> list[Block]:
    findings = row.adoption.findings if row.adoption else []
    return [Note(f"{_WORDS[f.kind]}: {_told(f)}", "bad" if f.kind == "finding" else "info") for f in findings]


def _cause(row: _Row) -> str:
    if row.adoption is None:
        return "the code does not do what its docstring says"
    breaks = any(f.kind == "finding" for f in row.adoption.findings)
    return row.adoption.refused or ("breaks a promise" if breaks else "")


def _text(row: _Row) -> str:
    if row.deviation:
        return f"{row.deviation.doc}\n{_told(row.deviation.finding)}"
    assert row.adoption
    proposal = row.adoption.proposal
    return "\n".join((proposal.doc, *proposal.contracts, *map(_told, row.adoption.findings)))


_FORMS: Mapping[str, Callable[[Any], str]] = {
    "cause": _cause,
    "lines": lambda ones: "\n".join(f"{one.function}: {_ended(one)}. {one.rewriting}".rstrip() for one in ones),
    "measured": lambda one: _ended(one).capitalize(),
    "met": lambda one: fenced("\n".join([one.finding.promise, "", one.call, f"  {one.answer}".rstrip()])),
    "place": lambda row: row.deviation.place if row.deviation else row.function,
    "promised": _promised,
    "standing": lambda row: "failed" if _cause(row) else "passed",
    "text": _text,
    "told": _told,
}
_outline = cache(partial(read_outline, __package__ or "", "adopt.toml"))
