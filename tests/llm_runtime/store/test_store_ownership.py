"""Who holds a run: whatever is stopped, killed or set to another time, never two write it, and one always can."""

from __future__ import annotations

import itertools
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import IO

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from llm_runtime.errors import StoreBusy, StoreError
from llm_runtime.events import RunFinished, RunResumed, RunStarted
from llm_runtime.store import RunLog, RunStore, SqliteStore
from llm_runtime.store.database import SqliteDatabase, wall_clock_us
from llm_runtime.store.ownership import SILENT_S, Owner
from llm_runtime.store.verify import verify

RUN = "run"
LATE = 300.0


class Actor:
    """A process as the store sees it: it gives signs of life unless it is stopped, by a clock that may be set."""

    def __init__(self, path: Path, world: World) -> None:
        self.world, self.off, self.stopped, self.due = world, 0.0, False, 0.0
        self.store = SqliteStore(path, silent_s=1e6)
        self.rows = SqliteDatabase(path, clock=lambda: round((1e9 + world.now + self.off) * 1e6))
        self.store.owner = Owner(self.rows, path, silent_s=SILENT_S, clock=lambda: world.now, sleep=world.passes)
        self.log: RunLog | None = None

    def close(self) -> None:
        self.store.owner.close()
        self.rows.close()
        self.store.close()


class World(RuleBasedStateMachine):
    """Three of them and one run; time passes for all alike."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.mkdtemp()
        self.now = 0.0
        self.actors = [Actor(Path(self.folder) / "runs.db", self) for _ in range(3)]
        self.holder: Actor | None = None
        self.quiet_for = 0.0  # how long the holder has been stopped
        self.written = 1

    @initialize()
    def begin(self) -> None:
        started = RunStarted(run_id=RUN, protocol="p", title="t", task={}, settings={}, seed=1)
        self.actors[0].store.start(started).close()
        for actor in self.actors:
            actor.store.owner.live()

    def passes(self, seconds: float) -> None:
        until = self.now + seconds
        while self.now < until:
            step = min(10.0, until - self.now)
            self.now += step
            self.quiet_for = self.quiet_for + step if self.holder and self.holder.stopped else 0.0
            for actor in self.actors:
                if not actor.stopped and actor.due <= self.now:
                    actor.due = self.now + SILENT_S / 3
                    actor.store.owner.beat()

    who = st.integers(0, 2)

    @rule(seconds=st.sampled_from([1, 20, 120]))
    def time_passes(self, seconds: int) -> None:
        self.passes(seconds)

    @rule(who=who)
    def stop(self, who: int) -> None:
        self.actors[who].stopped = True

    @rule(who=who)
    def wake(self, who: int) -> None:
        self.actors[who].stopped = False
        self.actors[who].due = self.now

    @rule(who=who, by=st.sampled_from([-LATE, -20.0, 20.0, LATE]))
    def the_clock_is_set(self, who: int, by: float) -> None:
        self.actors[who].off += by

    @rule(who=who)
    def take(self, who: int) -> None:
        actor, before = self.actors[who], self.holder
        if actor.stopped or actor.log is not None:
            return
        begun = self.now
        try:
            actor.log = actor.store.reopen(RUN)
        except StoreBusy:
            assert before is not None
        else:
            if before is not None:
                assert before.stopped and self.quiet_for >= SILENT_S / 2, "one that lives loses nothing"
            self.holder = actor
        assert self.now - begun <= 45

    @rule(who=who)
    def write(self, who: int) -> None:
        actor = self.actors[who]
        if actor.log is None:
            return
        try:
            actor.log.emit(RunResumed(finished_calls=self.written))
        except StoreError:
            assert actor is not self.holder, "who holds the run can write"
            with suppress(StoreError):
                actor.log.close()
            actor.log = None
        else:
            assert actor is self.holder, "who does not hold it cannot, awake or woken late"
            self.written += 1

    @rule(who=who)
    def let_go(self, who: int) -> None:
        actor = self.actors[who]
        if actor.log is not None and not actor.stopped:
            with suppress(StoreError):
                actor.log.close()
            actor.log = None
            if actor is self.holder:
                self.holder = None

    @precondition(lambda self: self.holder is not None and self.holder.stopped)
    @rule(who=who)
    def another_goes_on_in_time(self, who: int) -> None:
        actor = self.actors[who]
        if actor.stopped or actor.log is not None:
            return
        begun = self.now
        while actor.log is None:
            try:
                actor.log = actor.store.reopen(RUN)
            except StoreBusy:
                self.passes(5)
        self.holder = actor
        assert self.now - begun <= 45

    @invariant()
    def nothing_is_lost_and_nothing_stands_twice(self) -> None:
        if self.written > 1:
            found = verify(self.actors[0].store, RUN)
            assert found.intact and found.length == self.written, found

    def teardown(self) -> None:
        for actor in self.actors:
            actor.close()
        shutil.rmtree(self.folder)


World.TestCase.settings = settings(max_examples=20, stateful_step_count=25, deadline=None)
TestNeverTwoThatWrite = World.TestCase


@pytest.fixture
def watched(store_path: Path) -> Iterator[Watched]:
    seen = Watched(store_path)
    yield seen
    seen.rows.close()


class Watched:
    """An owner that gives signs of life when it is told to, and another that looks at it."""

    def __init__(self, path: Path) -> None:
        SqliteStore(path).close()
        self.now = 0.0
        self.meanwhile: Callable[[], object] = lambda: None
        self.rows = SqliteDatabase(path, clock=lambda: round((1e9 + self.now) * 1e6))
        self.owner = Owner(self.rows, path)
        self.other = Owner(self.rows, path, clock=self.looked, sleep=self.passes)
        self.owner.beat()

    def looked(self) -> float:
        self.meanwhile()
        return self.now

    def passes(self, seconds: float) -> None:
        self.now += seconds

    def lives(self, *, after: float) -> bool:
        self.now += after
        self.other.bury()
        return bool(self.rows.execute("SELECT 1 FROM owners WHERE name = ?", (self.owner.name,)))


def test_silence_is_counted_anew_from_each_sign_of_life(watched: Watched) -> None:
    for _ in range(20):
        assert all(watched.lives(after=4) for _ in range(3))
        watched.owner.beat()
    assert not all(watched.lives(after=4) for _ in range(20))


def test_a_machine_that_was_asleep_buries_nobody_on_waking_up(watched: Watched) -> None:
    assert all(watched.lives(after=seconds) for seconds in (0, 3600))
    watched.owner.beat()
    assert watched.lives(after=1)


def test_who_lives_is_not_taken_for_gone_by_one_whose_clock_is_a_day_off(
    store_path: Path, started: Callable[..., RunStarted]
) -> None:
    with (
        closing(SqliteStore(store_path, silent_s=3)) as store,
        closing(SqliteDatabase(store_path, clock=lambda: wall_clock_us() + 86_400_000_000)) as rows,
    ):
        store.start(started())
        assert not Owner(rows, store_path, silent_s=3).gone(store.owner.name)


def test_a_sign_of_life_in_the_last_instant_counts(watched: Watched) -> None:
    assert all(watched.lives(after=4) for _ in range(8))
    watched.meanwhile = watched.owner.beat
    assert watched.lives(after=4)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="this system does not say when a process began")
def test_a_process_that_has_the_number_of_one_that_ended_is_not_taken_for_it(watched: Watched) -> None:
    [(process,)] = watched.rows.execute("SELECT process FROM owners")
    watched.rows.execute("UPDATE owners SET process = ?", (f"{process.rpartition(' ')[0]} 1",))
    assert not watched.lives(after=1)


def test_of_two_that_see_an_owner_dead_one_gets_its_run(
    watched: Watched, store_path: Path, started: Callable[..., RunStarted]
) -> None:
    with closing(SqliteStore(store_path)) as first, closing(SqliteStore(store_path)) as second:
        first.start(started()).close()
        first.owner.close()
        first.writer.execute("UPDATE runs SET holder = ?", (watched.owner.name,))
        taken: list[RunLog] = []

        def look(seconds: float) -> None:
            watched.passes(seconds)
            if not taken:
                taken.append(second.reopen("run-1"))

        first.owner = Owner(watched.rows, store_path, clock=watched.looked, sleep=look)
        second.owner = Owner(watched.rows, store_path, clock=watched.looked, sleep=watched.passes)
        watched.passes(20)
        with pytest.raises(StoreBusy):
            first.reopen("run-1")
        taken[0].emit(RunFinished(state="finished"))


def test_who_was_overtaken_appends_nothing_though_its_place_is_free(
    any_store: RunStore, started: Callable[..., RunStarted]
) -> None:
    log = any_store.start(started())
    any_store.writer.execute("UPDATE runs SET holder = 'another'")
    with pytest.raises(StoreBusy, match="another"):
        log.emit(RunFinished(state="finished"))
    with suppress(StoreError):
        log.close()
    assert [event.type for _, event in any_store.events("run-1")] == ["run.started"]


def test_who_is_overtaken_before_it_changes_a_run_changes_nothing(
    store: SqliteStore, started: Callable[..., RunStarted]
) -> None:
    store.start(started()).close()
    store.writer.execute(
        "CREATE TRIGGER overtaken AFTER UPDATE OF holder ON runs WHEN new.holder <> '' "
        "BEGIN UPDATE runs SET holder = 'another'; END"
    )
    for change in (store.delete, store.repack):
        with pytest.raises(StoreBusy):
            change("run-1")
        store.writer.execute("UPDATE runs SET holder = ''")
    assert verify(store, "run-1").ok and len(store.runs()) == 1


async def test_who_was_overtaken_hears_it_with_its_next_sign_of_life_and_frees_nothing(
    store_path: Path, started: Callable[..., RunStarted]
) -> None:
    with closing(SqliteStore(store_path)) as store:
        log = store.start(started())
        store.writer.execute("UPDATE runs SET holder = 'another'")
        store.owner.beat()
        with pytest.raises(StoreError, match="another"):
            log.emit(RunResumed(finished_calls=0))
        with suppress(StoreError):
            log.close()
        assert store.writer.execute("SELECT holder FROM runs") == [("another",)]


# Opens the run and writes an event for each line that it reads; says what came of it.
WRITER = """
import sys
from pathlib import Path
from llm_runtime.errors import StoreError
from llm_runtime.events import RunResumed, RunStarted
from llm_runtime.store import SqliteStore, open_store
where = sys.argv[1]
if where.startswith("postgres"):
    from llm_runtime.store.postgres import PostgresStore
    store = PostgresStore(where, silent_s=float(sys.argv[2]))
else:
    store = SqliteStore(Path(where), silent_s=float(sys.argv[2]))
log = store.start(RunStarted(run_id="run", protocol="p", title="t", task={}, settings={}, seed=1))
print("begun", flush=True)
for line in sys.stdin:
    try:
        log.emit(RunResumed(finished_calls=1))
        print("written", flush=True)
    except StoreError as fault:
        print(type(fault).__name__, flush=True)
store.close()
print("closed", flush=True)
"""


@contextmanager
def writer(where: str, silent_s: float) -> Iterator[tuple[subprocess.Popen[str], Callable[[str], str]]]:
    command = [sys.executable, "-c", WRITER, where, str(silent_s)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None and child.stdin is not None
        said: IO[str] = child.stdout
        heard: IO[str] = child.stdin

        def tell(word: str) -> str:
            if word:
                print(word, file=heard, flush=True)
            return said.readline().strip()

        assert tell("") == "begun"
        try:
            yield child, tell
        finally:
            child.kill()


def takes_over_from_one_that_is_stopped(store: RunStore, where: str, silent_s: float) -> None:
    with writer(where, silent_s) as (child, tell):
        assert tell("write") == "written"
        with pytest.raises(StoreBusy):
            store.reopen("run")
        child.send_signal(signal.SIGSTOP)
        for _ in itertools.count():
            with suppress(StoreBusy):
                log = store.reopen("run")
                break
        log.emit(RunFinished(state="finished"))
        log.close()
        head = store.heads.load("run")
        child.send_signal(signal.SIGCONT)
        assert tell("write") == "Overtaken"
        assert child.communicate()[0].strip() == "closed"
    assert store.heads.load("run") == head
    assert [event.type for _, event in store.events("run")] == ["run.started", "run.resumed", "run.finished"]
    assert verify(store, "run").ok


def test_a_process_that_is_stopped_loses_its_run_and_writes_no_more(store_path: Path) -> None:
    with closing(SqliteStore(store_path, silent_s=0.6)) as store:
        takes_over_from_one_that_is_stopped(store, str(store_path), 0.6)


@pytest.mark.postgres
def test_a_process_that_is_stopped_loses_its_run_in_postgresql(postgres_url: str) -> None:
    from llm_runtime.store.postgres import PostgresStore

    with closing(PostgresStore(postgres_url, silent_s=0.6)) as store:
        takes_over_from_one_that_is_stopped(store, postgres_url, 0.6)


def test_a_copy_of_a_file_has_no_owners(
    store: SqliteStore, store_path: Path, tmp_path: Path, started: Callable[..., RunStarted]
) -> None:
    store.start(started())
    store.writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    shutil.copy(store_path, tmp_path / "copy.db")
    with closing(SqliteStore(tmp_path / "copy.db")) as copy:
        assert (store.summary("run-1").state, copy.summary("run-1").state) == ("running", "interrupted")
        copy.reopen("run-1").close()


def test_one_process_has_a_run_open_once(any_store: RunStore, started: Callable[..., RunStarted]) -> None:
    log = any_store.start(started())
    for refused in (any_store.reopen, any_store.delete, any_store.repack):
        with pytest.raises(StoreBusy):
            refused("run-1")
    log.close()
    any_store.reopen("run-1").close()
