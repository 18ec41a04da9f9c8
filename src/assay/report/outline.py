"""Reports as outlines: sections in a TOML file, whose sentences, tables and pictures are filled from data.

A text holds fields such as ``{lift.max_fpr:percent}``: the path of a value, and how it is written. What is not
there is written as a dash. Beside the forms of :mod:`assay.report.lines` there are those that a report brings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import count
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel

from assay.report.cases import USUAL, BenchCase, CaseBench, headings
from assay.report.columns import Column
from assay.report.lines import FieldWriter
from assay.report.story import (
    Block,
    Details,
    Fact,
    Figure,
    Note,
    Plain,
    Prose,
    Quote,
    Section,
    Story,
    Table,
    Tone,
    Voice,
)
from assay.report.svg.intervals import Dot, interval_figure
from llm_runtime.models import Model
from llm_runtime.toml import own_table

Scope: TypeAlias = Mapping[str, Any]
"""Values by the names that paths begin with."""
Forms: TypeAlias = Mapping[str, Callable[[Any], str]]
"""How values are written, by name."""
Own: TypeAlias = Mapping[str, Callable[[Any], Iterable[Block]]]
"""What a report makes by itself, by name, each of the row that it stands at."""


class Given(Model):
    """What stands in a report where the value at ``when`` is something, and that at ``unless`` nothing."""

    when: str = ""
    unless: str = ""


class FactLine(Given):
    """A figure on top."""

    label: str
    value: str


class BlockLine(Given):
    """One block, told once, or with ``each`` for every entry of a list or mapping: its ``row`` and its ``name``.

    Args:
        text: of all but tables and pictures; the summary of details, the name of a voice.
        by: whose the words of a quote are; the remark beside a voice, whose colour is ``accent``.
        heads, cells: of a table with a row for each entry; columns are of numbers, but for the
            first ``texts`` and those whose head is among ``worded``.
        rows: those of a table that are written out, before all others.
        total: its last row.
        dots: the names of a picture of intervals, ``interval`` the path of each, ``accent`` its colour.
        write: how that picture's values are written; ``high`` is where its axis ends.
        own: the name of what the report makes by itself; it is given the row.
        kind: ``"case"`` has the blocks of a case of the bench, told of the row.
        blocks: what details hold, and what a voice says.
    """

    kind: Literal["plain", "prose", "lead", "quote", "details", "voice", "table", "dots", "own", "case"] | Tone
    text: str = ""
    each: str = ""
    by: str = ""
    heads: tuple[str, ...] = ()
    cells: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    total: tuple[str, ...] | None = None
    texts: int = 1
    worded: tuple[str, ...] = ()
    caption: str = ""
    dots: str = ""
    interval: str = ""
    accent: str = ""
    write: str = ""
    high: float | None = None
    own: str = ""
    blocks: tuple[BlockLine, ...] = ()


class SectionLine(Given):
    """A section; one without blocks is left out, unless it stands ``always``.

    Args:
        each: as of a block; a section for each entry.
        about: the path of what it tells. Where that is nothing there is no section, or, where ``absent`` says why
            under the same name, that.
        brief: whether it is printed where nobody asks for the annex.
    """

    title: str
    brief: bool = False
    about: str = ""
    each: str = ""
    always: bool = False
    blocks: tuple[BlockLine, ...]


class BenchLine(BlockLine):
    """The cases of a report, which are looked through one by one.

    Args:
        each: the path of what they are; of each its ``row`` is told.
        name, state, cause, place: as ``text``, of :class:`assay.report.cases.BenchCase`.
        heads, cells: columns of texts.
        numbers: columns of numbers, and the path of each.
        labels: that people may give; those of every bench where left out.
        blocks: what is told of a case.
    """

    name: str
    state: str
    cause: str = ""
    place: str
    numbers: dict[str, str] = {}
    labels: tuple[str, ...] = USUAL

    def made(self, writing: Writing) -> CaseBench:
        """Return the cases; ``run_id`` of the data is the run that people's labels stand beside."""

        def one(scope: Scope) -> BenchCase:
            lines = (self.name, self.state, self.text, self.cause, self.place)
            name, state, text, cause, place = (writing.text(line, scope) for line in lines)
            texts = (writing.text(cell, scope) for cell in self.cells)
            cells = (*texts, *(writing.value(path, scope) for path in self.numbers.values()))
            detail = partial(writing.blocks, self.blocks, scope)
            return BenchCase(name, state, cells, text, cause, scope.get("run_id", ""), place, detail=detail)

        heads = headings(*self.heads, numbers=self.numbers)
        return CaseBench(heads, tuple(map(one, writing.entries(self.each))), self.labels)


class Outline(BaseModel):
    """A report as its file has it."""

    title: str = ""
    subtitle: str = ""
    facts: tuple[FactLine, ...] = ()
    sections: tuple[SectionLine, ...]
    bench: BenchLine | None = None

    def story(self, writing: Writing) -> Story:
        """Return the report."""
        facts = [Fact(one.label, writing.text(one.value)) for one in self.facts if writing.holds(one)]
        title, subtitle = writing.text(self.title), writing.text(self.subtitle)
        bench = partial(self.bench.made, writing) if self.bench else None
        return Story(title, subtitle, facts=tuple(facts), sections=tuple(self.told(writing)), bench=bench)

    def told(self, writing: Writing) -> Iterator[Section]:
        """Yield the sections that have something to say."""
        writing.case = self.bench.blocks if self.bench else ()
        for one in self.sections:
            if one.about and not writing.value(one.about):
                why = writing.scope.get("absent", {}).get(one.about)
                told = (Note(f"Not measured: {why}.", "warning"),) if why else ()
                yield from (Section(one.title, (note,)) for note in told)
            elif writing.holds(one):
                for scope in writing.entries(one.each):
                    if (blocks := tuple(writing.blocks(one.blocks, scope))) or one.always:
                        yield Section(writing.text(one.title, scope), blocks, one.brief)


def read_outline(package: str, name: str) -> Outline:
    """Read an outline that lies in a package."""
    return Outline.model_validate(own_table(package, name))


class Writing:
    """Data being written into an outline.

    Args:
        scope: the data.
        forms: how values are written, by name.
        own: what it makes by itself, by name, each of the row that stands there.
    """

    def __init__(self, scope: Scope, forms: Forms, own: Own | None = None) -> None:
        self.scope, self._own = scope, own or {}
        self.case: tuple[BlockLine, ...] = ()
        self._words = FieldWriter(forms)

    def text(self, template: str, scope: Scope | None = None) -> str:
        """Return a text with its fields filled."""
        return self._words.vformat(template, (), scope or self.scope)

    def value(self, path: str, scope: Scope | None = None) -> Any:
        """Return the value at a path; ``None`` where there is none."""
        return self._words.get_field(path, (), scope or self.scope)[0]

    def holds(self, given: Given, scope: Scope | None = None) -> bool:
        """Return whether something is to be told."""
        met = not given.when or bool(self.value(given.when, scope))
        return met and not (given.unless and self.value(given.unless, scope))

    def blocks(self, lines: tuple[BlockLine, ...], scope: Scope | None = None) -> Iterator[Block]:
        """Yield the blocks that have something to say."""
        for one in (line for line in lines if self.holds(line, scope)):
            match one.kind:
                case "table":
                    yield self._table(one, scope or self.scope)
                case "dots":
                    yield from self._dots(one, scope)
                case "case":
                    yield from (block for row in self.entries(one.each, scope) for block in self.blocks(self.case, row))
                case "own":
                    yield from self._own[one.own]((scope or self.scope).get("row"))
                case _:
                    yield from (self._block(one, row) for row in self.entries(one.each, scope))

    def entries(self, path: str, scope: Scope | None = None) -> list[Scope]:
        """Return the data with each row of what is told row by row; with none where it is told once."""
        scope = scope or self.scope
        if not path:
            return [scope]
        held: Any = self.value(path, scope) or {}
        rows: Iterable[tuple[Any, Any]] = held.items() if hasattr(held, "items") else zip(count(), held)
        return [{**scope, "name": name, "row": row} for name, row in rows]

    def _block(self, one: BlockLine, scope: Scope) -> Block:
        text = self.text(one.text, scope)
        match one.kind:
            case "prose" | "lead":
                return Prose(text, lead=one.kind == "lead")
            case "info" | "good" | "warning" | "bad":
                return Note(text, one.kind)
            case "quote":
                return Quote(text, self.text(one.by, scope))
            case "details":
                return Details(text, tuple(self.blocks(one.blocks, scope)))
            case "voice":
                blocks = tuple(self.blocks(one.blocks, scope))
                return Voice(text, blocks, self.text(one.accent, scope), self.text(one.by, scope))
            case _:
                return Plain(text)

    def _table(self, one: BlockLine, scope: Scope) -> Table:
        columns = (
            Column(head, "text" if place < one.texts or head in one.worded else "number")
            for place, head in enumerate(one.heads)
        )
        written = [(one.rows, scope)] if one.rows else []
        if one.each:
            written += [((one.cells,), row) for row in self.entries(one.each, scope)]
        rows = (tuple(self.text(cell, row) for cell in cells) for lines, row in written for cells in lines)
        total = one.total and tuple(self.text(cell, scope) for cell in one.total)
        return Table(tuple(columns), tuple(rows), total, self.text(one.caption, scope))

    def _dots(self, one: BlockLine, scope: Scope | None) -> Iterator[Figure]:
        dots = [
            Dot.of(self.text(one.dots, row), interval, self.text(one.accent, row))
            for row in self.entries(one.each, scope)
            if (interval := self.value(one.interval, row)) is not None
        ]
        if dots:
            write = self._words.forms[one.write]
            yield interval_figure(dots, one.text, self.text(one.caption), write=write, high=one.high)
