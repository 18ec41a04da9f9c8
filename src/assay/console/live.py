"""The live display: a run's events as a picture that moves on a terminal, or as sober lines where there is none."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self, TextIO, TypeAlias

from rich.console import Console
from rich.live import Live

from assay.console.words import words_lines
from assay.report.clean import one_line
from assay.report.progress import Progress
from assay.report.run import RunFold
from assay.report.screen import FRAME_MS, progress_view, sums_line
from assay.report.units import clock, count_noun
from llm_runtime.clock import now_ms
from llm_runtime.events import Event

if TYPE_CHECKING:
    from assay.launch import CallWords, Words

Manner: TypeAlias = Literal["live", "plain", "coloured"]
"""A picture that moves; lines; lines with colours."""

_INTERVAL = 0.1
"""Seconds between looks at whether anything changed: at most ten redraws a second."""
_WAITED_MS = 5_000
"""A wait for the first words that is worth a line of its own."""


def manner_for(stream: TextIO, environment: Mapping[str, str]) -> Manner:
    """Choose how to show progress on ``stream``.

    A picture needs a terminal that can move its cursor, and no CI. FORCE_COLOR overrules CI, never the terminal:
    without one it colours the lines. NO_COLOR takes the colours away and nothing else.
    """
    forced = environment.get("FORCE_COLOR", "") not in ("", "0")
    able = stream.isatty() and environment.get("TERM", "") not in ("", "dumb", "unknown")
    if able and (forced or environment.get("CI", "") in ("", "0", "false")):
        return "live"
    return "coloured" if forced and not environment.get("NO_COLOR") else "plain"


def _console(stream: TextIO) -> Console:
    """Return a console that raises when nobody reads any more: rich's own ends the program."""

    class Patient(Console):
        def on_broken_pipe(self) -> None:
            raise  # noqa: PLE0704 - called while the error is handled

    return Patient(file=stream, force_terminal=True)


class LiveDisplay:
    """Shows a run while it works: a context manager, and an ``Emit`` to pass its events to.

    Whatever goes wrong in here ends the display and never the run. Memory does not grow with the length of the
    run beyond what ``fold`` keeps.

    Args:
        fold: the protocol's fold, fresh; see :func:`assay.registry.fold_for`.
        stream: where to show it; standard error by default.
        budget: the run's cap in micro-dollars, where it has one.
        manner: how to show it; by default what the stream and the environment allow.
        words: the answers on their way, where they can be followed.
        now: a clock in milliseconds since the epoch.
    """

    def __init__(
        self, fold: RunFold, *, stream: TextIO | None = None, budget: int | None = None,
        manner: Manner | None = None, words: Words | None = None, now: Callable[[], int] = now_ms,
    ) -> None:  # fmt: skip
        self._fold = fold
        self._stream = stream or sys.stderr
        self._budget = budget
        self._manner: Manner = manner or manner_for(self._stream, os.environ)
        self._words = words
        self._now = now
        self._began = now()
        self._lock = threading.Lock()
        self._changed = False
        self._broken = False
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._live: Live | None = None
        self._progress: Progress | None = None
        self._drawn: object = None
        self.redraws = 0
        """How many pictures were drawn."""
        self.past = 0
        """How many events of earlier sittings come first: they are drawn, and not announced again."""
        if words is not None and self._manner != "live":
            words.on_first = self._first_words

    def __call__(self, event: Event) -> None:
        """Take in the run's next event."""
        if self._broken:
            return
        with self._harmless():
            with self._lock:
                self._fold.apply(event, self._now())
                self._changed = True
                line = None if self._manner == "live" else self._fold.announce(event)
            if line and not self.past:
                self._write(line)
            self.past -= bool(self.past)

    def __enter__(self) -> Self:
        self._resume()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._suspend()
        if self._manner != "live" and not self._broken:
            with self._harmless():
                self._write_sums()

    @contextmanager
    def paused(self) -> Generator[None]:
        """Leave the terminal to somebody else for a while: a person who answers at the keyboard."""
        self._suspend()
        try:
            yield
        finally:
            self._resume()

    def _resume(self) -> None:
        if self._manner != "live" or self._broken:
            return
        with self._harmless():
            self._live = Live(console=_console(self._stream), auto_refresh=False, redirect_stdout=False)
            self._live.start()
            self._drawn = None
            self._stop.clear()
            self._thread = threading.Thread(target=self._watch, name="live-display", daemon=True)
            self._thread.start()

    def _suspend(self) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        live, self._live = self._live, None
        if live is None:
            return
        with self._harmless():
            if not self._broken:
                self._draw(live)
            live.stop()

    def _watch(self) -> None:
        while not self._stop.wait(_INTERVAL):
            live = self._live
            if live is None:
                return
            with self._harmless():
                self._draw(live)

    def _draw(self, live: Live) -> None:
        """Draw the picture if it is another one than before."""
        now = self._now()
        with self._lock:
            if self._changed or self._progress is None:
                self._progress, self._changed = self._fold.progress(), False
        progress = self._progress
        thinking = any(seat.state == "thinking" for seat in progress.seats)
        version = self._words.version if self._words else 0
        picture = (progress, version, now // FRAME_MS if thinking else progress.elapsed(now) // 1000)
        if picture == self._drawn:
            return
        self._drawn = picture
        self.redraws += 1
        ascii_only = live.console.options.ascii_only
        width = live.console.width - 2  # for ^C, which a terminal writes behind the last line
        picture = progress_view(progress, now, self._budget, ascii_only=ascii_only, width=width)
        if self._words is not None:
            calls = self._words.calls()
            left = live.console.height - len(picture.renderables) - 2
            picture.renderables.extend(words_lines(calls, now, width, left, ascii_only=ascii_only))
        live.update(picture, refresh=True)

    def _first_words(self, call: CallWords) -> None:
        """Say when the first words came, where a person has waited for them."""
        waited = (call.first or call.began) - call.began
        if waited >= _WAITED_MS and not self._broken:
            with self._harmless():
                self._write(f"{call.label.words}: first words after {clock(waited)}")

    def _write(self, line: str) -> None:
        elapsed = clock(self._now() - self._began)
        stamp = f"\x1b[2m[{elapsed}]\x1b[0m" if self._manner == "coloured" else f"[{elapsed}]"
        self._stream.write(f"{stamp} {one_line(line)}\n")
        self._stream.flush()

    def _write_sums(self) -> None:
        progress = self._fold.progress()
        if progress.started is not None:
            self._write(f"{count_noun(progress.calls_done, progress.call_noun)} · {sums_line(progress, self._budget)}")

    @contextmanager
    def _harmless(self) -> Generator[None]:
        """Let no fault of the display reach the run: from the first on, nothing is shown any more."""
        try:
            yield
        except Exception:
            self._give_up()

    def _give_up(self) -> None:
        """End the display; the run goes on."""
        self._broken = True
        self._stop.set()
