"""A git commit for each step that a project keeps, of its own files alone: what else a person has begun stays."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from criticality import events as e
from criticality.edits import BodyEdited, ClaimsEdited, SpecEdited
from criticality.pages import counted
from llm_runtime.events import Event

_LONGEST_S = 20
_NOBODY = ("-c", "user.name=criticality", "-c", "user.email=criticality@localhost")


def begin(root: Path) -> None:
    """Make a repository where git is installed and the folder is in none."""
    if shutil.which("git") and _top(root) is None:
        _git(root, "init", "-q")


class Commits:
    """Commits to the repository that a project lies in.

    Args:
        root: the project's folder; without git, or in no repository, nothing is committed.
        wanted: ``auto`` (the folder is a repository of its own), ``on`` or ``off``.
    """

    def __init__(self, root: Path, *, wanted: str) -> None:
        self._root = root
        top = _top(root) if wanted != "off" and shutil.which("git") else None
        self.there = top is not None and (wanted == "on" or top == root.resolve())
        self._paths: dict[str, None] = {}

    def wrote(self, path: str) -> None:
        """Remember a file for the next commit."""
        if self.there:
            self._paths[path] = None

    def commit(self, message: str) -> None:
        """Commit what was written since; hooks do not run, and what git refuses waits for the next time."""
        if not (self.there and self._paths):
            return
        _git(self._root, "add", "--ignore-errors", "--", *self._paths)
        known = _git(self._root, "ls-files", "-z", "--", *self._paths) or ""
        named = () if _git(self._root, "config", "user.email") else _NOBODY
        words = ("commit", "-q", "--only", "--no-verify", "--no-gpg-sign", "-m", message, "--")
        if known and _git(self._root, *named, *words, *known.strip("\0").split("\0")) is not None:
            self._paths = {}


def commit_message(event: Event | None) -> str:
    """Return the message of the commit after an event; empty where there is none."""
    match event:
        case e.TestsGenerated():
            return "Specification, signatures and contracts"
        case e.VerificationPassed():
            tried = sum(figures.get("changes", 0) for figures in event.measured.values())
            noticed = sum(figures.get("noticed", 0) for figures in event.measured.values())
            return f"Accept {event.unit}: {counted(event.tests, 'case')}, {noticed} of {tried} other bodies rejected"
        case BodyEdited():
            return f"Take over {', '.join(event.bodies)} as edited by hand: {counted(event.tests, 'case')}"
        case ClaimsEdited():
            return f"Tests of {', '.join(claim['id'] for claim in event.claims)}, as edited by hand"
        case SpecEdited():
            return f"Specification, revision {event.version}, as edited by hand"
        case e.SemanticsVerified():
            return f"Refactor {event.function}: {event.pattern}"
        case _:
            return ""


def _top(root: Path) -> Path | None:
    """Return the folder of the repository that another lies in."""
    answer = _git(root, "rev-parse", "--show-toplevel")
    return Path(answer.strip()).resolve() if answer else None


def _git(root: Path, *words: str) -> str | None:
    """Return what git answers; ``None`` where it refuses."""
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=_LONGEST_S, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
