"""What a form to begin a run, or to go on with one, shows at once: a main field, few choices; the rest in groups."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, cast

from assay.fields import FieldSpec
from assay.protocol import RunType
from assay.web.forms import terms_fields
from llm_runtime.structs import Struct

_CHOICES = 3
"""Shown at once beside what is asked."""
_MODELS, _BOUNDS, _REST = "Models and seats", "Bounds", "How it is done"


class FormField(Struct):
    """A field as the template of forms wants it: its description, and what it shows before anybody typed."""

    spec: FieldSpec
    default: Any

    @property
    def at_once(self) -> bool:
        """Tell whether it is shown before anything is unfolded."""
        return self.spec.required or not self.spec.ui.advanced

    @property
    def hint(self) -> str:
        """What stands below it; what the command line takes again and again is a line each here."""
        return self.spec.help.replace(" (repeatable).", ", one a line.")


class Composer(Struct):
    """The fields of a form, sorted.

    Args:
        main: what is asked.
        choices: at most three that most people look at.
        groups: all others, by heading.
        roles: seats that a person may take: name, words, and what each does.
        keeps: whether what is left empty stays as the run began.
        reachable: whether any model can be asked.
    """

    main: tuple[FormField, ...]
    choices: tuple[FormField, ...]
    groups: dict[str, list[FormField]]
    roles: tuple[tuple[str, str, str], ...]
    keeps: bool
    reachable: bool


def form_field(spec: FieldSpec) -> FormField:
    """Return a field as its template wants it."""
    default = spec.default
    if isinstance(default, list | tuple):
        default = "\n".join(map(str, cast("Iterable[Any]", default)))
    elif isinstance(default, dict):
        default = ""
    elif spec.kind == "choice" and default is not None:
        default = str(default)
    elif isinstance(default, bool):
        default = str(default).lower()
    return FormField(spec, "" if default is None else default)


def composer(
    run: RunType | None, specs: Sequence[FieldSpec], *, reachable: bool, keeps: bool = False, without: str = ""
) -> Composer:
    """Sort the fields of a kind of run.

    Args:
        run: whose terms are asked for; ``None`` asks for those that any has.
        specs: of its task and options.
        reachable: whether any model can be asked.
        keeps: whether what is left empty stays as the run began.
        without: the field that is asked for elsewhere on the page.
    """
    own = [form_field(spec) for spec in specs if spec.name != without]
    terms = [form_field(spec) for spec in terms_fields(run)]
    opening = run.opening.field if run and run.opening else ""
    main = [one for one in own if one.spec.required or one.spec.name == opening]
    if not main and not without:
        main = [one for one in own if one.at_once and one.spec.kind == "file"][:1]
    at_once = [one for one in own if one.at_once and one not in main]
    model = [one for one in terms if one.spec.name == "model"] if len(at_once) < _CHOICES else []
    choices = (*model, *at_once)
    groups: dict[str, list[FormField]] = {_MODELS: [], _REST: [], _BOUNDS: []}
    for one in chain(own, terms):
        if one not in main and one not in choices:
            models = one.spec.asks_models or one.spec.kind == "seats"
            groups[_MODELS if models else _REST if one in own else _BOUNDS].append(one)
    told = (seat for seat in (run.seats if run else ()) if seat.about and not seat.model)
    roles = tuple((seat.name, seat.name.replace("_", " "), seat.about) for seat in told)
    return Composer(tuple(main), choices, groups, roles, keeps, reachable)
