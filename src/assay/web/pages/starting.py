"""The forms: start a run, resume one, fork one at an event."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assay.report.markup import Element, element
from assay.web.forms import BOUNDS, FORMS, Field, Form
from assay.web.pages.frame import page
from llm_runtime.store import RunSummary

_KINDS = {"line": "single", "lines": "several"}
"""Classes of fields whose own names mean something else in the style sheet."""
_BOUNDS = (
    ("budget", "Budget, USD", "0.50"),
    ("max_calls", "Calls", "40"),
    ("deadline", "Seconds", "600"),
    ("max_tokens", "Tokens an answer", "2000"),
)


def new_page(protocol: str, reachable: list[str], given: Mapping[str, Any], fault: str = "") -> str:
    """The form of a protocol, filled in with what was ``given`` before, and why that was refused."""
    form = FORMS[protocol]
    kinds = [
        element("a", each.title, href=f"/new?protocol={name}", aria_current="page" if name == protocol else None)
        for name, each in FORMS.items()
    ]
    return page(
        form.title,
        element(
            "main",
            element("div", kinds, class_="tabs", role="navigation", aria_label="What to start")
            if len(kinds) > 1
            else None,
            element("h1", form.title),
            element("p", form.about, class_="about"),
            fault_note(fault),
            element(
                "form",
                element("input", type="hidden", name="protocol", value=protocol),
                [_field(form, field, given) for field in form.fields if _at_once(form, field)],
                _terms(
                    given,
                    reachable,
                    form,
                    [_field(form, field, given) for field in form.fields if not _at_once(form, field)],
                    opened=not reachable or bool(fault),
                ),
                send("Start"),
                method="post",
                action="/runs",
                class_="fill",
            ),
            id="content",
            class_="sheet",
        ),
        here="New run",
    )


def resume_page(run: RunSummary, reachable: list[str], given: Mapping[str, Any], fault: str = "") -> str:
    """Go on with a run, on other terms where the old ones ended it."""
    about = f"Its {run.calls} answers are kept and not asked for again. A bound holds for the whole run."
    form = element(
        "form",
        _terms(given, reachable, FORMS.get(run.protocol), opened=True, keeps=True),
        send("Resume"),
        method="post",
        action=f"/runs/{run.run_id}/resume",
        class_="fill",
    )
    return _sheet(run, "Resume", about, fault, form)


def fork_page(run: RunSummary, reachable: list[str], given: Mapping[str, Any], fault: str = "") -> str:
    """Start a run that shares this one's answers up to an event."""
    about = "The new run takes over every answer up to that event and asks anew from there."
    form = element(
        "form",
        labelled(
            f"At event, 0 to {run.events}",
            element(
                "input",
                type="number",
                name="at",
                min="0",
                max=str(run.events),
                value=str(given.get("at", run.events)),
                required="",
            ),
            element("a", "Look it up in the events", href=f"/runs/{run.run_id}/events", class_="hint"),
        ),
        _terms(given, reachable, FORMS.get(run.protocol), opened=True, keeps=True),
        send("Fork"),
        method="post",
        action=f"/runs/{run.run_id}/fork",
        class_="fill",
    )
    return _sheet(run, "Fork", about, fault, form)


def _sheet(run: RunSummary, title: str, about: str, fault: str, form: Element) -> str:
    back = element("a", run.title or run.run_id, href=f"/runs/{run.run_id}", dir="auto")
    main = element(
        "main",
        element("p", back, class_="back"),
        element("h1", title),
        element("p", about, class_="about"),
        fault_note(fault),
        form,
        id="content",
        class_="sheet",
    )
    return page(f"{title} · {run.title}", main, here="Runs")


def fault_note(fault: str) -> Element | None:
    """Why something was refused."""
    return element("p", fault, class_="note bad", role="alert", dir="auto") if fault else None


def _at_once(form: Form, field: Field) -> bool:
    return field.required or field.name in form.first


def _field(form: Form, field: Field, given: Mapping[str, Any]) -> Element:
    value = str(given.get(field.name) or "")
    suggested = form.suggest[field.name]() if field.name in form.suggest else []
    said = f"{field.hint} There are: {', '.join(suggested)}." if suggested else field.hint
    required = "" if field.required else None
    if field.kind == "choice":
        options = [
            element("option", words, value=name, selected="" if name == value else None)
            for name, words in field.choices
        ]
        control = element("select", options, name=field.name)
    elif field.kind == "line":
        control = element("input", type="text", name=field.name, value=value, required=required)
    elif field.kind == "number":
        shown = value or field.choices[0][0]
        control = element("input", type="number", name=field.name, value=shown, min="1", step="1")
    else:
        rows = {"text": "7", "lines": "3"}.get(field.kind, "2") if field.required else "2"
        placeholder = "\n".join(suggested[:2]) or None
        control = element(
            "textarea",
            value,
            name=field.name,
            rows=rows,
            required=required,
            placeholder=placeholder,
            dir="auto",
            data_file="" if field.kind == "file" else None,
        )
    hint = element("span", said, class_="hint") if said else None
    return labelled(field.label, control, hint, field.kind)


def _terms(
    given: Mapping[str, Any],
    reachable: list[str],
    form: Form | None,
    further: Sequence[Element] = (),
    *,
    opened: bool,
    keeps: bool = False,
) -> Element:
    roles = ", ".join(f"{role} ({does})" for role, does in form.roles) if form else ""
    bounds = form.bounds if form else BOUNDS
    model_hint = "No provider has a key here yet: name a local model, or terminal: to answer yourself. "
    if reachable:
        model_hint = f"Reachable here: {', '.join(reachable)}. "
    kept = "Empty keeps the model that the run began with." if keeps else "Empty lets the configuration decide."
    return element(
        "details",
        element("summary", "Models, seats and bounds"),
        element(
            "div",
            _line("model", "Model", given, "ollama:qwen3", model_hint + kept, "text"),
            None
            if bounds != BOUNDS
            else labelled(
                "Seats, one ROLE=MODEL a line",
                element(
                    "textarea",
                    str(given.get("seats") or ""),
                    name="seats",
                    rows="2",
                    placeholder="red_team=terminal:",
                ),
                element(
                    "span",
                    "terminal: puts you in the seat: its questions come up on the run's page. "
                    + (f"Roles: {roles}." if roles else ""),
                    class_="hint",
                ),
            ),
            element(
                "div",
                [_line(name, label, given, example) for name, label, example in _BOUNDS if name in bounds],
                class_="row",
            ),
            further,
            class_="inner",
        ),
        class_="more terms",
        open="" if opened else None,
    )


def _line(
    name: str, label: str, given: Mapping[str, Any], placeholder: str, hint: str = "", kind: str = "number"
) -> Element:
    step = {"step": "any" if name in ("budget", "deadline") else "1", "min": "0"} if kind == "number" else {}
    value = str(given.get(name) or "")
    control = element("input", type=kind, name=name, value=value, placeholder=placeholder, **step)
    return labelled(label, control, element("span", hint, class_="hint") if hint else None)


def labelled(label: str, control: Element, hint: Element | None, kind: str = "") -> Element:
    """A control under its label; the hint stands outside, so that a screen reader reads the label alone."""
    return element(
        "div", element("label", element("span", label), control), hint, class_=f"field {_KINDS.get(kind, kind)}"
    )


def send(text: str) -> Element:
    """The button that sends a form."""
    return element("p", element("button", text, class_="primary"), class_="send")


def terms_fields(given: Mapping[str, Any], reachable: list[str], *, opened: bool) -> Element:
    """Model and bounds, for a form of no protocol's own."""
    return _terms(given, reachable, None, opened=opened)
