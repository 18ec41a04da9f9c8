"""Which fold reads which protocol's runs. A protocol joins by a line in the table and a module with its fold."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module

from assay.report.any_run import AnyFold
from assay.report.run import RunFold, moments
from assay.report.story import Story
from llm_runtime.events import Event, Record, RunStarted

_FOLDS = {
    "compare": ("assay.protocols.compare.story", "CompareFold"),
    "criticality": ("assay.protocols.criticality.report", "BuildFold"),
    "crucible": ("assay.protocols.crucible.report", "CouncilFold"),
    "crux": ("assay.protocols.crux.report", "DebateFold"),
    "fire_circle": ("assay.protocols.fire_circle.report", "CircleFold"),
    "persona": ("assay.protocols.crux.report.building", "PersonaFold"),
    "trial": ("assay.protocols.ai_crucible.report.fold", "TrialFold"),
}
"""Import package of a protocol -> where its :class:`assay.report.run.RunFold` is; imported when first needed."""

LIVE_CALLS = 64
"""How many settled calls a live display remembers one by one."""


def fold_for(protocol: str, keep: int | None = None) -> RunFold:
    """A fresh fold for runs of ``protocol``; one that knows calls only where the protocol has none of its own.

    Args:
        protocol: the import package, as in ``RunStarted.protocol``.
        keep: how many settled calls to remember one by one; ``None`` keeps all, as reports need.
    """
    if protocol not in _FOLDS:
        return AnyFold(keep)
    module, name = _FOLDS[protocol]
    return getattr(import_module(module), name)(keep)


def story_of(records: Iterable[Record]) -> Story:
    """The report of a recorded run, whatever its protocol and state.

    Raises:
        StoreDamaged: an event's data does not fit its type.
    """
    return story_of_events(moments(records))


def story_of_events(events: Iterable[tuple[Event, int]]) -> Story:
    """The same for events with their stamps in milliseconds since the epoch."""
    fold: RunFold = AnyFold()
    for event, at in events:
        if isinstance(event, RunStarted):
            fold = fold_for(event.protocol)
        fold.apply(event, at)
    return fold.story()
