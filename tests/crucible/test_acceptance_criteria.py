"""The ten acceptance criteria of the specification, by their numbers."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pytest

import crucible
import crucible.transcript as transcript_module
from crucible import Crucible, EngineConfig, ExecutorResult
from crucible.cli import converse
from crucible.events import Critiqued, LoopEnded, LoopStarted, Triaged
from crucible.schemas import LoopRecord, TriageOutput
from crucible.triage.agent import TriageError
from llm_runtime.testing import ScriptedModel

Make = Callable[..., Any]


async def test_criterion_01_a_run_returns_an_executor_result_with_the_final_response(council: Make) -> None:
    engine = Crucible(EngineConfig(openrouter_api_key="unused", generate=council()))

    result = await engine.run("any query")

    assert isinstance(result, ExecutorResult)
    assert result.final_response == "The answer."


@pytest.mark.parametrize("complexity", ["simple", "complicated", "complex", "chaotic"])
async def test_criterion_02_triage_emits_a_valid_triage_output(complexity: str, council: Make, ask: Make) -> None:
    run = await ask(council(complexity=complexity))

    (triaged,) = run.of(Triaged)
    assert TriageOutput.model_validate(triaged.triage).complexity.value == complexity


@pytest.mark.parametrize(
    ("grammar", "phases_of_a_loop"),
    [
        ("parallel", ["position"] * 3 + ["critique"]),
        ("sequential", ["draft", "critique"] * 3),
        ("debate", ["position"] * 3 + ["critique"] + ["defence"] * 3),
    ],
)
async def test_criterion_03_all_three_grammars_execute(
    grammar: str, phases_of_a_loop: list[str], council: Make, ask: Make
) -> None:
    model: ScriptedModel = council(loop_grammar=grammar, loop_count=2, allow_early_exit=False)

    run = await ask(model)

    phases = [request.label.phase for request in model.requests]
    assert phases == ["triage", *phases_of_a_loop * 2, "synthesis"]
    assert [event.grammar for event in run.of(LoopStarted)] == [grammar, grammar]


@pytest.mark.parametrize("grammar", ["parallel", "sequential", "debate"])
async def test_criterion_04_a_critique_appears_in_every_loop(grammar: str, council: Make, ask: Make) -> None:
    run = await ask(council(loop_grammar=grammar, loop_count=4, allow_early_exit=False), observability=True)

    assert {event.loop for event in run.of(Critiqued)} == {1, 2, 3, 4}
    assert all(record.red_team_critique for record in run.result.reasoning_trace)


async def test_criterion_05_early_exit_when_nothing_changes_after_loop_two(council: Make, ask: Make) -> None:
    class NeverChanges:
        async def detect(self, prior: Any, current: Any) -> bool:
            return False

    run = await ask(council(loop_count=5), delta_strategy=NeverChanges())

    assert run.result.loops_executed == 2
    assert run.result.early_exit is True
    assert [(e.loop, e.delta_detected, e.judged) for e in run.of(LoopEnded)] == [(1, True, False), (2, False, True)]


async def test_criterion_06_a_simple_query_bypasses_the_council_when_authorized(council: Make, ask: Make) -> None:
    model: ScriptedModel = council(complexity="simple", short_circuit_allowed=True)

    run = await ask(model)

    assert run.result.final_response == "A short answer."
    assert (run.result.loops_executed, run.result.early_exit) == (0, True)
    (answer,) = model.asked("answer")
    assert [(m.role, m.content) for m in answer.messages] == [
        ("system", "Two paragraphs."),
        ("user", "Which database should a team of three run?"),
    ]
    assert len(model.requests) == 2


async def test_criterion_07_the_toggle_controls_whether_a_trace_is_built(
    council: Make, ask: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[int] = []

    def counting(**fields: Any) -> LoopRecord:
        built.append(fields["loop_number"])
        return LoopRecord(**fields)

    monkeypatch.setattr(transcript_module, "LoopRecord", counting)

    off = await ask(council(), observability=False)
    assert (off.result.reasoning_trace, built) == (None, [])

    on = await ask(council(), observability=True)
    assert built == [1, 2, 3]
    first = json.loads(on.result.model_dump_json())["reasoning_trace"][0]
    assert first == {
        "loop_number": 1,
        "council_responses": {
            "domain_expert": "position by 0:domain_expert in loop 1, step 1",
            "pragmatist": "position by 2:pragmatist in loop 1, step 1",
            "creative": "position by 3:creative in loop 1, step 1",
        },
        "red_team_critique": "critique by 1:red_team in loop 1, step 1",
        "delta_detected": True,
    }


def test_criterion_08_the_cli_allows_interactive_testing(
    council: Make, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("Should we migrate to microservices?\nexit\n"))

    converse(EngineConfig(openrouter_api_key="unused", generate=council()))

    shown = capsys.readouterr().out
    assert shown.startswith("Crucible v1.0\nType 'exit' to quit, 'trace on/off' to toggle observability\n\n> ")
    assert "\n[Processing... 3 loops executed]\n\nThe answer.\n" in shown


@pytest.mark.parametrize(
    "internal",
    [
        "TriageAgent",
        "Executor",
        "OpenRouterClient",
        "GatewayPool",
        "LLMJudgeDeltaStrategy",
        "TextSimilarityDeltaStrategy",
        "TriageOutput",
        "CouncilSeat",
        "LoopRecord",
        "Deliberation",
        "GRAMMARS",
        "parallel_loop",
        "sequential_loop",
        "debate_loop",
        "system_prompt",
        "BASE_FRAME",
    ],
)
def test_criterion_09_no_internal_component_is_importable_from_the_root(internal: str) -> None:
    with pytest.raises(ImportError):
        exec(f"from crucible import {internal}", {})
    assert internal not in crucible.__all__


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"council": ["red_team", "pragmatist"]}, "council: List should have at least 3 items"),
        ({"council": ["red_team", *["pragmatist"] * 5]}, "council: List should have at most 5 items"),
        ({"council": ["pragmatist"] * 3}, "council: exactly one seat must be red_team, and 0 are"),
        ({"council": ["red_team", "red_team", "creative"]}, "council: exactly one seat must be red_team, and 2 are"),
        ({"council": ["red_team", "poet", "creative"]}, "council.1.role: Input should be"),
        (
            {"council": [{"role": role, "system_prompt": " \n"} for role in ("red_team", "creative", "pragmatist")]},
            "council.0.system_prompt: is empty",
        ),
        ({"loop_count": 1}, "loop_count: Input should be greater than or equal to 2"),
        ({"loop_count": 6}, "loop_count: Input should be less than or equal to 5"),
        ({"short_circuit_allowed": True}, "short_circuit_allowed: needs complexity simple, not complex"),
    ],
)
async def test_criterion_10_constraints_are_enforced_with_clear_messages(
    changes: dict[str, Any], complaint: str, council: Make, seats: Make, ask: Make
) -> None:
    if isinstance(changes.get("council", [{}])[0], str):
        changes = {"council": seats(*changes["council"])}
    model: ScriptedModel = council(**changes)

    with pytest.raises(TriageError) as caught:
        await ask(model)

    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(model.requests) == 1
