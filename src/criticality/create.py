"""A new project: its folder, its configuration, and the first line of its journal."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path

from criticality import events as e
from criticality.canonical import toml
from criticality.languages import language, require_toolchain
from criticality.project import files
from criticality.project.journal import Clock, Journal
from llm_runtime.errors import ConfigurationError


def create_project(root: Path, name: str, *, seed: int, clock: Clock, target: str = "python") -> None:
    """Make a project in ``root``.

    Args:
        name: lower case with hyphens.
        seed: 0 to 2^53-1; every nonce and sampling seed derives from it.
        target: the language that it is to be written in.

    Raises:
        ConfigurationError: the name cannot be used, there is a project already, or the language's tools are not
            here.
        StoreUnwritable: the folder cannot be written.
    """
    if not re.fullmatch(r"[a-z][a-z0-9-]{0,40}", name):
        raise ConfigurationError(f"{name!r} cannot be a project's name; use lower case letters, digits and hyphens")
    if (root / files.JOURNAL).exists():
        raise ConfigurationError(f"there is a project in {root} already; see: criticality status -C {root}")
    require_toolchain(language(target))
    with files.holding(root):
        if not (root / files.CONFIG).exists():
            files.write_atomic(root / files.CONFIG, toml({"project": {"name": name, "language": target}}))
        with closing(Journal(root / files.JOURNAL, clock)) as journal:
            journal.open()
            journal.append(e.ProjectCreated(name=name, seed=seed))
