"""The recorded circle: it plays through the real engine, and what it shows is really in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.demo import demo_answers, prepare_demo
from assay.protocol import RunContext
from assay.registry import prepared
from assay.terms import Terms
from fire_circle import ReciprocityMetrics
from llm_runtime.clock import now_ms
from llm_runtime.events import silent
from llm_runtime.messages import Reply, Request


@pytest.fixture
async def played(tmp_path: Path) -> tuple[ReciprocityMetrics, set[str]]:
    ready, asked = prepare_demo("circle", tmp_path, speed=0), set[str]()
    model = ready.model
    assert model is not None

    async def generate(request: Request) -> Reply:
        asked.add(str(request.label))
        return await model(request)

    run = prepared(ready.run)
    context = RunContext("demo", ready.seed, generate, silent, now_ms, Terms())
    return ReciprocityMetrics.model_validate(await run.hooks.run(run.task, run.options, context)), asked


async def test_every_answer_is_used_and_none_is_missing(played: Any) -> None:
    _, asked = played
    assert asked == set(demo_answers("circle").answers)


async def test_three_seats_really_disagree_and_still_do_at_the_end(played: Any) -> None:
    metrics, _ = played
    first, *_, last = metrics.result.dialogue_history
    assert len(metrics.result.dialogue_history) == 3 and not metrics.result.stopped_early
    for held, apart in ((first, 0.5), (last, 0.25)):
        scores = [evaluation.falsehood for evaluation in held.evaluations]
        assert max(scores) - min(scores) >= apart
    assert not any(e.reasked or e.repaired or e.salvaged for e in metrics.evaluations)
    assert metrics.failures == ()


async def test_quotes_are_verbatim_but_for_the_one_that_shows_what_happens_otherwise(played: Any) -> None:
    metrics, _ = played
    prompt = demo_answers("circle").manifest["prompt"]
    claims = [claim for evaluation in metrics.evaluations for claim in evaluation.claims]
    assert [claim.dropped for claim in claims if claim.dropped] == ["not_found"]
    for claim in claims:
        if claim.span:
            assert prompt[claim.span.layer][claim.span.start : claim.span.end] == claim.quote


async def test_the_chair_is_the_first_to_see_that_the_layers_vouch_for_each_other(played: Any) -> None:
    metrics, _ = played
    result = metrics.result
    seen = [
        (held.round_number, e.empty_chair)
        for held in result.dialogue_history
        for e in held.evaluations
        if any("cross_layer_fabrication" in [kind.value for kind in claim.types] for claim in e.claims)
    ]
    assert min(seen) == (2, True) and (2, False) not in seen
    assert result.empty_chair_influence >= 0.25
    # What it says of the layers is true: the note cites the member, the member cites the note, the file says none.
    prompt = demo_answers("circle").manifest["prompt"]
    assert "Member says" in prompt["application"] and "Induction on file: none" in prompt["application"]
    assert "in the note on my booking" in prompt["user"] and prompt["turn"] == 1


async def test_the_command_plays_it_and_says_who_wrote_it(assay: Any, tmp_path: Path) -> None:
    done = await assay("demo", "circle", "--speed", "0")
    assert done.code == 0, done.err
    assert "F 0.90" in done.out and "written by hand" in done.err
    assert "<mark>" in (tmp_path / "out/demo-circle.html").read_text()
    listed = await assay("runs", "list", "--json")
    assert "demo" in listed.out or json.loads(listed.out)
