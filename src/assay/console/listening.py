"""Who hears a run that a command carries out: its display, the lines of ``--jsonl``, a person at the keyboard."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Self

import click

if TYPE_CHECKING:
    from assay.console.live import LiveDisplay
    from assay.console.showing import OutputOptions
    from assay.launch import Followers
    from llm_runtime.events import Event
    from llm_runtime.messages import Generate, Reply, Request


class RunListeners(ExitStack):
    """Who hears a run's events: its display, and the lines of ``--jsonl``.

    Args:
        kind: of the run.
        output: what the person wants to see.
        budget: dollars, where there is a cap.
    """

    followers: Followers

    def __init__(self, kind: str, output: OutputOptions, budget: float | None) -> None:
        super().__init__()
        self.began = False
        self.display: LiveDisplay | None = None
        self._kind, self._output, self._budget = kind, output, budget

    def __enter__(self) -> Self:
        from assay.launch import Followers, Words

        lines = [_EventLines()] if self._output.jsonl else []
        self.followers = Followers([self._hear, *lines])
        if not self._output.quiet:
            from assay.console.live import LiveDisplay
            from assay.registry import LIVE_CALLS, fold_for

            cap = None if self._budget is None else round(self._budget * 1_000_000)
            words = Words()
            display = self.display = self.enter_context(
                LiveDisplay(fold_for(self._kind, LIVE_CALLS), budget=cap, words=words)
            )
            self.followers = Followers([self._hear, display, *lines], _at_the_keyboard(display), words)
        return self

    def _hear(self, event: Event) -> None:
        self.began = True


def _at_the_keyboard(display: LiveDisplay) -> Generate:
    """Return the model function that asks at the keyboard, one question at a time, with the display paused."""
    from llm_runtime.providers.terminal import terminal

    keyboard, turn = terminal(), asyncio.Lock()

    async def generate(request: Request) -> Reply:
        async with turn:
            with display.paused():
                return await keyboard(request)

    return generate


class _EventLines:
    """Prints every event as a line of JSON, for as long as somebody reads: a run is not ended by `| head`."""

    def __init__(self) -> None:
        self._read = True

    def __call__(self, event: Event) -> None:
        import json

        if not self._read:
            return
        try:
            click.echo(json.dumps(event.payload(), ensure_ascii=False))
        except BrokenPipeError:
            self._read = False
            # Python would complain once more when it flushes at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
