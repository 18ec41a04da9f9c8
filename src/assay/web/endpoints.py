"""What one address of the application is, for the router and the API's description; and what protocols bring."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from assay.hooks import hooks_of
from assay.protocol import load
from assay.registry import OURS, leave_out, protocols
from assay.report.glossary import glossary
from assay.web.forms import terms_fields
from assay.web.people import may_all
from assay.web.permissions import Need, may_start
from llm_runtime.plugins import FOREIGN, unloadable
from llm_runtime.structs import Struct
from llm_runtime.toml import own_table

Handler = Callable[[Request], Awaitable[Response]]


class Endpoint(Struct):
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


@cache
def pages() -> dict[str, tuple[Endpoint, ...]]:
    """Return the addresses that protocols have of their own, by the protocol's name.

    A protocol of which any part that pages need is broken is left out from here on.
    """
    known: dict[str, tuple[Endpoint, ...]] = {}
    for name, protocol in [*protocols().items()]:
        part = protocol.pages
        try:
            brought = load(protocol.pages) if protocol.pages else ()
            known[name] = tuple(page for page in brought if Route(page.path, page.handler))
            if name not in OURS:
                part = "its glossary.toml"
                glossary(tuple(filter(None, (protocol.package,))))
                part = "what its runs do"
                list(map(hooks_of, protocol.runs))
        except FOREIGN as fault:
            known.pop(name, None)
            leave_out(name, unloadable(part, fault))
    return known


def folders(part: str) -> dict[str, Traversable]:
    """Return the folders of that name in the protocols' packages, by the protocol's name."""
    packages = {name: protocol.package for name, protocol in protocols().items() if protocol.package}
    found = {name: resources.files(package).joinpath(part) for name, package in packages.items()}
    return {name: folder for name, folder in found.items() if folder.is_dir()}


def bar_links() -> list[tuple[str, str, bool]]:
    """Return words and address of the pages that stand in the bar, and whether whoever asks may see them."""
    own = [page for several in pages().values() for page in several if page.title and "{" not in page.path]
    return [(page.title, page.path[1:], _may(page)) for page in own]


def run_links(kind: str, run_id: str) -> list[tuple[str, str]]:
    """Return words and address of the pages that belong to a run of a kind."""
    own = [page for several in pages().values() for page in several if page.title and kind in page.kinds]
    return [(page.title, page.path[1:].replace("{run_id}", run_id)) for page in own]


def _may(page: Endpoint) -> bool:
    return page.need in ("known", "open") or may_all() or (page.need == "start" and may_start())
