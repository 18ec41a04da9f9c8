"""The designer drafts a puzzle; the checks, not the designer, say whether it is one."""

from __future__ import annotations

import json
import secrets
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from pydantic import Field

from ai_crucible.checking import PuzzleCheck, check_puzzle
from ai_crucible.grading.edge import GradingFailed
from ai_crucible.puzzle_files import write_puzzle
from ai_crucible.puzzle_loader import PuzzleRefused, load_puzzle
from ai_crucible.types import PUZZLE_ID, Line, Prompting
from llm_runtime.errors import ConfigurationError, StructuredOutputError
from llm_runtime.messages import CallLabel
from llm_runtime.models import Model
from llm_runtime.prompts import Fence, load_prompt
from llm_runtime.structured import parse

_SAFE = r"^[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$"


class _File(Model):
    path: str = Field(pattern=_SAFE, max_length=200)
    content: str = Field(max_length=64 * 1024)


class Draft(Model):
    """What a designer answers with."""

    id: str = Field(pattern=PUZZLE_ID)
    title: str
    kind: str
    source: str = Field(min_length=10)
    prompt: str
    work: list[_File] = Field(min_length=1, max_length=50)
    gold: list[_File] = Field(min_length=1, max_length=50)
    checks: list[dict[str, object]] = Field(min_length=2, max_length=100)


@dataclass(frozen=True, slots=True)
class Designed:
    """A draft that was accepted (``folder`` is where it lies) or refused, and what the checks said of each try."""

    folder: Path | None
    tries: tuple[str, ...]
    check: PuzzleCheck | None = None


class Designer:
    """Drafts puzzles after a published defect that a person describes.

    Args:
        generate: the way to its model.
        tries: drafts before it gives up, at least 1; each next one is told what was wrong.
        seed: of the run; fences derive from it; drawn where left out.
    """

    def __init__(self, generate: Prompting, *, tries: int = 3, seed: int | None = None) -> None:
        self._generate = generate
        self._tries = tries
        self._seed = secrets.randbelow(2**53) if seed is None else seed

    async def __call__(self, defect: str, target: Path) -> Designed:
        """Draft until the checks accept, or until the tries are used up; what is refused is not left behind.

        Args:
            defect: the defect and where it was reported.
            target: the folder of puzzles that an accepted one goes to.
        """
        fence = Fence(self._seed, CallLabel("ai_crucible", "designer"))
        lines = [Line("user", load_prompt("ai_crucible", "designer").render(defect=fence("DEFECT", defect)))]
        faults: list[str] = []
        for _ in range(self._tries):
            turn = await self._generate(lines, (), "designer")
            folder, check, fault = await self._try(turn.text, target)
            if folder is not None:
                return Designed(folder, tuple(faults), check)
            faults.append(fault)
            retry = load_prompt("ai_crucible", "designer_again").render(fault=fence("FAULT", fault))
            lines += [Line("assistant", turn.text), Line("user", retry)]
        return Designed(None, tuple(faults))

    async def _try(self, text: str, target: Path) -> tuple[Path | None, PuzzleCheck | None, str]:
        try:
            draft, _ = parse(text, Draft, repair=False)
        except StructuredOutputError as fault:
            return None, None, str(fault)
        folder = target / draft.id
        if folder.exists():
            return None, None, f"there is a puzzle {draft.id} already; choose another id"
        bench = Path(tempfile.mkdtemp(prefix="draft-"))
        try:
            files = _files(draft)
            write_puzzle(bench / draft.id, files)
            check = await check_puzzle(load_puzzle(bench / draft.id))
            if not check.ok:
                return None, check, "; ".join(check.problems)
            write_puzzle(folder, files)
        except (PuzzleRefused, GradingFailed, ConfigurationError) as fault:
            return None, None, str(fault).replace(str(bench), "")
        finally:
            shutil.rmtree(bench, ignore_errors=True)
        return folder, check, ""


def _files(draft: Draft) -> dict[str, str]:
    meta = {
        "id": draft.id,
        "title": draft.title,
        "kind": draft.kind,
        "source": draft.source,
        "editable": sorted(file.path for file in draft.gold),
    }
    files = {
        "meta.json": json.dumps(meta, indent=2, ensure_ascii=False) + "\n",
        "prompt.md": draft.prompt.strip() + "\n",
        "oracle/checks.json": json.dumps({"checks": draft.checks}, indent=2, ensure_ascii=False) + "\n",
    }
    files |= {f"work/{file.path}": file.content for file in draft.work}
    return files | {f"oracle/gold/{file.path}": file.content for file in draft.gold}
