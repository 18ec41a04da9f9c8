"""Commands that run something, derived from its description: options in, a run with its display, its result out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import click

from assay.console.declared import declared
from assay.console.listening import RunListeners
from assay.console.options import (
    called,
    field_option,
    field_value,
    open_runs,
    read_text,
    settings_with,
    terms_fields,
    terms_from,
)
from assay.console.queueing import QueueOptions, put_into_queue, queue_options, queue_values
from assay.console.showing import OutputOptions, present
from llm_runtime.errors import ConfigurationError

if TYPE_CHECKING:
    from assay.fields import FieldSpec
    from assay.launch import Launcher, Outcome
    from assay.protocol import RunType
    from assay.registry import Prepared
    from assay.terms import Terms
    from llm_runtime.settings import Settings
    from llm_runtime.store import RunStore

Body = Callable[..., int]
"""Of a run's command: takes the :class:`RunCommand` and its own options; returns the exit code."""


@dataclass
class RunCommand:
    """One call of a run's command: what was given, and the way to carry it out.

    Args:
        run: the kind of run.
        task: what was given of its task, by field; a command may add to it before :meth:`go`.
        options: likewise of its options.
        terms: models and bounds.
        output: what the person wants to see.
        store_path: where runs are kept, where it was given.
        seed: of the run, where it was given.
        queueing: whether it goes into the queue, and how.
    """

    run: RunType
    task: dict[str, Any]
    options: dict[str, Any]
    terms: Terms
    output: OutputOptions
    store_path: str | None
    seed: int | None
    queueing: QueueOptions
    stack: ExitStack = field(default_factory=ExitStack)

    @cached_property
    def settings(self) -> Settings:
        """The user's settings under the terms."""
        return settings_with(self.terms)

    @cached_property
    def prepared(self) -> Prepared:
        """The run, complete and checked.

        Raises:
            ConfigurationError: it is not possible; the sentence names the option.
        """
        from assay.launch import check_terms
        from assay.registry import prepared, read_run

        self.output.check()
        check_terms(self.run, self.terms, names={spec.name: spec.flag for spec in terms_fields()})
        _ = self.settings
        return prepared(read_run(self.run.name, self.task, self.options, names=called))

    @cached_property
    def store(self) -> RunStore:
        """The store, opened when it is first needed and closed when the command ends."""
        store = open_runs(self.store_path)
        self.stack.callback(store.close)
        return store

    def go(self) -> Outcome:
        """Start the run and show it until it ends."""
        run = self.prepared
        if self.queueing.queue:
            put_into_queue(run, self.terms, self.store_path, self.queueing, self.seed)
        launcher = launcher_of(self.store)
        run_id = launcher.new_id()
        begin = followed(partial(launcher.start, run, self.terms, seed=self.seed, run_id=run_id))
        return show_until_end(self.run.name, run_id, self.output, self.terms.budget, begin)

    def finish(self, outcome: Outcome) -> int:
        """Show how the run ended and write the report that was asked for; return the exit code."""
        return present(outcome, self.store, self.output)


def run_command(
    kind: str, name: str = "", *, trace: str = "Show the whole run after the result.", noun: str = "result",
    without: Collection[str] = (),
) -> Callable[[Body], click.Command]:  # fmt: skip
    """Make the command of a kind of run; the decorated function adds options, or replaces those for output.

    Args:
        kind: its name in the registry.
        name: of the command; the function's where left out.
        trace: what ``--trace`` shows.
        noun: what a result is called: ``"answer"``.
        without: fields of task and options that the command itself fills in, or that say nothing to it.
    """

    def decorate(body: Body) -> click.Command:
        from assay.fields import fields_of
        from assay.hooks import hooks_of
        from assay.registry import find

        run = find(kind)
        hooks = hooks_of(run)
        specs = (list(fields_of(hooks.task)), list(fields_of(hooks.options)))
        task, options = ([spec for spec in one if spec.name not in without] for one in specs)
        own: list[click.Parameter] = list(reversed(getattr(body, "__click_params__", [])))

        def callback(**values: Any) -> int:
            output_keys = [key for key in values if key.startswith("output__")]
            output = OutputOptions(**{key.removeprefix("output__"): values.pop(key) for key in output_keys})
            with ExitStack() as stack:
                asked = run, _values(task, values, "task"), _values(options, values, "options")
                place, seed = values.pop("store_path"), values.pop("seed")
                command = RunCommand(*asked, terms_from(values), output, place, seed, queue_values(values), stack)
                return body(command, **{key: value for key, value in values.items() if "__" not in key})

        taken = {flag for param in own for flag in param.opts}
        parameters = [
            *(param for param in own if isinstance(param, click.Argument)),
            *_parameters(task, "task"),
            *_parameters(options, "options"),
            *(field_option(spec, "terms") for spec in terms_fields(run.bounds)),
            *(param for param in own if not isinstance(param, click.Argument)),
        ]
        shared = declared("assay.console", "options.toml", "output", trace=trace, noun=noun) + queue_options()
        parameters += [option for option in shared if not taken.intersection(option.opts)]
        parameters += declared("assay.console", "options.toml", "store")
        called = name or getattr(body, "__name__", kind)
        return click.Command(called, callback=callback, params=parameters, help=body.__doc__)

    return decorate


def _parameters(specs: list[FieldSpec], section: str) -> list[click.Parameter]:
    parameters: list[click.Parameter] = []
    for spec in specs:
        if spec.ui.hidden or "cli" not in spec.ui.doors:
            continue
        if not spec.ui.argument:
            parameters.append(field_option(spec, section))
            continue
        many, key = spec.kind == "list", f"{section}__{spec.name}"
        parameters.append(click.Argument([key], required=many, nargs=-1 if many else 1, metavar=_shown(spec)))
        if not many:
            words = f"Read the {spec.label.lower()} from a file; - is standard input."
            parameters.append(click.Option(["-f", "--file", f"{key}__file"], metavar="PATH", help=words))
    return parameters


def _shown(spec: FieldSpec) -> str:
    return f"{spec.flag}..." if spec.kind == "list" else f"[{spec.flag}]"


def _values(specs: list[FieldSpec], values: dict[str, Any], section: str) -> dict[str, Any]:
    read: dict[str, Any] = {}
    attached = any(values.get(f"{section}__{spec.name}") for spec in specs if spec.ui.local or spec.ui.asks)
    for spec in specs:
        key = f"{section}__{spec.name}"
        if key not in values:
            continue
        value = values.pop(key)
        if spec.ui.argument and spec.kind != "list":
            file = values.pop(f"{key}__file")
            if value is None and file is None and attached:
                # What is attached or doubted is asked about in words of its own; a pipe may be what is attached.
                continue
            value = _argument(spec, value, file)
        else:
            value = field_value(spec, value)
        if value is not None:
            read[spec.name] = value
    return read


def _argument(spec: FieldSpec, text: str | None, file: str | None) -> str:
    read = read_text(text, file, spec.label.lower())
    if spec.required and not read.strip():
        raise ConfigurationError(f"the {spec.label.lower()} is empty; {spec.help}")
    return read


def launcher_of(store: RunStore) -> Launcher:
    """Return a launcher over the user's own settings."""
    from assay.launch import Launcher

    return Launcher(store)


def resume_run(run_id: str, store: RunStore, terms: Terms, output: OutputOptions) -> Outcome:
    """Go on with a run and show it until it ends."""
    launcher = launcher_of(store)
    kind, budget = launcher.first_event(run_id).protocol, _laid_over(terms, store, run_id).budget
    return show_until_end(kind, run_id, output, budget, followed(partial(launcher.resume, run_id, terms)))


def fork_run(
    run_id: str, at: int, store: RunStore, terms: Terms, output: OutputOptions,
    task: dict[str, Any] | None = None, say: str = "",
) -> Outcome:  # fmt: skip
    """Start a run that shares the answers of another up to its event ``at``.

    Args:
        run_id: the other.
        at: number of its event.
        store: where both are kept.
        terms: laid over those of the other.
        output: how it is shown.
        task: fields that replace the other's.
        say: what everybody is told from there on.
    """
    launcher = launcher_of(store)
    child = launcher.new_id()
    kind, budget = launcher.first_event(run_id).protocol, _laid_over(terms, store, run_id).budget
    begin = followed(partial(launcher.fork, run_id, at, terms, task=task, say=say, run_id=child))
    return show_until_end(kind, child, output, budget, begin)


def _laid_over(terms: Terms, store: RunStore, run_id: str) -> Terms:
    """Return the terms that a run goes on with.

    Raises:
        ConfigurationError: ``terminal:`` is among its models, and there is no keyboard.
    """
    from assay.terms import in_force

    laid = terms.over(in_force(event for _, event in store.events(run_id)))
    settings_with(laid)
    return laid


def replay_run(store: RunStore, run_id: str, speed: float, *, quiet: bool) -> int:
    """Run a recorded run again and compare; 0 where the result is the same, else 1."""
    launcher = launcher_of(store)

    async def pace(latency_ms: int) -> None:
        await asyncio.sleep(latency_ms / 1000 / speed)

    with RunListeners(launcher.first_event(run_id).protocol, OutputOptions(quiet=quiet), None) as listeners:
        replayed = asyncio.run(launcher.replay(run_id, followers=listeners.followers, pace=pace if speed > 0 else None))
    if replayed.recorded is None:
        click.echo(f"run {run_id} has no result to compare with; the replay went through", err=True)
        return 0
    if replayed.result != replayed.recorded:
        click.echo(f"run {run_id}: the replayed result differs from the recorded one")
        return 1
    click.echo(f"run {run_id}: replayed, with the result that was recorded")
    return 0


def followed(begin: Callable[..., Coroutine[Any, Any, Any]]) -> Callable[[RunListeners], Coroutine[Any, Any, Any]]:
    """Return what begins a run with its listeners as followers."""
    return lambda listeners: begin(followers=listeners.followers)


def show_until_end(
    kind: str, run_id: str, output: OutputOptions, budget: float | None,
    begin: Callable[[RunListeners], Coroutine[Any, Any, Any]],
    hint: str = "go on with: assay runs resume {run_id}",
) -> Outcome:  # fmt: skip
    """Begin a run with its display, and wait for its end; an interruption ends with the way to go on."""

    async def work(listeners: RunListeners) -> Outcome:
        return await (await begin(listeners)).outcome()

    output.check()
    listeners = RunListeners(kind, output, budget)
    try:
        with listeners:
            return asyncio.run(work(listeners))
    except KeyboardInterrupt as stop:
        # Said when the display is gone, which would paint over it.
        if listeners.began and hint:
            stop.args = (f"assay: stopped; {hint.format(run_id=run_id)}",)
        raise
