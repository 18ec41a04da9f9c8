"""The passes of a study: the circle over every item, and what each measurement needs beside it.

Every pass has its own file of results and its own file of paid answers, so that all of it goes on after a kill.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace

from pydantic import Field

from fire_circle.case import Case
from fire_circle.measurement.control import with_control
from fire_circle.measurement.forgeries import ATTACKS
from fire_circle.measurement.hijack import attacked
from fire_circle.measurement.scores import ItemScores, scores_of
from fire_circle.results import EvaluationError
from fire_circle.rows import Item
from fire_circle.studies import events
from fire_circle.studies.folder import PASSES, Manifest, StudyFolder
from fire_circle.studies.items import Row, Source, groups_of, write_items
from fire_circle.study import Study, StudyLine, item_seed, read_study, run_study, work_off
from llm_runtime.events import Emit, silent
from llm_runtime.messages import Generate
from llm_runtime.models import Model
from llm_runtime.structs import Struct
from llm_runtime.wrappers.journal import CallJournal, whole_lines

MEASURES = ("lift", "control", "ablation", "calibration", "overdefence", "pairs", "groupthink", "hijack")
"""What a study can measure. Lift, calibration and groupthink read the circle's results; the others take calls."""

HIJACK_PROMPTS = 8
"""Violations that are attacked with each of the attacks on judges."""


class ControlLine(Model):
    """One item of the control: its scores, or why there are none."""

    item: str
    scores: ItemScores | None = Field(default=None, exclude_if=lambda scores: scores is None)
    error: str = Field(default="", exclude_if=lambda words: not words)


class Passes(Struct):
    """The passes of one study, over one folder.

    Args:
        manifest: the study.
        measures: of :data:`MEASURES`.
        emit: takes what happens.
        concurrency: items under way at a time.
        again: who asks again for items that had no verdict; empty where nobody does.
    """

    folder: StudyFolder
    manifest: Manifest
    measures: frozenset[str]
    emit: Emit = silent
    concurrency: int = 4
    again: str = ""

    def prepare(self) -> dict[str, Study]:
        """Return the circles to be held, in order, by name; write the items that they need.

        Raises:
            DataError: the data do not fit.
        """
        folder, measures = self.folder, self.measures
        wanted = ["results"]
        if "ablation" in measures:
            wanted.append("without-chair")
        own = {self.manifest.data.removeprefix("@")}
        if any(group["category"] for group in groups_of(folder.items)):
            own.add("overdefence")
        longest = self.manifest.config().base_config.max_layer_chars
        for measure in ("pairs", "overdefence"):
            if measure in measures and measure not in own:
                self._write(measure, Source(f"@{measure}").rows(longest))
                wanted.append(measure)
        if "hijack" in measures and (attacks := list(self._attacks())):
            self._write("hijack", attacks)
            wanted.append("hijack")
        return {PASSES[name][0]: folder.study(self.manifest, name) for name in wanted}

    async def run(self, generate: Generate) -> None:
        """Hold every circle that has no result yet, and draw the control.

        Raises:
            BudgetExceeded, DeadlineExceeded: raised after what is under way has ended; run again to go on.
            StoreBusy: another process works on this study.
            StoreError: results cannot be written.
        """
        studies = self.prepare()
        self._announce(studies)
        for name, study in studies.items():
            self.emit(events.PassStarted(name=name))
            await run_study(study, generate, concurrency=self.concurrency, on_line=self._finished, again=self.again)
            if name == "circle" and "control" in self.measures:
                self.emit(events.PassStarted(name="control"))
                await self._control(study, generate)

    def _write(self, measure: str, rows: Iterable[Row]) -> None:
        place = self.folder.file(f"{measure}.items.jsonl")
        if not place.exists():
            write_items(place, rows)

    def _attacks(self) -> Iterator[Row]:
        """Yield violations under every attack, spread evenly over the data; without labels any prompts."""
        study = self.folder.study(self.manifest)
        names = [item_id for item_id, item in study.items() if item.label is not False]
        chosen = set(names[:: max(len(names) // HIJACK_PROMPTS, 1)][:HIJACK_PROMPTS])
        for item_id, item in study.items():
            for attack, (family, payload) in ATTACKS.items() if item_id in chosen else ():
                prompt, name = attacked(item.prompt, payload), f"{item.name} · {attack}"
                row = replace(item, name=name, prompt=prompt, label=None)
                yield Row(row, category=attack, pair=item_id, kind=family)

    def _announce(self, studies: dict[str, Study]) -> None:
        passes: list[tuple[str, int, int]] = []
        for name, study in studies.items():
            items = sum(1 for _ in study.items())
            passes.append((name, items, len(study.finished())))
            if name == "circle" and "control" in self.measures:
                passes.append(("control", items, len(finished_controls(self.folder))))
        self.emit(events.PassesPlanned(title=self.manifest.title, passes=passes))

    def _finished(self, item: Item, line: StudyLine) -> None:
        score = line.result.consensus.falsehood if line.result else None
        self.emit(events.ItemFinished(name=item.name, falsehood=score, fault=line.error))

    async def _control(self, study: Study, generate: Generate) -> None:
        """Draw for each judged item as many independent samples as its circle had answers."""
        done = finished_controls(self.folder)
        place = self.folder.file("control.jsonl")
        wanted = {
            line.item: (_evaluations(line), scores_of(line.item, bool(line.label), line.result))
            for line in read_study(study.out)
            if line.result is not None and line.item not in done
        }

        async def drawn(item_id: str, item: Item, asked: Generate) -> ControlLine:
            count, scores = wanted[item_id]
            seed = item_seed(study.seed, f"control|{item_id}")
            try:
                case = Case(item.prompt, item.session())
                scores = await with_control(scores, case, study.config, count, generate=asked, seed=seed)
            except EvaluationError as fault:
                return ControlLine(item=item_id, error=str(fault))
            return ControlLine(item=item_id, scores=scores)

        def told(item: Item, line: ControlLine) -> None:
            self.emit(events.ItemFinished(name=item.name, falsehood=None, fault=line.error))

        left = ((item_id, item) for item_id, item in study.items() if item_id in wanted)
        with closing(CallJournal(place.with_name("control.jsonl.calls"), done.__contains__)) as journal:
            await work_off(place, left, generate, drawn, told, journal, self.concurrency)


def finished_controls(folder: StudyFolder) -> set[str]:
    """Return the items whose control was drawn, or failed."""
    return {item for item, _ in read_controls(folder)}


def read_controls(folder: StudyFolder) -> Iterator[tuple[str, ItemScores | None]]:
    """Yield each item's scores with its control; ``None`` where that failed.

    Raises:
        StoreDamaged: a line is something else.
    """

    lines = whole_lines(folder.file("control.jsonl"), "a control", ControlLine.model_validate)
    return ((line.item, line.scores) for line in lines)


def _evaluations(line: StudyLine) -> int:
    return sum(len(held.evaluations) for held in line.result.dialogue_history) if line.result else 0
