"""What a person fills in to start a run of each protocol, and how it becomes the run's task and settings.

A protocol joins by a row in :data:`FORMS`, beside its row in ``assay.runners``; the pages make the rest.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias, cast

from assay.web.fitting import (
    fit_build,
    fit_circle,
    fit_debate,
    fit_trial,
    known_languages,
    known_personas,
    known_puzzles,
)
from assay.web.works import Terms
from llm_runtime.errors import ConfigurationError

Kind: TypeAlias = Literal["line", "lines", "text", "choice", "json", "number", "file"]
Fit: TypeAlias = Callable[[dict[str, Any], dict[str, Any], Terms], dict[str, Any]]
"""From a run's task and engine options, as filled in, and its terms, to its settings; it may complete the task.

Raises ``ConfigurationError``."""


@dataclass(frozen=True, slots=True)
class Field:
    """One thing to fill in.

    Args:
        name: its key in the task or in the engine's options.
        label: for people.
        kind: ``"json"`` takes a JSON object, ``"lines"`` a list of texts, one a line, ``"number"`` a whole number
            from 1 up, ``"file"`` a text that may be read from a file.
        into: where it goes.
        choices: values with their words, for a choice; the first is the default. A number's default, as its value.
        hint: a few words of help.
        required: whether it must be filled in.
    """

    name: str
    label: str
    kind: Kind = "line"
    into: Literal["task", "engine"] = "task"
    choices: tuple[tuple[str, str], ...] = ()
    hint: str = ""
    required: bool = False


BOUNDS = ("budget", "max_calls", "deadline", "max_tokens")
"""What can be set of what a run may spend."""


@dataclass(frozen=True, slots=True)
class Form:
    """A protocol's form.

    Args:
        title: what starting it means.
        about: what a person gets from it, in one sentence.
        fields: what to fill in; the first one gives the run its title.
        roles: seats that a person may take, with what each does.
        seats: who sits where unless the form says otherwise.
        first: fields that are shown at once although they may stay empty.
        bounds: what of budget, calls, seconds and tokens can be set; seats only where all can.
        fit: makes the run's settings, where they are more than the engine's options.
        suggest: by a field's name, what may stand in it.
    """

    title: str
    about: str
    fields: tuple[Field, ...]
    roles: tuple[tuple[str, str], ...] = ()
    seats: Mapping[str, str] = dataclasses.field(default_factory=dict[str, str])
    first: tuple[str, ...] = ()
    bounds: tuple[str, ...] = BOUNDS
    fit: Fit | None = None
    suggest: Mapping[str, Callable[[], list[str]]] = dataclasses.field(
        default_factory=dict[str, Callable[[], list[str]]]
    )


FORMS: dict[str, Form] = {
    "crucible": Form(
        title="Ask a council",
        about="Several models answer, a red team attacks, and what survives becomes the answer.",
        fields=(
            Field("query", "Question", "text", required=True),
            Field("context", "Context", "json", hint="A JSON object that the triage reads. May stay empty."),
            Field(
                "delta",
                "Stop when nothing changes",
                "choice",
                "engine",
                (
                    ("judge", "a model compares the loops"),
                    ("similarity", "the texts are compared, without a model"),
                ),
            ),
        ),
        roles=(
            ("red_team", "attack what the others say"),
            ("pragmatist", "one of the council's seats"),
            ("synthesis", "write the answer"),
        ),
    ),
    "fire_circle": Form(
        title="Judge a prompt",
        about="A circle of models reads a prompt in rounds, says what in it does not hold up, and finds patterns.",
        fields=(
            Field("user", "Prompt", "text", required=True),
            Field("system", "System layer", "text", hint="What the prompt would be sent under. May stay empty."),
            Field("application", "Application layer", "text"),
            Field(
                "mode",
                "How",
                "choice",
                "engine",
                (
                    ("fire_circle", "a circle in dialogue"),
                    ("parallel", "several models, without dialogue"),
                    ("single", "one model"),
                ),
            ),
            Field("models", "Seats", "lines", "engine", hint="2 to 10 models, one a line; terminal: is you."),
        ),
        fit=fit_circle,
    ),
    "crux": Form(
        title="Hold a debate",
        about="Authors argue from their own texts, down to what divides them and what would change their minds.",
        fields=(
            Field("topic", "Topic", "text", required=True, hint="A question that can be answered yes or no."),
            Field("personas", "Who debates", "lines", "engine", required=True, hint="Two or more, one a line."),
            Field(
                "aspects",
                "Rounds",
                "choice",
                "engine",
                (("3", "three"), ("2", "two"), ("4", "four"), ("auto", "as many as the topic has")),
            ),
        ),
        fit=fit_debate,
        suggest={"personas": known_personas},
    ),
    "trial": Form(
        title="Try a model",
        about="A model attempts sealed puzzles, each attempt in a box of its own; you see how reliably it passes.",
        fields=(
            Field("puzzles", "Puzzles", "lines", required=True, hint="Ids, one a line, or all."),
            Field(
                "k", "Attempts at each", "number", choices=(("3", ""),), hint="More of them, narrower intervals."
            ),
            Field(
                "arm",
                "Framing",
                "choice",
                "task",
                (
                    ("neutral", "neutral: the task alone"),
                    ("self_referential", "its own earlier record is mentioned"),
                    ("social_standings", "how others stand is mentioned"),
                ),
                "The others need earlier neutral trials to refer to.",
            ),
            Field(
                "tools",
                "Tools",
                "choice",
                "task",
                (("native", "by the model's own tool calls"), ("text", "in text, for models without them")),
            ),
            Field("at_once", "Attempts at one time", "number", choices=(("2", ""),)),
        ),
        first=("k", "arm"),
        bounds=("budget",),
        fit=fit_trial,
        suggest={"puzzles": known_puzzles},
    ),
    "criticality": Form(
        title="Build from an interview",
        about="You answer questions; models propose, object, write and test; out comes code that shows its claims.",
        fields=(
            Field("name", "Project", required=True, hint="Lower case, digits and hyphens, as in shared-kitty."),
            Field(
                "answers",
                "Answers",
                "file",
                hint="A file of answers (TOML), or nothing: then the run's page asks you, question by question.",
            ),
            Field("folder", "Folder", hint="Where the project goes, or where one lies already. Empty makes one."),
            Field("language", "Language", hint="Empty means Python."),
        ),
        roles=(
            ("person", "whoever is interviewed; you, unless you say otherwise"),
            ("architect", "proposes, and writes what nobody else could"),
            ("auditor", "objects"),
            ("worker", "writes functions"),
        ),
        seats={"person": "terminal:"},
        first=("answers", "folder", "language"),
        fit=fit_build,
        suggest={"language": known_languages},
    ),
}

_LONGEST = 1 << 18
"""Characters of one field."""


@dataclass(frozen=True, slots=True)
class Order:
    """A filled-in form."""

    protocol: str
    title: str
    task: dict[str, Any]
    settings: dict[str, Any]
    terms: Terms


def order(protocol: str, given: Mapping[str, Any]) -> Order:
    """Read a form, from a page or as JSON.

    Raises:
        ConfigurationError: a field is missing, too long, or not what it should be; says which.
    """
    form = FORMS.get(protocol)
    if form is None:
        raise ConfigurationError(f"there is no form for {protocol[:80]}; there are: {', '.join(FORMS)}")
    task: dict[str, Any] = {}
    engine: dict[str, Any] = {}
    for field in form.fields:
        value = _value(field, given.get(field.name))
        if value is not None:
            (task if field.into == "task" else engine)[field.name] = value
    agreed = terms(given)
    agreed = dataclasses.replace(agreed, seats={**form.seats, **agreed.seats})
    first = task[form.fields[0].name]
    title = " ".join((", ".join(cast("list[str]", first)) if isinstance(first, list) else str(first)).split())[:200]
    settings = form.fit(task, engine, agreed) if form.fit else {"engine": engine}
    return Order(protocol, title, task, settings, agreed)


def terms(given: Mapping[str, Any]) -> Terms:
    """The models and bounds of a form.

    Raises:
        ConfigurationError: a number is none, or a seat is not of the form ROLE=MODEL.
    """
    return Terms(
        model=_text(given.get("model"), "model").strip(),
        seats=_seats(given.get("seats")),
        budget=_number(given.get("budget"), "budget"),
        max_calls=_whole(given.get("max_calls"), "max_calls", least=0),
        deadline=_number(given.get("deadline"), "deadline"),
        max_tokens=_whole(given.get("max_tokens"), "max_tokens", least=1),
    )


def speed(given: Mapping[str, Any]) -> float:
    """How many times as fast a recording is played; 0 does not wait.

    Raises:
        ConfigurationError: it is no such number.
    """
    found = _number(given.get("speed"), "speed")
    return 1.0 if found is None else found


def whole(given: Mapping[str, Any], name: str, least: int = 0) -> int:
    """A whole number that must be there.

    Raises:
        ConfigurationError: it is missing or below ``least``.
    """
    found = _whole(given.get(name), name, least=least)
    if found is None:
        raise ConfigurationError(f"{name} is missing")
    return found


def described(protocol: str) -> list[dict[str, Any]]:
    """A protocol's fields as data, for programs that fill them in."""
    form = FORMS[protocol]
    suggested = {name: suggest() for name, suggest in form.suggest.items()}
    return [{**asdict(field), "suggested": suggested.get(field.name, [])} for field in form.fields]


def _value(field: Field, given: Any) -> Any:
    if field.kind == "choice":
        chosen = str(given or field.choices[0][0])
        if chosen not in dict(field.choices):
            raise ConfigurationError(f"{field.label}: choose one of {', '.join(dict(field.choices))}")
        return chosen
    if field.kind == "json":
        return _object(field, given)
    if field.kind == "number":
        return _whole(given or field.choices[0][0], field.label, least=1)
    if field.kind == "lines":
        lines = given if isinstance(given, list) else _text(given, field.label).split("\n")  # pyright: ignore[reportUnknownVariableType]
        found = [line.strip() for line in map(str, lines) if line.strip()]  # pyright: ignore[reportUnknownArgumentType]
        if field.required and not found:
            raise ConfigurationError(f"{field.label} is empty; fill it in")
        return found or None
    text = _text(given, field.label)
    if text.strip():
        return text
    if field.required:
        raise ConfigurationError(f"{field.label} is empty; fill it in")
    return None


def _object(field: Field, given: Any) -> dict[str, Any] | None:
    if isinstance(given, str):
        if not given.strip():
            return None
        try:
            given = json.loads(_text(given, field.label))
        except (ValueError, RecursionError) as fault:
            raise ConfigurationError(f"{field.label} is not JSON: {fault}") from None
    if given is not None and not isinstance(given, dict):
        raise ConfigurationError(f"{field.label} must be a JSON object")
    return given  # pyright: ignore[reportUnknownVariableType]


def _text(given: Any, name: str) -> str:
    text = "" if given is None else given
    if not isinstance(text, str):
        raise ConfigurationError(f"{name} must be a text")
    if len(text) > _LONGEST:
        raise ConfigurationError(f"{name} is longer than {_LONGEST} characters; shorten it")
    return text


def _seats(given: Any) -> dict[str, str]:
    if isinstance(given, dict):
        return {str(role): str(model) for role, model in given.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    seats: dict[str, str] = {}
    for line in _text(given, "seats").split("\n"):
        role, equals, model = (part.strip() for part in line.partition("="))
        if not (role or equals):
            continue
        if not (role and model):
            raise ConfigurationError(f"a seat is written ROLE=MODEL, e.g. red_team=terminal: ; not {line[:80]}")
        seats[role] = model
    return seats


def _number(given: Any, name: str) -> float | None:
    if given is None or given == "":
        return None
    try:
        number = float(given)
    except (TypeError, ValueError):
        raise ConfigurationError(f"{name} must be a number") from None
    if not 0 <= number < 1e9:
        raise ConfigurationError(f"{name} must be a number from 0 up")
    return number


def _whole(given: Any, name: str, *, least: int) -> int | None:
    number = _number(given, name)
    if number is None:
        return None
    if number != int(number) or number < least:
        raise ConfigurationError(f"{name} must be a whole number from {least} up")
    return int(number)
