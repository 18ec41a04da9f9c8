"""The style sheet and the script of the pages, files that protocols bring, and the version in their addresses."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import PurePosixPath

from assay.report.svg.canvas import PALETTE
from assay.web.brought import folders

_MEDIA = {
    **{".css": "text/css", ".js": "text/javascript", ".json": "application/json", ".svg": "image/svg+xml"},
    **{".png": "image/png", ".jpg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp"},
}


@cache
def assets() -> Mapping[str, bytes]:
    """Return every file that is served, by its name behind ``/static/``: a protocol's behind the protocol's."""
    own = resources.files("assay.web").joinpath("static")
    report = resources.files("assay.report").joinpath("report.css").read_bytes()
    theirs = {
        f"{protocol}/{file.name}": file.read_bytes()
        for protocol, folder in folders("static").items()
        for file in folder.iterdir()
        if file.is_file() and media_type(file.name)
    }
    style = b"\n".join((PALETTE.encode(), report, own.joinpath("app.css").read_bytes()))
    return {**theirs, "app.css": style, "app.js": own.joinpath("app.js").read_bytes()}


def media_type(name: str) -> str:
    """Return what a file is sent as; empty for what is not served."""
    return _MEDIA.get(PurePosixPath(name).suffix, "")


@cache
def version(name: str) -> str:
    """Return what changes with a file, for its address: a browser keeps what has it.

    Raises:
        KeyError: there is none of that name.
    """
    return hashlib.sha256(assets()[name]).hexdigest()[:12]
