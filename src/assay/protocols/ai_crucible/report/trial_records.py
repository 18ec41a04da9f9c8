"""What a report on trials rests on: every attempt with its log, its place in the ledger, and the signed head."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from importlib.util import find_spec
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import PlainSerializer, PlainValidator

from ai_crucible.arms import ArmEffect, effects
from ai_crucible.attestation import Verification, file_digest
from ai_crucible.attested import AttestedTrial, attested
from ai_crucible.events import AttemptGraded, TrialsCompared
from ai_crucible.figures import figures_of
from ai_crucible.observability import ModelRollup, PuzzleHistory, rollup
from ai_crucible.types import GateResult, PanelVerdict, Verdict
from ai_crucible.versions import rests_on
from llm_runtime.errors import ConfigurationError, MissingExtraError, StoreDamaged
from llm_runtime.grouping import grouped
from llm_runtime.models import Model
from llm_runtime.store.anchor import SignedHead
from llm_runtime.store.reading import read_event
from llm_runtime.structs import Struct

if TYPE_CHECKING:
    from ai_crucible.workshop import Workshop
    from assay.protocols.ai_crucible.inspect.trials import LoggedAttempt

T = TypeVar("T")
M = TypeVar("M", bound=Model)


class LedgerLine(Struct):
    """A line of the ledger: its number, its link of the chain in hex, and what it says of an attempt."""

    seq: int
    digest: str
    sample_digest: str


class Attempt(Struct):
    """One attempt: its log, and the line of the ledger that commits to it, where there is one."""

    log: LoggedAttempt
    entry: LedgerLine | None = None

    @property
    def name(self) -> str:
        """What people call it."""
        record = self.log.record
        return f"{record.puzzle}, attempt {record.epoch}"

    @property
    def gate(self) -> GateResult | None:
        """The gate's verdict; ``None`` where the attempt was not graded."""
        return self._said("gate", GateResult)

    @property
    def verdict(self) -> Verdict | None:
        """What the grading process said."""
        return self._said("graded", Verdict)

    @property
    def panel(self) -> PanelVerdict | None:
        """What the judges said, where some were asked."""
        return self._said("panel", PanelVerdict)

    def _said(self, kind: str, of: type[M]) -> M | None:
        data = self.last(kind)
        return None if data is None else of.model_validate(data)

    @property
    def turns(self) -> int:
        """Model calls."""
        return sum(event.kind == "model_call" for event in self.log.events)

    def last(self, kind: str) -> dict[str, Any] | None:
        """Return the data of the last event of a kind."""
        return next((event.data for event in reversed(self.log.events) if event.kind == kind), None)

    def data(self) -> dict[str, Any]:
        """As JSON-compatible data; the log itself holds the words."""
        record = self.log.record.model_dump(mode="json", exclude={"log"})
        verdict, panel = self.verdict, self.panel
        return {
            "trial": self.log.trial,
            **record,
            "turns": self.turns,
            "sample_digest": self.log.digest,
            "verdict": verdict.model_dump(mode="json") if verdict else None,
            "panel": panel.model_dump(mode="json") if panel else None,
            "ledger": asdict(self.entry) if self.entry else None,
        }


_Head = Annotated[
    SignedHead | None,
    PlainValidator(lambda head: head if head is None or isinstance(head, SignedHead) else SignedHead.from_dict(head)),
    PlainSerializer(lambda head: head.to_dict() if head else None),
]


class Seal(Model):
    """What vouches for trials: the same in memory, in a run's log and in a report's data.

    Args:
        verification: of the whole ledger.
        head: the signed head, where there is one.
        logged: by trial, SHA-256 of its log's bytes as the ledger has it.
        unfinished: trials that were planned and have no end.
        sittings: by trial that was cut off, in how many sittings it was run.
        rests_on: by trial, what its verdicts rest on besides the solver, by name and digest.
        compared: what comparisons came to of which they are a part.
        died: by trial, attempts that came to no verdict; ``None`` in logs from before that was kept.
    """

    verification: Verification
    head: _Head
    logged: dict[str, str]
    unfinished: tuple[str, ...]
    sittings: dict[str, int]
    rests_on: dict[str, dict[str, str]] = {}
    compared: tuple[TrialsCompared, ...] = ()
    died: dict[str, int] | None = None

    def data(self) -> dict[str, object]:
        """Return the figures as JSON-compatible data."""
        told = self.model_dump(mode="json", exclude={"logged", "died", "verification", "head"})
        ledger = {**self.verification.data(), "head": self.head.to_dict() if self.head else None}
        return {"ledger": ledger, **{name: value for name, value in told.items() if value or name != "compared"}}


@dataclass(frozen=True)
class TrialRecords:
    """Trials as they are reported: their attempts, in the order of trials and logs, and what vouches for them."""

    attempts: tuple[Attempt, ...]
    seal: Seal

    @cached_property
    def models(self) -> list[ModelRollup]:
        """A line for each model and arm."""
        if (lost := self.seal.died) is None:
            return rollup(self._records())
        whose = {one.log.trial: (one.log.record.model, str(one.log.record.arm)) for one in self.attempts}
        died: Counter[tuple[str, str]] = Counter()
        for trial, team in whose.items():
            died[team] += lost.get(trial, 0)
        return rollup(self._records(), died)

    @cached_property
    def arms(self) -> list[tuple[str, ArmEffect]]:
        """The measured effect of framings, by model."""
        of_models = sorted(grouped((record.model, record) for record in self._records()).items())
        return [(name, effect) for name, records in of_models for effect in effects(records)]

    @property
    def trials(self) -> list[str]:
        """Ids, in order."""
        return list(dict.fromkeys(attempt.log.trial for attempt in self.attempts))

    def of(self, history: PuzzleHistory) -> list[Attempt]:
        """Return the attempts behind one line of the rollup."""
        key = attrgetter("model", "arm", "puzzle", "version")
        return [attempt for attempt in self.attempts if key(attempt.log.record) == key(history)]

    def data(self) -> dict[str, Any]:
        """Return the figures as JSON-compatible data."""
        return {
            "models": [_model(each) for each in self.models],
            "arms": [{"model": name, **asdict(effect), "shown": effect.shown} for name, effect in self.arms],
            "attempts": [attempt.data() for attempt in self.attempts],
            **self.seal.data(),
        }

    def _records(self) -> list[Any]:
        return [attempt.log.record for attempt in self.attempts]


def read_trials(shop: Workshop, trials: Sequence[str] = ()) -> TrialRecords:
    """Read trials out of a workshop: the attempts that its ledger names, from the logs that it names.

    Args:
        shop: whose.
        trials: ids; all that have a log where left out.

    Raises:
        ConfigurationError: there is no such trial, or none at all.
        MissingExtraError: Inspect is not installed.
    """
    lines = [(record, _undamaged(partial(read_event, record))) for record in shop.ledger.records()]
    known = attested(event for _, event in lines if event is not None)
    chosen = _chosen(shop, known, trials)
    if find_spec("inspect_ai") is None:
        raise MissingExtraError("a report on trials", "eval")
    from assay.protocols.ai_crucible.inspect.trials import read_log

    graded = ((record, event) for record, event in lines if isinstance(event, AttemptGraded))
    entries = {(event.trial, event.puzzle, event.epoch): (record, event) for record, event in graded}
    attempts: list[Attempt] = []
    for trial in chosen:
        path = trial.place(shop.folder)
        assert trial.log and path
        whole = file_digest(path) == trial.log.sha256
        for log in read_log(path, trial.trial):
            if named := entries.get((trial.trial, log.record.puzzle, log.record.epoch)):
                record, event = named
                entry = LedgerLine(record.seq, record.digest.hex(), event.sample_digest)
                attempts.append(Attempt(_as_attested(log, event, whole), entry))
    return TrialRecords(tuple(attempts), _seal(shop, known, chosen))


def read_seal(shop: Workshop, trials: Sequence[str]) -> Seal:
    """Return what vouches for trials."""
    known = shop.attested()
    return _seal(shop, known, [known[trial] for trial in trials])


def _seal(shop: Workshop, known: dict[str, AttestedTrial], chosen: Sequence[AttestedTrial]) -> Seal:
    return Seal(
        verification=shop.verify(),
        head=_undamaged(shop.ledger.head),
        logged={name: trial.log.sha256 for name, trial in known.items() if trial.log},
        unfinished=tuple(name for name, trial in known.items() if trial.plan is not None and not trial.finished),
        sittings={trial.trial: trial.sittings for trial in chosen if trial.sittings > 1},
        rests_on={trial.trial: rests_on(trial.plan) for trial in chosen if trial.plan and trial.plan.environment},
        compared=tuple({id(trial.compared): trial.compared for trial in chosen if trial.compared}.values()),
        died={each.trial: each.died for trial in chosen if (each := figures_of(trial, here=True))},
    )


def _as_attested(log: LoggedAttempt, graded: AttemptGraded, whole: bool) -> LoggedAttempt:
    """Return an attempt with the ledger's verdict, whatever its log says now.

    Args:
        whole: the log's bytes are those that were attested. Then a sample's digest counts as attested too, since
            another version of Inspect may write the same sample in another way.
    """
    if whole or log.digest == graded.sample_digest:
        return replace(log, digest=graded.sample_digest)
    same = {"passed": graded.passed, "failed": tuple(graded.failed), "terminated_by": graded.terminated_by}
    return replace(log, record=log.record.model_copy(update=same))


def _chosen(shop: Workshop, known: dict[str, AttestedTrial], trials: Sequence[str]) -> list[AttestedTrial]:
    """Return the trials that were asked for, in the order in which they began."""
    logged = [trial for trial in known.values() if trial.place(shop.folder)]
    names = [trial.trial for trial in logged]
    if missing := [trial for trial in trials if trial not in names]:
        raise ConfigurationError(
            f"no trial {missing[0]!r} in the ledger of {shop.folder}; there are: {', '.join(names) or 'none'}"
        )
    if not logged:
        raise ConfigurationError(f"no trial has been run in {shop.folder}; begin with: assay trial run")
    return [trial for trial in logged if not trials or trial.trial in trials]


def _undamaged(read: Callable[[], T]) -> T | None:
    with suppress(StoreDamaged):
        return read()
    return None


def _model(model: ModelRollup) -> dict[str, Any]:
    told = {**asdict(model), "seconds": round(model.seconds, 3), "puzzles": [_history(each) for each in model.puzzles]}
    del told["reliability"]
    k = model.reliability
    return {**told, "pass_hat_k": dict(zip(("k", "value"), k, strict=True)) if k else None}


def _history(history: PuzzleHistory) -> dict[str, Any]:
    n = history.attempts
    return {
        **asdict(history),
        "rate": asdict(history.rate) if history.rate else None,
        "pass_at": {str(k): history.pass_at(k) for k in range(1, n + 1)},
        "pass_hat": {str(k): history.pass_hat(k) for k in range(1, n + 1)},
    }
