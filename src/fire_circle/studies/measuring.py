"""Every measurement of a study, from the files in its folder."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias, TypeVar

from fire_circle.consensus import mean
from fire_circle.measurement.ablation import AblationReport, ablation_report
from fire_circle.measurement.calibration import calibrate, split_of
from fire_circle.measurement.groupthink import GroupthinkMap, groupthink_map
from fire_circle.measurement.hijack import HijackReport, HijackTrial, by_measure, hijack_report
from fire_circle.measurement.lift import LiftReport, lift_report
from fire_circle.measurement.minimal_pairs import FlipReport, PairScores, flip_report
from fire_circle.measurement.overdefence import OverdefenceReport, overdefence_report
from fire_circle.measurement.power import Power, lift_power
from fire_circle.measurement.scores import ItemScores, scores_of
from fire_circle.results import ALARM, FireCircleResult, SeatCounts, Spend
from fire_circle.studies.figures import Figures, Judged, Movement, PassSums
from fire_circle.studies.folder import PASSES, Manifest, StudyFolder
from fire_circle.studies.items import groups_of
from fire_circle.studies.passes import read_controls
from fire_circle.study import StudyLine, read_study
from llm_runtime.grouping import grouped
from llm_runtime.statistics.agreement import interval_disagreement, krippendorff_alpha
from llm_runtime.structs import Struct

T = TypeVar("T")

_WORST = 8
_MOST_NAMES = 100
_Rounds: TypeAlias = tuple[dict[int, float], ...]
"""F by seat, round by round."""
_WORDS: dict[str, object] = {"dialogue_history": (), "layer_results": {}, "history_claims": (), "round_metrics": ()}
"""What was said in a circle: that of all items does not fit into memory."""


class _Item(Struct):
    """A judged item: its result without the words, F by seat in each round, and who moved."""

    index: int
    item: str
    name: str
    label: bool | None
    result: FireCircleResult
    scores: ItemScores
    rounds: _Rounds
    movement: GroupthinkMap


def _item(line: StudyLine, result: FireCircleResult) -> _Item:
    told, scores = (line.index, line.item, line.name, line.label), _scores(line, result)
    rounds = tuple({e.seat: e.falsehood for e in held.evaluations} for held in result.dialogue_history)
    return _Item(*told, result.model_copy(update=_WORDS), scores, rounds, groupthink_map(result))


def _scores(line: StudyLine, result: FireCircleResult) -> ItemScores:
    return scores_of(str(line.index), bool(line.label), result)


class Measuring:
    """What a folder holds, being measured.

    Args:
        max_fpr: the false-positive rate at which ways of judging are compared.
        calibrated_fpr: what the threshold is fitted to.
        threshold: use this one, in place of the calibrated one.

    Raises:
        StoreDamaged: a file of results is something else.
    """

    def __init__(
        self, folder: StudyFolder, manifest: Manifest, measures: frozenset[str], max_fpr: float = 0.05,
        calibrated_fpr: float = 0.01, threshold: float | None = None,
    ) -> None:  # fmt: skip
        self.folder, self.manifest, self.measures = folder, manifest, measures
        self.max_fpr, self.calibrated_fpr = max_fpr, calibrated_fpr
        self.absent: dict[str, str] = {}
        self.groups = list(groups_of(folder.items))
        self.failed: list[str] = []
        self.labels: Counter[bool | None] = Counter()
        self.judged = list(self._judged())
        self.scores = [item.scores for item in self.judged if item.label is not None]
        self.calibration = self._tried("calibration", lambda: calibrate(*self._halves(), max_fpr=self.calibrated_fpr))
        self.threshold, self.threshold_from = ALARM, "not calibrated: the convention of this report"
        if threshold is not None:
            self.threshold, self.threshold_from = threshold, "given"
        elif (fitted := self.calibration) and not fitted.warning:
            aim = f"by the highest F, to at most {fitted.max_fpr:.0%} false alarms"
            self.threshold, self.threshold_from = fitted.of("maximum").threshold, aim

    def figures(self) -> Figures:
        """Return all figures; raises as the class does."""
        results, tried = [item.result for item in self.judged], self._tried
        both = len({item.label for item in self.scores}) == 2
        passes = tuple(self._passes())
        own = passes[0]
        return Figures(
            **{name: getattr(self, name) for name in ("calibration", "threshold", "threshold_from", "absent")},
            study=self.manifest,
            measured=tuple(sorted(self.measures)),
            complete=own.judged + own.failed == own.items,
            passes=passes,
            violations=self.labels[True],
            benign=self.labels[False],
            counts=SeatCounts(**_added(result.counts.model_dump() for result in results)),
            dropped_claims=_added(result.dropped_claims for result in results),
            patterns=_added({pattern.pattern_type: 1 for pattern in result.patterns} for result in results),
            stopped_early=sum(result.stopped_early for result in results),
            chair_influence=mean([result.empty_chair_influence for result in results]),
            lift=tried("lift", self._lift, "lift", "control"),
            ablation=tried("ablation", self._ablation),
            overdefence=tried("overdefence", self._overdefence),
            overdefence_on=self._overdefence_on(),
            power=self._power() if both else None,
            pairs=tried("pairs", self._pairs) or {},
            movement=tried("groupthink", self._movement),
            hijack=tried("hijack", self._hijack),
            missed=self._worst(True),
            false_alarms=self._worst(False),
            failed=tuple(self.failed[:_MOST_NAMES]),
        )

    def _tried(self, what: str, measure: Callable[[], T], *by: str) -> T | None:
        """Measure what is wanted, under its own name or those in ``by``, or note why it cannot be done."""
        if not self.measures.intersection(by or (what,)):
            return None
        try:
            return measure()
        except ValueError as fault:
            self.absent[what] = str(fault)
            return None

    def _rng(self, what: str) -> random.Random:
        """Return a source of the same draws for the same study, whatever else is measured."""
        return random.Random(f"{self.manifest.seed}|{what}")

    def _judged(self) -> Iterator[_Item]:
        """Yield the items that have a verdict, and count the others."""
        for line in self._read("results"):
            self.labels[line.label] += 1
            if line.result is None:
                self.failed.append(line.name)
            else:
                yield _item(line, line.result)

    def _read(self, name: str) -> Iterator[StudyLine]:
        return read_study(self.folder.file(f"{name}.jsonl"))

    def _falsehood(self, name: str) -> dict[int, float]:
        """Return F of the verdicts of another pass, by place."""
        return {line.index: line.result.consensus.falsehood for line in self._read(name) if line.result}

    def _groups(self, name: str) -> list[dict[str, str]]:
        place = self.folder.file(f"{name}.items.jsonl")
        return list(groups_of(place)) if place.exists() else []

    def _passes(self) -> Iterator[PassSums]:
        for name, (_, told) in PASSES.items():
            if name != "results" and not self.folder.file(f"{name}.jsonl").exists():
                continue
            lines = [(line.status, line.spend) for line in self._read(name)]
            judged = sum(status == "judged" for status, _ in lines)
            items = sum(1 for _ in self.folder.study(self.manifest, name).items())
            spend = sum((spend for _, spend in lines), Spend())
            yield PassSums(name=told, items=items, judged=judged, failed=len(lines) - judged, spend=spend)
            if name == "results" and self.folder.file("control.jsonl").exists():
                controls = [scores for _, scores in read_controls(self.folder)]
                drawn = [scores.control_spend for scores in controls if scores is not None]
                failed, spend = len(controls) - len(drawn), sum(drawn, Spend())
                yield PassSums(name="control", items=judged, judged=len(drawn), failed=failed, spend=spend)

    def _lift(self) -> LiftReport:
        scores = self.scores
        if "control" in self.measures:
            drawn = {item: s for item, s in read_controls(self.folder) if s is not None}
            scores = [
                item.scores.model_copy(update={"control": own.control, "control_spend": own.control_spend})
                for item in self.judged
                if item.label is not None and (own := drawn.get(item.item))
            ]
        left_out = self.labels[True] + self.labels[False] - len(scores)
        return lift_report(scores, max_fpr=self.max_fpr, left_out=left_out, rng=self._rng("lift"))

    def _halves(self) -> tuple[list[ItemScores], list[ItemScores]]:
        """Return the items on which is chosen, and those on which is fitted."""
        sides = grouped((self._split(int(item.item)), item) for item in self.scores)
        return sides.get("development", []), sides.get("test", [])

    def _power(self) -> Power:
        return lift_power(self.labels[True], self.labels[False], control="control" in self.measures)

    def _split(self, index: int) -> str:
        group = self.groups[index]
        return group["split"] or split_of(group["pair"] or str(index), salt=str(self.manifest.seed))

    def _unseen(self, index: int) -> bool:
        """Return whether the threshold was not fitted to an item."""
        return self.calibration is None or self._split(index) == "development"

    def _ablation(self) -> AblationReport:
        without = {
            line.index: line.result.model_copy(update=_WORDS) for line in self._read("without-chair") if line.result
        }
        both = [(item.result, without[item.index]) for item in self.judged if item.index in without]
        return ablation_report(both, rng=self._rng("ablation"))

    def _own_categories(self) -> dict[str, list[float]]:
        """Return harmless items of the data set itself, by family; none that the threshold was fitted to."""
        unseen = (item for item in self.judged if item.label is False and self._unseen(item.index))
        found = ((self.groups[item.index]["category"], item.scores.consensus) for item in unseen)
        return grouped(one for one in found if one[0])

    def _overdefence_on(self) -> str:
        if "overdefence" not in self.measures:
            return ""
        return self.manifest.data if self._own_categories() else "@overdefence"

    def _overdefence(self) -> OverdefenceReport:
        families, plain = self._own_categories(), list[float]()
        if not families:
            unseen = (item for item in self.scores if self._unseen(int(item.item)))
            plain = [item.consensus for item in unseen if not item.label]
            groups = self._groups("overdefence")
            judged = self._falsehood("overdefence").items()
            families = grouped((groups[index]["category"], falsehood) for index, falsehood in judged)
        if not families:
            raise ValueError("no harmless prompt was judged")
        return overdefence_report(families, self.threshold, plain=plain)

    def _pairs(self) -> dict[str, FlipReport]:
        if self.manifest.data == "@pairs":
            groups, scored = self.groups, {item.index: item.scores.consensus for item in self.judged}
        else:
            groups, scored = self._groups("pairs"), self._falsehood("pairs")
        reports: dict[str, FlipReport] = {}
        for kind, members in grouped((group["kind"], (group["pair"], at)) for at, group in enumerate(groups)).items():
            pairs = grouped(members)
            scores = [
                PairScores(name=name, true_history=scored[pair[0]], false_history=scored[pair[1]])
                for name, pair in pairs.items()
                if len(pair) == 2 and scored.keys() >= set(pair)
            ]
            if scores:
                failed = pairs.keys() - {pair.name for pair in scores}
                reports[kind] = flip_report(scores, self.threshold, [name for name in pairs if name in failed])
        if not reports:
            raise ValueError("no pair has two scores")
        return reports

    def _movement(self) -> Movement:
        if not self.judged:
            raise ValueError("no item was judged")
        maps, rounds = [item.movement for item in self.judged], [item.rounds for item in self.judged]
        names = dict(sorted((path.seat, path.model) for each in maps for path in each.paths))
        moves = [move for each in maps for move in each.moves]
        toward = Counter((move.model, other) for move in moves for other in move.toward)
        given_up = [item.name for item in self.judged if item.movement.alarms_given_up]
        numbers = range(1, max(map(len, rounds)) + 1)
        one = self.manifest.routes.get("")  # answers in place of every seat's own
        return Movement(
            seats=tuple(f"{one}#{at}" if at > 1 else one for at in range(1, len(names) + 1))
            if one
            else tuple(names.values()),
            mean_by_round=tuple(tuple(_mean_in(rounds, n, seat) for n in numbers) for seat in names),
            toward=tuple(tuple(toward[one, other] for other in names.values()) for one in names.values()),
            moves=len(moves),
            alarms_given_up=sum(each.alarms_given_up for each in maps),
            items_with_alarms_given_up=tuple(given_up[:_MOST_NAMES]),
            alpha={n: _alpha([held[n - 1] for held in rounds if len(held) >= n], names) for n in numbers},
            rounds={n: sum(len(held) >= n for held in rounds) for n in numbers},
        )

    def _hijack(self) -> HijackReport:
        clean = {item.item: item for item in self.judged}
        groups = self._groups("hijack")
        trials = {
            line.index: HijackTrial(
                attack=group["category"],
                family=group["kind"],
                prompt=own.name,
                clean=by_measure(own.scores),
                attacked=by_measure(_scores(line, line.result)) if line.result else None,
            )
            for line in self._read("hijack")
            if (own := clean.get((group := groups[line.index])["pair"]))
        }
        if not trials:
            raise ValueError("no attacked prompt has a clean verdict to compare with")
        return hijack_report([trials[at] for at in sorted(trials)], self.threshold, rng=self._rng("hijack"))

    def _worst(self, label: bool) -> tuple[Judged, ...]:
        """Return the violations furthest below the threshold, or the benign items furthest above it."""
        scored = ((item.scores.consensus, item) for item in self.judged if item.label is label)
        wrong = [(score, item) for score, item in scored if (score < self.threshold) is label]
        wrong.sort(key=lambda one: (one[0] if label else -one[0], one[1].index))
        return tuple(
            Judged(name=item.name, falsehood=score, text=self.groups[item.index]["text"])
            for score, item in wrong[:_WORST]
        )


def _mean_in(items: Sequence[_Rounds], number: int, seat: int) -> float | None:
    """Return a seat's mean F over all items: in a round that an item did not have, its last."""
    return mean([own[-1] for rounds in items if (own := [r[seat] for r in rounds[:number] if seat in r])])


def _alpha(units: Sequence[dict[int, float]], seats: Iterable[int]) -> float | None:
    """Return Krippendorff's alpha of F in a round, over the items that had it."""
    return krippendorff_alpha([[unit.get(seat) for unit in units] for seat in seats], interval_disagreement)


def _added(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    total = Counter[str]()
    for each in counts:
        total.update(each)
    return dict(sorted(total.items(), key=lambda entry: (-entry[1], entry[0])))
