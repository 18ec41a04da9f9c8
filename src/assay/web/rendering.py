"""The views of a run, rendered once for all who look; what changed, as server-sent events that can be resumed."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TypeAlias
from weakref import WeakKeyDictionary

from assay.launch import Words
from assay.report.clean import clean
from assay.web.live_runs import LiveRun
from assay.web.templating import rooted
from assay.web.views import PageParts, RunPageState, events_parts, is_live, story_parts, timeline_parts
from llm_runtime.events import Record
from llm_runtime.store import RunStore

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


@dataclass(eq=False, repr=False)
class PageRenderer:
    """Renders views, and keeps the latest rendering of each for as long as its run is watched.

    Args:
        page_state: what a run's page knows beside its log.
        standing: in which way that differs by who looks.
        clock: seconds, for the pause between two renderings.
    """

    page_state: Callable[[LiveRun], RunPageState]
    standing: Callable[[LiveRun], str]
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self._latest: WeakKeyDictionary[LiveRun, _Latest] = WeakKeyDictionary()

    def render(self, watch: LiveRun, view: str) -> RenderedPage:
        """Return the view as it is now."""
        latest, key = self._latest.setdefault(watch, {}), (view, rooted(), self.standing(watch))
        if key not in latest or latest[key][1].version != watch.version:
            parts = VIEWS[view](watch, self.page_state(watch))
            latest[key] = self.clock(), RenderedPage(watch.version, watch.seq, parts)
        return latest[key][1]

    def recent(self, watch: LiveRun, view: str) -> RenderedPage:
        """Return the same, or what was rendered less than :data:`PAUSE_S` seconds ago."""
        latest = self._latest.get(watch, {}).get((view, rooted(), self.standing(watch)))
        if latest is not None and self.clock() - latest[0] < PAUSE_S:
            return latest[1]
        return self.render(watch, view)


BEAT_S = 15.0
"""Seconds without news after which a comment keeps the connection alive."""
_WORDS_SHOWN, _WORDS_IN_ALL = 600, 1_800
"""Characters of an answer on its way that a page shows, its latest words; and of all answers together."""
_PARTS_A_S, _WORDS_A_S = 12_000, 12_000
"""Characters a second that a page is sent; what changes faster is drawn less often. Events are always sent."""
_RETRY = "retry: 1000\n\n"
_STILL_HERE = ": still here\n\n"


Writer: TypeAlias = Callable[[Record], str]
"""Writes the message of an event; empty where the stream leaves the event out."""


def whole(record: Record) -> str:
    """Write the event as the log keeps it, with its number and time."""
    return _message("event", f'{{"seq":{record.seq},"at":{record.at},"event":{record.body.decode()}}}', record.seq)


async def event_stream(
    store: RunStore, watch: LiveRun, after: int, closing: asyncio.Event, write: Writer = whole
) -> AsyncIterator[str]:
    """Stream the events after number ``after``, and those to come, until the run or the server ends."""
    yield _RETRY
    with watch.viewed():
        while True:
            version = watch.version
            for record in store.records(watch.run_id, after, max(watch.seq - after, 0)):
                if message := write(record):
                    yield message
                after = record.seq
            if closing.is_set():
                return
            if watch.fault is not None or watch.state not in ("running", "interrupted"):
                if write is whole:
                    yield _end(watch)
                return
            if not await watch.changed(version, BEAT_S):
                yield _STILL_HERE


async def page_stream(
    renderer: PageRenderer, watch: LiveRun, view: str, after: int, drawn: str, *, closing: asyncio.Event,
    look: Callable[[LiveRun], float], words: Callable[[str], Words | None],
) -> AsyncIterator[str]:  # fmt: skip
    """Stream what a page that shows the run up to event ``after`` needs to show it now and as it goes on.

    Args:
        renderer: renders the views.
        watch: the run.
        view: which one.
        after: number of the last event that the reader has.
        drawn: the mark of the rendering that it shows; empty where that is not known, as after a lost connection.
        closing: set when the server ends.
        look: looks whether anything beside the log has changed; returns in how many seconds to look again.
        words: returns the answers on their way in a run; ``None`` where another process asks for them.
    """
    yield _RETRY
    previous: RenderedPage | None = None
    shown, turns, clock, parts_at, words_at = -1, -1, asyncio.get_running_loop().time, 0.0, 0.0
    with watch.viewed():
        while True:
            patience = min(BEAT_S, look(watch))
            version, over = watch.version, watch.fault is not None or not is_live(watch)
            try:
                for line in watch.lines[after:]:
                    whole_line = json.dumps(asdict(line), ensure_ascii=False) if view == "events" else "{}"
                    yield _message("log", whole_line, line.seq)
                    after = line.seq
                await asyncio.sleep(0)  # rendering takes a while: let every other reader have its events first
                if over or watch.turns != turns:
                    turns, page = watch.turns, renderer.render(watch, view)
                else:
                    page = previous if previous and clock() < parts_at else renderer.recent(watch, view)
            except Exception as fault:  # a view that cannot be rendered ends its stream, not the server's
                watch.fault = fault
                yield _end(watch)
                return
            if drawn and page.mark == drawn:
                previous = page
            drawn = ""
            if changed := page.since(previous):
                parts_at = clock() + len(changed) / _PARTS_A_S
                yield _message("page", changed)
            previous = page
            if closing.is_set():
                return
            if over:
                yield _end(watch)
                return
            on_their_way = words(watch.run_id) if view == "story" else None
            if on_their_way is None and shown >= 0:
                shown = -1
                yield _message("words", "[]")
            if on_their_way is not None:
                patience = min(patience, PAUSE_S)
                if on_their_way.version != shown and clock() >= words_at:
                    shown = on_their_way.version
                    text = words_json(on_their_way)
                    words_at = clock() + len(text) / _WORDS_A_S
                    yield _message("words", text)
            if page.version != watch.version:
                patience = PAUSE_S
            if not await watch.changed(version, patience) and patience == BEAT_S:
                yield _STILL_HERE


def words_json(words: Words) -> str:
    """Write the answers on their way as a message's data."""
    on_their_way = words.calls()
    longest = min(_WORDS_SHOWN, _WORDS_IN_ALL // max(len(on_their_way), 1))
    calls = [
        {
            "call": str(call.label),
            "name": call.label.words,
            "stage": call.stage,
            "tokens": call.tokens,
            "pace": None if call.pace is None else round(call.pace, 1),
            "text": clean(call.said[-longest:]),
        }
        for call in on_their_way
    ]
    return json.dumps(calls, ensure_ascii=False)


def _end(watch: LiveRun) -> str:
    return _message("end", json.dumps({"state": watch.state, "error": str(watch.fault or "")}))


def _message(event: str, data: str, seq: int | None = None) -> str:
    number = "" if seq is None else f"id: {seq}\n"
    return f"{number}event: {event}\ndata: {data}\n\n"
