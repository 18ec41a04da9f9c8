"""The style sheet and the script of the pages, and the version that their addresses carry."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from functools import cache
from importlib import resources

from assay.report.svg.canvas import PALETTE


@cache
def _style() -> str:
    report = resources.files("assay.report").joinpath("report.css").read_text(encoding="utf-8")
    own = resources.files("assay.web").joinpath("static", "app.css").read_text(encoding="utf-8")
    return f"{PALETTE}\n{report}\n{own}"


@cache
def _script() -> str:
    return resources.files("assay.web").joinpath("static", "app.js").read_text(encoding="utf-8")


ASSETS: Mapping[str, Callable[[], str]] = {"app.css": _style, "app.js": _script}


@cache
def version() -> str:
    """Return what changes when one of them does."""
    return hashlib.sha256("".join(asset() for asset in ASSETS.values()).encode()).hexdigest()[:12]
