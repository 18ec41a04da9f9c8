"""The forms: start a run, resume one, fork one at an event."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from assay.web.forms import BOUNDS, FORMS, Form
from assay.web.templating import render
from llm_runtime.store import RunSummary

Kind: TypeAlias = Literal["line", "lines", "text", "choice", "json", "number", "file", "checkbox"]


@dataclass(frozen=True, slots=True)
class FormField:
    """One thing to fill in, as the template of forms wants it.

    Args:
        name: its key in what the form sends.
        label: for people.
        kind: what control it gets; ``"lines"`` is a list of texts, one a line.
        choices: value and words of each way to choose.
        default: shown where nothing was filled in before; of a choice the first one where it is empty.
        hint: a few words of help.
        required: whether it must be filled in.
        minimum: of a number. Whole bounds ask for a whole number.
        maximum: the same.
        suggested: what may stand in it.
        advanced: whether it is folded away at first.
        group: the heading that it stands under with its neighbours of the same group; empty for none.
    """

    name: str
    label: str
    kind: Kind = "line"
    choices: tuple[tuple[str, str], ...] = ()
    default: str | float | bool = ""
    hint: str = ""
    required: bool = False
    minimum: float | None = None
    maximum: float | None = None
    suggested: tuple[str, ...] = ()
    advanced: bool = False
    group: str = ""


@dataclass(frozen=True, slots=True)
class TermsFields:
    """What a form asks beside the task: the model, the seats and the bounds.

    Args:
        reachable: hosted providers that have a key.
        bounds: which of :data:`~assay.web.forms.BOUNDS` can be set; seats only where all can.
        roles: seats that a person may take, with what each does.
        keeps: whether an empty model means the one that the run began with.
    """

    reachable: list[str]
    bounds: tuple[str, ...] = BOUNDS
    roles: tuple[tuple[str, str], ...] = ()
    keeps: bool = False

    @property
    def seats(self) -> bool:
        """Whether seats can be set."""
        return self.bounds == BOUNDS


def new_page(protocol: str, reachable: list[str], values: Mapping[str, Any], fault: str = "") -> str:
    """Return the form of a protocol.

    Args:
        protocol: whose.
        reachable: hosted providers that have a key.
        values: what was filled in before, by a field's name.
        fault: why that was refused.
    """
    form = FORMS[protocol]
    return render(
        "new.html",
        protocol=protocol,
        protocols=[(name, each.title) for name, each in FORMS.items()],
        title=form.title,
        about=form.about,
        fields=fields_of(form),
        terms=TermsFields(reachable, form.bounds, form.roles),
        values=values,
        fault=fault,
    )


def resume_page(run: RunSummary, reachable: list[str], values: Mapping[str, Any], fault: str = "") -> str:
    """Return the form to go on with a run, on other terms where the old ones ended it. See :func:`new_page`."""
    return render("resume.html", run=run, terms=_terms_of(run, reachable), values=values, fault=fault)


def fork_page(run: RunSummary, reachable: list[str], values: Mapping[str, Any], fault: str = "") -> str:
    """Return the form to start a run that shares this one's answers up to an event. See :func:`new_page`."""
    return render("fork.html", run=run, terms=_terms_of(run, reachable), values=values, fault=fault)


def fields_of(form: Form) -> list[FormField]:
    """Return a protocol's fields as the template wants them."""
    return [
        FormField(
            field.name,
            field.label,
            field.kind,
            field.choices if field.kind == "choice" else (),
            default=field.choices[0][0] if field.kind == "number" else "",
            hint=field.hint,
            required=field.required,
            minimum=1 if field.kind == "number" else None,
            suggested=tuple(form.suggest[field.name]()) if field.name in form.suggest else (),
            advanced=not field.required and field.name not in form.first,
        )
        for field in form.fields
    ]


def _terms_of(run: RunSummary, reachable: list[str]) -> TermsFields:
    form = FORMS.get(run.protocol)
    return TermsFields(reachable, form.bounds, form.roles, True) if form else TermsFields(reachable, keeps=True)
