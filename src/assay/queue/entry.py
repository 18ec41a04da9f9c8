"""An entry of the queue: one run, or one worker's share of a batch, as whoever takes it reads it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from pydantic import Field

from assay import __version__
from assay.launch.execution import needs_of
from assay.launch.naming import models_of
from assay.registry import Prepared, known, stored
from assay.terms import Terms
from llm_runtime.errors import ConfigurationError
from llm_runtime.models import Model, fits
from llm_runtime.routing import Target, parse_model
from llm_runtime.settings import load_settings
from llm_runtime.store import valid_run_id
from llm_runtime.wires import require_held, wire_of

#: The kind of an entry that is no single run.
BATCH = "batch"


class Entry(Model):
    """What waits in the queue.

    Args:
        form: of the entry itself.
        version: of Assay that wrote it; an older worker leaves it alone.
        kind: of run, as ``"crucible.council"``; or ``"batch"``.
        run_id: which run it becomes, or the batch's id; whoever takes the entry after another goes on with it.
        task, options, terms: as a log keeps them.
        seed: of the run, 0 to 2^53-1; drawn where left out.
        title: one line for lists.
        purse: whose money it is, beside the run's own bounds; empty for nobody's.
    """

    form: Literal[1] = 1
    version: str
    kind: str
    run_id: str
    task: dict[str, Any] = {}
    options: dict[str, Any] = {}
    terms: dict[str, Any] = {}
    seed: int | None = Field(default=None, ge=0, lt=2**53)
    title: str = ""
    purse: str = ""

    @property
    def queue(self) -> str:
        """The queue it waits in; see :func:`served`."""
        return f"{self.kind}@{self.version}"

    def run(self) -> tuple[Prepared, Terms]:
        """Return the run as it can be started.

        Raises:
            ConfigurationError: its task, options or terms do not fit.
        """
        with fits("its terms do not fit: "):
            terms = Terms.model_validate(self.terms)
        return stored(self.kind, self.task, {"options": self.options}), terms


def entry_of(run: Prepared, terms: Terms, run_id: str, seed: int | None = None, purse: str = "") -> Entry:
    """Return the entry of a run that has been prepared.

    Raises:
        ConfigurationError: somebody at a keyboard is to answer, and no worker has one; or a model's wire is not
            here, or does not hold what the run needs.
    """
    settings = load_settings()
    for model in models_of(run, terms):
        target = parse_model(model, settings.config.endpoints) or Target("", model)
        if target.provider == "terminal":
            raise ConfigurationError("terminal: needs a keyboard, which no worker of the queue has; name another model")
        if target.provider in settings.config.endpoints:
            wire = wire_of(settings.endpoint(target.provider).dialect.wire)
            require_held(wire, needs_of(run.run.name, terms, run), target.provider)
    task, options = run.data()
    return Entry(
        version=__version__,
        kind=run.run.name,
        run_id=run_id,
        task=task,
        options=options,
        terms=terms.data(),
        seed=seed,
        title=run.title,
        purse=purse,
    )


def batch_entry(batch_id: str, title: str) -> Entry:
    """Return the entry by which one worker takes part in a batch."""
    return Entry(version=__version__, kind=BATCH, run_id=batch_id, title=title)


def read_entry(data: object) -> Entry:
    """Return an entry that somebody put into the queue.

    Raises:
        ConfigurationError: it is none; says in one line why.
    """
    with fits("an entry of the queue is no run (", end=")"):
        entry = Entry.model_validate(data)
    if not valid_run_id(entry.run_id):
        raise ConfigurationError(f"an entry of the queue is no run (its id {entry.run_id[:40]!r} cannot be one)")
    if entry.kind != BATCH and known(entry.kind) is None:
        raise ConfigurationError(f"an entry of the queue is no run (this version knows no {entry.kind[:40]!r})")
    return entry


def served(queues: Iterable[str], version: str = __version__) -> list[str]:
    """Return those of the queues whose entries this version can carry out: kinds of run that it knows, from
    versions that are not newer than it is."""
    return [queue for queue in queues if _fits(queue, version)]


def _fits(queue: str, version: str) -> bool:
    kind, _, written = queue.partition("@")
    return (kind == BATCH or known(kind) is not None) and _numbers(written) <= _numbers(version)


def _numbers(version: str) -> tuple[int, ...]:
    """Return a version as numbers; what is none stands above all."""
    from packaging.version import InvalidVersion, Version

    try:
        return Version(version).release
    except InvalidVersion:
        return (2**31,)
