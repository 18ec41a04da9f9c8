"""Answers of a persona build, kept by what was asked, so that only what changed is asked again."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from llm_runtime.messages import Generate, Request, request_digest
from llm_runtime.structured import ask
from llm_runtime.wrappers.journal import append_from_whole_line, write_line

T = TypeVar("T", bound=BaseModel)


class Answers:
    """Validated answers in a JSONL file, each under the digest of its request.

    A line that cannot be read (the process was killed while it was written) is skipped and asked again.

    Args:
        path: the file; None keeps the answers in memory.

    Attributes:
        asked: questions that a model has answered since.
        reused: questions that were not asked, because their answer was kept.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._kept: dict[str, str] = {}
        self.asked = 0
        self.reused = 0
        if path is not None and path.is_file():
            for line in path.read_text(encoding="utf-8", errors="replace").split("\n"):
                with suppress(ValueError, KeyError, TypeError):
                    entry = json.loads(line)
                    self._kept[str(entry["request"])] = json.dumps(entry["answer"])

    def has(self, request: Request) -> bool:
        """Tell whether the answer to ``request`` is on file."""
        return request_digest(request.to_dict()) in self._kept

    async def ask(self, generate: Generate, request: Request, model: type[T]) -> T:
        """Return the answer to ``request``: the one on file, or the model's, which is put on file.

        Raises:
            StructuredOutputError, CallError: the model gave none; nothing is kept.
            StoreUnwritable: the file cannot be written.
        """
        key = request_digest(request.to_dict())
        if key in self._kept:
            try:
                answer = model.model_validate_json(self._kept[key])
            except ValidationError:
                del self._kept[key]
            else:
                self.reused += 1
                return answer
        answer = (await ask(generate, request, model)).value
        self.asked += 1
        self._kept[key] = answer.model_dump_json()
        if self._path is not None:
            with append_from_whole_line(self._path) as lines:
                write_line(lines, {"request": key, "answer": json.loads(self._kept[key])}, sync=False)
        return answer
