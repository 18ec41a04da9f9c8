"""Options that several commands share, and what they become."""

from __future__ import annotations

import sys
from collections.abc import Callable
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from llm_runtime.errors import ConfigurationError

if TYPE_CHECKING:
    from llm_runtime.settings import Settings
    from llm_runtime.store import RunStore
    from llm_runtime.wrappers.budgeted import Caps

F = TypeVar("F", bound=Callable[..., Any])

#: Bytes of a question, a prompt or a context that are read before it is refused as too long.
MAX_INPUT = 1 << 20


def model_options(command: F) -> F:
    """How models are reached: ``--model``, ``--seat``, ``--max-tokens``."""
    for option in (
        click.option("--max-tokens", type=click.IntRange(1), help="Upper bound of each answer, in tokens."),
        click.option(
            "--seat",
            "seats",
            multiple=True,
            metavar="ROLE=MODEL",
            help="A model for one role or phase, e.g. red_team=terminal: (repeatable).",
        ),
        click.option(
            "--model",
            metavar="MODEL",
            help="PROVIDER:MODEL for every call, e.g. ollama:qwen3, mailbox:DIR, terminal:, or a base URL.",
        ),
    ):
        command = option(command)
    return command


def finite(context: click.Context, parameter: click.Parameter, value: float | None) -> float | None:
    """Refuse what is a number to Python and an amount to nobody.

    Raises:
        click.BadParameter: NaN or infinity.
    """
    if value is not None and not isfinite(value):
        raise click.BadParameter("must be a finite number")
    return value


def cap_options(command: F) -> F:
    """What a run may spend: ``--budget``, ``--max-calls``, ``--deadline``."""
    for option in (
        click.option(
            "--deadline",
            type=click.FloatRange(0, min_open=True),
            callback=finite,
            help="Seconds the run may take.",
        ),
        click.option("--max-calls", type=click.IntRange(0), help="Model calls the run may make."),
        click.option(
            "--budget",
            type=click.FloatRange(0),
            callback=finite,
            metavar="USD",
            help="Dollars the run may spend. Answers are then 4096 tokens at most, unless --max-tokens says more.",
        ),
    ):
        command = option(command)
    return command


def store_option(command: F) -> F:
    """Where runs are kept."""
    return click.option(
        "--store",
        "store_path",
        metavar="PATH",
        envvar="ASSAY_STORE",
        help="The run store [default: runs.db in Assay's data folder].",
    )(command)


def settings_from(model: str | None, seats: tuple[str, ...], max_tokens: int | None) -> Settings:
    """The user's settings with the flags laid over them.

    Raises:
        ConfigurationError: ``--seat`` is not of the form ROLE=MODEL; or a configuration file is at fault.
    """
    from llm_runtime.settings import load_settings, merged

    settings = load_settings()
    chosen = dict(settings.config.seats)
    for seat in seats:
        role, equals, name = seat.partition("=")
        if not (role and equals and name):
            raise ConfigurationError(
                f"--seat takes ROLE=MODEL, e.g. --seat red_team=terminal: ; it was given {seat}"
            )
        chosen[role] = name
    named = {role: _anywhere(name) for role, name in chosen.items()}
    model = _anywhere(model) if model else None
    if "terminal:" in (model, settings.config.model, *named.values()) and not _keyboard():
        raise ConfigurationError("terminal: needs the keyboard; give the text as an argument or with --file PATH")
    return merged(settings, model=model, seats=named, max_tokens=max_tokens)


def _anywhere(model: str) -> str:
    """A mailbox's folder in full: a run may be gone on with from another folder."""
    head, colon, folder = model.partition(":")
    return f"{head}{colon}{Path(folder).resolve()}" if head == "mailbox" and folder else model


def _keyboard() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


def caps_from(budget: float | None, max_calls: int | None, deadline: float | None) -> Caps | None:
    """The caps of the flags; ``None`` where there are none."""
    from llm_runtime.wrappers.budgeted import Caps

    if budget is None and max_calls is None and deadline is None:
        return None
    cost = None if budget is None else round(budget * 1_000_000)
    return Caps(cost=cost, calls=max_calls, seconds=deadline)


def open_runs(path: str | None) -> RunStore:
    """The store at ``path``, or the user's own."""
    from llm_runtime.settings import data_dir
    from llm_runtime.store import open_store

    return open_store(path or data_dir() / "runs.db")


def read_text(text: str | None, file: str | None, what: str) -> str:
    """A text given as an argument, in a file, or on standard input (``-``, or a pipe).

    Raises:
        ConfigurationError: there is none, it cannot be read, is too long, or is not UTF-8.
    """
    if text is not None and text != "-":
        if file is not None:
            raise ConfigurationError(f"the {what} was given twice: as an argument and with --file")
        if not text.isprintable() and any("\ud800" <= char <= "\udfff" for char in text):
            raise ConfigurationError(f"the {what} is not UTF-8 text")
        return text
    if file is not None and file != "-":
        raw = _read_file(Path(file))
    elif sys.stdin is not None and (text == "-" or file == "-" or not sys.stdin.isatty()):
        raw = sys.stdin.buffer.read(MAX_INPUT + 1)
    else:
        raise ConfigurationError(f"no {what}: give it as an argument, with --file PATH, or on standard input")
    if len(raw) > MAX_INPUT:
        raise ConfigurationError(f"the {what} is longer than {MAX_INPUT // 1024} KiB; shorten it")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise ConfigurationError(f"the {what} is not UTF-8 text (byte {fault.start})") from None


def _read_file(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_INPUT + 1)
    except OSError as fault:
        raise ConfigurationError(f"{path} cannot be read: {fault.strerror}") from None
