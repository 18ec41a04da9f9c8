"""Cases that a person looks through one by one, whatever their kind: prompts, attempts, outputs, findings."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from datetime import date
from typing import TYPE_CHECKING, TypeAlias

from assay.report.columns import Column, columns
from llm_runtime.statistics.agreement import krippendorff_alpha, nominal_disagreement
from llm_runtime.structs import Struct

if TYPE_CHECKING:
    from llm_runtime.store.notes import Note

USUAL = ("right", "wrong", "unclear")
"""Labels that every case may have."""
EXPECTED = ("alarm", "calm")
"""Labels that a suite takes for what a case must come to."""
CellValue: TypeAlias = str | float | None
headings = columns
"""Cases stand under columns as the rows of a table do."""


class BenchCase(Struct):
    """One case.

    Args:
        name: what it is about; cases of one name are looked at side by side.
        state: ``"passed"``, ``"failed"``, ``"excused"``; ``"done"`` where nothing tells which; ``"waiting"``.
        cells: its values, one a column.
        text: what is searched, whole.
        cause: what like failures share; empty where nothing failed.
        run_id: the run that people's labels stand beside; empty where there is none yet.
        place: what in that run it is; empty for all of it.
        notes: what people wrote beside it.
        detail: tells all of it in blocks of a report; called when somebody looks.
    """

    name: str
    state: str
    cells: tuple[CellValue, ...]
    text: str
    cause: str = ""
    run_id: str = ""
    place: str = ""
    notes: tuple[Note, ...] = ()
    detail: Callable[[], Iterable[object]] = tuple

    @property
    def labels(self) -> dict[str, str]:
        """The labels that people gave it, by who did."""
        return {note.who: note.label for note in self.notes if note.label}

    @property
    def agreed(self) -> str:
        """The label that all who gave it one gave it; empty where they differ."""
        given = set(self.labels.values())
        return given.pop() if len(given) == 1 else ""


class Agreement(Struct):
    """How far people who labelled the same cases agree.

    Args:
        people: who gave labels.
        shared: cases that two or more of them labelled.
        same: those of them where all labels are the same.
        alpha: agreement beyond chance (Krippendorff); ``None`` where it cannot be told.
    """

    people: tuple[str, ...]
    shared: int
    same: int
    alpha: float | None


class CaseBench(Struct):
    """Cases under the columns of their kind, and the labels that each of them may have."""

    columns: tuple[Column, ...]
    cases: tuple[BenchCase, ...]
    labels: tuple[str, ...] = USUAL

    @property
    def keyed(self) -> dict[str, BenchCase]:
        """The cases by what an address calls them, in order."""
        keyed: dict[str, BenchCase] = {}
        for at, case in enumerate(self.cases):
            key = case.place or case.run_id
            keyed[key if key and key not in keyed else str(at)] = case
        return keyed

    @property
    def usual(self) -> list[str]:
        """The labels that are a key away: those of everybody, and those that were given."""
        given = (label for case in self.cases for label in case.labels.values())
        return list(dict.fromkeys((*self.labels, *given)))[:6]

    @property
    def telling(self) -> list[int]:
        """The places of the columns in which cases differ."""
        return [at for at in range(len(self.columns)) if len({case.cells[at] for case in self.cases}) > 1]

    @property
    def agreement(self) -> Agreement:
        """How far the labels of all cases agree."""
        given = [labels for case in self.cases if (labels := case.labels)]
        people = tuple(dict.fromkeys(who for labels in given for who in labels))
        shared = [labels for labels in given if len(labels) > 1]
        same = sum(len(set(labels.values())) == 1 for labels in shared)
        ratings: list[list[Hashable | None]] = [[labels.get(who) for labels in given] for who in people]
        alpha = krippendorff_alpha(ratings, nominal_disagreement) if given else None
        return Agreement(people, len(shared), same, alpha)

    def waivers(self, until: date) -> str:
        """Write those that failed as a suite's waivers, where all who labelled them say that this is wrong."""
        import tomlkit  # of extras

        def why(case: BenchCase) -> str:
            return "; ".join(f"{note.who}: {note.label} {note.note}".strip() for note in case.notes if note.label)

        wrong = (case for case in self.cases if case.state == "failed" and case.agreed in ("wrong", "calm"))
        waived = [{"case": case.place, "reason": f"labelled by {why(case)}", "until": until} for case in wrong]
        return tomlkit.dumps({"waivers": waived})

    def lines(self) -> Iterator[dict[str, object]]:
        """Yield a line for each case, for a table of data."""
        heads = [column.head for column in self.columns]
        for case in self.cases:
            said = {"text": case.text, "cause": case.cause, "run": case.run_id, "place": case.place}
            people = {"labels": case.labels, "notes": {note.who: note.note for note in case.notes if note.note}}
            cells = dict(zip(heads, case.cells, strict=True))
            keys = {"agreed": case.agreed, "expect": case.agreed if case.agreed in EXPECTED else ""}
            yield {"case": case.name, "state": case.state, **cells, **said, **people, **keys}


def written(value: CellValue) -> str:
    """Write a value as a cell of a table."""
    if value is None or value == "":
        return "–"
    return value if isinstance(value, str) else f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"
