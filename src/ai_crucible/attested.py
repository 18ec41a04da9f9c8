"""What the ledger says of each trial: plan, log, attempts. What else lies beside it is no part of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlparse

from ai_crucible.events import (
    AttemptBegun,
    AttemptGraded,
    AttemptWitnessed,
    TrialLogged,
    TrialPlanned,
    TrialResumed,
    TrialsCompared,
)
from ai_crucible.keeping import digests_of, work_place
from ai_crucible.types import AttemptRecord
from llm_runtime.events import Event
from llm_runtime.store.verify import Finding

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog


_OF_A_TRIAL = (TrialPlanned, TrialResumed, TrialLogged, AttemptGraded, AttemptBegun, AttemptWitnessed)


@dataclass
class AttestedTrial:
    """One trial as its ledger has it.

    Args:
        trial: its id.
        plan: what was planned, where that is there.
        log: the log of its last sitting that was closed in order; ``None`` while there is none.
        named: SHA-256 of every log of it that was attested and of all that attempts left, by path from the
            ledger's folder.
        graded: the last word on each attempt, by puzzle and epoch.
        witnessed: attempts that were graded, by Inspect's id, with the digest of their score.
        begun: attempts that were begun, by Inspect's id; none in ledgers from before that was written down.
        ungraded: attempts that a log has without a verdict, by their digest there.
        sittings: in how many it was run.
        compared: what a comparison with other models came to, of which it is a part.
    """

    trial: str
    plan: TrialPlanned | None = None
    log: TrialLogged | None = None
    named: dict[str, str] = field(default_factory=dict[str, str])
    graded: dict[tuple[str, int], AttemptGraded] = field(default_factory=dict[tuple[str, int], AttemptGraded])
    witnessed: dict[str, str] = field(default_factory=dict[str, str])
    begun: dict[str, AttemptBegun] = field(default_factory=dict[str, AttemptBegun])
    ungraded: dict[str, AttemptGraded] = field(default_factory=dict[str, AttemptGraded])
    sittings: int = 1
    compared: TrialsCompared | None = None

    @property
    def finished(self) -> bool:
        """Whether every attempt that was to be made has a verdict."""
        return self.log is not None and self.log.status == "success"

    @property
    def decided(self) -> bool:
        """Whether attempts can be missing because a comparison was decided."""
        return self.compared is not None and self.compared.decided

    @property
    def died(self) -> list[AttemptBegun | AttemptGraded]:
        """Attempts that began and came to no verdict that was kept, in every sitting; anchors too.

        One whose verdict went with a killed sitting, and that was made again, is among them.
        """
        kept = {(one.puzzle, one.epoch): one for sample, one in self.begun.items() if sample in self.witnessed}
        lost = [one for one in self.begun.values() if kept.get((one.puzzle, one.epoch)) is not one]
        return [*lost] if self.begun else [*self.ungraded.values()]

    @property
    def spent(self) -> set[tuple[str, int]]:
        """Attempts that died as often as their plan lets them be made, by puzzle and epoch."""
        redraws = self.plan.redraws if self.plan else None
        times = Counter((event.puzzle, event.epoch) for event in self.died)
        return set() if redraws is None else {place for place, died in times.items() if died > redraws}

    @property
    def done(self) -> int:
        """Attempts with a verdict."""
        return max(len(self.witnessed), sum(event.passed is not None for event in self.graded.values()))

    def place(self, folder: Path) -> Path | None:
        """Return where its log is below the ledger's folder; ``None`` where it is not there."""
        path = folder / self.log.log if self.log else None
        return path if path is not None and path.is_file() else None

    def unnamed(self, folder: Path) -> list[Path]:
        """Return logs in the trial's place below the ledger's folder that the ledger does not name."""
        logs = sorted((folder / "logs" / self.trial).glob("*.eval"))
        return [path for path in logs if path.relative_to(folder).as_posix() not in self.named]

    def vouches_for(self, log: EvalLog) -> bool:
        """Tell whether every score of a log was witnessed, so that a further sitting may take the log over.

        Of a trial that was planned before there were witnesses every one passes.
        """
        if self.plan is None or not self.plan.environment:
            return True
        from ai_crucible.trace_writer import oracle_score, score_digest

        scores = [(sample.uuid or "", oracle_score(sample)) for sample in log.samples or []]
        return all(self.witnessed.get(uuid) == score_digest(score) for uuid, score in scores if score)


def attested(events: Iterable[Event]) -> dict[str, AttestedTrial]:
    """Return the trials of a ledger by id, in the order in which they were planned."""
    trials: dict[str, AttestedTrial] = {}
    for event in events:
        if isinstance(event, TrialsCompared):
            for name in event.trials:
                trials.setdefault(name, AttestedTrial(name)).compared = event
        if not isinstance(event, _OF_A_TRIAL):
            continue
        trial = trials.setdefault(event.trial, AttestedTrial(event.trial))
        match event:
            case TrialPlanned():
                trial.plan = trial.plan or event
            case TrialResumed():
                trial.sittings += 1
            case TrialLogged():
                trial.log = event
                trial.named[event.log] = event.sha256
            case AttemptGraded():
                trial.graded[event.puzzle, event.epoch] = event
                trial.named |= {work_place(digest): digest for digest in digests_of(event.work or {})}
                if event.passed is None:
                    trial.ungraded[event.sample_digest] = event
            case AttemptBegun():
                trial.begun[event.sample] = event
            case AttemptWitnessed():
                trial.witnessed[event.sample] = event.score_digest
    return trials


def wrong_logs(trial: AttestedTrial, digest: Callable[[str], str]) -> Iterator[Finding]:
    """Yield what is wrong with the logs, and with what attempts left, that a ledger names of a trial.

    Args:
        trial: as its ledger has it.
        digest: returns the SHA-256 of a log by its path from the ledger's folder; empty where it is not there.
    """
    for name, sha256 in trial.named.items():
        if (there := digest(name)) != sha256:
            what = "work" if name.startswith(work_place("")) else "log"
            yield Finding(0, f"{what} changed" if there else f"{what} missing", name)


def unnamed_logs(folder: Path, trials: dict[str, AttestedTrial]) -> Iterator[tuple[str, bool]]:
    """Yield logs that no ledger names, by path from its folder, and whether one can be there in good order.

    A sitting that was killed leaves one, older than the log of the sitting that went on, or than none.
    """
    for path in sorted((folder / "logs").glob("*/*.eval")):
        name = path.relative_to(folder).as_posix()
        trial = trials.get(path.parent.name)
        if trial is None or name not in trial.named:
            last = trial.log.log if trial and trial.log and trial.finished else ""
            yield name, trial is not None and (not last or name < last)


def _left(folder: Path, trial: AttestedTrial) -> Iterator[tuple[Path, EvalLog]]:
    """Yield the logs in a trial's place that the ledger does not name, as a killed sitting leaves them."""
    from inspect_ai.log import read_eval_log

    for path in trial.unnamed(folder):
        log = None
        with suppress(Exception):  # one that was cut off in the middle of a write is Inspect's to recover, or none
            log = read_eval_log(str(path))
        if log is not None:
            yield path, log


def set_aside(folder: Path, trial: AttestedTrial) -> None:
    """Move logs with scores that nobody witnessed out of a trial's place, before Inspect takes attempts over."""
    for path, log in _left(folder, trial):
        if not trial.vouches_for(log):
            aside = folder / "aside" / trial.trial
            aside.mkdir(parents=True, exist_ok=True)
            path.rename(aside / path.name)


def recovered(folder: Path, trial: AttestedTrial) -> Iterator[tuple[str, int, bool]]:
    """Yield puzzle, epoch and verdict of attempts that a killed sitting left in a log for the next one."""
    from ai_crucible.trace_writer import attempts_of

    logs = [log for _, log in _left(folder, trial) if trial.vouches_for(log)]
    return ((one.puzzle, one.epoch, one.passed) for log in logs for one in attempts_of(log) if one.passed is not None)


def graded_events(trial: str, log: EvalLog, attempts: Sequence[AttemptRecord]) -> list[AttemptGraded]:
    """Return what the ledger is to say of the attempts of a log."""
    from ai_crucible.trace_writer import oracle_score, rests_on, sample_digest

    events: list[AttemptGraded] = []
    for sample, attempt in zip(log.samples or [], attempts, strict=True):
        same = {"puzzle", "kind", "epoch", "model", "arm", "passed", "failed", "terminated_by"}
        fields = {**attempt.model_dump(include=same), "anchor": attempt.anchor is not None}
        named = dict(zip(("puzzle_digest", "oracle_digest", "environment"), rests_on(log, sample), strict=True))
        score, digest = oracle_score(sample), sample_digest(sample)
        own = {"trial": trial, "sample_digest": digest, "work": ((score and score.metadata) or {}).get("work")}
        events.append(AttemptGraded.model_validate({**fields, **named, **own}))
    return events


def log_path(log: EvalLog) -> Path:
    """Return where a log lies, which Inspect tells as a path or as a URL."""
    return Path(urlparse(log.location).path if "://" in log.location else log.location)
