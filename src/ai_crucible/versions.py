"""What a verdict rests on besides the solver, each part by its digest: the plan of a trial names all of it.

Attempts that rest on different parts are never counted together.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, cast

from ai_crucible.events import TrialPlanned
from ai_crucible.puzzle_box import isolating, root_at
from ai_crucible.puzzle_loader import SEALED, PuzzleRefused
from ai_crucible.types import Puzzle
from llm_runtime.canonical import canonical_json
from llm_runtime.http.shape import mapping
from sandbox import Root

_BOX = ("sandbox", "puzzle_box.py")
_GRADER = ("grading", "oracle_scorer.py", "attempt.py")
_PROMPTS = ("prompts", "tools.json", "framing.py", "text_protocol.py")


def environment(root: Root | None = None) -> dict[str, str]:
    """Return the digests of box, root, interpreter, grader, prompts and of the program that isolates, in hex.

    Raises:
        CannotIsolate: nothing here isolates.
    """
    root, (isolator, program) = root or root_at(""), isolating()
    return {
        "box": _ours(_BOX),
        isolator: hashlib.sha256(program.read_bytes()).hexdigest(),
        "grader": _ours(_GRADER),
        "interpreter": root.interpreter(),
        "prompts": _ours(_PROMPTS),
        "root": root.digest(),
        **({"image": root.image} if root.image else {}),
    }


def environment_digest(parts: dict[str, str]) -> str:
    """Return SHA-256 over all parts, in hex; empty for none, as in ledgers from before they were named."""
    return hashlib.sha256(canonical_json(parts)).hexdigest() if parts else ""


def oracle_digest(puzzle: Puzzle) -> str:
    """Return SHA-256 over names and contents of a puzzle's oracle, as the grader makes it of what it was given.

    Raises:
        PuzzleRefused: it has no checks, so nothing could be graded.
    """
    _checks(Path(puzzle.folder) / SEALED / "checks.json")
    folder, total = Path(puzzle.folder) / SEALED, hashlib.sha256()
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(files):
            path = Path(place, name)
            total.update(f"{path.relative_to(folder)}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return total.hexdigest()


def self_reported(puzzle: Puzzle) -> bool:
    """Tell whether a process that runs the solver's code says itself whether a puzzle's hidden tests pass.

    Raises:
        PuzzleRefused: it has no checks.
    """
    checks = _checks(Path(puzzle.folder) / SEALED / "checks.json")
    return any(check.get("target") == ":tests" or check.get("self_reported") for check in checks)


def _checks(path: Path) -> list[Any]:
    # Of what a check must have the grader knows more, in its box; this is told before anything is opened.
    checks: Any = None
    with suppress(OSError, ValueError, RecursionError):
        checks = mapping(json.loads(path.read_bytes())).get("checks")
    if not isinstance(checks, list) or not checks:
        raise PuzzleRefused(f"{path}: no list of checks in it, so nothing could be graded; see: ai-crucible new")
    return [check for check in cast("list[Any]", checks) if isinstance(check, dict)]


def version_of(puzzle: str, oracle: str, parts: str) -> str:
    """Return the short name of what an attempt rested on; empty where its log does not tell.

    Args:
        puzzle: the puzzle's digest.
        oracle: its oracle's.
        parts: the environment's.
    """
    return hashlib.sha256(f"{puzzle} {oracle} {parts}".encode()).hexdigest()[:12] if oracle else ""


def rests_on(plan: TrialPlanned) -> dict[str, str]:
    """Return what a trial's verdicts rest on besides the solver, by name and digest."""
    puzzles = {f"puzzle {name}": digest for name, digest in plan.puzzles.items()}
    return {**plan.environment, **puzzles, **{f"oracle of {name}": digest for name, digest in plan.oracles.items()}}


def changed_parts(old: TrialPlanned, new: TrialPlanned) -> list[str]:
    """Return what two plans of a trial rest on differently; what an older plan does not name is not compared."""
    now = rests_on(new)
    names = [name for name, digest in rests_on(old).items() if now.get(name) != digest]
    return names + (["nonce"] if (old.nonce or "") != (new.nonce or "") else [])


@cache
def _ours(names: tuple[str, ...]) -> str:
    total = hashlib.sha256()
    root = resources.files("ai_crucible")
    for name in names:
        place = resources.files(name) if name == "sandbox" else root.joinpath(name)
        for part in sorted(place.iterdir(), key=lambda part: part.name) if place.is_dir() else [place]:
            if part.is_file():
                total.update(f"{name}/{part.name}\0{hashlib.sha256(part.read_bytes()).hexdigest()}\n".encode())
    return total.hexdigest()


def seed_of(trial: str, nonce: str = "") -> int:
    """Return what fences and draws of a trial derive from, where nothing else is asked for: 0 to 2^48-1.

    Args:
        trial: its id, which whoever runs it may choose.
        nonce: words of somebody else, from which alone it then comes.
    """
    return int.from_bytes(hashlib.sha256(f"nonce\0{nonce}".encode() if nonce else trial.encode()).digest()[:6])
