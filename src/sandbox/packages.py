"""The packages of a task: exactly those that its lock names by version and hash, in place of any of the host's."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import replace
from functools import cache, partial
from hashlib import sha256
from pathlib import Path

from sandbox.backends import NONE, Order
from sandbox.errors import BadRoot
from sandbox.limits import OF_OURS
from sandbox.made_once import made_once
from sandbox.root import Root
from sandbox.running import run_now

LOCK = "requirements.lock"
_PINNED = re.compile(
    r"[A-Za-z0-9][\w.-]*(\[[\w,. -]+\])?==[^\s;@*]+(\s*;[^\n]+?)?(\s+--hash=sha256:[0-9a-f]{64})+\s*", re.ASCII
)


def first_unpinned(lock: str) -> str:
    """Return the first line of a lock that pins no package by version and hash; empty where all do."""
    lines = (line.strip() for line in re.sub(r"\\\r?\n", " ", lock).splitlines())
    return next((line for line in lines if line and line[0] != "#" and not _PINNED.fullmatch(line)), "")


@cache
def with_packages(root: Root, lock: str, name: str) -> Root:
    """Return a root with the packages of a lock; they are installed at the first time, and from the cache later.

    Args:
        root: whose interpreter they are for.
        lock: the text of ``requirements.lock``; the same root where empty.
        name: the task's, for complaints.

    Raises:
        BadRoot: they cannot be installed here, or the root has no place for packages.
    """
    if not lock:
        return root
    if not root.package_places():
        raise BadRoot(f"{name}: the box's Python has no folder of packages to mount those of {LOCK} on")
    version = root.python_version
    key = sha256(f"{sys.platform} {os.uname().machine} {version}\n{lock}".encode()).hexdigest()
    return replace(root, packages=made_once("packages", key, partial(_install, lock, version, name)))


def _install(lock: str, version: str, name: str, folder: Path) -> None:
    """Let pip take wheels alone, so that no package runs code of its own here."""
    wanted = folder / LOCK
    wanted.write_text(lock, encoding="utf-8")
    command = (
        *(sys.executable, "-I", "-m", "pip", "install", "--quiet", "--no-input", "--no-compile"),
        *("--disable-pip-version-check", "--only-binary=:all:", "--require-hashes", "--python-version", version),
        *("--target", str(folder), "--requirement", str(wanted)),
    )
    # Ours, over what a lock names by hash; it has to reach the index.
    order = Order(command, OF_OURS, str(folder), environment={**os.environ, "PIP_USER": "0"}, python=sys.executable)
    done = run_now(order, by=NONE)
    complaints = done.text if not done.ended else f"not done within its limit of {done.ended}"
    wanted.unlink()
    if done.code or done.ended:
        lines = [line.strip() for line in complaints.splitlines() if line.strip()]
        why = next((line for line in lines if line.startswith("ERROR:")), (lines or ["no reason given"])[-1])
        raise BadRoot(f"{name}: {LOCK} cannot be installed for Python {version}: {why[:300]}")
