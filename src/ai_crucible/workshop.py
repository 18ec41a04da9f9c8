"""What the command line calls: run, check, import, catalog, probe and verify, over one folder of trials.

::

    shop = Workshop.at(Path("trials"))
    report = shop.run(["all"], model="openrouter/some/model", k=5)
    print(report.models[0].rate)
    assert shop.verify().ok

The folder holds ``logs/TRIAL/*.eval`` (Inspect's own logs) and ``ledger.jsonl``. The signed head and the key lie
elsewhere: by default below the user's configuration, not beside what they vouch for.
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ai_crucible.arms import history_of, standings_of
from ai_crucible.attestation import Ledger, Signer, Verification, file_digest
from ai_crucible.catalog import Catalog, Entry, Policy
from ai_crucible.catalog_paths import resolve_puzzles
from ai_crucible.checking import Bar, PuzzleCheck, check_puzzle
from ai_crucible.events import AttemptGraded, PuzzleAdmitted, PuzzleMoved, TrialLogged, TrialPlanned, TrialResumed
from ai_crucible.observability import ModelRollup, rollup
from ai_crucible.purse import PURSE, Purse
from ai_crucible.puzzle_loader import load_puzzles
from ai_crucible.types import Arm, AttemptRecord, Puzzle
from llm_runtime.canonical import canonical_json
from llm_runtime.errors import BudgetExceeded, ConfigurationError, MissingExtraError
from llm_runtime.events import Event
from llm_runtime.settings import config_dir, data_dir

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog
    from inspect_ai.model import Model

_NEW_TRIAL = 4


@dataclass(frozen=True, slots=True)
class TrialReport:
    """What a trial came to.

    Args:
        trial: its id; run it again by this id to go on after a kill.
        status: Inspect's: ``success``, ``error`` where an attempt has no verdict, ``cancelled`` at the keyboard, or
            ``started`` where it was stopped so hard that the log was not finished.
        log: the Inspect log.
        attempts: every attempt that is in it.
        models: rolled up.
        unpaid: the money was used up before all attempts were made.
    """

    trial: str
    status: str
    log: Path
    attempts: tuple[AttemptRecord, ...]
    models: tuple[ModelRollup, ...]
    unpaid: bool = False

    @property
    def errors(self) -> tuple[AttemptRecord, ...]:
        """Attempts without a verdict."""
        return tuple(attempt for attempt in self.attempts if attempt.passed is None)


@dataclass(frozen=True, slots=True)
class Workshop:
    """A folder of trials with its ledger."""

    folder: Path
    ledger: Ledger

    @classmethod
    def at(
        cls, folder: Path | None = None, *, anchors: Path | None = None, signer: Signer | None = None
    ) -> Workshop:
        """Return the workshop of a folder.

        Args:
            folder: made when something is written; ``ai_crucible`` below the user's data folder where left out.
            anchors: where signed heads go; below the user's configuration folder where left out.
            signer: what signs; our own program with a key beside the anchors where left out.
        """
        folder = folder or data_dir() / "ai_crucible"
        anchors = anchors or config_dir() / "ai_crucible" / "anchors"
        signer = signer or Signer.built_in(anchors.parent / "signing.key")
        return cls(folder, Ledger(folder / "ledger.jsonl", anchors, signer))

    def run(
        self,
        puzzles: Sequence[str] = ("all",),
        *,
        model: str | Model,
        k: int = 1,
        arm: Arm = "neutral",
        trial: str = "",
        protocol: str = "native",
        judges: Sequence[str] = (),
        chrome: dict[str, Any] | None = None,
        seed: int | None = None,
        at_once: int = 4,
        total_cost: float | None = None,
        model_args: dict[str, Any] | None = None,
        display: str = "none",
        on_attempt: Callable[[str, bool], None] | None = None,
        attest: bool = True,
    ) -> TrialReport:
        """Run puzzles by Inspect's ``eval_set``; a trial that was cut off goes on where it was.

        Args:
            puzzles: ids of built-in puzzles, folders, or ``all``.
            model: any Inspect model, ``assay/crucible`` among them.
            k: attempts at each puzzle, at least 1.
            arm: the framing; the other arms take their history from this workshop's own logs.
            trial: the id of a trial to go on with; a new one where empty.
            protocol: ``native`` or ``text`` tool calls.
            judges: models of the panel.
            chrome: kept beside every attempt, never in its messages.
            seed: fences derive from it; where left out it derives from the trial's id, which no solver sees.
            at_once: attempts at one time.
            total_cost: US dollars for all attempts of the trial together, in all its sittings. What a call may
                take is held before it is sent; attempts for which the money does not suffice have no verdict.
            model_args: for the model's constructor.
            display: Inspect's display: ``none``, ``rich``, ``plain``, ...
            on_attempt: told of each finished attempt: its puzzle and whether it passed.
            attest: write to the ledger.

        Raises:
            ConfigurationError: nothing to run, no history for the arm, no box on this machine, or no money left.
            KeyboardInterrupt: it was interrupted before there was anything to keep; later, what is finished is
                returned with the status ``cancelled``.
            StoreError: the ledger is damaged or cannot be signed; nothing was run.
        """
        with _inspect("running a trial"):
            from inspect_ai import eval_set  # pyright: ignore[reportUnknownVariableType] - its own hint has gaps

            from ai_crucible.trial import GRADED
            from ai_crucible.trial import trial as make
        loaded = load_puzzles(resolve_puzzles(list(puzzles)))
        name = str(model)
        trial = trial or f"{arm.replace('_', '-')}-{secrets.token_hex(_NEW_TRIAL)}"
        if seed is None:
            seed = int.from_bytes(hashlib.sha256(trial.encode()).digest()[:6])
        folder = self.folder / "logs" / trial
        past = self.attempts() if arm != "neutral" else []
        own = [attempt for attempt in past if attempt.model == name and attempt.arm == "neutral"]
        task = make(
            puzzles=[puzzle.folder for puzzle in loaded],
            k=k,
            arm=arm,
            protocol=protocol,
            seed=seed,
            judges=list(judges),
            chrome=chrome,
            history={
                puzzle: [[float(a.passed), a.seconds, float(a.tool_calls)] for a in rows]
                for puzzle, rows in history_of(own).items()
            },
            standings={
                puzzle: [[row.name, row.attempts, row.passed] for row in rows]
                for puzzle, rows in standings_of(past, name).items()
            },
        )
        purse = None if total_cost is None else self._purse(trial, total_cost)
        if attest:
            self._plan(trial, loaded, name, k, arm)
        tokens = GRADED.set(on_attempt), PURSE.set(purse)
        try:
            # At the keyboard's interrupt Inspect closes the log, and returns none.
            with suppress(KeyboardInterrupt):
                eval_set(
                    task,
                    log_dir=str(folder),
                    model=model,
                    model_args=model_args or {},
                    retry_attempts=0,
                    retry_immediate=False,
                    # The ledger speaks of every log, those of sittings that were cut off too.
                    retry_cleanup=False,
                    max_samples=at_once,
                    max_sandboxes=at_once,
                    log_buffer=1,
                    display=cast(Any, display),
                    log_dir_allow_dirty=True,
                )
        finally:
            GRADED.reset(tokens[0])
            PURSE.reset(tokens[1])
        return self._finish(trial, attest, unpaid=purse is not None and purse.closed)

    def _purse(self, trial: str, cap: float) -> Purse:
        known = sum(attempt.cost or 0 for attempt in self.attempts(trial))
        purse = Purse(cap, self.folder / "purses" / f"{trial}.json", known)
        try:
            purse.need_open()
        except BudgetExceeded as fault:
            raise ConfigurationError(f"{trial}: {fault}; give it more, or go on without a cap") from None
        return purse

    def _finish(self, trial: str, attest: bool, *, unpaid: bool) -> TrialReport:
        from inspect_ai.log import read_eval_log

        from ai_crucible.trace_writer import attempts_of

        path = newest_log(self.folder / "logs" / trial)
        if path is None:
            raise KeyboardInterrupt
        log = read_eval_log(str(path))
        attempts = tuple(attempts_of(log))
        # A log that was not closed is Inspect's to recover, and another file when that is done.
        if attest and log.status != "started" and not self._attested(trial, file_digest(path)):
            self.ledger.append([*self._new(_graded(trial, log, attempts)), self._logged(trial, log, path)])
        return TrialReport(trial, log.status, path, attempts, tuple(rollup(attempts)), unpaid)

    def _new(self, graded: list[AttemptGraded]) -> list[AttemptGraded]:
        """Return those that the ledger lacks: a later log of a trial repeats what an earlier one finished."""
        known = {event.sample_digest for event in self.ledger.events() if isinstance(event, AttemptGraded)}
        return [event for event in graded if event.sample_digest not in known]

    def _plan(self, trial: str, puzzles: Sequence[Puzzle], model: str, k: int, arm: str) -> None:
        if any(isinstance(event, TrialPlanned) and event.trial == trial for event in self.ledger.events()):
            self.ledger.append([TrialResumed(trial=trial)])
            return
        digests = {puzzle.meta.id: puzzle.digest for puzzle in puzzles}
        self.ledger.append([TrialPlanned(trial=trial, puzzles=digests, model=model, k=k, arm=arm)])

    def _attested(self, trial: str, sha256: str) -> bool:
        return any(
            isinstance(event, TrialLogged) and event.trial == trial and event.sha256 == sha256
            for event in self.ledger.events()
        )

    def _logged(self, trial: str, log: EvalLog, path: Path) -> TrialLogged:
        relative = path.resolve().relative_to(self.folder.resolve()).as_posix()
        return TrialLogged(
            trial=trial, log=relative, sha256=file_digest(path), size=path.stat().st_size, status=log.status
        )

    def attempts(self, trial: str = "") -> list[AttemptRecord]:
        """Return the attempts of all finished trials here, or of one, from their logs."""
        with _inspect("reading logs"):
            from inspect_ai.log import read_eval_log

            from ai_crucible.trace_writer import attempts_of
        folders = sorted((self.folder / "logs").glob(trial or "*"))
        newest = [path for folder in folders if (path := newest_log(folder))]
        return [attempt for path in newest for attempt in attempts_of(read_eval_log(str(path)))]

    def check(
        self,
        puzzles: Sequence[str],
        *,
        bar: Bar | None = None,
        admit: bool = False,
        on_check: Callable[[PuzzleCheck], None] | None = None,
    ) -> list[PuzzleCheck]:
        """Grade gold, no-op, wrong and right solutions of each puzzle, and try its checks.

        Args:
            puzzles: ids, folders, or ``all``.
            bar: what the checks are held to; left out, they are not tried themselves.
            admit: enter those that are fine into the catalog's lab.
            on_check: is told of each puzzle as soon as it is done.

        Raises:
            ConfigurationError: one cannot be loaded or graded, or this machine gives no box.
        """
        loaded = load_puzzles(resolve_puzzles(list(puzzles)))

        async def each() -> list[PuzzleCheck]:
            done: list[PuzzleCheck] = []
            for puzzle in loaded:
                done.append(await check_puzzle(puzzle, bar=bar))
                if on_check:
                    on_check(done[-1])
            return done

        checks = asyncio.run(each())
        admitted: list[Event] = [
            PuzzleAdmitted(puzzle=puzzle.meta.id, kind=puzzle.meta.kind, digest=puzzle.digest)
            for puzzle, check in zip(loaded, checks, strict=True)
            if check.ok
        ]
        if admit and admitted:
            self.ledger.append(admitted)
        return checks

    def catalog(self, policy: Policy | None = None) -> Catalog:
        """Return every admitted puzzle with its stage and what was seen of it there."""
        return Catalog.of(self.ledger.events(), policy)

    def show(self, puzzle: str) -> Entry:
        """Return one entry of the catalog.

        Raises:
            ConfigurationError: it is not there.
        """
        entries = self.catalog().entries
        if puzzle not in entries:
            raise ConfigurationError(
                f"no puzzle {puzzle!r} in the catalog; admit it first: ai-crucible check --admit"
            )
        return entries[puzzle]

    def graduate(self, puzzle: str, policy: Policy | None = None) -> PuzzleMoved:
        """Move a puzzle to its next stage, if it is ready.

        Raises:
            ConfigurationError: it is not ready; the message says what is missing.
        """
        move = self.catalog(policy).next_move(puzzle)
        if isinstance(move, str):
            raise ConfigurationError(move)
        self.ledger.append([move])
        return move

    def verify(self) -> Verification:
        """Check the ledger, its head, and the logs it speaks of."""
        return self.ledger.verify()

    def unfinished(self) -> list[str]:
        """Return trials that were planned and never logged: cut off, or dropped. Who reads a result may ask why."""
        planned: dict[str, None] = {}
        for event in self.ledger.events():
            if isinstance(event, TrialPlanned):
                planned[event.trial] = None
            elif isinstance(event, TrialLogged) and event.status == "success":
                planned.pop(event.trial, None)
        return list(planned)


def newest_log(folder: Path) -> Path | None:
    """Return the log of a trial's last sitting, which holds what earlier ones finished; names begin with a time."""
    return max(folder.glob("*.eval"), default=None)


def _graded(trial: str, log: EvalLog, attempts: Sequence[AttemptRecord]) -> list[AttemptGraded]:
    events: list[AttemptGraded] = []
    for sample, attempt in zip(log.samples or [], attempts, strict=True):
        # Inspect's own JSON form: what a float prints as is settled once, here, and hashed as text.
        digest = hashlib.sha256(canonical_json(sample.model_dump_json(exclude_none=True))).hexdigest()
        same = {"puzzle", "kind", "epoch", "model", "arm", "passed", "failed", "terminated_by"}
        fields = {**attempt.model_dump(include=same), "anchor": attempt.anchor is not None}
        events.append(AttemptGraded.model_validate({**fields, "trial": trial, "sample_digest": digest}))
    return events


@contextmanager
def _inspect(feature: str) -> Generator[None]:
    try:
        yield
    except ModuleNotFoundError as fault:
        if (fault.name or "").split(".")[0] != "inspect_ai":
            raise
        raise MissingExtraError(feature, "eval") from None
