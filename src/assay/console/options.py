"""Options of the command line: those derived from models, and those that several commands share."""

from __future__ import annotations

import json
import sys
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from assay.console.declared import declares
from llm_runtime.errors import ConfigurationError
from llm_runtime.files import saying
from llm_runtime.rewording import reworded

if TYPE_CHECKING:
    from assay.fields import FieldSpec
    from assay.terms import Terms
    from llm_runtime.settings import Settings
    from llm_runtime.store import RunStore

F = TypeVar("F", bound=Callable[..., Any])

#: Bytes of a question, a prompt or a context that are read before it is refused as too long.
MAX_INPUT = 1 << 20
_BOUNDS = ("max_tokens", "effort", "budget", "max_calls", "deadline")


class _Shown(click.types.StringParamType):
    """Shows a type in the help and leaves all judging to the model, whose words every door has."""

    def __init__(self, name: str) -> None:
        self.name = name


class _ShownRange(click.IntRange):
    """The same for a range of numbers; ``name`` says of which."""

    def __init__(self, spec: FieldSpec) -> None:
        super().__init__(spec.minimum, spec.maximum, min_open=spec.above, max_open=spec.below)  # pyright: ignore[reportArgumentType]
        self.name = "integer range" if spec.kind == "whole" else "float range"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return value


class _ShownChoice(click.Choice[str]):
    """The same for a choice."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return value


class _FieldOption(click.Option):
    """An option whose default belongs to the model: the help shows it, and leaving it out says nothing."""

    def __init__(self, *args: Any, shown_default: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._shown_default = shown_default

    def get_help_extra(self, ctx: click.Context) -> Any:
        extra = super().get_help_extra(ctx)
        return {"default": self._shown_default, **extra} if self._shown_default else extra


def field_option(spec: FieldSpec, section: str) -> click.Option:
    """Make the option of one field; its value arrives under ``SECTION__NAME``, ``None`` where it was left out."""
    ui, names = spec.ui, [spec.flag, f"{section}__{spec.name}"]
    if spec.kind == "checkbox":
        return click.Option(names, is_flag=True, default=None, help=spec.option_help)
    default: Any = spec.default if ui.show_default or isinstance(spec.default, int | float) else ""
    if isinstance(default, list | tuple):
        default = ",".join(map(str, cast("Iterable[Any]", default)))
    many = spec.kind == "seats" or (spec.kind == "list" and "," not in ui.metavar)
    kind = None if spec.kind in ("list", "seats") else _shown(spec)
    return _FieldOption(
        names, type=kind, multiple=many, metavar=ui.metavar or None, help=spec.option_help, shown_default=str(default)
    )


def _shown(spec: FieldSpec) -> click.types.StringParamType | _ShownRange | _ShownChoice:
    if spec.kind == "choice":
        return _ShownChoice(spec.choices)
    if spec.kind in ("whole", "number"):
        if spec.ui.show_range and (spec.minimum is not None or spec.maximum is not None):
            return _ShownRange(spec)
        return _Shown("integer" if spec.kind == "whole" else "float")
    return _Shown("text")


def called(spec: FieldSpec) -> str:
    """Return what the command line calls a field."""
    return spec.flag


def field_value(spec: FieldSpec, value: Any) -> Any:
    """Return what was given for a field, texts and files read; ``None`` where it was left out.

    Raises:
        ConfigurationError: a file cannot be read, or is not what it should be.
    """
    if value is None or value == ():
        return None
    if spec.kind == "checkbox":
        return not spec.ui.off
    if spec.kind == "seats":
        return dict(_seat(one) for one in value)
    if spec.kind == "list":
        texts = (value,) if isinstance(value, str) else cast("tuple[str, ...]", value)
        # A comma may stand in the name of a file.
        parts = list(texts) if spec.ui.local else [part.strip() for text in texts for part in text.split(",")]
        if "" in parts:
            raise ConfigurationError(f"{spec.flag} {','.join(texts)}: there is an empty place between commas")
        return parts
    if spec.kind == "json" and isinstance(value, str):
        return read_json(value, spec.flag.lstrip("-"))
    if spec.kind == "file" or (spec.kind == "text" and (value == "-" or value.startswith("@"))):
        return read_text(None, value if spec.kind == "file" else value.removeprefix("@"), spec.label.lower())
    return value


def _seat(text: str) -> tuple[str, str]:
    role, equals, name = text.partition("=")
    if not (role and equals and name):
        raise ConfigurationError(f"--seat takes ROLE=MODEL, e.g. --seat red_team=terminal: ; it was given {text}")
    return role, name


def terms_fields(bounds: Iterable[str] = _BOUNDS) -> list[FieldSpec]:
    """Return the fields of the terms in the order of the help."""
    from assay.fields import specs_of
    from assay.terms import Terms

    wanted = [name for name in _BOUNDS if name in tuple(bounds)]
    return [specs_of(Terms)[name] for name in ("model", "seats", *wanted)]


def terms_options(command: F) -> F:
    """Add the options that set models and bounds; they arrive together as ``terms``, a :class:`Terms`."""
    specs = terms_fields()

    def gathered(**values: Any) -> Any:
        own = {name: value for name, value in values.items() if not name.startswith("terms__")}
        return command(**own, terms=terms_from(values))

    gathered.__doc__, gathered.__name__ = command.__doc__, command.__name__
    own: list[click.Option] = getattr(command, "__click_params__", [])
    gathered.__click_params__ = [*own, *(field_option(spec, "terms") for spec in reversed(specs))]  # pyright: ignore[reportFunctionMemberAccess]
    return cast("F", gathered)


def terms_from(values: Mapping[str, Any]) -> Terms:
    """Return the terms that the flags set.

    Raises:
        ConfigurationError: one cannot be; or ``terminal:`` is asked for without a keyboard.
    """
    from assay.fields import read
    from assay.terms import Terms

    asked = ((spec, values.get(f"terms__{spec.name}")) for spec in terms_fields())
    fields: dict[str, Any] = {spec.name: field_value(spec, value) for spec, value in asked}
    if fields["model"]:
        fields["model"] = _anywhere(fields["model"])
    seats = cast("dict[str, str]", fields["seats"] or {})
    fields["seats"] = {role: _anywhere(name) for role, name in seats.items()}
    return cast("Terms", read(Terms, fields, names=called))


def settings_with(terms: Terms) -> Settings:
    """Return the user's settings under the terms.

    Raises:
        ConfigurationError: ``terminal:`` is asked for without a keyboard; or a configuration file is at fault.
    """
    from llm_runtime.settings import load_settings

    settings = terms.settings(load_settings())
    config = settings.config
    if "terminal:" in (config.model, *config.seats.values()) and not (sys.stdin and sys.stdin.isatty()):
        raise ConfigurationError("terminal: needs the keyboard; run it in a terminal, with nothing on standard input")
    return settings


def _anywhere(model: str) -> str:
    """Return the model's name with the full path of a mailbox: a run may be resumed from another folder."""
    head, colon, folder = model.partition(":")
    return f"{head}{colon}{Path(folder).resolve()}" if head == "mailbox" and folder else model


store_option = declares("assay.console", "options.toml")("store")
"""Adds the option that says where runs are kept."""


def open_runs(path: str | None, *, made: bool = True) -> RunStore:
    """Open the store at ``path``, or the user's own; it is made where none is, unless one that is there was named.

    Raises:
        ConfigurationError: it is not to be ``made``, and is not there.
    """
    from llm_runtime.settings import data_dir
    from llm_runtime.store import open_store

    named = (path or "").removeprefix("sqlite:///")
    if named and not (made or "://" in named or Path(named).exists()):
        raise ConfigurationError(f"there is no store at {named}; name one that is there with --store")
    return open_store(path or data_dir() / "runs.db")


def with_store(command: Callable[..., Any], *, made: bool = False) -> Callable[..., Any]:
    """Add the option that says where runs are kept; the store is open while the command runs, as ``store``.

    One that is named has to be there, for a name that is mistyped holds nothing; or it is ``made``.
    """

    @wraps(command)
    def opened(*, store_path: str | None, **values: Any) -> Any:
        with closing(open_runs(store_path, made=made)) as store:
            return command(store=store, **values)

    return store_option(opened)


def with_run(command: Callable[..., Any]) -> Callable[..., Any]:
    """Do the same for a command whose argument ``run`` names a run: it is found in the store, as ``run_id``."""

    @wraps(command)
    def found(*, run: str, store: RunStore, **values: Any) -> Any:
        return command(store=store, run_id=store.find(run), **values)

    return with_store(found)


def read_json(path: str, what: str) -> Any:
    """Read a JSON object from a file; ``-`` is standard input.

    Raises:
        ConfigurationError: it is none, or cannot be kept in a log.
    """
    from llm_runtime.canonical import canonical_json

    name = Path(path).name
    with reworded(f"the {what} in {name} is not JSON", json.JSONDecodeError, RecursionError):
        data = json.loads(read_text(None, path, what))
    if not isinstance(data, dict):
        raise ConfigurationError(f"the {what} in {name} must be a JSON object")
    with reworded(f"the {what} in {name} cannot be kept as JSON", ValueError, RecursionError):
        canonical_json(data)
    return cast("dict[str, Any]", data)


def read_text(text: str | None, file: str | None, what: str, most: int = MAX_INPUT) -> str:
    """Return a text from an argument, a file, or standard input (``-``, or a pipe); of ``most`` bytes at the most.

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
        raw = _read_file(Path(file), most)
    elif sys.stdin is not None and (text == "-" or file == "-" or not sys.stdin.isatty()):
        raw = sys.stdin.buffer.read(most + 1)
    else:
        raise ConfigurationError(f"no {what}: give it as an argument, with --file PATH, or on standard input")
    if len(raw) > most:
        raise ConfigurationError(f"the {what} is longer than {most // 1024} KiB; shorten it")
    try:
        # What PowerShell writes with > has the mark of UTF-16.
        return raw.decode("utf-16" if raw[:2] in (BOM_UTF16_LE, BOM_UTF16_BE) else "utf-8-sig")
    except UnicodeDecodeError as fault:
        raise ConfigurationError(f"the {what} is not UTF-8 text (byte {fault.start})") from None


def _read_file(path: Path, most: int) -> bytes:
    with saying(f"{path} cannot be read"), path.open("rb") as file:
        return file.read(most + 1)
