"""A comparison of authors as a report: candidate cruxes, then what is opposed, shared and said by one alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial

from assay.launch.logs import result_of
from assay.protocols.crux.report.building import StepsFold
from assay.protocols.crux.report.persona import audit_line, audit_section
from assay.registry import find
from assay.report.columns import Column
from assay.report.frame import cost_section
from assay.report.markdown import story_markdown
from assay.report.outline import Forms, Own, Writing, read_outline
from assay.report.progress import Progress
from assay.report.story import Fact, Story, Table
from assay.report.units import count, count_noun, in_words
from crux.claims.audit import ENOUGH
from crux.comparison import Answer, Comparison, CruxCandidate, Read
from crux.events import PersonaStep
from llm_runtime.errors import ConfigurationError, StoreDamaged
from llm_runtime.models import fits
from llm_runtime.store import RunStore

#: Names that are said one by one; speakers and claims of a matrix.
_FEW, _SPEAKERS, _CLAIMS = 4, 12, 40
_SIGNS = {"holds": "+", "denies": "−", "grants": "○", "mixed": "±"}
_CLOSE = {1.0: "Its answer would settle the decision.", 0.5: "It is one reason among several."}


class ComparisonFold(StepsFold):
    """The fold of a comparison."""

    lines = {PersonaStep: lambda _, event: _step_line(event) if event.done else None}

    def progress(self) -> Progress:
        """Return the comparison as it stands."""
        return replace(super().progress(), phase=["reading", *map(_step_line, self._steps.values())][-1])

    def story(self) -> Story:
        """Return what was found, or how far it is."""
        run, story = self.run, super().story()
        if not run.result.get("authors"):
            return replace(story, subtitle="Crux · the texts read")
        with fits("the comparison in the log does not fit: ", StoreDamaged):
            comparison = Comparison.model_validate(run.result)
        compared = comparison_story(comparison)
        return replace(compared, sections=(*compared.sections, *filter(None, [cost_section(run)])))


def comparison_of(store: RunStore, run_id: str) -> Comparison | None:
    """Return what a stored comparison found; None where the run is another kind.

    Raises:
        ConfigurationError: it has not finished.
        StoreError: it is not there, or damaged.
    """
    if store.summary(run_id).protocol not in (*find("crux.compare").names, *find("crux.divide").names):
        return None
    result = result_of(event for _, event in store.events(run_id))
    if not (result and result.get("authors")):
        raise ConfigurationError(f"run {run_id} has not finished; go on with: assay runs resume {run_id}")
    return Comparison.model_validate(result)


def comparison_markdown(comparison: Comparison) -> str:
    """Return a comparison as Markdown."""
    return story_markdown(comparison_story(comparison))


def comparison_story(comparison: Comparison) -> Story:
    """Return a comparison, opened."""
    names = comparison.names
    scope = {
        "found": comparison,
        "title": _some(names),
        "group": bool(comparison.decision or len(names) > 2),
        "about": f" on {comparison.topic}" if comparison.topic else "",
        "care": [*comparison.warnings, *(line for read in comparison.authors for line in _left_out(read))],
        "alone": dict(zip(names, comparison.alone, strict=True)),
    }
    own: Own = {
        "positions": lambda _: [_positions(comparison)],
        "matrix": lambda _: filter(None, [_matrix(comparison)]),
    }
    forms: Forms = {**_FORMS, "accent": lambda view: f"c{names.index(view.author) % 6}"}
    story = _outline().story(Writing(scope, forms, own))
    read = (
        Fact(one.name, f"{count_noun(one.claims, 'claim')} in {count_noun(one.passages, 'passage')}")
        for one in comparison.authors
    )
    audits = (audit_section(one.audit, one.name) for one in comparison.authors if one.audit)
    return replace(story, facts=(*story.facts, *read), sections=(*story.sections, *audits))


def _positions(comparison: Comparison) -> Table:
    """Return one line a question: who answers how."""
    rows = tuple((one.question, _who(one, "YES"), _who(one, "NO")) for one in comparison.candidates)
    return Table((Column("Question"), Column("YES"), Column("NO")), rows)


def _who(crux: CruxCandidate, answer: Answer) -> str:
    return _some([side.author for side in crux.side(answer)])


def _some(names: Sequence[str]) -> str:
    """Return names in words; of many the first and how many more."""
    return in_words([*names[:_FEW], f"{len(names) - _FEW} more"] if len(names) > _FEW else list(names))


def _matrix(comparison: Comparison) -> Table | None:
    """Return who holds (+), denies (−), grants (○) or does both (±) to which claim, most disputed first."""
    if len(comparison.books) != 1:
        return None
    names = comparison.names[:_SPEAKERS]
    signs = {one.claim.id: [one.claim.text] for name in names for one in comparison.books[0].signed_by(name)}
    for name in names:
        own = {one.claim.id: one.stance for one in comparison.books[0].signed_by(name)}
        for key, row in signs.items():
            row.append(_SIGNS.get(own.get(key, ""), ""))
    ranked = sorted(signs.values(), key=lambda row: (-min(row.count("+"), row.count("−")), row.count("")))
    return Table((Column("Claim"), *map(Column, names)), tuple(map(tuple, ranked[:_CLAIMS])))


def _step_line(step: PersonaStep) -> str:
    who = f"{step.persona}: " if step.persona else ""
    return f"{who}{step.step}, {step.done} of {step.of}"


def _left_out(read: Read) -> list[str]:
    lines = [f"{read.name}: thin: {reason}" for reason in (read.standing.reasons if read.standing else ())]
    lines += [f"{read.name}, not read: {line}" for line in read.unread]
    if read.audit and read.audit.share is not None and read.audit.share < ENOUGH:
        lines.append(f"{read.name}: {audit_line(read.audit)}")
    if read.left_out:
        lines.append(f"{read.name}: {count_noun(read.left_out, 'claim')} left out of the comparison; name a topic")
    return lines


def _rests(one: CruxCandidate) -> str:
    yes, no = (count_noun(len(one.side(answer)), "says", "say") for answer in ("YES", "NO"))
    split = f"{yes} YES, {no} NO. " if one.split else ""
    rests = count_noun(one.rests, "claim rests", "claims rest") if one.rests else "Nothing else rests"
    return f"{split}{rests} on it. {_CLOSE.get(one.closeness, '') if one.split else ''} {one.why}".strip()


_FORMS: Forms = {
    "trial": lambda trial: trial.line(),
    "head": lambda both: "Both take for true" if both.kind == "ground" else "Both sides' own claims bear",
    "remark": lambda view: ", ".join(filter(None, (view.answer, view.history))),
    "dated": lambda place: ", ".join(filter(None, (place.title or place.item, place.date))),
    "number": lambda held: count(len(held)),
    "rests": _rests,
    "state": lambda one: "" if one.confirmed else " (not confirmed by their own sentences)",
    "words": lambda match: " / ".join(side.words for side in match.sides),
}
_outline = cache(partial(read_outline, __package__ or "", "comparison.toml"))
