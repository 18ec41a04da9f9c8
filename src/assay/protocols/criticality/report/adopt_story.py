"""An adoption's report: findings first, then a section a function: what holds of it, and what is left open."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import ValidationError

from assay.report.clean import fenced, one_line
from assay.report.frame import (
    cost_section,
    ending,
    ending_notes,
    head_facts,
    provenance_section,
)
from assay.report.generic import GenericFold
from assay.report.story import Block, Column, Fact, Note, Plain, Prose, Section, Story, Table
from assay.report.units import count_noun
from criticality.adopt.adopting import Adoption, Finding
from criticality.adopt.events import FunctionJudged, PackageRead, PromisesBroken, PromisesMade
from llm_runtime.events import Event

_WORDS = {"finding": "The code breaks", "reworded": "Reworded", "withdrawn": "Withdrawn"}


class AdoptFold(GenericFold):
    """The :class:`assay.report.run.RunFold` of adoptions."""

    protocol = "Adoption"
    lines = {
        PackageRead: "{package}: {functions:count function} to adopt",
        PromisesMade: "{function}: {promises:count promise} to judge",
        PromisesBroken: "{function}: the code breaks {broken:count promise}",
        FunctionJudged: lambda _, event: one_line(f"{event.function}: {_ended(_read(event))}", 200),
    }

    def __init__(self, keep: int | None = None) -> None:
        super().__init__(keep)
        self.package = ""
        self.functions: list[str] = []
        self.left_out: dict[str, str] = {}
        self.adoptions: dict[str, Adoption] = {}

    def apply(self, event: Event, at: int) -> None:
        """Take in the next event."""
        super().apply(event, at)
        if isinstance(event, PackageRead):
            self.package, self.functions, self.left_out = event.package, event.functions, event.left_out
        elif isinstance(event, FunctionJudged):
            self.adoptions[event.function] = _read(event)

    def story(self) -> Story:
        """Tell what became of each function."""
        run, adoptions = self.run, [self.adoptions[name] for name in self.functions if name in self.adoptions]
        adopted = [one for one in adoptions if not one.refused]
        findings = [(one, f) for one in adoptions for f in one.findings if f.kind == "finding"]
        ended = ending_notes(run, ending(run, "The adoption"))
        sections = [
            Section("How it ended", ended) if ended else None,
            _summary(adoptions, findings, str(run.result.get("folder", ""))),
            *(_section(one) for one in adoptions),
            _left_out({one.function: one.refused for one in adoptions if one.refused} | self.left_out),
            cost_section(run, lambda seat, phase: seat.rpartition(":")[2] or phase),
            provenance_section(run, {"Folder": str(run.result.get("folder", ""))}),
        ]
        return Story(
            title=run.title or "An adoption",
            subtitle="Adoption",
            facts=(
                Fact("Adopted", f"{len(adopted)} of {len(self.functions)}"),
                Fact("Findings", str(len(findings))),
                *head_facts(run),
            ),
            sections=tuple(section for section in sections if section),
        )


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


def _summary(adoptions: list[Adoption], findings: list[tuple[Adoption, Finding]], folder: str) -> Section | None:
    if not adoptions:
        return None
    lines = [f"{one.function}: {_ended(one)}. {one.rewriting}".rstrip() for one in adoptions]
    blocks: list[Block] = [Plain("\n".join(lines))]
    if findings:
        words = (
            "The code does not do what is promised in these cases; which of the two is right is yours to decide."
        )
        blocks += [Plain(words), *(Note(f"{one.function}: {_told(f)}", "bad") for one, f in findings)]
    if folder:
        blocks.append(Plain(f"Specification, tests and trace lie in {folder}; the package is as it was."))
    return Section("What came of it", tuple(blocks))


def _told(finding: Finding) -> str:
    case = f": {finding.case}" if finding.case else ""
    return f"{finding.promise}{case} ({finding.because.rstrip('.')})"


def _section(one: Adoption) -> Section:
    if one.refused:
        return Section(one.function, (Note(f"Not adopted: {one.refused}", "warning"), *_decided(one)))
    proposal = one.proposal
    name = one.function.rpartition(".")[2]
    head = f"{name}({', '.join(proposal.params)}) -> {proposal.returns}"
    lines = "\n".join([head, *(f"  {line}" for line in proposal.contracts)])
    blocks: list[Block] = [
        Plain(proposal.doc),
        Prose(fenced(lines)),
        Plain(f"{_ended(one)[:1].upper()}{_ended(one)[1:]}."),
    ]
    if proposal.claims:
        rows = tuple((claim.text, claim.source, str(len(claim.tests))) for claim in proposal.claims)
        blocks.append(Table((Column("Claim"), Column("From"), Column("Tests", "number")), rows))
    blocks += _decided(one)
    if one.left_open:
        rows = tuple((case["case"], case["first"], case["second"]) for case in one.left_open)
        caption = "Left open: the promises allow either, and the code does the first"
        blocks.append(Table((Column("Case"), Column("The code"), Column("Another")), rows, caption=caption))
    if one.rewriting:
        blocks.append(Note(one.rewriting, "good" if one.rewritten else "warning"))
    return Section(one.function, tuple(blocks))


def _decided(one: Adoption) -> list[Block]:
    return [Note(f"{_WORDS[f.kind]}: {_told(f)}", "bad" if f.kind == "finding" else "info") for f in one.findings]


def _left_out(left_out: Mapping[str, str]) -> Section | None:
    if not left_out:
        return None
    rows = tuple(left_out.items())
    return Section("Not adopted", (Table((Column("Function"), Column("Why")), rows),))
