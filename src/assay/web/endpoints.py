"""What one address of the application is: for the router, and for the description of the API."""

from __future__ import annotations

import tomllib
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from importlib import resources

from starlette.requests import Request
from starlette.responses import Response

from assay.web.forms import terms_fields
from assay.web.permissions import Need

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


def with_fields(package: str, addresses: Iterable[Endpoint]) -> tuple[Endpoint, ...]:
    """Return addresses with what ``routes.toml`` of their package says of their parameters and fields."""
    told = tomllib.loads(resources.files(package).joinpath("routes.toml").read_text(encoding="utf-8"))

    def whole(one: Endpoint) -> Endpoint:
        fields = told.get(f"{one.method} {one.path}", {})
        body = (*fields.get("body", {}).items(), *(TERMS if "terms" in fields else ()))
        return replace(one, query=tuple(fields.get("query", {}).items()), body=body)

    return tuple(map(whole, addresses))
