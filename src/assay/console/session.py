"""What the commands that run something have in common: the run with its display, and its result on the screen."""

from __future__ import annotations

import asyncio
import json
import os
import random
import secrets
import sys
import time
from collections.abc import Coroutine
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click

from assay import __version__, launch
from assay.launch import Outcome
from assay.runners import require_unbound
from llm_runtime.errors import (
    BudgetExceeded,
    ConfigurationError,
    DeadlineExceeded,
    LlmRuntimeError,
    ReplyTruncated,
    StructuredOutputError,
)
from llm_runtime.events import Emit, Event, RunStarted
from llm_runtime.replay import Recording
from llm_runtime.store import new_run_id

if TYPE_CHECKING:
    from assay.console.live import LiveDisplay
    from llm_runtime.messages import Generate, Reply, Request
    from llm_runtime.settings import Settings
    from llm_runtime.store import RunStore
    from llm_runtime.wrappers.budgeted import Caps

T = TypeVar("T")
ModelFlags = tuple[str | None, tuple[str, ...], int | None]


@dataclass(frozen=True, slots=True)
class Presentation:
    """What the person wants to see.

    Args:
        out: where a report goes; its ending says which kind.
        trace: the whole story after the result.
        as_json: one JSON object in place of the result.
        jsonl: every event as a line of JSON, in place of the result.
        quiet: no progress.
    """

    out: str | None = None
    trace: bool = False
    as_json: bool = False
    jsonl: bool = False
    quiet: bool = False

    def check(self) -> None:
        """Refuse a report that could not be written, before anything is spent.

        Raises:
            ConfigurationError: its ending is unknown, or its folder is not there.
        """
        if self.as_json and self.jsonl:
            raise ConfigurationError("--json and --jsonl both want standard output; choose one")
        if self.out is None:
            return
        path = Path(self.out)
        if path.suffix not in _RENDERERS:
            raise ConfigurationError(f"--out {path.name}: the ending must be one of {', '.join(_RENDERERS)}")
        if not path.absolute().parent.is_dir():
            raise ConfigurationError(f"--out {path}: there is no folder {path.parent}")


def start_run(
    *,
    protocol: str,
    title: str,
    task: dict[str, Any],
    engine: dict[str, Any],
    settings: Settings,
    caps: Caps | None,
    store: RunStore,
    presentation: Presentation,
    seed: int | None = None,
    model: Generate | None = None,
    origin: Literal["live", "demo"] = "live",
    personas: list[dict[str, Any]] | None = None,
) -> Outcome:
    """Start a run and show it until it ends; ``personas`` are those of a debate, kept with its settings."""
    started = RunStarted(
        run_id=new_run_id(_now(), random.SystemRandom()),
        protocol=protocol,
        title=title,
        task=task,
        settings={
            "engine": engine,
            "models": _models(settings),
            "caps": asdict(caps) if caps else {},
            **({"personas": personas} if personas else {}),
        },
        seed=secrets.randbelow(2**53) if seed is None else seed,
        origin=origin,
        version=__version__,
    )
    with _Sinks(started, presentation, caps) as sinks:
        return _live(
            launch.start(started, store, settings, caps=caps, sinks=sinks, model=model, person=sinks.person),
            started.run_id,
        )


def resume_run(
    run_id: str, store: RunStore, flags: ModelFlags, caps: Caps | None, presentation: Presentation
) -> Outcome:
    """Go on with a run and show it until it ends."""
    started = _opening(store, run_id)
    if started.origin == "demo":
        raise ConfigurationError("a demonstration is not gone on with; play it again with: assay demo")
    caps = _caps(started, caps)
    with _Sinks(started, presentation, caps) as sinks:
        settings = _settings(started, flags)
        return _live(launch.resume(run_id, store, settings, caps=caps, sinks=sinks, person=sinks.person), run_id)


def fork_run(
    run_id: str,
    at: int,
    store: RunStore,
    flags: ModelFlags,
    caps: Caps | None,
    presentation: Presentation,
    task: dict[str, Any] | None = None,
) -> Outcome:
    """Start a run that shares the answers of another up to its event ``at``; ``task`` replaces its own."""
    parent = _opening(store, run_id)
    require_unbound(parent.protocol)
    caps = _caps(parent, caps)
    child = new_run_id(_now(), random.SystemRandom())
    settings = _settings(parent, flags)
    started = parent.model_copy(
        update={
            "run_id": child,
            "parent": run_id,
            "forked_at": at,
            "origin": "live",
            "task": parent.task if task is None else task,
            "settings": {
                **parent.settings,
                "models": _models(settings),
                "caps": asdict(caps) if caps else {},
            },
        }
    )
    recorded = Recording.from_events((event for _, event in store.events(run_id)), until=at)
    with _Sinks(started, presentation, caps) as sinks:
        return _live(
            launch.start(started, store, settings, caps=caps, sinks=sinks, recorded=recorded, person=sinks.person),
            child,
        )


def replay_run(store: RunStore, run_id: str, speed: float, *, quiet: bool) -> int:
    """Run a recorded run again and compare; 0 where the result is the same, else 1."""
    started = _opening(store, run_id)

    async def pace(latency_ms: int) -> None:
        await asyncio.sleep(latency_ms / 1000 / speed)

    with _Sinks(started, Presentation(quiet=quiet), None) as sinks:
        result = asyncio.run(launch.replay(run_id, store, sinks=sinks, pace=pace if speed > 0 else None))
    recorded = launch.result_of(event for _, event in store.events(run_id))
    if recorded is None:
        click.echo(f"run {run_id} has no result to compare with; the replay went through", err=True)
        return 0
    if result != recorded:
        click.echo(f"run {run_id}: the replayed result differs from the recorded one")
        return 1
    click.echo(f"run {run_id}: replayed, with the result that was recorded")
    return 0


def present(outcome: Outcome, store: RunStore, presentation: Presentation) -> int:
    """Show how a run ended, and write the report that was asked for.

    Returns:
        The exit code: 0, or that of the error which ended the run.
    """
    if presentation.as_json:
        _print_json(outcome, store)
    elif not presentation.jsonl and outcome.state != "failed":
        show_run(store, outcome.run_id, trace=presentation.trace)
    if presentation.out is not None:
        path = write_report(store, outcome.run_id, Path(presentation.out))
        click.echo(f"report: {path}", err=True)
    if outcome.error is None:
        return 0
    click.echo(f"assay: {outcome.error}", err=True)
    if store.summary(outcome.run_id).origin != "demo":
        click.echo(f"assay: {_way_on(outcome)}", err=True)
    return outcome.error.exit_code if isinstance(outcome.error, LlmRuntimeError) else 1


def _way_on(outcome: Outcome) -> str:
    """What to do next about a run that did not finish."""
    run_id = outcome.run_id
    match outcome.error:
        case BudgetExceeded() | DeadlineExceeded():
            return f"what was answered is kept; with a higher cap: assay runs resume {run_id} --budget USD"
        case StructuredOutputError():
            return f"the answer is part of the run; to ask all of it anew: assay runs fork {run_id} --at 1"
        case ReplyTruncated():
            return f"what was answered is kept; with longer answers: assay runs resume {run_id} --max-tokens 16000"
        case _:
            return f"what was answered is kept; go on with: assay runs resume {run_id}"


def show_run(store: RunStore, run_id: str, *, trace: bool) -> None:
    """The result on standard output, formatted for a terminal and plain for a pipe; with ``trace`` all of it."""
    from assay.report.protocols import story_of
    from assay.report.terminal import print_story

    if sys.stdout.isatty():
        click.echo()
    print_story(story_of(store.records(run_id)), sys.stdout, whole=trace)


def write_report(store: RunStore, run_id: str, path: Path) -> Path:
    """Write a run's report, whole or not at all.

    Raises:
        ConfigurationError: the ending is not one of ``.html``, ``.md``, ``.json``; or the file cannot be written.
    """
    Presentation(out=str(path)).check()
    text = _RENDERERS[path.suffix](store, run_id)
    draft = path.with_name(f".{path.name}.new")
    try:
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)
    except OSError as fault:
        raise ConfigurationError(f"{path} cannot be written: {fault.strerror}") from None
    return path


def _html(store: RunStore, run_id: str) -> str:
    from assay.report.html import story_html
    from assay.report.protocols import story_of

    return story_html(story_of(store.records(run_id)))


def _markdown(store: RunStore, run_id: str) -> str:
    from assay.report.markdown import story_markdown
    from assay.report.protocols import story_of

    return story_markdown(story_of(store.records(run_id)))


def _json(store: RunStore, run_id: str) -> str:
    return json.dumps(_data(store, run_id), indent=1, ensure_ascii=False) + "\n"


_RENDERERS = {".html": _html, ".md": _markdown, ".json": _json}


def _print_json(outcome: Outcome, store: RunStore) -> None:
    data = _data(store, outcome.run_id)
    if outcome.error is not None:
        data["error"] = {"kind": type(outcome.error).__name__, "message": str(outcome.error)}
    click.echo(json.dumps(data, indent=1, ensure_ascii=False))


def _data(store: RunStore, run_id: str) -> dict[str, Any]:
    summary = store.summary(run_id)
    events = [event for _, event in store.events(run_id)]
    return {
        "run_id": run_id,
        "protocol": summary.protocol,
        "state": summary.state,
        "task": launch.opening(events).task,
        "result": launch.result_of(events),
        "calls": summary.calls,
        "tokens": {"input": summary.input_tokens, "output": summary.output_tokens},
        "cost_usd": None if summary.cost_unknown else summary.cost / 1_000_000,
    }


class _Sinks(ExitStack):
    """The listeners of a run: its display, and the lines of ``--jsonl``."""

    def __init__(self, started: RunStarted, presentation: Presentation, caps: Caps | None) -> None:
        super().__init__()
        presentation.check()
        self._sinks: list[Emit] = []
        self.person: Generate | None = None
        if not presentation.quiet:
            from assay.console.live import LiveDisplay
            from assay.report.protocols import LIVE_CALLS, fold_for

            fold = fold_for(started.protocol, LIVE_CALLS)
            display = LiveDisplay(fold, budget=caps.cost if caps else None)
            self._sinks.append(self.enter_context(display))
            self.person = _at_the_keyboard(display)
        if presentation.jsonl:
            self._sinks.append(_EventLines())

    def __iter__(self) -> Any:
        return iter(self._sinks)


def _at_the_keyboard(display: LiveDisplay) -> Generate:
    """A person who answers one question at a time, while the display leaves the terminal to them."""
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
        if not self._read:
            return
        try:
            click.echo(json.dumps(event.payload(), ensure_ascii=False))
        except BrokenPipeError:
            self._read = False
            # Python would complain once more when it flushes at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _live(work: Coroutine[Any, Any, T], run_id: str) -> T:
    try:
        return asyncio.run(work)
    except KeyboardInterrupt:
        click.echo(f"\nassay: stopped; go on with: assay runs resume {run_id}", err=True)
        raise


def _opening(store: RunStore, run_id: str) -> RunStarted:
    return launch.opening(event for _, event in store.events(run_id))


def _settings(started: RunStarted, flags: ModelFlags) -> Settings:
    """Today's keys and addresses, with the models that the run began with, under what the flags say."""
    from assay.console.options import settings_from

    model, seats, max_tokens = flags
    models = started.settings.get("models", {})
    kept = tuple(f"{role}={name}" for role, name in models.get("seats", {}).items())
    return settings_from(model or models.get("model"), (*kept, *seats), max_tokens or models.get("max_tokens"))


def _models(settings: Settings) -> dict[str, Any]:
    """What of the settings a run that is resumed or forked keeps."""
    config = settings.config
    return {"model": config.model, "seats": config.seats, "max_tokens": config.max_tokens}


def _caps(started: RunStarted, flags: Caps | None) -> Caps | None:
    """The caps that the run began with, under what the flags say."""
    from llm_runtime.wrappers.budgeted import Caps

    given = {name: value for name, value in (asdict(flags) if flags else {}).items() if value is not None}
    caps = Caps(**{**started.settings.get("caps", {}), **given})
    return None if caps == Caps() else caps


def _now() -> int:
    return time.time_ns() // 1_000_000
