"""The forms: start a run, resume one, fork one at an event."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from assay.fields import FieldSpec
from assay.protocol import RunType
from assay.registry import known
from assay.web.forms import Form, forms
from assay.web.templating import render
from llm_runtime.store import RunSummary


@dataclass(frozen=True, slots=True)
class TermsFields:
    """What a form asks beside the task: the model, the seats and the bounds.

    Args:
        reachable: vendors that have a key, and the user's own endpoints.
        bounds: which can be set.
        roles: seats that a person may take: name, words, and what each does.
        seats: whether seats can be set.
        keeps: whether an empty model means the one that the run began with.
        example: a seat.
    """

    reachable: list[str]
    bounds: tuple[str, ...] = ("budget", "max_calls", "deadline", "max_tokens", "effort")
    roles: tuple[tuple[str, str, str], ...] = ()
    seats: bool = True
    keeps: bool = False
    example: str = ""


@dataclass(frozen=True, slots=True)
class FormField:
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


def new_page(
    form: Form, reachable: list[str], values: Mapping[str, Any], fault: str = "", *, queue: bool = False
) -> str:
    """Return the form of a kind of run.

    Args:
        form: whose.
        reachable: vendors that have a key, and the user's own endpoints.
        values: what was filled in before, by a field's name.
        fault: why that was refused.
        queue: whether the run can be left to a worker.
    """
    return render(
        "new.html",
        queue=queue,
        run=form.run,
        kinds=forms(),
        fields=[form_field(spec) for spec in form.fields],
        terms=_terms(form.run, reachable),
        values=values,
        fault=fault,
    )


def resume_page(run: RunSummary, reachable: list[str], values: Mapping[str, Any], fault: str = "") -> str:
    """Return the form to go on with a run, on other terms where the old ones ended it. See :func:`new_page`."""
    terms = _terms(known(run.protocol), reachable, keeps=True)
    return render("resume.html", run=run, terms=terms, values=values, fault=fault)


def fork_page(run: RunSummary, reachable: list[str], values: Mapping[str, Any], fault: str = "") -> str:
    """Return the form to start a run that shares this one's answers up to an event. See :func:`new_page`."""
    terms = _terms(known(run.protocol), reachable, keeps=True)
    again = str(values.get("at", "")) == "0"
    return render("fork.html", run=run, terms=terms, values=values, fault=fault, again=again)


def _terms(run: RunType | None, reachable: list[str], *, keeps: bool = False) -> TermsFields:
    if run is None:
        return TermsFields(reachable, keeps=keeps)
    roles = tuple(
        (seat.name, seat.name.replace("_", " "), seat.about) for seat in run.seats if seat.about and not seat.model
    )
    example = next((seat.name for seat in run.seats if seat.name != "*"), "0:*")
    return TermsFields(reachable, run.bounds, roles, bool(run.seats), keeps, example)


def form_field(spec: FieldSpec) -> FormField:
    """Return a field as its template wants it."""
    default = spec.default
    if isinstance(default, list | tuple):
        default = "\n".join(map(str, cast("Iterable[Any]", default)))
    elif isinstance(default, dict):
        default = ""
    elif isinstance(default, bool):
        default = str(default).lower()
    return FormField(spec, "" if default is None else default)
