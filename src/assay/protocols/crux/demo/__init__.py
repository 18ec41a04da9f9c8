"""The recorded debate: answers written by hand, in the voices of the two invented authors."""

from __future__ import annotations

from pathlib import Path

from assay.demo import PreparedDemo, demo_answers, written_demo


def demo(folder: Path, speed: float) -> PreparedDemo:
    """Make the recorded debate ready."""
    from assay.protocols.crux.task import Options
    from crux.personas.authors import shipped_persona

    answers = demo_answers("debate")
    manifest = answers.manifest
    name, debate = manifest["model"]["name"], manifest["debate"]
    rarer = {key: value for key, value in debate.items() if key not in Options.model_fields}
    own = {key: value for key, value in debate.items() if key not in rarer}
    panel = [shipped_persona(author).model_dump(mode="json") for author in manifest["personas"]]
    who = {"personas": manifest["personas"], "panel": panel}
    options = {**who, "fast": name, "strong": name, **own, "engine": rarer}
    return written_demo("crux.debate", answers, {"topic": manifest["topic"]}, options, speed)
