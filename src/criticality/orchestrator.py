"""The loop: what is pending, who does it, journal, advance, side effects.

Nothing here reasons (specification, section 9.5 "Tick Function").
"""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Literal, Self, TypeAlias

from criticality import events as e
from criticality import hand
from criticality.artifacts import Artifacts
from criticality.asking import Asking
from criticality.bodies import SpliceRefused
from criticality.config import Config, load_config
from criticality.deliverable import project_files, state_text
from criticality.edits import BodyEdited, FilesKept
from criticality.human import Human, Nobody
from criticality.judging.court import Court
from criticality.lanes import Lanes
from criticality.language import Toolchain
from criticality.languages import language
from criticality.ledger import Ledger
from criticality.machine.states import Active, Blocked, Completed, ProtocolState, beginning
from criticality.machine.step import MachineLimits, advance, where
from criticality.project import files
from criticality.project.commits import Commits, commit_message
from criticality.project.journal import Clock, Journal, read_journal
from criticality.project.written import Written
from criticality.steps import blocked, performed
from criticality.telemetry import Telemetry, phase_of
from criticality.work import Work
from llm_runtime.errors import LlmRuntimeError
from llm_runtime.events import Emit, Event, parse_event, silent
from llm_runtime.messages import Generate
from llm_runtime.replay import Recording
from llm_runtime.structs import Struct
from llm_runtime.undoing import undone
from llm_runtime.wrappers.recording import recording
from llm_runtime.wrappers.replaying import replaying

Notify = Callable[[str, ProtocolState], Awaitable[None]]
#: What a journal comes to.
Project: TypeAlias = tuple[ProtocolState, Artifacts, Ledger, Telemetry]


class RunResult(Struct):
    """How a run ended: ``completed``, ``blocked`` on a query, or ``waiting`` for a person's next answer."""

    type: Literal["completed", "blocked", "waiting"]
    state: ProtocolState


class Orchestrator:
    """One project, driven from wherever it stands. Use it as ``async with``; it holds the project's lock meanwhile.

    Args:
        root: the project's folder.
        generate: the model; finished calls are answered from the journal and never made again.
        human: whoever answers.
        emit: told of every event after the journal has it.
        clock: milliseconds since the epoch.
        tools: the language's tools; made where left out, and closed at the end.
        court: where bodies are judged, likewise.
        notify: told of blocks, completion and changes of phase; must not raise or block.
    """

    def __init__(
        self, root: Path, generate: Generate, *, human: Human | None = None, emit: Emit = silent, clock: Clock,
        tools: Toolchain | None = None, court: Court | None = None, notify: Notify | None = None,
    ) -> None:  # fmt: skip
        files.require_project(root)
        self.root, self.human = root, human or Nobody()
        self.config: Config = load_config(root / files.CONFIG)
        self.state: ProtocolState = beginning()
        self.artifacts, self.ledger = Artifacts(), Ledger()
        self._live, self._emit, self._clock, self._notify = generate, emit, clock, notify
        repairs = self.config.orchestrator.max_repair_attempts
        self._limits = MachineLimits(breaker=self.config.circuit_breaker, max_repair_attempts=repairs)
        self.language = language(self.config.project.language)
        self._tools = tools or self.language.toolchain()
        self._court = court or Court(max(2, (os.cpu_count() or 2) // 2))
        self.telemetry = Telemetry()
        self._journal = Journal(root / files.JOURNAL, clock)
        self._lanes = Lanes(self.config.orchestrator.max_parallel_injections)
        self._lock = files.holding(root)
        self._texts: dict[str, str] = {}
        self._written = Written(root)
        self._commits = Commits(root, wanted=self.config.project.git)
        self._received: e.ImplementationReceived | None = None

    async def __aenter__(self) -> Self:
        self._lock.__enter__()
        with undone(self._lock.__exit__, None, None, None):
            self._recover()
            self._written.there |= self.artifacts.spec is None
            await self._settle(None)
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._lanes.aclose()
        await self._court.aclose()
        await self._tools.aclose()
        self._journal.close()
        self._lock.__exit__(None, None, None)

    async def run(self, until: Callable[[ProtocolState], bool] | None = None) -> RunResult:
        """Go on until it is done, blocked, a person is awaited, or ``until`` holds.

        Raises:
            NoModelError: a model is needed and there is none.
            StoreError: the project cannot be written; what is finished is kept.
        """
        while until is None or not until(self.state):
            result = await self.tick()
            if result is not None:
                return result
        return RunResult("waiting", self.state)

    async def tick(self) -> RunResult | None:
        """One step; ``None`` while there is more to do."""
        edit = await self._by_hand()
        if edit is not None:
            await self.take(edit)
            return None
        match self.state:
            case Completed():
                self._write(None)
                self._commits.commit("Trace, metrics and tests")
                return RunResult("completed", self.state)
            case Blocked():
                event = await self._resolution(self.state)
                if event is None:
                    return RunResult("blocked", self.state)
            case Active():
                event = await performed(self._work(self.state))
                if event is None:
                    return RunResult("waiting", self.state)
        await self.take(event)
        return None

    async def take(self, event: Event) -> None:
        """Journal an event, advance, and do what follows from it."""
        # As the journal will give it back: what a resumed run sees must be what this one saw, to the order of keys.
        event = parse_event(json.loads(event.canonical()))
        before = where(self.state)
        after, actions = advance(self.state, event, self._limits)
        at = self._record(event)
        if isinstance(event, e.ImplementationReceived):
            self._received = event
        self.telemetry.record(event, at, phase_of(self.state))
        self.state, refused = after, list(self.artifacts.refused)
        self.artifacts.apply(event)
        self.ledger.record(event, at)
        if before.partition(".")[0] != where(after).partition(".")[0]:
            await self._lanes.aclose()
        elif isinstance(event, e.CalleeBlamed | e.TestSuspected | BodyEdited):
            await self._lanes.forget_verdicts()
        if isinstance(event, e.HumanResponded) and event.option in ("restore", "model"):
            for path in refused:
                # What a person wrote goes into the archive, and the file is the project's again.
                self._written.release(path)
                self._texts.pop(path, None)
        if isinstance(event, e.Approved) and hand.SPEC in self._written.theirs:
            self._written.release(hand.SPEC)
        await self._settle(event)
        if message := commit_message(event):
            for path in (files.CONFIG, getattr(event, "path", hand.SPEC)):
                self._commits.wrote(path)
            self._commits.commit(message)
        # Contexts are never kept, decisions are folded, checkpoints and archives are written with the rest.
        for action in actions:
            if action.type == "sendNotification" and self._notify is not None:
                await self._notify(action.argument, self.state)

    async def _settle(self, event: Event | None) -> None:
        """Bring the disk up to date; what cannot be archived may not be dropped, so it blocks (CT21)."""
        try:
            self._write(event)
        except files.ArchiveUnwritable as fault:
            if isinstance(self.state, Blocked):
                return  # everything else is written, and the query says what is missing
            await self.take(blocked("archive_failure", f"The archive cannot be written: {fault}"))

    async def _by_hand(self) -> Event | None:
        """Return what follows from the next file that a person changed; nothing where none did."""
        spec, state = self.artifacts.spec, self.state
        if spec is None:
            return None
        modules = {self.language.module_path(spec, module.name) for module in self.artifacts.plan}
        base = state.prior if isinstance(state, Blocked) else state
        judging = bool(self.artifacts.claims) and (isinstance(base, Completed) or where(base) in _JUDGED)
        changed = dict(self._written.changed())
        for path, text in changed.items():
            awaits_judgement = path in modules or path == hand.CLAIMS
            if awaits_judgement and (not judging or self.artifacts.refused.get(path) == text):
                continue
            event = None
            if path == hand.SPEC:
                event = hand.spec_edited(self.artifacts, text)
            elif awaits_judgement:
                work = self._work(base if isinstance(base, Active) else beginning())
                judged = hand.claims_edited(work, text) if path == hand.CLAIMS else hand.taken_over(work, path, text)
                event = await judged
            if event is None or path not in modules:
                self._written.keep(path, text)
            return event or FilesKept(paths=[path])
        if isinstance(state, Blocked) and state.reason == "hand_edit" and not changed.keys() & self.artifacts.refused:
            return e.HumanResponded(
                query=state.query.id, option="undone", label="The file is as it was accepted", resumes="prior"
            )
        return None

    def _work(self, state: Active) -> Work:
        return Work(
            state=state,
            artifacts=self.artifacts,
            ledger=self.ledger,
            ask=self._asking,
            language=self.language,
            tools=self._tools,
            config=self.config,
            human=self.human,
            court=self._court,
            lanes=self._lanes,
            received=self._received,
        )

    async def _resolution(self, state: Blocked) -> Event | None:
        resolution = await self.human.resolve(state.query)
        if resolution is None:
            return None
        option = next((o for o in state.query.options if o.id == resolution.option), None)
        if option is None:
            names = ", ".join(o.id for o in state.query.options)
            raise LlmRuntimeError(f"{state.query.id} has no option {resolution.option}; it has: {names}")
        return e.HumanResponded(
            query=state.query.id, option=option.id, label=option.label, resumes=option.resumes,
            text=resolution.text, units=list(option.units),
        )  # fmt: skip

    def _recover(self) -> None:
        """Fold the journal: the state before a crash is the state after it."""
        events = self._journal.open()
        self.state, self.artifacts, self.ledger, self.telemetry = _folded(events, self._limits)
        received = (event for _, event in reversed(events) if isinstance(event, e.ImplementationReceived))
        self._received = next(received, None)
        recorded = Recording.from_events(event for _, event in events)
        generate = recording(replaying(recorded, self._live), self._heard, replayed=recorded.has_reply)
        self._asking = Asking(generate, self.config.models, self.artifacts.seed, self.config.context)

    def _heard(self, event: Event) -> None:
        """Take in a call's events: what a recording answers is in the journal already."""
        if not getattr(event, "replayed", False):
            self.telemetry.record(event, self._record(event), phase_of(self.state))
            self.artifacts.apply(event)

    def _record(self, event: Event) -> int:
        at = self._journal.append(event)
        self._emit(event)
        return at

    def _write(self, event: Event | None) -> None:
        """Everything on disk follows from the journal; what has not changed is left alone."""
        isolation = self._tools.isolation
        made = project_files(self.language, self.state, self.artifacts, self.ledger, self.telemetry, isolation, event)
        made[files.STATE] = state_text(self.state, self.artifacts, self._journal.seq)
        shelved: files.ArchiveUnwritable | None = None
        for path, text in made.items():
            if self._texts.get(path) == text and event is not None:
                continue
            public = not path.startswith(".criticality/")
            theirs = public and not self._written.may_write(path, text)
            if theirs:
                text = self._merged(path, event)
                if text is None:
                    continue
            try:
                # The journal is on the disk already; all else can be made from it again, and is when it is resumed.
                files.write_project_file(self.root, path, text, durable=event is None)
            except files.ArchiveUnwritable as fault:
                shelved = fault
                continue
            self._texts[path] = text
            if public:
                self._commits.wrote(path)
            if theirs:
                self._written.keep(path, text)
            elif public:
                self._written.wrote(path, text)
        self._written.save()
        if shelved is not None:
            raise shelved

    def _merged(self, path: str, event: Event | None) -> str | None:
        """Return a person's file with the bodies that were accepted just now; nothing where it stays as it is."""
        theirs = self._written.text(path)
        spec = self.artifacts.approved
        names = [
            name
            for name in (*getattr(event, "bodies", ()), getattr(event, "function", ""))
            if name in self.artifacts.bodies and self.language.module_path(spec, name.partition(".")[0]) == path
        ]
        if theirs is None or not names or path not in self._written.theirs:
            return None
        try:
            return hand.merged(self.language, self.artifacts, theirs, names)
        except SpliceRefused:
            return None


def read_project(root: Path) -> Project:
    """Tell where a project stands, folded from its journal; takes no lock and writes nothing.

    Raises:
        ConfigurationError: there is no project.
        StoreDamaged: its journal was changed.
    """
    files.require_project(root)
    return _folded(read_journal(root / files.JOURNAL))


def _folded(events: Iterable[tuple[int, Event]], limits: MachineLimits | None = None) -> Project:
    state: ProtocolState = beginning()
    artifacts, ledger, telemetry = Artifacts(), Ledger(), Telemetry()
    for at, event in events:
        artifacts.apply(event)
        ledger.record(event, at)
        telemetry.record(event, at, phase_of(state))
        if event.type.startswith("criticality."):
            state = advance(state, event, limits)[0]
    return state, artifacts, ledger, telemetry


#: Where bodies that a person wrote are judged: the contracts stand, and no attempt is under way.
_JUDGED = (
    "injection.selectingFunction", "mesoscopic.generatingTests", "mesoscopic.executingCluster",
    "massDefect.analyzingComplexity",
)  # fmt: skip
