"""What protocols bring to the pages: addresses, templates and files, each under its protocol's own name."""

from __future__ import annotations

from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable

from starlette.routing import Route

from assay.hooks import hooks_of
from assay.protocol import load
from assay.registry import OURS, leave_out, protocols
from assay.report.glossary import glossary
from assay.web.endpoints import Endpoint
from assay.web.people import may_all
from assay.web.permissions import may_start
from llm_runtime.plugins import FOREIGN, unloadable


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
