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
import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from typing_extensions import Unpack

from ai_crucible.agents import agent_name
from ai_crucible.arms import history_of, standings_of
from ai_crucible.attestation import Ledger, TrialKeeper, Verification, file_digest
from ai_crucible.attested import AttestedTrial, attested, graded_events, log_path, set_aside
from ai_crucible.catalog import Catalog, CatalogEntry, Policy
from ai_crucible.catalog_paths import resolve_puzzles
from ai_crucible.checking import Bar, PuzzleCheck, check_puzzle
from ai_crucible.events import AttemptGraded, PuzzleAdmitted, PuzzleMoved, TrialLogged, TrialPlanned, TrialResumed
from ai_crucible.judge_panel import eligible
from ai_crucible.observability import TrialReport, rollup
from ai_crucible.purse import PURSE, Purse
from ai_crucible.puzzle_box import root_at
from ai_crucible.puzzle_loader import load_puzzles
from ai_crucible.types import AttemptRecord, How, Puzzle, team_name
from ai_crucible.versions import (
    changed_parts,
    environment,
    environment_digest,
    oracle_digest,
    seed_of,
    self_reported,
    version_of,
)
from llm_runtime.errors import BudgetExceeded, ConfigurationError, StoreDamaged
from llm_runtime.extras import needing
from llm_runtime.rewording import reworded
from llm_runtime.settings import config_dir, data_dir
from llm_runtime.store.signing import KeySigner, Signer
from llm_runtime.structs import Struct

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog
    from inspect_ai.model import Model

    from ai_crucible.rating import Rating

_NEW_TRIAL = 4
REDRAWS = 2
"""How often an attempt that died is made again, where a plan says nothing else."""


class Workshop(Struct):
    """A folder of trials with its ledger."""

    folder: Path
    ledger: Ledger

    @classmethod
    def at(cls, folder: Path | None = None, *, anchors: Path | None = None, signer: Signer | None = None) -> Workshop:
        """Return the workshop of a folder.

        Args:
            folder: made when something is written; ``ai_crucible`` below the user's data folder where left out.
            anchors: where signed heads go; below the user's configuration folder where left out.
            signer: what signs; a key beside the anchors where left out.
        """
        folder = folder or data_dir() / "ai_crucible"
        anchors = anchors or config_dir() / "ai_crucible" / "anchors"
        signer = signer or KeySigner(anchors.parent / "signing.key")
        return cls(folder, Ledger(folder / "ledger.jsonl", anchors, signer))

    def run(
        self, puzzles: Sequence[str] = ("all",), *, model: str | Model, k: int = 1, trial: str = "",
        seed: int | None = None, at_once: int = 4, total_cost: float | None = None,
        model_args: dict[str, Any] | None = None, display: str = "none",
        on_attempt: Callable[[str, bool, int], None] | None = None, enough: Callable[[], bool] | None = None,
        redraws: int = REDRAWS, against: Sequence[str] = (), nonce: str = "", **how: Unpack[How],
    ) -> TrialReport:  # fmt: skip
        """Run puzzles by Inspect's ``eval_set``; a trial that was cut off goes on where it was.

        Args:
            puzzles: ids of built-in puzzles, folders, or ``all``.
            model: any Inspect model, ``assay/crucible`` among them.
            k: attempts at each puzzle, at least 1.
            trial: the id of a trial to go on with; a new one where empty.
            seed: fences and draws derive from it; from the nonce or the trial's id where left out.
            at_once: attempts at one time.
            total_cost: US dollars for all attempts together, in all sittings. What a call may take is held before
                it is sent; attempts for which the money does not suffice have no verdict.
            model_args: for the model's constructor.
            display: Inspect's: ``none``, ``rich``, ``plain``, ...
            on_attempt: told of each finished attempt: its puzzle, whether it passed, and which attempt at it.
            enough: tells, before each attempt, that no further one is needed.
            redraws: how often an attempt that died may be made again in further sittings; the plan fixes it.
            against: models that make the same attempts elsewhere; the puzzles' order is then drawn from the seed.
            nonce: words of whoever asked for the trial, so that nobody who runs it chooses what is drawn.
            how: the rest, as :func:`ai_crucible.trial.trial` takes it; arms other than the neutral one take their
                history from this workshop's own logs.

        Raises:
            ConfigurationError: nothing to run, no history for the arm, no box on this machine, no money left, or
                the trial was planned with other versions of what its verdicts rest on.
            KeyboardInterrupt: it was interrupted before there was anything to keep; later, what is finished is
                returned with the status ``cancelled``.
            StoreError: the ledger is damaged or cannot be signed; nothing was run.
        """
        with needing("running a trial", "eval"):
            from inspect_ai import eval_set  # pyright: ignore[reportUnknownVariableType] - its own hint has gaps
            from inspect_ai._util.working import sample_wait
            from inspect_ai.model import get_model

            from ai_crucible.trial import GRADED, KEEPER, LEFT_OUT
            from ai_crucible.trial import trial as make
        loaded = load_puzzles(resolve_puzzles(list(puzzles)))
        arm, judges, cohort = how.get("arm", "neutral"), how.get("judges", []), how.get("cohort", [])
        agent = how.get("agent", "")
        name = team_name([str(model), *cohort], agent and agent_name(agent))
        eligible(judges, name, allow_untagged=how.get("untagged", False))
        # One that does not exist is told now, and not after the first attempt is paid for.
        for other in filter(None, (*judges, *cohort, how.get("critic"))):
            get_model(other)
        trial = trial or f"{arm.replace('_', '-')}-{secrets.token_hex(_NEW_TRIAL)}"
        seed = seed_of(trial, nonce) if seed is None else seed
        plan = TrialPlanned(
            trial=trial,
            puzzles={puzzle.meta.id: puzzle.digest for puzzle in loaded},
            model=name,
            k=k,
            arm=arm,
            oracles={puzzle.meta.id: oracle_digest(puzzle) for puzzle in loaded},
            environment=environment(root_at(how.get("box_root"), whole=bool(agent))),
            redraws=redraws,
            self_reported=tuple(puzzle.meta.id for puzzle in loaded if self_reported(puzzle)),
            protocol=how.get("protocol", "native"),
            judges=tuple(judges),
            against=tuple(against),
            nonce=nonce,
            seed=seed,
        )
        LEFT_OUT.set(self._left_out(trial, enough))
        given: dict[str, Any] = {**how, **self._past(plan), "seed": seed, "shuffled": bool(against)}
        task = make(puzzles=[puzzle.folder for puzzle in loaded], k=k, **given)
        purse = None if total_cost is None else self._purse(trial, total_cost)
        if purse is not None:
            purse.waiting = sample_wait
        self._plan(plan)
        before = GRADED.set(on_attempt), PURSE.set(purse), KEEPER.set(TrialKeeper(self.ledger, trial))
        made: list[EvalLog] = []
        try:
            # At the keyboard's interrupt Inspect closes the log, and returns none.
            with suppress(KeyboardInterrupt):
                _, made = eval_set(
                    task,
                    log_dir=str(self.folder / "logs" / trial),
                    model=model,
                    model_args=model_args or {},
                    retry_attempts=0,
                    retry_immediate=False,
                    # The ledger speaks of every log, those of sittings that were cut off too.
                    retry_cleanup=False,
                    max_samples=at_once,
                    log_buffer=1,
                    display=cast(Any, display),
                    log_dir_allow_dirty=True,
                )
        finally:
            for variable, token in zip((GRADED, PURSE, KEEPER), before, strict=True):
                variable.reset(cast(Any, token))
        return self._finish(trial, made, unpaid=purse is not None and purse.closed)

    def _past(self, plan: TrialPlanned) -> dict[str, Any]:
        """Return what arms other than the neutral one refer to: real attempts at the same versions."""
        parts = environment_digest(plan.environment)
        versions = {name: version_of(plan.puzzles[name], plan.oracles[name], parts) for name in plan.puzzles}
        past = [a for a in self.attempts() if a.version == versions.get(a.puzzle)] if plan.arm != "neutral" else []
        own = [attempt for attempt in past if attempt.model == plan.model and attempt.arm == "neutral"]
        return {"history": history_of(own), "standings": standings_of(past, plan.model)}

    def _left_out(self, trial: str, enough: Callable[[], bool] | None) -> Callable[[str, int], str]:
        known = self.attested().get(trial)
        spent = known.spent if known else set[tuple[str, int]]()

        def reason(puzzle: str, epoch: int) -> str:
            if enough and enough():
                return "the comparison is decided"
            return "it died as often as the plan lets it be made" if (puzzle, epoch) in spent else ""

        return reason

    def _purse(self, trial: str, cap: float) -> Purse:
        known = sum(attempt.cost or 0 for attempt in self.attempts(trial))
        purse = Purse(cap, self.folder / "purses" / f"{trial}.json", known)
        with reworded(trial, BudgetExceeded, then="; give it more, or go on without a cap"):
            purse.need_open()
        return purse

    def _finish(self, trial: str, made: Sequence[EvalLog], *, unpaid: bool) -> TrialReport:
        from inspect_ai.log import read_eval_log

        from ai_crucible.trace_writer import attempts_of

        known = self.attested().get(trial, AttestedTrial(trial))
        # After an interrupt it is the newest that the ledger does not know yet; older ones were looked at before.
        path = next((log_path(log) for log in made), max(known.unnamed(self.folder), default=None))
        if path is None:
            raise KeyboardInterrupt
        log = read_eval_log(str(path))
        attempts = tuple(attempts_of(log))
        name = path.resolve().relative_to(self.folder.resolve()).as_posix()
        # A log that was not closed is Inspect's to recover, and another file when that is done.
        if log.status != "started" and known.named.get(name) != file_digest(path):
            digests = {event.sample_digest for event in known.graded.values()}
            graded = [event for event in graded_events(trial, log, attempts) if event.sample_digest not in digests]
            if not known.vouches_for(log):
                raise StoreDamaged(f"{name} holds attempts that were not graded here; nothing of it was attested")
            size, sha256 = path.stat().st_size, file_digest(path)
            self.ledger.append(
                [*graded, TrialLogged(trial=trial, log=name, sha256=sha256, size=size, status=log.status)]
            )
        return TrialReport(trial, log.status, path, attempts, tuple(rollup(attempts)), unpaid)

    def _plan(self, plan: TrialPlanned) -> None:
        """Write the plan down, or that its trial goes on, with what was really graded in earlier sittings.

        Raises:
            ConfigurationError: it was planned with other versions of what its verdicts rest on.
        """
        known = self.attested().get(plan.trial)
        if known is None or known.plan is None:
            self.ledger.append([plan])
            return
        if changed := ", ".join(changed_parts(known.plan, plan)):
            raise ConfigurationError(
                f"trial {plan.trial} was planned with another {changed}; attempts at two versions are never one "
                "trial, so begin a new one (--fresh)"
            )
        set_aside(self.folder, known)
        self.ledger.append([TrialResumed(trial=plan.trial)])

    def attested(self) -> dict[str, AttestedTrial]:
        """Return what the ledger says of each trial, unverified."""
        return attested(self.ledger.events())

    def attempts(self, trial: str = "") -> list[AttemptRecord]:
        """Return the attempts that the ledger names, of all trials or of one, read from the logs that it names."""
        with needing("reading logs", "eval"):
            from inspect_ai.log import read_eval_log

            from ai_crucible.trace_writer import attempts_of, sample_digest
        records: list[AttemptRecord] = []
        for known in self.attested().values():
            path = known.place(self.folder)
            if known.log is None or path is None or trial not in ("", known.trial):
                continue
            log, whole = read_eval_log(str(path)), file_digest(path) == known.log.sha256
            digests = {event.sample_digest for event in known.graded.values()}
            pairs = zip(log.samples or [], attempts_of(log), strict=True)
            records += [record for sample, record in pairs if whole or sample_digest(sample) in digests]
        return records

    def check(
        self, puzzles: Sequence[str], *, bar: Bar | None = None, admit: bool = False,
        on_check: Callable[[PuzzleCheck], None] | None = None,
    ) -> list[PuzzleCheck]:  # fmt: skip
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
        good = [puzzle for puzzle, check in zip(loaded, checks, strict=True) if check.ok]
        if admit and good:
            self.ledger.append([_admitted(puzzle) for puzzle in good])
        return checks

    def catalog(self, policy: Policy | None = None) -> Catalog:
        """Return every admitted puzzle with its stage and what was seen of it there."""
        return Catalog.of(self.ledger.events(), policy)

    def ratings(self) -> dict[str, Rating]:
        """Return how hard each puzzle is, from the attempts that the ledger names at its newest version.

        Raises:
            MissingExtraError: what it is computed with is not installed.
        """
        with needing("rating tasks", "eval"):
            from ai_crucible.rating import ratings
        graded = [event for event in self.ledger.events() if isinstance(event, AttemptGraded) and not event.anchor]
        newest = {event.puzzle: (event.puzzle_digest, event.oracle_digest) for event in graded}
        return ratings(
            (event.puzzle, event.model, event.passed)
            for event in graded
            if event.passed is not None and newest[event.puzzle] == (event.puzzle_digest, event.oracle_digest)
        )

    def show(self, puzzle: str) -> CatalogEntry:
        """Return one entry of the catalog.

        Raises:
            ConfigurationError: it is not there.
        """
        entries = self.catalog().entries
        if puzzle not in entries:
            raise ConfigurationError(f"no puzzle {puzzle!r} in the catalog; see: ai-crucible catalog list")
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
        return [name for name, trial in self.attested().items() if trial.plan is not None and not trial.finished]


def _admitted(puzzle: Puzzle) -> PuzzleAdmitted:
    name, kind, digest = puzzle.meta.id, puzzle.meta.kind, puzzle.digest
    return PuzzleAdmitted(puzzle=name, kind=kind, digest=digest, oracle_digest=oracle_digest(puzzle))
