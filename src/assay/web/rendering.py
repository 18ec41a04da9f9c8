"""The views of a run, rendered once for all who look, and what changed from one rendering to the next."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from functools import cached_property
from typing import TypeAlias
from weakref import WeakKeyDictionary

from assay.web.live_runs import LiveRun
from assay.web.pages.events import events_parts
from assay.web.pages.run import PageParts, RunPageState, story_parts
from assay.web.pages.timeline import timeline_parts
from assay.web.root import rooted

PAUSE_S = 0.1
"""Between two renderings of a view: faster than that nobody reads."""

VIEWS: dict[str, Callable[[LiveRun, RunPageState], PageParts]] = {
    "story": story_parts,
    "timeline": timeline_parts,
    "events": events_parts,
}


class RenderedPage:
    """A view of a run at one :attr:`~assay.web.live_runs.LiveRun.version` of it."""

    def __init__(self, version: int, seq: int, parts: PageParts) -> None:
        self.version = version
        self.seq = seq
        self.parts = parts
        self._since: dict[int, str] = {}

    @cached_property
    def digests(self) -> dict[str, bytes]:
        """Of each part: what tells whether it changed."""
        return {name: hashlib.sha256(piece.encode()).digest() for name, piece in self.parts.pieces.items()}

    @cached_property
    def mark(self) -> str:
        """Of the whole: what a page that shows it says when it asks for what comes after."""
        return hashlib.sha256(b"".join(self.digests.values())).hexdigest()[:32]

    def since(self, earlier: RenderedPage | None) -> str:
        """Return the parts that differ from an earlier rendering, or all, as a message's data; empty if none do."""
        if earlier is self:
            return ""
        key = earlier.version if earlier else -1
        if key not in self._since:
            known = earlier.digests if earlier else {}
            changed = {n: self.parts.pieces[n] for n, digest in self.digests.items() if known.get(n) != digest}
            same = not changed and earlier is not None and earlier.parts.order == self.parts.order
            data = {"seq": self.seq, "order": self.parts.order, "parts": changed}
            self._since[key] = "" if same else json.dumps(data, ensure_ascii=False)
        return self._since[key]


_Latest: TypeAlias = dict[tuple[str, str, str], tuple[float, RenderedPage]]
"""Renderings with their time, by view, by where a browser finds the pages (addresses differ), and by who looks."""


class PageRenderer:
    """Renders views, and keeps the latest rendering of each for as long as its run is watched.

    Args:
        page_state: what a run's page knows beside its log.
        standing: in which way that differs by who looks.
        clock: seconds, for the pause between two renderings.
    """

    def __init__(
        self,
        page_state: Callable[[LiveRun], RunPageState],
        standing: Callable[[LiveRun], str],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._page_state = page_state
        self._standing = standing
        self._clock = clock
        self._latest: WeakKeyDictionary[LiveRun, _Latest] = WeakKeyDictionary()

    def render(self, watch: LiveRun, view: str) -> RenderedPage:
        """Return the view as it is now."""
        latest, key = self._latest.setdefault(watch, {}), (view, rooted(), self._standing(watch))
        if key not in latest or latest[key][1].version != watch.version:
            parts = VIEWS[view](watch, self._page_state(watch))
            latest[key] = self._clock(), RenderedPage(watch.version, watch.seq, parts)
        return latest[key][1]

    def recent(self, watch: LiveRun, view: str) -> RenderedPage:
        """Return the same, or what was rendered less than :data:`PAUSE_S` seconds ago."""
        latest = self._latest.get(watch, {}).get((view, rooted(), self._standing(watch)))
        if latest is not None and self._clock() - latest[0] < PAUSE_S:
            return latest[1]
        return self.render(watch, view)
