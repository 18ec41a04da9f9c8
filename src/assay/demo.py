"""Recordings of runs: hand-written answers beside each protocol, and the model function made of them."""

from __future__ import annotations

import asyncio
import lzma
import re
import tomllib
from collections.abc import Awaitable, Callable
from functools import cache
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from assay.protocol import Demo, Protocol, load
from assay.registry import Prepared, protocols, read_run
from llm_runtime.errors import ConfigurationError, MissingExtraError, ReplayMismatch
from llm_runtime.messages import Generate, Reply, Request
from llm_runtime.structs import Struct
from llm_runtime.tokens import estimated_usage

if TYPE_CHECKING:
    from llm_runtime.store import RunStore

PLAYED = "played.jsonl.xz"
"""The log of a run played beforehand, where an optional part is missing; ``make recordings`` writes it."""
_ANSWER = re.compile(r"^## ([a-z_]+/[^\n]*/\d+/\d+)\n+<!-- latency_ms: (\d+) -->\n", re.MULTILINE)


class DemoAnswers(Struct):
    """A hand-written recording.

    Args:
        name: of the recording: ``"council"``.
        manifest: title, question, seed, and the statement of where the answers come from.
        answers: text and thinking time in milliseconds, by call label.
    """

    name: str
    manifest: dict[str, Any]
    answers: dict[str, tuple[str, int]]

    def model(self, speed: float = 1.0, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> Generate:
        """Return the model function that gives these answers, each after its thinking time divided by ``speed``.

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


def demo_answers(name: str) -> DemoAnswers:
    """Read a recording by its name: ``manifest.toml`` and ``answers.md``.

    Raises:
        ConfigurationError: there is none of that name.
    """
    folder = resources.files(demo_of(name)[1].folder)
    manifest = tomllib.loads(folder.joinpath("manifest.toml").read_text(encoding="utf-8"))
    parts = _ANSWER.split(folder.joinpath("answers.md").read_text(encoding="utf-8"))[1:]
    labels, latencies, texts = parts[::3], parts[1::3], parts[2::3]
    told = zip(labels, latencies, texts, strict=True)
    return DemoAnswers(name, manifest, {label: (text.strip(), int(latency)) for label, latency, text in told})


class PreparedDemo(Struct):
    """A recording, ready to be run.

    Args:
        run: kind, task and options.
        statement: where its answers come from.
        model: answers; ``None`` where the run reaches its models by itself.
    """

    run: Prepared
    title: str
    seed: int
    statement: str
    model: Generate | None = None


def written_demo(
    kind: str, answers: DemoAnswers, task: dict[str, Any], options: dict[str, Any], speed: float
) -> PreparedDemo:
    """Make a recording of hand-written answers ready; ``speed`` 0 does not wait."""
    manifest = answers.manifest
    settings = manifest.get("settings", manifest)
    told = manifest.get("statement", "The answers in this recording were written by hand; no model wrote any.")
    run, model = read_run(kind, task, options), answers.model(speed * settings.get("pace", 1))
    return PreparedDemo(run, manifest["title"], settings["seed"], told, model)


@cache
def demos() -> dict[str, tuple[Protocol, Demo]]:
    """Return every recording by its name, in the order in which a newcomer meets the protocols."""
    return {one.demo.name: (one, one.demo) for one in protocols().values() if one.demo is not None}


def demo_of(name: str) -> tuple[Protocol, Demo]:
    """Return a recording and its protocol.

    Raises:
        ConfigurationError: there is none of that name.
    """
    if name not in demos():
        raise ConfigurationError(f"there is no recording {name[:80]!r}; there are: {', '.join(demos())}")
    return demos()[name]


def missing(name: str) -> MissingExtraError | None:
    """Return what keeps a recording from being played here; ``None`` where nothing does."""
    protocol, _ = demo_of(name)
    if all(find_spec(module) is not None for module in protocol.modules):
        return None
    return MissingExtraError(f"the recorded {name}", protocol.extra)


def prepare_demo(name: str, folder: Path, speed: float = 1.0) -> PreparedDemo:
    """Make a recording ready.

    Args:
        folder: where a recording that works on a folder may make one.
        speed: how many times as fast; 0 does not wait.

    Raises:
        ConfigurationError: there is none of that name.
        MissingExtraError: it cannot be played without an optional part.
        CannotIsolate: it needs a box, and this machine gives none.
    """
    _, demo = demo_of(name)
    if (fault := missing(name)) is not None:
        raise fault
    return cast("PreparedDemo", load(demo.prepare)(folder, speed))


def has_log(name: str) -> bool:
    """Tell whether there is a log to take over where a recording cannot be played."""
    return resources.files(demo_of(name)[1].folder).joinpath(PLAYED).is_file()


def import_played(store: RunStore, name: str, run_id: str) -> str:
    """Take over the log of a recording that was played beforehand; return the run's id.

    Raises:
        StoreError: the store cannot be written.
    """
    from llm_runtime.store.transfer import import_run

    file = resources.files(demo_of(name)[1].folder).joinpath(PLAYED)
    with file.open("rb") as packed, lzma.open(packed) as log:
        return import_run(store, cast("BinaryIO", log), as_id=run_id)
