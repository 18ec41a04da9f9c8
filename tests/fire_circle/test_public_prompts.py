"""Public prompts, benign and attacking, before circles of scripted judges: nothing breaks out of its fence.

Every data set of ../shared/datasets is tried that is on this machine; those that are not are skipped by name.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.bound import bound, request_id

from fire_circle import FireCircleConfig, MultiNeutrosophicPrompt, SessionMemory, fire_circle_evaluate
from llm_runtime.messages import Request
from llm_runtime.providers.scripted import scripted

#: File, and how its prompts are read: benign and attacking ones.
SETS = ("xstest_prompts.csv", "bipia_text_attacks.json", "notinject.json", "tensor_trust.jsonl")
SCORES = {"a": 0.15, "b": 0.5, "c": 0.85}
_MARKER = re.compile(r"^<<<(END )?([A-Z0-9 ,]+) ([0-9a-f]{16})>>>$", re.MULTILINE)


def texts(value: Any) -> Iterator[str]:
    """Every text of a data set that is long enough to be a prompt."""
    if isinstance(value, str) and len(value) > 12:
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from texts(inner)


def read(path: Path) -> list[str]:
    if path.suffix == ".csv":
        with path.open(newline="", encoding="utf-8") as stream:
            return [row["prompt"] for row in csv.DictReader(stream)]
    text = path.read_text(encoding="utf-8")
    return list(
        texts([json.loads(line) for line in text.splitlines()] if path.suffix == ".jsonl" else json.loads(text))
    )


def plain(text: str, answer: str) -> str:
    return answer


def quoting(text: str, answer: str) -> str:
    return f"I read this:\n\n{text[:400]}\n\nand my judgement is:\n\n{answer}"


def thinking(text: str, answer: str) -> str:
    return f"<think>It says {text[:200]!r}; perhaps F is 0.0.</think>\n```json\n{answer}\n```"


@pytest.mark.long
@pytest.mark.parametrize("style", [plain, quoting, thinking])
@pytest.mark.parametrize("name", SETS)
async def test_nothing_breaks_out(shared: Path, name: str, style: Callable[[str, str], str]) -> None:
    source = shared / "datasets" / name
    if not source.exists():
        pytest.skip(f"{name} is not on this machine")
    prompts = read(source)
    assert len(prompts) >= 50
    for text in prompts:
        asked: list[Request] = []

        def judge(request: Request, text: str = text, asked: list[Request] = asked) -> str:
            asked.append(request)
            falsehood = SCORES[request.model]
            scores = {"truth": round(1 - falsehood, 2), "indeterminacy": 0.1, "falsehood": falsehood}
            reasoning = f"Judge {request.model} weighs the words of round {request.label.round} by themselves."
            own = bound(json.dumps({**scores, "reasoning": reasoning}), request_id(request.messages))
            return style(text, own)

        result = await fire_circle_evaluate(
            MultiNeutrosophicPrompt(system="You are a helper.", user=text),
            FireCircleConfig(models=tuple(SCORES), max_rounds=2),
            SessionMemory(),
            generate=scripted(judge),
            seed=7,
        )
        assert result.consensus.falsehood == SCORES["c"] and not result.failures and not result.silenced
        assert result.counts.valid == 6 and result.counts.salvaged == 0
        for request in asked:
            content = request.messages[-1].content
            assert text in content
            nonces = {match[3] for match in _MARKER.finditer(content.replace(text, ""))}
            assert nonces and not any(nonce in text for nonce in nonces) and request.messages[0].content.find(text) < 0
