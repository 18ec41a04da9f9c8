"""What a run names in task, options and terms: the one list for permission, readiness, estimates and pages."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import BaseModel

from assay.hooks import hooks_of
from assay.protocol import RunType
from assay.registry import Prepared
from assay.terms import Terms
from llm_runtime.names import Name, names_in

_USUAL = ("openrouter/auto",)


def names_of(run: Prepared, *terms: Terms) -> Iterator[Name]:
    """Yield every name in a run and in the terms that it goes on."""
    for part in (run.task, run.options, *terms):
        yield from names_in(part)


def models_of(run: Prepared, *terms: Terms) -> list[str]:
    """Return every model that a run names, embedders left out."""
    return list(dict.fromkeys(name.text for name in names_of(run, *terms) if name.kind == "model"))


def asked_of(run: RunType, options: BaseModel) -> list[str]:
    """Return the models that must be reached before a run begins.

    A panel answers in place of models that nobody chose.
    """
    hooks = hooks_of(run)
    fields, panel, asked = hooks.options.model_fields, hooks.panel(options), list(hooks.always_asked)
    for name in names_in(options):
        if name.kind == "model" and (not panel or getattr(options, name.field) != fields[name.field].get_default()):
            asked.append(name.text)
    return list(dict.fromkeys(asked or _USUAL))
