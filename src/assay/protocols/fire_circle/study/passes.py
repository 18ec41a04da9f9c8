"""The passes of a study: the circle over every item, and what each measurement needs beside it.

Every pass has its own file of results and its own file of paid answers, so that all of it goes on after a kill.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from assay.protocols.fire_circle.study import events
from assay.protocols.fire_circle.study.folder import Manifest, StudyFolder
from assay.protocols.fire_circle.study.items import Row, Source, groups_of, write_items
from fire_circle.layers import MultiNeutrosophicPrompt
from fire_circle.measurement.control import with_control
from fire_circle.measurement.forgeries import ATTACKS
from fire_circle.measurement.hijack import attacked
from fire_circle.measurement.scores import ItemScores, scores_of
from fire_circle.results import EvaluationError
from fire_circle.rows import Item
from fire_circle.study import Study, StudyLine, item_seed, read_study, run_study, work_on
from llm_runtime.errors import StoreDamaged
from llm_runtime.events import Emit
from llm_runtime.messages import Generate
from llm_runtime.wrappers.journal import CallJournal, append_from_whole_line, write_line

MEASURES = ("lift", "control", "ablation", "calibration", "overdefence", "pairs", "groupthink", "hijack")
"""What a study can measure. Lift, calibration and groupthink read the circle's results; the others take calls."""

HIJACK_PROMPTS = 8
"""Violations that are attacked with each of the attacks on judges."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a study will do.

    Args:
        manifest: the study.
        measures: of :data:`MEASURES`.
        concurrency: items under way at a time.
        retry_failed: ask again for items that had no verdict.
    """

    manifest: Manifest
    measures: frozenset[str]
    concurrency: int = 4
    retry_failed: bool = False


class Passes:
    """The passes of one study, over one folder."""

    def __init__(self, folder: StudyFolder, plan: Plan, emit: Emit) -> None:
        self._folder = folder
        self._plan = plan
        self._emit = emit

    def prepare(self) -> list[tuple[str, Study]]:
        """Return the circles to be held, in order, each with its results file; write the items that they need.

        Raises:
            DataError: the data do not fit.
        """
        folder, manifest = self._folder, self._plan.manifest
        config = manifest.config()
        wanted = [("circle", folder.study(manifest))]
        if "ablation" in self._plan.measures:
            wanted.append(("without chair", folder.study(manifest, "without-chair", chair=False)))
        own = {measure for measure in ("pairs", "overdefence") if manifest.data == f"@{measure}"}
        if any(group["category"] for group in groups_of(folder.items)):
            own.add("overdefence")
        for measure in ("pairs", "overdefence"):
            if measure in self._plan.measures and measure not in own:
                self._write(measure, Source(f"@{measure}").rows(config.base_config.max_layer_chars))
                wanted.append((measure, folder.study(manifest, measure, f"{measure}.items")))
        if "hijack" in self._plan.measures and (attacks := list(self._attacks())):
            self._write("hijack", attacks)
            wanted.append(("hijack", folder.study(manifest, "hijack", "hijack.items")))
        return wanted

    async def run(self, generate: Generate) -> None:
        """Hold every circle that has no result yet, and draw the control.

        Raises:
            BudgetExceeded, DeadlineExceeded: raised after what is under way has ended; run again to go on.
            StoreBusy: another process works on this study.
            StoreError: results cannot be written.
        """
        studies = self.prepare()
        self._announce(studies)
        for name, study in studies:
            self._emit(events.PassStarted(name=name))
            await run_study(
                study,
                generate,
                concurrency=self._plan.concurrency,
                on_line=self._finished,
                retry_failed=self._plan.retry_failed,
            )
            if name == "circle" and "control" in self._plan.measures:
                self._emit(events.PassStarted(name="control"))
                await self._control(study, generate)

    def _write(self, measure: str, rows: Iterable[Row]) -> None:
        place = self._folder.file(f"{measure}.items.jsonl")
        if not place.exists():
            write_items(place, rows)

    def _attacks(self) -> Iterator[Row]:
        """Yield violations under every attack, spread evenly over the data; without labels any prompts."""
        study = self._folder.study(self._plan.manifest)
        names = [item_id for item_id, item in study.items() if item.label is not False]
        step = max(len(names) // HIJACK_PROMPTS, 1)
        chosen = set(names[::step][:HIJACK_PROMPTS])
        for item_id, item in study.items():
            if item_id not in chosen:
                continue
            for attack, (family, payload) in ATTACKS.items():
                prompt: MultiNeutrosophicPrompt = attacked(item.prompt, payload)
                row = Item(item.index, f"{item.name} · {attack}", prompt, None, item.turn, item.history)
                yield Row(row, category=attack, pair=item_id, kind=family)

    def _announce(self, studies: list[tuple[str, Study]]) -> None:
        passes: list[tuple[str, int, int]] = []
        for name, study in studies:
            items = sum(1 for _ in study.items())
            passes.append((name, items, len(study.finished())))
            if name == "circle" and "control" in self._plan.measures:
                passes.append(("control", items, len(finished_controls(self._folder))))
        self._emit(events.PassesPlanned(title=self._plan.manifest.title, passes=passes))

    def _finished(self, line: StudyLine) -> None:
        score = line.result.consensus.falsehood if line.result else None
        self._emit(events.ItemFinished(name=line.name, falsehood=score, fault=line.error))

    async def _control(self, study: Study, generate: Generate) -> None:
        """Draw for each judged item as many independent samples as its circle had answers."""
        done = finished_controls(self._folder)
        place = self._folder.file("control.jsonl")
        wanted = {
            line.item: (_evaluations(line), scores_of(line.item, bool(line.label), line.result))
            for line in read_study(study.out)
            if line.result is not None and line.item not in done
        }
        journal = CallJournal(place.with_name("control.jsonl.calls"), done.__contains__)
        out = append_from_whole_line(place)

        async def one(item_id: str, item: Item) -> None:
            count, scores = wanted[item_id]
            asked = journal.over(generate, item_id)
            seed = item_seed(study.seed, f"control|{item_id}")
            line: dict[str, object] = {"item": item_id}
            try:
                drawn = await with_control(
                    scores, item.prompt, study.config, count, generate=asked, seed=seed, session=item.session()
                )
                line["scores"] = drawn.model_dump(mode="json")
            except EvaluationError as fault:
                line["error"] = str(fault)
            write_line(out, line, sync=True)
            journal.forget(item_id)
            self._emit(events.ItemFinished(name=item.name, falsehood=None, fault=str(line.get("error", ""))))

        try:
            await work_on(((i, item) for i, item in study.items() if i in wanted), one, self._plan.concurrency)
        finally:
            out.close()
            journal.close()


def finished_controls(folder: StudyFolder) -> set[str]:
    """Return the items whose control was drawn, or failed."""
    return {item for item, _ in read_controls(folder)}


def read_controls(folder: StudyFolder) -> Iterator[tuple[str, ItemScores | None]]:
    """Yield each item's scores with its control; ``None`` where that failed.

    Raises:
        StoreDamaged: a line is something else.
    """
    place = folder.file("control.jsonl")
    if not place.exists():
        return
    with place.open(encoding="utf-8", newline="\n") as lines:
        for number, text in enumerate(lines, start=1):
            if not text.endswith("\n"):
                return
            try:
                line = json.loads(text)
                scores = line.get("scores")
                yield line["item"], ItemScores.model_validate(scores) if scores else None
            except (ValueError, KeyError, TypeError, AttributeError):
                raise StoreDamaged(f"{place.name}, line {number} is not a control") from None


def _evaluations(line: StudyLine) -> int:
    return sum(len(held.evaluations) for held in line.result.dialogue_history) if line.result else 0
