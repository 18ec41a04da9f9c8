"""`criticality decide`: docstring against behaviour, deviation by deviation: which of the two stands?"""

from __future__ import annotations

import csv
import io
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.console.declared import declares
from assay.console.options import with_store
from llm_runtime.errors import ConfigurationError
from llm_runtime.files import saying

if TYPE_CHECKING:
    from criticality.adopt.adopting import Decision
    from criticality.adopt.deciding import Deviation
    from llm_runtime.store import RunStore

#: Labels of the bench, and first letters at a terminal, by what they decide.
_LABELS: dict[str, Decision] = {"accept": "accepted", "reject": "rejected", "s": ""}


@click.command()
@with_store
@declares(__package__ or "", "options.toml")("decide")
def decide(folder: str, accept: tuple[str, ...], reject: tuple[str, ...], labels: str | None, store: RunStore) -> int:
    """Accept or reject what the code does otherwise than its docstring says; FOLDER is what `adopt` wrote.

    At a terminal you are asked deviation by deviation. Elsewhere they are listed, and options decide. Labels `accept`
    and `reject` that people gave to the run's cases in the browser decide what is open, where all who gave one agree.

    \b
    assay build decide src/shop-adopted
    assay build decide src/shop-adopted --accept shop.slug#1 --reject shop.clamp#1
    """
    from criticality.adopt.checking import read_adopted
    from criticality.adopt.deciding import deviations

    root = Path(folder).absolute()
    record = read_adopted(root)[0]
    labelled = _labelled(store, record.run) | (_written(labels) if labels else {})
    undecided = {one.place for one in deviations(record.adoptions) if not one.finding.decision}
    if both := sorted({*accept} & {*reject}):
        raise ConfigurationError(f"{both[0]} is accepted and rejected; give it once")
    given: dict[str, Decision] = {place: labelled[place] for place in undecided & labelled.keys()}
    for label, places in (("accept", accept), ("reject", reject)):
        given |= dict.fromkeys(places, _LABELS[label])
    decide_there(root, given)
    return 0


def decide_there(folder: Path, given: Mapping[str, Decision], *, ask: bool = True) -> None:
    """Take decisions on deviations, ask for the others where somebody is there, and say how all of them stand."""
    from criticality.adopt.deciding import deviations
    from criticality.adopt.writing import write_decisions

    there = ask and sys.stdin.isatty() and sys.stdout.isatty()
    found = list(deviations(write_decisions(folder, given)))
    for one in found if ask else ():
        if not there:
            click.echo("\n".join(_lines(one)))
        elif not one.finding.decision and (said := _asked(one)):
            found = list(deviations(write_decisions(folder, {one.place: said})))
    click.echo(_counted(found, "" if there else f"; decide: assay build decide {folder}"), err=True)


def _counted(found: list[Deviation], hint: str) -> str:
    counts = Counter(one.finding.decision or "open" for one in found)
    told = ", ".join(f"{count} {word}" for word, count in counts.items()) or "no deviation to decide"
    return f"{told}{hint if counts['open'] else ''}"


def _asked(one: Deviation) -> Decision:
    click.echo("\n".join(_lines(one)))
    key = click.prompt("[a]ccept the behaviour, [r]eject it, [s]kip", type=click.Choice(["a", "r", "s"]))
    return next(decision for label, decision in _LABELS.items() if label.startswith(key))


def _lines(one: Deviation) -> Iterator[str]:
    from assay.report.clean import clean, one_line

    yield f"{one.place}: {one.finding.decision or 'open'}"
    yield "  docstring  " + clean(one.doc).replace("\n", "\n             ")
    told = {"promised": one.finding.promise, "case": one.call, "instead": one.answer, "because": one.finding.because}
    yield from (f"  {name:10} {one_line(text, 600)}" for name, text in told.items() if text)


def _labelled(store: RunStore, run: str) -> dict[str, Decision]:
    """Return what people's labels beside a run decide, where all of a place are the same; nothing without the run."""
    from llm_runtime.grouping import grouped
    from llm_runtime.store.notes import notes_of

    given = grouped((note.place, note.label) for note in notes_of(store, [run])[run] if note.label)
    agreed = {place: labels[0] for place, labels in given.items() if len({*labels}) == 1}
    return {place: _LABELS[label] for place, label in agreed.items() if label in _LABELS}


def _written(path: str) -> dict[str, Decision]:
    with saying(f"{path} cannot be read"):
        rows = csv.DictReader(io.StringIO(Path(path).read_text(encoding="utf-8-sig", errors="replace")))
    return {row.get("place") or "": _LABELS[label] for row in rows if (label := row.get("agreed") or "") in _LABELS}
