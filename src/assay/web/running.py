"""What this process carries out: runs started, resumed, forked, played, stopped from pages; workers of batches."""

from __future__ import annotations

import asyncio
import secrets
import sys
from collections.abc import Callable
from dataclasses import dataclass

from assay.batch.spending import Allowance, Spending
from assay.demo import has_log, import_played, prepare_demo
from assay.launch import Followers, Launcher, PerRun, Running, Words
from assay.registry import Prepared, opened
from assay.terms import Terms, in_force
from assay.web.people import WHO
from assay.web.permissions import owned, permit
from assay.web.questions import Questions
from llm_runtime.errors import ConfigurationError
from llm_runtime.settings import Settings, data_dir
from llm_runtime.store import RunStore


class BatchWorkers:
    """Processes of this server that work batches off; they end with it, and `assay batch resume` goes on."""

    def __init__(self) -> None:
        self._processes: list[asyncio.subprocess.Process] = []

    async def begin(self, batch_id: str, store_url: str) -> None:
        """Work a batch off in a process of its own."""
        self._processes = [one for one in self._processes if one.returncode is None]
        arguments = ("batch", "resume", batch_id, "--quiet", "--store", store_url)
        worker = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "assay", *arguments),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,  # why it ended, it says on this server's stderr
        )
        self._processes.append(worker)

    async def close(self) -> None:
        """End all of them; what is under way is put back."""
        for one in self._processes:
            if one.returncode is None:
                one.terminate()
        await self.ended()

    async def ended(self) -> None:
        """Wait until all of them have ended."""
        await asyncio.gather(*(one.wait() for one in self._processes))


@dataclass(eq=False, repr=False)
class ActiveRuns:
    """Runs under way in this process.

    Args:
        store: where they are kept.
        questions: where they ask a person.
        settings: reads the configuration; called for each run, so that a key stored meanwhile counts.
        changed: takes the id of a run that this process does not carry out any more.
        spending: the purses of people and keys; nobody has a budget where it is left out.
    """

    store: RunStore
    questions: Questions
    settings: Callable[[], Settings]
    changed: Callable[[str], None]
    spending: Spending | None = None

    def __post_init__(self) -> None:
        self._launcher = Launcher(self.store, self.settings)
        self._running: dict[str, Running] = {}
        self._words: dict[str, Words] = {}
        self.faults: dict[str, str] = {}
        """Why a run ended, by its id, where it ended with an error that its log could not take."""

    def owns(self, run_id: str) -> bool:
        """Tell whether this process carries the run out now."""
        return run_id in self._running

    async def start(
        self, run: Prepared, terms: Terms, *, seed: int | None = None, run_id: str = "", model: PerRun | None = None
    ) -> str:
        """Start a run; return its id once its log is open.

        Args:
            run_id: drawn where left out.
            model: answers in place of the gateway, where others share its budget.

        Raises:
            LlmRuntimeError: it could not begin; nothing was stored.
        """
        run_id = run_id or self._launcher.new_id()
        followers = self._followers(run_id)
        self.permit(run, terms)
        model = model or await self._purse(run, terms)
        with owned(self.store, run_id):
            running = await self._launcher.start(run, terms, seed=seed, run_id=run_id, model=model, followers=followers)
        return self._keep(running, followers.words)

    def permit(self, run: Prepared, terms: Terms) -> None:
        """Let whoever asks begin a run; see :func:`~assay.web.permissions.permit`."""
        permit(self.store, self.settings(), run, terms, fresh=True)

    async def play(self, name: str, speed: float = 1.0) -> str:
        """Play a recording through the real engine; return the run's id once its log is open.

        Where this machine lacks what it needs, the run that was played beforehand is taken over instead.

        Raises:
            ConfigurationError: there is no such recording, or it cannot be played here.
            StoreError: the log cannot be written.
        """
        run_id = self._launcher.new_id()
        try:
            demo = await asyncio.to_thread(prepare_demo, name, data_dir() / "demo" / secrets.token_hex(4), speed)
        except ConfigurationError:
            if not has_log(name):
                raise
            with owned(self.store, run_id):
                return import_played(self.store, name, run_id)
        with owned(self.store, run_id):
            running = await self._launcher.start(
                demo.run, seed=demo.seed, title=demo.title, run_id=run_id, origin="demo", model=demo.model
            )
        return self._keep(running)

    async def resume(self, run_id: str, terms: Terms, *, model: PerRun | None = None) -> str:
        """Go on with a run; ``terms`` are laid over those in force, ``model`` is as for :meth:`start`.

        Raises:
            LlmRuntimeError: it cannot go on; says why.
        """
        if (running := self._running.get(run_id)) is not None:
            if self.store.summary(run_id).state == "running":
                raise ConfigurationError("this run is under way")
            # Its log has its end, and is being signed and let go.
            await running.ended()
        followers = self._followers(run_id)
        model = model or await self._again(run_id, terms)
        running = await self._launcher.resume(run_id, terms, model=model, followers=followers)
        return self._keep(running, followers.words)

    async def fork(self, run_id: str, at: int, terms: Terms, say: str = "") -> str:
        """Start a run that shares the answers of another up to its event ``at``; return its id.

        Args:
            run_id: the other.
            at: number of its event.
            terms: laid over those of the other.
            say: what every call that is not shared is told besides.

        Raises:
            LlmRuntimeError: it could not begin; nothing was stored.
        """
        child = self._launcher.new_id()
        followers = self._followers(child)
        model = await self._again(run_id, terms)
        with owned(self.store, child):
            running = await self._launcher.fork(
                run_id, at, terms, say=say, run_id=child, model=model, followers=followers
            )
        return self._keep(running, followers.words)

    async def stop(self, run_id: str) -> None:
        """Stop a run, which can be resumed later.

        Raises:
            ConfigurationError: this process does not carry it out.
        """
        running = self._running.get(run_id)
        if running is None:
            raise ConfigurationError("this run is not carried out by this server; stop it where it was started")
        await running.stop()

    async def close(self) -> None:
        """Stop every run; each can be resumed."""
        await asyncio.gather(*(running.stop() for running in list(self._running.values())))

    def words(self, run_id: str) -> Words | None:
        """Return the answers on their way in a run that this process carries out."""
        return self._words.get(run_id)

    async def _again(self, run_id: str, terms: Terms) -> PerRun | None:
        """Return the way to models of a run that goes on, or of one that begins from it."""
        if WHO.get() is None:
            return None
        run = opened(self._launcher.first_event(run_id))
        earlier = in_force(event for _, event in self.store.events(run_id))
        permit(self.store, self.settings(), run, earlier, terms)
        return await self._purse(run, terms.over(earlier))

    async def _purse(self, run: Prepared, terms: Terms) -> PerRun | None:
        return None if (who := WHO.get()) is None else await self.within(who.allowance, terms, run)

    async def within(self, of: Allowance, terms: Terms, run: Prepared) -> PerRun | None:
        """Return the way to models within a budget of whoever asks; ``None`` where they have none.

        Raises:
            BudgetExceeded: nothing is left of it, or no budget can bound such a run.
        """
        return await self.spending.models(of, terms, run, self._launcher.shared) if self.spending else None

    def _followers(self, run_id: str) -> Followers:
        return Followers(person=self.questions.person(run_id), words=Words())

    def _keep(self, running: Running, words: Words | None = None) -> str:
        run_id = running.run_id
        if words is not None:
            self._words[run_id] = words
        self.faults.pop(run_id, None)
        self._running[run_id] = running
        running.on_end(lambda fault: self._ended(run_id, fault))
        return run_id

    def _ended(self, run_id: str, fault: BaseException | None) -> None:
        self._running.pop(run_id, None)
        self._words.pop(run_id, None)
        if fault is not None:
            self.faults[run_id] = f"{type(fault).__name__}: {fault}"
        self.changed(run_id)
