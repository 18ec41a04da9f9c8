"""What a pydantic model says to a door: options, form fields, columns; its refusals as one sentence."""

from __future__ import annotations

import tomllib
import types
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import field
from enum import Enum
from functools import cache
from importlib import resources
from pkgutil import resolve_name
from typing import Annotated, Any, Literal, TypeAlias, Union, cast, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticUndefined, to_json

from llm_runtime.errors import ConfigurationError
from llm_runtime.models import PLAIN
from llm_runtime.structs import Struct

Kind: TypeAlias = Literal["line", "text", "choice", "checkbox", "whole", "number", "list", "json", "file", "seats"]
_EMPTY = ("string_too_short", "string_pattern_mismatch", "too_short")
"""What pydantic calls a refusal of nothing: our only patterns and least lengths ask for something."""


class Ui(Struct):
    """What a door should know of a field beside its type. Put it into ``Annotated``, or into a model's ``ui``.

    Args:
        flag: on the command line; else ``--`` and the name with hyphens.
        off: the flag that switches off what is on by default.
        label: on a form; else the name in words.
        help: on the command line; else the field's docstring, which forms and programs show.
        metavar: what stands behind the flag in the help.
        kind: where the type does not tell, as ``"text"`` for several lines.
        words: of a choice, value -> words for people.
        suggest: ``"module:function"`` that returns what may stand in it.
        argument: the positional argument of the command; also read from ``--file`` and pipes.
        show_default: whether the help ends with the default.
        show_range: whether the help ends with the range.
        advanced: not shown at once on a form.
        hidden: no door but JSON has it.
        doors: those that have it, of ``"cli"``, ``"form"``, and ``"agent"`` where agents have what no form has.
        flatten: the fields of this nested model stand beside those of the outer one.
        upload: of a text that is a file's path elsewhere: a form takes what is in the file, and puts it into one;
            the name of the field that takes a folder beside it.
        reads: ``"module:function"``, what makes the value of the text that a form sends.
        asks: where it is given, the argument may be left out: the task has words of its own for it.
        local: of a list, whether it may name files of the machine; forms and programs may then give addresses.
    """

    flag: str = ""
    off: str = ""
    label: str = ""
    help: str = ""
    metavar: str = ""
    kind: Kind | None = None
    words: Mapping[str, str] = field(default_factory=dict[str, str])
    suggest: str = ""
    argument: bool = False
    show_default: bool = False
    show_range: bool = True
    advanced: bool = True
    hidden: bool = False
    doors: tuple[str, ...] = ("cli", "form")
    flatten: bool = False
    upload: str = ""
    reads: str = ""
    local: bool = False
    asks: bool = False


class FieldSpec(Struct):
    """One field of a model, ready for every door.

    Args:
        path: where it is in the model's data.
        name: in forms, columns and JSON.
        choices: of a choice, in order.
        minimum: least value; ``above`` is a bound that the value must exceed.
    """

    path: tuple[str, ...]
    name: str
    kind: Kind
    ui: Ui
    help: str
    default: Any
    required: bool
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    above: bool = False
    below: bool = False

    @property
    def label(self) -> str:
        """What a form calls it."""
        words = self.name.replace("_", " ")
        return self.ui.label or words[:1].upper() + words[1:]

    @property
    def option_help(self) -> str:
        """What the command line says of it."""
        return self.ui.help or self.help

    @property
    def flag(self) -> str:
        """What the command line calls it."""
        if self.ui.argument:
            return self.ui.metavar or self.name.upper()
        return self.ui.flag or self.ui.off or "--" + self.name.replace("_", "-")

    @property
    def asks_models(self) -> bool:
        """Whether models are named in it."""
        return self.ui.metavar in ("MODEL", "A,B,C")

    @property
    def suggested(self) -> list[str]:
        """What may stand in it, where that is known."""
        return resolve_name(self.ui.suggest)() if self.ui.suggest else []


@cache
def read_ui(package: str) -> Mapping[str, Mapping[str, Ui]]:
    """Return what a package's ``fields.toml`` says of fields, by model: each for that model's ``ui``."""
    said = tomllib.loads(resources.files(package).joinpath("fields.toml").read_text(encoding="utf-8"))
    return {model: {name: _ui(**entry) for name, entry in fields.items()} for model, fields in said.items()}


def _ui(doors: list[str] | None = None, **said: Any) -> Ui:
    return Ui(**said) if doors is None else Ui(**said, doors=tuple(doors))


def fields_of(model: type[BaseModel], *, at: tuple[str, ...] = ()) -> Iterator[FieldSpec]:
    """Yield the fields of a model in order, those of flattened models in their place."""
    words: Mapping[str, Ui] = getattr(model, "ui", {})
    for name, info in model.model_fields.items():
        ui = words.get(name) or next((one for one in info.metadata if isinstance(one, Ui)), Ui())
        kind, inner = _plain(info.annotation)
        if ui.flatten:
            yield from fields_of(cast("type[BaseModel]", inner), at=(*at, name))
            continue
        bounds = {key: value for one in info.metadata for key, value in _bounds(one)}
        default = info.get_default(call_default_factory=True) if not info.is_required() else None
        yield FieldSpec(
            path=(*at, name),
            name=name,
            kind=ui.kind or kind,
            ui=ui,
            help=info.description or ui.help,
            default=None if default is PydanticUndefined else default,
            required=info.is_required(),
            choices=_choices(inner) if kind == "choice" else (),
            **bounds,
        )


def shown(*models: type[BaseModel]) -> list[FieldSpec]:
    """Return the fields that forms and programs have."""
    specs = (spec for model in models for spec in fields_of(model))
    return [spec for spec in specs if not spec.ui.hidden and "form" in spec.ui.doors]


@cache
def specs_of(model: type[BaseModel]) -> Mapping[str, FieldSpec]:
    """Return the same by name, read once from each model."""
    return {spec.name: spec for spec in fields_of(model)}


def _plain(annotation: Any) -> tuple[Kind, Any]:
    """Return the kind of a type, without ``None`` and without annotations."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _plain(get_args(annotation)[0])
    if origin in (Union, types.UnionType):
        inner = [one for one in get_args(annotation) if one is not type(None)]
        return _plain(inner[0]) if len(inner) == 1 else ("line", annotation)
    if origin is Literal or (isinstance(annotation, type) and issubclass(annotation, Enum)):
        return "choice", annotation
    if origin in (list, tuple) and _plain(get_args(annotation)[0])[1] is str:
        return "list", cast("Any", annotation)
    kinds: dict[Any, Kind] = {bool: "checkbox", int: "whole", float: "number", str: "line"}
    return kinds.get(annotation, "json"), cast("Any", annotation)


def _choices(annotation: Any) -> tuple[str, ...]:
    if get_origin(annotation) is Literal:
        return tuple(str(one) for one in get_args(annotation))
    return tuple(str(one.value) for one in cast("type[Enum]", annotation))


def _bounds(constraint: Any) -> Iterator[tuple[str, Any]]:
    for attribute, key in (("ge", "minimum"), ("gt", "minimum"), ("le", "maximum"), ("lt", "maximum")):
        if (value := getattr(constraint, attribute, None)) is not None:
            yield key, value
            if attribute in ("gt", "lt"):
                yield ("above" if attribute == "gt" else "below"), True


Names: TypeAlias = Callable[[FieldSpec], str]
"""What a door calls a field."""


def by_name(spec: FieldSpec) -> str:
    """Return what forms, columns and JSON call a field."""
    return spec.name


def read(
    model: type[BaseModel], values: Mapping[str, Any], *, strict: bool = False, names: Names = by_name
) -> BaseModel:
    """Make a model of a door's values.

    Args:
        values: by the fields' names; empty texts count as left out.
        strict: of JSON: ``true`` is no number and ``"3"`` no whole number.
        names: what the door calls each field, for the refusal.

    Raises:
        ConfigurationError: one sentence that names the field as the door does.
    """
    specs = specs_of(model)
    data: dict[str, Any] = {}
    for name, value in values.items():
        spec = specs.get(name)
        if spec is None:
            listed = ", ".join(names(one) for one in specs.values() if not one.ui.hidden)
            raise ConfigurationError(f"no field is called {ascii(name)[1:-1][:60]}; there are: {listed}")
        if value is None or (not strict and value == "" and not spec.required):
            continue
        place = data
        for table in spec.path[:-1]:
            place = place.setdefault(table, {})
        place[spec.path[-1]] = value
    try:
        if strict:
            return model.model_validate_json(to_json(data), strict=True)
        return model.model_validate(data)
    except ValidationError as fault:
        raise ConfigurationError(sentence(fault, list(specs.values()), names)) from None


def sentence(fault: ValidationError, specs: list[FieldSpec], names: Names = by_name) -> str:
    """Return the first refusal of a model as one sentence, its field called as the door calls it."""
    first = fault.errors(include_url=False, include_input=False)[0]
    place = tuple(str(part) for part in first["loc"])
    spec = next((one for one in specs if one.path == place[: len(one.path)]), None)
    reason = PLAIN.get(first["type"], first["msg"].removeprefix("Value error, "))
    if spec is not None and first["type"] in ("missing", *_EMPTY):
        word = "missing" if first["type"] == "missing" else "empty"
        return f"{names(spec)} is {word}; {spec.help if spec.ui.argument and spec.help else 'fill it in'}"
    if spec is None:
        where = ".".join(place)
        return f"{where}: {reason}" if where else reason
    rest = ".".join(place[len(spec.path) :])
    return f"{names(spec)}{f', {rest}' if rest else ''}: {reason}"


def like(model: type[BaseModel], name: str) -> Any:
    """Take a field's default and bounds from an engine's own configuration, so that the two cannot part.

    Use it as a default: ``max_rounds: int = like(FireCircleConfig, "max_rounds")``.
    """
    return copy(model.model_fields[name])
