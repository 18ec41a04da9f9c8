"""A persona built from imported texts, as a run: ``task`` names the person and the folder of personas."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from llm_runtime.events import Emit, RunStarted
from llm_runtime.messages import Generate


async def run(started: RunStarted, generate: Generate, emit: Emit) -> dict[str, Any]:
    """Build the persona and keep it; the result says what came of it.

    Answers are kept beside the texts, so a build that was stopped asks nothing twice.

    Raises:
        PersonaError: nobody's texts were imported under that name.
        LlmRuntimeError: whatever ends a build.
    """
    from crux.personas import PersonaStore, build_persona

    store = PersonaStore(Path(str(started.task["people"])))
    kept = store.corpus(str(started.task["name"]))
    persona, report = await build_persona(
        kept.name,
        kept.corpus,
        generate=generate,
        aliases=kept.aliases,
        handle=kept.handle,
        answers=store.answers(kept.name),
        emit=emit,
        most_chunks=int(started.task.get("most_chunks") or 200),
    )
    store.save(persona)
    return {"persona": persona.model_dump(mode="json"), "gate": report.model_dump(mode="json")}
