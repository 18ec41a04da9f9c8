"""`assay debate judge` and `assay debate map`: what one text says of another, and which cruxes come back."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.console.declared import declares
from assay.console.options import read_text
from assay.console.running import RunCommand, run_command
from llm_runtime.errors import ConfigurationError
from llm_runtime.rewording import instead

if TYPE_CHECKING:
    from assay.report.story import Story
    from crux.insight.crux_graph import Ties


_TEXTS = ("premise", "claim")
_declares = declares(__package__ or "", "options.toml")


@run_command("crux.judge", "judge", noun="verdicts")
@_declares("judge")
def judge(command: RunCommand, file: str) -> int:
    """Judge pairs of sentences: does a premise support, contradict, or say the same as a claim?

    FILE has one JSON object a line, {"premise": ..., "claim": ...}; - is standard input. Where lines have a "kind"
    that people gave, it is compared with the verdict: same, entails, supports, contradicts, undermines, unrelated.
    """
    lines = enumerate(read_text(None, file, "pairs").split("\n"), start=1)
    command.task["pairs"] = [_object(line, number) for number, line in lines if line.strip()]
    if not command.task["pairs"]:
        raise ConfigurationError(f"{file} holds no pair; give one JSON object a line")
    return command.finish(command.go())


def _object(line: str, number: int) -> dict[str, Any]:
    fault = ConfigurationError(f'line {number}: no JSON object with a "premise" and a "claim"')
    with instead(fault, ValueError, TypeError, KeyError):
        pair: Any = json.loads(line)
        if not all(pair[key] and isinstance(pair[key], str) for key in _TEXTS):
            raise TypeError
    return {key: pair[key] for key in (*_TEXTS, "kind") if key in pair}


@run_command("crux.judge", "map", noun="map")
@_declares("map")
def map_(command: RunCommand, run_ids: tuple[str, ...], judged: bool) -> int:
    """Show who clashes with whom over what; of several debates, which cruxes come back.

    Without --judged no model is asked, and only questions in the same words are one.
    """
    from assay.protocols.crux.report.insight import map_story
    from assay.protocols.crux.report.state import result_of
    from assay.report.terminal import print_story
    from crux.claims.judge import Verdict
    from crux.insight.crux_graph import question_pairs, ties_of

    command.output.check()
    store = command.store
    results = [result_of(store, run_id) for run_id in dict.fromkeys(map(store.find, run_ids))]
    ties: Ties | None = None
    if judged and (pairs := question_pairs(results)):
        command.task["pairs"] = [{"premise": pair.premise, "claim": pair.claim} for pair in pairs]
        command.options["strict"] = True
        outcome = command.go()
        if outcome.state != "finished":
            return command.finish(outcome)
        ties = ties_of(pairs, [Verdict.model_validate(one) for one in outcome.result["verdicts"]])
    story = map_story(results, ties)
    if command.output.out is None:
        print_story(story, sys.stdout, whole=True)
    else:
        write_story(Path(command.output.out), story)
    return 0


def write_story(path: Path, story: Story) -> None:
    """Write a story as .html or .md.

    Raises:
        ConfigurationError: the ending is another, or it cannot be written there.
    """
    from assay.protocols.crux.commands.read import write_out
    from assay.report.places import story_text

    if path.suffix not in (".html", ".md"):
        raise ConfigurationError(f"--out {path.name}: the ending must be .html or .md")
    write_out(path, story_text(story, path.suffix))
