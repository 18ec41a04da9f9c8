"""Forms of the web application, derived from the descriptions of the kinds of run; and what was filled in, read."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar, cast

from pydantic import Field, TypeAdapter

from assay.fields import FieldSpec, fields_of, read, shown, specs_of
from assay.hooks import hooks_of
from assay.protocol import RunType, load
from assay.registry import Prepared, find, read_run, run_types
from assay.terms import Terms
from llm_runtime.errors import ConfigurationError
from llm_runtime.files import write_atomic
from llm_runtime.models import fits
from llm_runtime.rewording import reworded
from llm_runtime.settings import data_dir
from llm_runtime.structs import Struct

_BUILT_IN = re.compile(r"@[a-z]+")


def put_down(text: str) -> Path:
    """Write a table to a file whose ending says what it is; the same text is always in the same place.

    The folder beside it is the text's own.
    """
    ending = {"{": ".jsonl", "[": ".json"}.get(text.lstrip()[:1], ".csv")
    folder = data_dir() / "uploads" / hashlib.sha256(text.encode()).hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / f"data{ending}"
    write_atomic(path, text)
    return path


TextT = TypeVar("TextT", bound=str)
_LONGEST, _LONGEST_FILE = 1 << 18, 1 << 20
"""Characters of one field, and of one that takes what is in a file."""
_DIGITS = 16
"""Of a seed, the longest of our numbers; those of events are shorter."""
_KIND = ("kind", "protocol")
"""Fields that name the kind of run; the second is what older callers send."""
_SPEED = TypeAdapter(Annotated[float, Field(ge=0, lt=1e9)])
_SEAT = "seat-"
"""Begins the fields that each hold the model of one seat."""
BOX = "text"
"""What was typed before a kind of run was chosen; its :class:`~assay.protocol.Opening` says where it goes."""
_APART = (*_KIND, "seed", "queue", "estimate")
"""Fields that belong to no model."""


class Form(Struct):
    """The form of a kind of run.

    Args:
        run: what it starts.
        fields: what to fill in, task first.
        terms: models and bounds that can be set.
    """

    run: RunType
    fields: tuple[FieldSpec, ...]
    terms: tuple[FieldSpec, ...]

    def described(self) -> list[dict[str, Any]]:
        """Return the fields as data, for programs that fill them in."""
        return [_described(spec) for spec in (*self.fields, *self.terms)]


def forms() -> list[RunType]:
    """Return the kinds of run that have a form, in the order in which they are shown."""
    return [run for run in run_types().values() if "form" in run.doors]


def form_of(kind: str) -> Form:
    """Return the form of a kind of run.

    Raises:
        ConfigurationError: it has none.
    """
    run = find(kind)
    if "form" not in run.doors:
        listed = ", ".join(one.name for one in forms())
        raise ConfigurationError(f"there is no form for {run.name}; there are: {listed}")
    hooks = hooks_of(run)
    return Form(run, tuple(shown(hooks.task, hooks.options)), tuple(terms_fields(run)))


def kind_of(fields: Mapping[str, Any]) -> str:
    """Return the kind of run that a form or a JSON object names; the first one where it names none."""
    return next((str(fields[name]) for name in _KIND if fields.get(name)), forms()[0].name)


def terms_fields(run: RunType | None = None) -> list[FieldSpec]:
    """Return the fields of the terms that can be set for a kind of run."""
    if run is None:
        return list(fields_of(Terms))
    names = ("model", *(("seats",) if run.seats else ()), *run.bounds)
    return [spec for spec in fields_of(Terms) if spec.name in names]


def opened(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the start page's box sent as the fields of the kind of run that was chosen there."""
    if BOX not in fields:
        return dict(fields)
    opening = find(kind_of(fields)).opening
    moved = {opening.field: fields[BOX]} if opening and opening.field else {}
    return {name: value for name, value in fields.items() if name != BOX} | moved


def read_form(fields: Mapping[str, Any], *, strict: bool) -> tuple[Prepared, Terms]:
    """Read a filled-in form, or the JSON object of a program, where ``strict`` holds each value to its type.

    Raises:
        ConfigurationError: a field is missing, unknown, too long, or not what it should be; says which.
    """
    run = find(kind_of(fields))
    hooks = hooks_of(run)
    task, options = specs_of(hooks.task), specs_of(hooks.options)
    values = {"task": dict[str, Any](), "options": dict[str, Any](), "terms": dict[str, Any]()}
    for name, value in fields.items():
        if name in _APART:
            continue
        section = "task" if name in task else "options" if name in options else "terms"
        values[section][name] = value
    terms = terms_of(values["terms"], strict=strict, run=run)
    texts = {**task, **options}
    for spec in (one for one in texts.values() if one.ui.upload and isinstance(fields.get(one.name), str)):
        text = plain_value(spec, fields[spec.name])
        place = None if _BUILT_IN.fullmatch(text.strip()) else put_down(text)
        values["task"][spec.name] = str(place or text).strip()
        values["task"][spec.ui.upload] = str((place or data_dir() / "studies" / text.strip("@ ")).with_suffix(""))
    for section in ("task", "options"):
        values[section] = {name: plain_value(texts[name], value) for name, value in values[section].items()}
    return read_run(run.name, values["task"], values["options"], strict=strict), terms


def terms_of(
    fields: Mapping[str, Any], *, strict: bool, run: RunType | None = None, without: Iterable[str] = ()
) -> Terms:
    """Read models and bounds; fields named in ``without`` are not theirs.

    Raises:
        ConfigurationError: a field is unknown, or not what it should be; says which.
    """
    specs = specs_of(Terms)
    own = {name: value for name, value in fields.items() if name not in without}
    seats = {seat.name: seat.model for seat in run.seats if seat.model} if run else {}
    mine = {name: own.pop(name) for name in list(own) if name.startswith(_SEAT)}
    values = {name: plain_value(specs[name], value) if name in specs else value for name, value in own.items()}
    if taken := {name.removeprefix(_SEAT): model for name, model in mine.items() if model}:
        values["seats"] = {**taken, **(values.get("seats") or {})}
    terms = cast("Terms", read(Terms, values, strict=strict))
    return terms.model_copy(update={"seats": {**seats, **terms.seats}})


def seed_of(fields: Mapping[str, Any]) -> int | None:
    """Return the run's seed, 0 to 2^53-1; ``None`` where it is to be drawn.

    Raises:
        ConfigurationError: it is something else.
    """
    if fields.get("seed") in (None, ""):
        return None
    seed = whole_number(fields["seed"], "seed")
    if seed >= 2**53:
        raise ConfigurationError("seed: Input should be less than 9007199254740992")
    return seed


def whole_number(value: object, name: str) -> int:
    """Return a whole number from 0 up, as forms, addresses and programs write it; ``None`` and "" are missing.

    Raises:
        ConfigurationError: it is missing, something else, or longer than any number of ours.
    """
    text = "" if value is None else str(value).strip()
    if not text:
        raise ConfigurationError(f"{name} is missing; fill it in")
    if not (text.isascii() and text.isdigit() and len(text) <= _DIGITS):
        raise ConfigurationError(f"{name} must be a whole number from 0 up, of at most {_DIGITS} digits")
    return int(text)


def one_of(text: str, ways: Sequence[TextT], what: str) -> TextT:
    """Return which of a few words a text is.

    Raises:
        ConfigurationError: none; ``what`` begins the sentence: ``"role is"``.
    """
    for way in ways:
        if way == text:
            return way
    nothing = ", or nothing" if "" in ways else ""
    raise ConfigurationError(f"{what} one of {', '.join(filter(None, ways))}{nothing}")


def speed(fields: Mapping[str, Any]) -> float:
    """Return how many times as fast a recording is played; 0 does not wait.

    Raises:
        ConfigurationError: it is no such number.
    """
    with fits("speed: "):
        return _SPEED.validate_python(1.0 if fields.get("speed") in (None, "") else fields["speed"])


def plain_value(spec: FieldSpec, value: Any) -> Any:
    """Turn a form's text into the value that the model expects; leave a program's value as it is.

    Raises:
        ConfigurationError: it is too long, or not what the field takes.
    """
    if not isinstance(value, str):
        return value
    longest = _LONGEST_FILE if spec.kind == "file" else _LONGEST
    # How large a picture may be is said where it is read.
    if len(value) > longest and not value.startswith("data:image/"):
        raise ConfigurationError(
            f"{spec.label} is longer than {longest:,} characters, with {len(value):,}; shorten it, or start this "
            "from the command line with a file"
        )
    if spec.kind not in ("text", "file"):
        value = value.strip()
    if spec.kind == "checkbox":
        value = value.rpartition("\n")[2]  # one that is not ticked sends nothing, so "false" goes before it
    if spec.kind == "list":
        return [line.strip() for line in value.split("\n") if line.strip()]
    if spec.kind == "seats":
        how = "a seat is written ROLE=MODEL, e.g. red_team=terminal:"
        return dict(pair(line, how) for line in value.split("\n") if line.strip())
    if spec.kind == "json" and value:
        return _json(spec, value)
    if spec.ui.reads and value.strip():
        return load(spec.ui.reads)(value)
    return value if value.strip() or spec.required else None


def _json(spec: FieldSpec, text: str) -> Any:
    with reworded(f"{spec.name} is not JSON", ValueError, RecursionError):
        return json.loads(text)


def pair(line: str, how: str) -> tuple[str, str]:
    """Read ``NAME=VALUE``.

    Raises:
        ConfigurationError: it is none; ``how`` says how it is written.
    """
    name, _, value = (part.strip() for part in line.partition("="))
    if not (name and value):
        raise ConfigurationError(f"{how} ; not {line[:80]}")
    return name, value


def _described(spec: FieldSpec) -> dict[str, Any]:
    data: dict[str, Any] = {name: getattr(spec, name) for name in ("name", "label", "kind", "required", "help")}
    if spec.choices:
        data["choices"] = {value: spec.ui.words.get(value, value) for value in spec.choices}
    bounds = {"minimum": spec.minimum, "maximum": spec.maximum, "default": spec.default}
    data |= {name: bound for name, bound in bounds.items() if bound not in (None, "", (), {}, [])}
    return {**data, "suggested": names} if (names := spec.suggested) else data
