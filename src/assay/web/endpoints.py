"""What one address of the application is: for the router, and for the description of the API."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from assay.protocol import load
from assay.web.forms import terms_fields
from assay.web.permissions import Need
from llm_runtime.toml import own_table

Handler = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One address.

    Args:
        path: with its parameters in braces.
        handler: what answers; its docstring is the description.
        method: ``"GET"`` or ``"POST"``.
        query: parameters behind the question mark, by name, with what they mean.
        body: fields of the form or JSON object, by name, with what they mean.
        also_json: whether ``PATH.json`` gives the same as data.
        media: what it answers with, where that is not a page.
        need: what a person must be to ask; an admin where nobody decided.
        title: its words in the bar, or above a run of one of ``kinds``; empty links it from nowhere.
        kinds: of run, for an address with ``{run_id}``.
    """

    path: str
    handler: Handler
    method: str = "GET"
    query: tuple[tuple[str, str], ...] = ()
    body: tuple[tuple[str, str], ...] = ()
    also_json: bool = False
    media: str = "text/html"
    need: Need | None = None
    title: str = ""
    kinds: tuple[str, ...] = ()


TERMS = tuple((spec.name, spec.help) for spec in terms_fields())
"""The fields of a body that sets models and bounds."""


def addresses(package: str) -> tuple[Endpoint, ...]:
    """Return the addresses in ``routes.toml`` of a package, in their order: METHOD and path, and what each is.

    ``does`` is what answers, ``MODULE:FUNCTION`` of the package; ``terms`` adds the fields of models and bounds.
    """

    def one(name: str, does: str, **said: Any) -> Endpoint:
        method, path = name.split()
        query, terms = said.pop("query", {}), TERMS if said.pop("terms", False) else ()
        body = (*said.pop("body", {}).items(), *terms)
        return Endpoint(path, load(f"{package}.{does}"), method, tuple(query.items()), body, **said)

    return tuple(one(name, **said) for name, said in own_table(package, "routes.toml").items())
