"""Words what installs a missing part, for the way in which this copy was installed: no index has Assay."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from pydantic import BaseModel

IMAGE = "ASSAY_EXTRAS"
"""The variable that names the extras of a container's image; the Containerfile sets it."""
_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)[^;]*")
_EXTRA = re.compile(r"""extra == ['"]([A-Za-z0-9._-]+)""")


class _Origin(BaseModel):
    """What an installer notes of where it took a distribution from (PEP 610)."""

    url: str = ""
    dir_info: dict[str, bool] = {}
    vcs_info: dict[str, str] = {}


def version_of(name: str) -> str | None:
    """Return the version of an installed distribution; ``None`` where it is not here."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def how_to_install(extra: str = "") -> str:
    """Return words with a command that adds an extra to this copy, or what it always needs."""
    if (parts := os.environ.get(IMAGE)) is not None:
        wanted = ",".join(sorted({*re.findall(r"[\w-]+", parts), extra} - {""}))
        return f"in Assay's sources build the image anew: podman build --build-arg EXTRAS={wanted} -t assay:local ."
    part, python = f"[{extra}]" if extra else "", _shown(sys.executable)
    try:
        copy = metadata.distribution("assay")
    except metadata.PackageNotFoundError:
        # Sources that were put on the path as they are.
        return f"install it with: {python} -m pip install --editable {_shown(f'{Path(__file__).parents[2]}{part}')}"
    by_uv = (copy.read_text("INSTALLER") or "").strip() == "uv"
    pip = f"uv pip install --python {python}" if by_uv else f"{python} -m pip install"
    return f"install it with: {pip} {_source(copy, part) or shlex.join(_missing(extra))}"


def requirements() -> Iterator[tuple[str, str, str]]:
    """Yield what this copy declares: the extra or ``""``, a package that it needs, which versions of it."""
    for line in metadata.requires("assay") or []:
        if whole := _REQUIREMENT.match(line):
            extra = _EXTRA.search(line)
            yield extra[1] if extra else "", whole[1], whole[0].rstrip()


def _source(copy: metadata.Distribution, part: str) -> str:
    """Return where the copy came from, as installers take it; nothing where that is gone, or may hold a secret."""
    try:
        origin = _Origin.model_validate_json(copy.read_text("direct_url.json") or "{}")
        url, vcs = urlsplit(origin.url), origin.vcs_info
    except ValueError:
        return ""
    if url.scheme == "file" and not vcs:
        path = url2pathname(url.path)
        words = ["--editable"] * origin.dir_info.get("editable", False) + [_shown(path + part)]
        return " ".join(words) if Path(path).exists() else ""
    if not url.scheme or url.query or url.netloc.rpartition("@")[0] not in ("", "git"):
        return ""
    where = "{}+{}@{}".format(vcs.get("vcs"), origin.url, vcs.get("commit_id")) if vcs else origin.url
    return shlex.quote(f"assay{part} @ {where}")


def _missing(extra: str) -> list[str]:
    """Return the packages of an extra that are not here, all of them where none is missing."""
    asked = {name: which for of, name, which in requirements() if of == extra}
    here = {name for name in asked if any(metadata.Distribution.discover(name=name))}
    return [which for name, which in asked.items() if name not in here] or list(asked.values())


def _shown(path: str) -> str:
    """Return a path for a shell, a home directory as ``~``: lines of errors are kept and shown to others."""
    home = os.environ.get("HOME", "") + os.sep
    own = len(home) > 1 and path.startswith(home)
    return f"~/{shlex.quote(path.removeprefix(home))}" if own else shlex.quote(path)
