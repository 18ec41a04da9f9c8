"""The recordings that a newcomer sees first: data beside this module, and the model function made of it."""

from __future__ import annotations

import asyncio
import re
import tomllib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from importlib import resources
from typing import Any

from llm_runtime.errors import ReplayMismatch
from llm_runtime.messages import Generate, Reply, Request
from llm_runtime.tokens import estimated_usage

_FOLDERS = {
    "council": "assay.protocols.crucible.demo",
    "circle": "assay.protocols.fire_circle.demo",
    "build": "assay.protocols.criticality.demo",
    "debate": "assay.protocols.crux.demo",
    "trial": "assay.protocols.ai_crucible.demo",
}
_ANSWER = re.compile(r"^## ([a-z_]+/[^\n]*/\d+/\d+)\n+<!-- latency_ms: (\d+) -->\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Recorded:
    """A hand-written recording.

    Args:
        name: of its folder: ``"council"``.
        manifest: title, question, seed, and the statement of where the answers come from.
        answers: text and thinking time in milliseconds, by call label.
    """

    name: str
    manifest: dict[str, Any]
    answers: dict[str, tuple[str, int]]

    def model(self, speed: float = 1.0, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> Generate:
        """The model function that gives these answers, each after its thinking time divided by ``speed``.

        ``speed`` 0 does not wait at all.

        Raises, from the returned function:
            ReplayMismatch: the engine makes a call that the recording has no answer to.
        """

        async def generate(request: Request) -> Reply:
            answer = self.answers.get(str(request.label))
            if answer is None:
                raise ReplayMismatch(f"the recording {self.name} has no answer to {request.label}")
            text, latency = answer
            if speed > 0:
                await sleep(latency / 1000 / speed)
            return Reply(
                text=text,
                model=self.manifest["model"]["name"],
                provider=self.manifest["model"]["provider"],
                usage=estimated_usage(request, text),
                cost=0,
                cost_source="free",
                latency_ms=latency,
            )

        return generate


def load(name: str) -> Recorded:
    """Read the recording in the folder ``name``: ``manifest.toml`` and ``answers.md``."""
    folder = resources.files(_FOLDERS[name])
    manifest = tomllib.loads(folder.joinpath("manifest.toml").read_text(encoding="utf-8"))
    parts = _ANSWER.split(folder.joinpath("answers.md").read_text(encoding="utf-8"))[1:]
    labels, latencies, texts = parts[::3], parts[1::3], parts[2::3]
    answers = {
        label: (text.strip(), int(latency)) for label, latency, text in zip(labels, latencies, texts, strict=True)
    }
    return Recorded(name, manifest, answers)
