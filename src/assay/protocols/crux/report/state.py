"""The run of a debate: its transcript, its totals, and the texts that its quotations open to."""

from __future__ import annotations

from typing import cast

from assay.registry import find, opened
from assay.report.run import RunTotals, timed_events
from crux.config import DebateConfig
from crux.results import DebateResult
from crux.sources.utterance import Utterance
from crux.transcript import DebateTranscript
from llm_runtime.errors import ConfigurationError
from llm_runtime.events import Event, RunResumed, RunStarted
from llm_runtime.store import RunStore
from llm_runtime.structs import Struct


class Belief(Struct):
    """A belief as a reader sees it."""

    concept: str
    confidence: float


class DebateState:
    """The fold. A resumed run tells its debate again from the start, and so begins anew."""

    def __init__(self, run: RunTotals | None = None) -> None:
        self.run = run or RunTotals()
        self.debate = DebateTranscript()
        self.ids: dict[str, str] = {}
        """Persona id -> name, for the labels of calls."""
        self.texts: dict[str, dict[str, Utterance]] = {}
        """Name -> text id -> text."""
        self.beliefs: dict[str, dict[str, Belief]] = {}
        self.config: DebateConfig | None = None

    def apply(self, event: Event, at: int) -> None:
        """Take in the next event."""
        self.run.apply(event, at)
        if isinstance(event, RunStarted):
            self._open(event)
        elif isinstance(event, RunResumed):
            self.debate = DebateTranscript(self.debate.topic, self.debate.personas, self.debate.seed)
        self.debate.apply(event)

    @property
    def ended(self) -> bool:
        """Whether the engine itself said how the debate ended."""
        return self.debate.state != "running"

    @property
    def result(self) -> DebateResult:
        """The debate so far."""
        result, run = self.debate.result(), self.run
        return result if self.ended else result.model_copy(update={"state": run.state, "stopped_because": run.message})

    def accent(self, persona: str) -> str:
        """Return a persona's colour class, by seat."""
        seats = self.debate.personas
        return f"c{seats.index(persona) % 6}" if persona in seats else "quiet"

    def text(self, persona: str, item: str) -> Utterance | None:
        """Return a text of a persona, where the run has it."""
        return self.texts.get(persona, {}).get(item)

    def _open(self, event: RunStarted) -> None:
        from assay.protocols.crux.task import Options, seated

        self.debate = DebateTranscript(str(event.task.get("topic", event.title)), seed=event.seed)
        try:
            options = cast("Options", opened(event).options)
            panel, self.config = seated(options), options.config()
        except ConfigurationError:
            return  # an imported log may hold anything; the debate itself is told by its own events
        self.debate.personas = tuple(persona.name for persona in panel)
        self.ids = {persona.id: persona.name for persona in panel}
        self.texts = {persona.name: dict(persona.corpus.by_id) for persona in panel}
        self.beliefs = {
            persona.name: {node.id: Belief(node.concept, node.confidence) for node in persona.beliefs.nodes}
            for persona in panel
            if persona.beliefs
        }


def result_of(store: RunStore, run_id: str) -> DebateResult:
    """Return a debate as its run tells it, as far as it came.

    Raises:
        ConfigurationError: the run is no debate.
        StoreError: it is not there, or damaged.
    """
    return state_of(store, run_id).result


def state_of(store: RunStore, run_id: str) -> DebateState:
    """Return the fold over a stored debate; errors as for :func:`result_of`."""
    state = DebateState()
    for event, at in timed_events(store.records(run_id)):
        if isinstance(event, RunStarted) and event.protocol not in find("crux.debate").names:
            raise ConfigurationError(f"run {run_id} is no debate; list those there are with: assay runs list")
        state.apply(event, at)
    return state
