"""Reads a puzzle's folder into what a solver may see; it has no way to say where the oracle is.

::

    PUZZLE/
      meta.json     PuzzleMeta: no other field is accepted
      prompt.md     the task
      setup.sh      optional; run once in the fresh box
      requirements.lock   optional; its packages, each by version and hash as pip takes it
      image.tar     optional; the OCI image of which its boxes are made
      work/         what the solver finds in its work folder
      oracle/       sealed: mounted in the grading box, never opened by the kernel
"""

from __future__ import annotations

import hashlib
import json
import random
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path

from pydantic import ValidationError

from ai_crucible.puzzle_box import root_at
from ai_crucible.types import Puzzle, PuzzleMeta
from llm_runtime.canonical import canonical_json
from llm_runtime.errors import ConfigurationError
from llm_runtime.models import first_fault
from llm_runtime.rewording import instead
from sandbox.packages import LOCK, first_unpinned

SEALED, IMAGE = "oracle", "image.tar"
_MOST_FILES = 2000
_MOST_BYTES = 32 * 1024 * 1024
_MOST_TEXT = 256 * 1024
_LATER = ("leftovers", "shape", "drawn", "hours")


class PuzzleRefused(ConfigurationError):
    """A folder is not a puzzle that can be run."""


def load_puzzle(folder: Path) -> Puzzle:
    """Read one puzzle.

    Raises:
        PuzzleRefused: something is missing, too large, a link, or not what ``meta.json`` may say; names the file.
    """
    folder = folder.resolve()
    if not folder.is_dir():
        raise PuzzleRefused(f"{folder}: no such puzzle folder")
    meta = _read_meta(folder / "meta.json")
    prompt = _read_text(folder / "prompt.md")
    if not prompt.strip():
        raise PuzzleRefused(f"{folder / 'prompt.md'}: an empty prompt")
    setup = _read_text(folder / "setup.sh") if (folder / "setup.sh").exists() else ""
    if not (folder / SEALED).is_dir():
        raise PuzzleRefused(f"{folder}: no oracle folder, so nothing could be graded; see: ai-crucible new")
    lock = _read_text(folder / LOCK) if (folder / LOCK).exists() else ""
    if line := first_unpinned(lock):
        raise PuzzleRefused(f"{folder / LOCK}: not NAME==VERSION --hash=sha256:...: {line[:80]}")
    files = _read_tree(folder / "work")
    image = root_at(folder / IMAGE) if (folder / IMAGE).is_file() else None
    digest = _digest(meta, prompt, setup, files, lock=lock, image=image.image if image else "")
    return Puzzle(meta, prompt, setup, files, str(folder), digest, lock, image)


def load_puzzles(paths: Iterable[Path]) -> list[Puzzle]:
    """Read puzzles, or all puzzles of a folder of puzzles, in the order of their ids.

    Raises:
        PuzzleRefused: one is refused, two have the same id, or there is none.
    """
    puzzles: dict[str, Puzzle] = {}
    for path in paths:
        for folder in [path] if (path / "meta.json").exists() or not path.is_dir() else sorted(path.iterdir()):
            if folder is not path and not (folder / "meta.json").exists():
                continue
            puzzle = load_puzzle(folder)
            known = puzzles.setdefault(puzzle.meta.id, puzzle)
            if known.folder != puzzle.folder:
                raise PuzzleRefused(f"{puzzle.folder}: its id {puzzle.meta.id} is also that of {known.folder}")
    if not puzzles:
        raise PuzzleRefused("no puzzle there: a puzzle is a folder with meta.json, prompt.md and oracle/")
    return [puzzles[name] for name in sorted(puzzles)]


def in_drawn_order(puzzles: Sequence[Puzzle], seed: int) -> list[Puzzle]:
    """Return puzzles in an order that nobody chose: any beginning of it is a sample of them all."""
    return random.Random(seed).sample(puzzles, len(puzzles))


def _read_meta(path: Path) -> PuzzleMeta:
    with instead(PuzzleRefused(f"{path}: not JSON"), ValueError, RecursionError):
        data = json.loads(_read_text(path))
    try:
        return PuzzleMeta.model_validate(data)
    except ValidationError as fault:
        raise PuzzleRefused(f"{path}: {first_fault(fault, 'the file', plain=True)}") from None


def _read_text(path: Path) -> str:
    with instead(PuzzleRefused(f"{path}: not UTF-8"), UnicodeDecodeError):
        return _read_bytes(path, _MOST_TEXT).decode("utf-8")


def _read_bytes(path: Path, most: int) -> bytes:
    try:
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode):
            raise PuzzleRefused(f"{path}: not a regular file; links are not followed")
        if status.st_size > most:
            raise PuzzleRefused(f"{path}: larger than {most} bytes")
        return path.read_bytes()
    except FileNotFoundError:
        raise PuzzleRefused(f"{path}: missing") from None
    except OSError as fault:
        raise PuzzleRefused(f"{path}: {fault.strerror}") from None


def _read_tree(root: Path) -> dict[str, bytes]:
    files, left = dict[str, bytes](), _MOST_BYTES
    for path in root.rglob("*"):
        name = path.relative_to(root)
        # Installing a package compiles what lies in it.
        if "__pycache__" not in name.parts and (path.is_symlink() or not path.is_dir()):
            files[name.as_posix()] = data = _read_bytes(path, left)
            left -= len(data)
        if len(files) > _MOST_FILES:
            raise PuzzleRefused(f"{root}: more than {_MOST_FILES} files")
    return dict(sorted(files.items()))


def _digest(meta: PuzzleMeta, prompt: str, setup: str, files: dict[str, bytes], **made_of: str) -> str:
    content = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    # Not everything in meta.json is a float, but a threshold may be: text has one form, a float may print in two.
    # Fields that came later are left out where they say nothing, so that a puzzle keeps the digest it had.
    later = {name for name in _LATER if getattr(meta, name) == PuzzleMeta.model_fields[name].default}
    whole = {"meta": meta.model_dump_json(exclude=later), "prompt": prompt, "setup": setup, "files": content}
    whole |= {name: text for name, text in made_of.items() if text}
    return hashlib.sha256(canonical_json(whole)).hexdigest()
