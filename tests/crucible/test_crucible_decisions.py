"""What the frozen specification leaves open, by the ids of the decisions that settle it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

import crucible
from crucible import CouncilRole, Crucible, EngineConfig
from crucible.events import Critiqued, LoopEnded, SeatAnswered, SeatFailed, ShortCircuited, TriageRead
from crucible.executor.council import CouncilFailed
from crucible.openrouter.client import OpenRouterClient
from crucible.schemas import TriageOutput
from crucible.triage.agent import InputError, TriageError
from crucible.triage.grammar import triage_grammar
from llm_runtime.errors import CallError, ConfigurationError, EmptyReply, ModelNotFound, ReplayMismatch, ServerFault
from llm_runtime.events import ModelSubstituted, silent
from llm_runtime.messages import CallLabel, Message, Request
from llm_runtime.providers.scripted import scripted
from llm_runtime.structured import schema_text
from llm_runtime.testing import ScriptedModel, faulty

Make = Callable[..., Any]


class Verdicts:
    """A delta strategy that gives the verdicts it was told to, and remembers what it compared."""

    def __init__(self, *verdicts: bool | BaseException) -> None:
        self.verdicts = list(verdicts)
        self.seen: list[tuple[Any, Any]] = []

    async def detect(self, prior: Any, current: Any) -> bool:
        self.seen.append((prior, current))
        verdict = self.verdicts.pop(0)
        if isinstance(verdict, BaseException):
            raise verdict
        return verdict


def requests_of(model: ScriptedModel) -> list[dict[str, Any]]:
    return [request.to_dict() for request in model.requests]


@pytest.mark.parametrize("grammar", ["parallel", "sequential", "debate"])
async def test_cr1_the_answer_does_not_depend_on_observability(grammar: str, council: Make, ask: Make) -> None:
    watched, unwatched = council(loop_grammar=grammar), council(loop_grammar=grammar)

    on = await ask(watched, observability=True)
    off = await ask(unwatched, observability=False)

    assert requests_of(watched) == requests_of(unwatched)
    assert on.events == off.events
    assert on.result.model_copy(update={"reasoning_trace": None}) == off.result


async def test_cr2_two_seats_of_one_role_are_joined_in_seat_order(council: Make, seats: Make, ask: Make) -> None:
    strategy = Verdicts(True)
    model = council(council=seats("pragmatist", "creative", "red_team", "pragmatist"))

    run = await ask(model, observability=True, delta_strategy=strategy)

    spoke = [event.seat for event in run.of(SeatAnswered) if event.loop == 1]
    assert spoke == ["0:pragmatist", "1:creative", "3:pragmatist"]
    joined = "position by 0:pragmatist in loop 1, step 1\n\nposition by 3:pragmatist in loop 1, step 1"
    assert run.result.reasoning_trace[0].council_responses[CouncilRole.PRAGMATIST] == joined
    assert strategy.seen[0][0][CouncilRole.PRAGMATIST] == joined


@pytest.mark.parametrize(
    ("loop_count", "allowed", "judged_loops"), [(2, True, []), (3, True, [2]), (5, True, [2, 3, 4]), (5, False, [])]
)
async def test_cr3_the_judge_runs_only_where_it_can_end_the_deliberation(
    loop_count: int, allowed: bool, judged_loops: list[int], council: Make, ask: Make
) -> None:
    model = council(loop_count=loop_count, allow_early_exit=allowed)

    run = await ask(model)

    assert [request.label.round for request in model.asked("delta")] == judged_loops
    assert [event.loop for event in run.of(LoopEnded) if event.judged] == judged_loops
    assert all(event.delta_detected for event in run.of(LoopEnded))
    assert run.result.early_exit is False


async def test_cr3_early_exit_means_that_loops_were_saved(council: Make, ask: Make) -> None:
    run = await ask(council(loop_count=4), delta_strategy=Verdicts(True, False))

    assert (run.result.loops_executed, run.result.early_exit) == (3, True)


@pytest.mark.parametrize(
    ("judgment", "changed"),
    [
        ("NO", False),
        ("no.", False),
        ("**No**, only the wording: YES would be wrong.", False),
        ("YES", True),
        ("Yes, although NO number moved.", True),
        ("Not really", True),
        ("42", True),
        ("", True),
        (ServerFault("out of order"), True),
    ],
)
async def test_cr4_the_judges_first_word_decides_and_doubt_means_changed(
    judgment: str | Exception, changed: bool, council: Make, ask: Make
) -> None:
    model = council({"delta": judgment}, loop_count=3)

    run = await ask(model)

    assert model.asked("delta")[0].model == "openrouter/auto"
    assert run.of(LoopEnded)[1].delta_detected is changed
    assert run.result.loops_executed == (3 if changed else 2)


async def test_cr4_detect_is_not_called_in_loop_one(council: Make, ask: Make) -> None:
    strategy = Verdicts(True)

    await ask(council(loop_count=3), delta_strategy=strategy)

    assert len(strategy.seen) == 1
    assert strategy.seen[0][0] is not None


async def test_cr4_a_failed_comparison_says_why_and_the_council_goes_on(council: Make, ask: Make) -> None:
    run = await ask(council(loop_count=3), delta_strategy=Verdicts(ValueError("no vectors")))

    assert run.result.loops_executed == 3
    ended = run.of(LoopEnded)[1]
    assert (ended.delta_detected, ended.judged, ended.note) == (True, False, "ValueError: no vectors")


async def test_cr4_what_must_end_a_run_ends_it_from_within_a_strategy(council: Make, ask: Make) -> None:
    with pytest.raises(ReplayMismatch):
        await ask(council(loop_count=3), delta_strategy=Verdicts(ReplayMismatch("another run")))


async def test_cr5_parallel_revisions_see_all_prior_positions_with_their_own_marked(council: Make, ask: Make) -> None:
    model = council(loop_count=2)

    await ask(model)

    first, second = (model.asked("position")[place] for place in (1, 4))
    assert [(m.role, m.content) for m in first.messages] == [
        ("system", "You run databases."),
        ("user", "Which database should a team of three run?"),
    ]
    assert second.label.seat == "2:pragmatist"
    assert second.messages[:2] == first.messages
    assert [m.role for m in second.messages] == ["system", "user", "assistant", "user"]
    said, task = second.messages[2].content, second.messages[3].content
    assert "<<<YOUR OWN POSITION 2:pragmatist " in said
    assert "<<<POSITION of 0:domain_expert " in said
    assert "<<<POSITION of 3:creative " in said
    assert said.count("YOUR OWN") == 2  # its opening and its closing marker
    for role in ("0:domain_expert", "2:pragmatist", "3:creative"):
        assert f"position by {role} in loop 1" in said
    assert "critique by 1:red_team in loop 1" in task
    assert "Revise your position" in task


async def test_cr6_sequential_has_one_critique_for_each_deliberating_seat(council: Make, ask: Make) -> None:
    model = council(loop_grammar="sequential", loop_count=2)

    run = await ask(model, observability=True)

    steps = [(event.loop, event.step) for event in run.of(Critiqued)]
    assert steps == [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (2, 3)]
    assert [request.label.attempt for request in model.asked("critique")] == [1, 2, 3, 1, 2, 3]
    final = model.asked("critique")[2].messages[1].content
    assert "complete output of the loop" in final
    assert "draft by 3:creative in loop 1" in final
    assert run.result.reasoning_trace[0].red_team_critique == "\n\n".join(
        f"critique by 1:red_team in loop 1, step {step}" for step in (1, 2, 3)
    )


async def test_cr6_each_draft_starts_from_the_latest_and_its_critique(council: Make, ask: Make) -> None:
    model = council(loop_grammar="sequential", loop_count=2)

    await ask(model)

    drafts = model.asked("draft")
    assert [(m.role, m.content) for m in drafts[0].messages] == [
        ("system", "You know databases."),
        ("user", "Which database should a team of three run?"),
    ]
    third, next_loop = drafts[2].messages[1].content, drafts[3].messages[1].content
    assert "draft by 2:pragmatist in loop 1" in third
    assert "critique by 1:red_team in loop 1, step 2" in third
    assert "draft by 0:domain_expert" not in third
    assert "Which database should a team of three run?" in third
    assert "draft by 3:creative in loop 1" in next_loop
    assert "critique by 1:red_team in loop 1, step 3" in next_loop


async def test_cr7_only_the_targets_defend_and_the_others_keep_their_position(council: Make, ask: Make) -> None:
    strategy = Verdicts(True)
    model = council({"critique": "Weak.\nTARGETS: 3:creative, 0:domain_expert"}, loop_grammar="debate")

    run = await ask(model, observability=True, delta_strategy=strategy)

    first_loop = [request for request in model.asked("defence") if request.label.round == 1]
    assert [request.label.seat for request in first_loop] == ["0:domain_expert", "3:creative"]
    assert run.of(Critiqued)[0].targets == ["0:domain_expert", "3:creative"]
    after = {
        "domain_expert": "defence by 0:domain_expert in loop 1, step 1",
        "pragmatist": "position by 2:pragmatist in loop 1, step 1",
        "creative": "defence by 3:creative in loop 1, step 1",
    }
    assert run.result.reasoning_trace[0].council_responses == after
    assert strategy.seen[0][0] == after


async def test_cr7_a_defence_is_asked_with_own_position_attack_and_instruction(council: Make, ask: Make) -> None:
    model = council({"critique": "It will not scale.\nTARGETS: 2:pragmatist"}, loop_grammar="debate")

    await ask(model)

    system, task = model.asked("defence")[0].messages
    assert (system.role, system.content) == ("system", "You run databases.")
    assert task.role == "user"
    assert "position by 2:pragmatist in loop 1" in task.content
    assert "It will not scale." in task.content
    assert "Defend your position." in task.content
    assert "0:domain_expert" not in task.content


async def test_cr7_without_a_valid_targets_line_everyone_defends(council: Make, ask: Make) -> None:
    model = council({"critique": "All weak.\nTARGETS: 1:red_team"}, loop_grammar="debate", loop_count=2)

    run = await ask(model)

    assert len(model.asked("defence")) == 6
    assert run.of(Critiqued)[0].targets == []


async def test_cr7_later_debate_loops_are_assembled_like_those_of_parallel(council: Make, ask: Make) -> None:
    model = council({"critique": "Weak.\nTARGETS: 0:domain_expert"}, loop_grammar="debate")

    await ask(model)

    said = model.asked("position")[3].messages[2]
    assert said.role == "assistant"
    assert "defence by 0:domain_expert in loop 1" in said.content
    assert "position by 2:pragmatist in loop 1" in said.content
    assert "position by 0:domain_expert" not in said.content


async def test_cr8_of_the_red_teams_seat_only_the_model_hint_is_used(council: Make, seats: Make, ask: Make) -> None:
    model = council(council=seats("domain_expert", "red_team=some/critic", "pragmatist"))

    await ask(model)

    critique = model.asked("critique")[0]
    assert (critique.model, critique.fallbacks) == ("some/critic", ("openrouter/auto",))
    assert critique.messages[0].content.startswith("You are the Red Team member of a deliberative council.")
    assert all("Never shown" not in m.content for request in model.requests for m in request.messages)


async def test_cr9_simple_without_the_flag_gets_a_full_council(council: Make, ask: Make) -> None:
    run = await ask(council(complexity="simple"))

    assert run.result.loops_executed == 3
    assert run.of(ShortCircuited) == []


async def test_cr9_a_short_circuit_has_an_empty_trace_when_observing(council: Make, ask: Make) -> None:
    run = await ask(council(complexity="simple", short_circuit_allowed=True), observability=True)

    assert run.result.reasoning_trace == []
    assert len(run.of(ShortCircuited)) == 1


@pytest.mark.parametrize("complexity", ["complicated", "complex", "chaotic"])
async def test_cr9_flagged_and_not_simple_is_an_error(complexity: str, council: Make, ask: Make) -> None:
    with pytest.raises(TriageError, match=f"needs complexity simple, not {complexity}"):
        await ask(council(complexity=complexity, short_circuit_allowed=True))


async def test_cr10_context_goes_to_triage_as_json_and_nowhere_else(council: Make, ask: Make) -> None:
    model = council()

    await ask(model, context={"budget": {"eur": 300}, "tone": "trocken, höflich"})

    (triage,) = model.asked("triage")
    assert '"budget": {\n    "eur": 300\n  }' in triage.messages[1].content
    assert "trocken, höflich" in triage.messages[1].content
    others = [request for request in model.requests if request is not triage]
    assert all("höflich" not in m.content for request in others for m in request.messages)


def circular() -> dict[str, Any]:
    loop: dict[str, Any] = {}
    loop["self"] = loop
    return loop


def deep() -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for _ in range(10_000):
        nested = {"in": nested}
    return nested


@pytest.mark.parametrize(
    "context",
    [
        {"a": {1, 2}},
        {"a": b"x"},
        {"a": float("nan")},
        {("a",): 1},
        {"a": "\ud800"},
        {"a": "x" * 2**21},
        circular(),
        deep(),
    ],
    ids=["set", "bytes", "nan", "tuple key", "surrogate", "2 MiB", "circular", "deep"],
)
async def test_cr10_a_context_that_is_no_json_is_refused_before_any_call(
    context: dict[str, Any], council: Make, ask: Make
) -> None:
    model = council()

    with pytest.raises(InputError, match="the context") as caught:
        await ask(model, context=context)

    assert model.requests == []
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("raw", "complaint"),
    [
        ("I would suggest four seats.", "Invalid JSON"),
        ("```json\n{}\n```", "reconstructed_query: Field required"),
        ("Here it is:\n```json\n{}\n```", "Invalid JSON"),
        ('{"reconstructed_query": "cut', "Invalid JSON"),
        ("{}", "reconstructed_query: Field required"),
        ("[]", "Input should be an object"),
    ],
)
async def test_cr11_triage_is_asked_once_and_its_raw_text_is_kept(
    raw: str, complaint: str, council: Make, ask: Make
) -> None:
    model = council({"triage": raw})

    with pytest.raises(TriageError, match=complaint) as caught:
        await ask(model)

    assert caught.value.raw == raw
    assert caught.value.exit_code == 6
    assert len(model.requests) == 1


async def test_cr11_the_schema_goes_along_and_what_was_decoded_is_told(
    configuration: Make, council: Make, ask: Make
) -> None:
    model = council({"triage": configuration(loop_count="2")})

    run = await ask(model)

    assert [event.decoded for event in run.of(TriageRead)] == [['loop_count: "2" was read as 2']]
    request = model.requests[0]
    assert request.schema == schema_text(TriageOutput)
    assert request.grammar == triage_grammar()


def test_cr12_constraints_survive_optimised_python() -> None:
    code = (
        "import json\n"
        "from crucible.triage.agent import TriageError, parse_triage\n"
        "seat = {'role': 'creative', 'system_prompt': 'x'}\n"
        "raw = dict(reconstructed_query='q', complexity='complex', council=[seat] * 3, loop_grammar='parallel',\n"
        "           loop_count=2, red_team_flavor='logical', synthesis_instruction='s')\n"
        "try:\n"
        "    parse_triage(json.dumps(raw))\n"
        "except TriageError as fault:\n"
        "    print(fault)\n"
    )
    done = subprocess.run([sys.executable, "-O", "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip().endswith("council: exactly one seat must be red_team, and 0 are")


def test_cr13_any_object_with_an_async_detect_is_a_strategy() -> None:
    strategy = Verdicts()

    assert EngineConfig(openrouter_api_key="unused", delta_strategy=strategy).delta_strategy is strategy


class Synchronous:
    def detect(self, prior: Any, current: Any) -> bool:
        return True


class OneArgument:
    async def detect(self, current: Any) -> bool:
        return True


class NotCallable:
    detect = 1


@pytest.mark.parametrize("other", [Synchronous(), OneArgument(), NotCallable(), Verdicts, object(), "judge", 1])
def test_cr13_anything_else_is_refused_at_construction(other: Any) -> None:
    with pytest.raises(ValidationError, match="delta_strategy"):
        EngineConfig(openrouter_api_key="sk-secret", delta_strategy=other)


async def test_cr14_a_seat_is_answered_by_its_hint_and_then_the_default(council: Make, seats: Make, ask: Make) -> None:
    model = council(council=seats("domain_expert=best/one", "red_team", "pragmatist=house/model"))

    await ask(model, default_model="house/model")

    asked = {r.label.seat: (r.model, r.fallbacks) for r in model.requests if r.label.round == 1}
    assert asked == {
        "0:domain_expert": ("best/one", ("house/model",)),
        "1:red_team": ("house/model", ()),
        "2:pragmatist": ("house/model", ()),
    }
    [triage] = model.asked("triage")
    assert (triage.model, triage.fallbacks) == ("anthropic/claude-sonnet-4-20250514", ("house/model",))
    assert model.asked("synthesis")[0].model == "house/model"


async def test_cr14_an_unknown_hint_falls_back_with_an_event(council: Make, seats: Make, ask: Make) -> None:
    model = council(council=seats("domain_expert=no/such", "red_team", "pragmatist"), loop_count=2)

    async def generate(request: Request) -> Any:
        if request.model == "no/such":
            raise ModelNotFound("no such model", model=request.model)
        return await model(request)

    run = await ask(generate)

    assert run.of(SeatFailed) == []
    told = run.of(ModelSubstituted)[0]
    assert (told.asked, told.used) == ("no/such", "openrouter/auto")
    assert told.label == "crucible/position/0:domain_expert/1/1"


@pytest.mark.parametrize(
    "hint", ["mailbox:letters", "terminal:", "ollama:qwen3", "http://169.254.169.254/v1#x", "a b/c", "x" * 201, "a\n/b"]
)
async def test_cr14_a_hint_cannot_choose_an_endpoint(hint: str, council: Make, seats: Make, ask: Make) -> None:
    model = council(council=seats("red_team", "pragmatist", f"creative={hint}"), loop_count=2)

    run = await ask(model)

    assert {request.model for request in model.asked("position")} == {"openrouter/auto"}
    assert run.of(ModelSubstituted)[0].reason == "the hint is no model id"


async def test_cr14_a_variant_of_a_model_is_a_hint(council: Make, seats: Make, ask: Make) -> None:
    model = council(council=seats("red_team", "pragmatist", "creative=some/model:free"))

    run = await ask(model)

    assert model.asked("position")[1].model == "some/model:free"
    assert run.of(ModelSubstituted) == []


@pytest.mark.parametrize("fault", [ServerFault("down"), ConnectionError("reset\nby peer"), "   "])
async def test_cr15_a_failed_seat_is_left_out_of_its_loop_and_reported(fault: Any, council: Make, ask: Make) -> None:
    model = council(loop_count=2)

    run = await ask(faulty(model, {"crucible/position/2:pragmatist/1/1": fault}), observability=True)

    (failed,) = run.of(SeatFailed)
    assert (failed.loop, failed.seat, failed.role) == (1, "2:pragmatist", "pragmatist")
    assert failed.message and "\n" not in failed.message
    first, second = run.result.reasoning_trace
    assert set(first.council_responses) == {"domain_expert", "creative"}
    assert set(second.council_responses) == {"domain_expert", "pragmatist", "creative"}


@pytest.mark.parametrize("grammar", ["parallel", "debate"])
async def test_cr15_fewer_than_two_voices_end_the_run(grammar: str, council: Make, ask: Make) -> None:
    down: dict[int | str, Any] = {
        f"crucible/position/{seat}/2/1": ServerFault(f"{seat} is down") for seat in ("0:domain_expert", "3:creative")
    }

    with pytest.raises(CouncilFailed, match=r"loop 2 needs 2 deliberating seats and has 1 left: 0:domain_expert") as e:
        await ask(faulty(council(loop_grammar=grammar), down))

    assert "3:creative: ServerFault: 3:creative is down" in str(e.value)
    assert e.value.exit_code == 4


async def test_cr15_a_silent_seat_is_passed_over_by_the_draft(council: Make, ask: Make) -> None:
    model = council(loop_grammar="sequential", loop_count=2)

    run = await ask(faulty(model, {"crucible/draft/0:domain_expert/2/1": ServerFault("down")}))

    second = model.asked("draft")[3]
    assert (second.label.seat, second.label.round) == ("2:pragmatist", 2)
    assert "draft by 3:creative in loop 1" in second.messages[1].content
    assert [event.step for event in run.of(Critiqued) if event.loop == 2] == [1, 2]


async def test_cr15_who_fails_to_defend_keeps_its_position(council: Make, ask: Make) -> None:
    model = council(loop_grammar="debate", loop_count=2)

    run = await ask(faulty(model, {"defence": ServerFault("down")}), observability=True)

    assert len(run.of(SeatFailed)) == 6
    kept = run.result.reasoning_trace[1].council_responses
    assert kept[CouncilRole.CREATIVE] == "position by 3:creative in loop 2, step 1"


@pytest.mark.parametrize("grammar", ["parallel", "sequential", "debate"])
async def test_cr15_a_red_team_that_fails_ends_the_run(grammar: str, council: Make, ask: Make) -> None:
    model = faulty(council(loop_grammar=grammar), {"crucible/critique/1:red_team/2/1": ServerFault("down")})

    with pytest.raises(CouncilFailed, match=r"\(1:red_team\) gave no critique in loop 2: ServerFault: down"):
        await ask(model)


async def test_cr16_call_openrouter_returns_text_and_sends_the_session_id() -> None:
    model = ScriptedModel(["One.", "Two."])
    client = OpenRouterClient(model, silent, "run-1")
    label = CallLabel("crucible", "answer")

    assert await client.call_openrouter("some/model", [Message("user", "Hi")], label=label) == "One."
    await client.call_openrouter("some/model", [Message("user", "Hi")], "mine", label=label)

    assert [request.session_id for request in model.requests] == ["run-1", "mine"]


async def test_cr16_all_calls_of_a_run_share_a_session(council: Make, ask: Make) -> None:
    model = council()

    await ask(model)

    (session,) = {request.session_id for request in model.requests}
    assert session is not None and session.startswith("crucible-")


async def test_cr16_an_answer_without_text_is_an_error() -> None:
    client = OpenRouterClient(scripted(lambda _: " \n"), silent)

    with pytest.raises(EmptyReply):
        await client.call_openrouter("some/model", [Message("user", "Hi")], label=CallLabel("crucible", "answer"))


async def test_cr16_foreign_failures_become_call_errors() -> None:
    client = OpenRouterClient(scripted(lambda _: OSError("cable\nunplugged")), silent)

    with pytest.raises(CallError, match="OSError: cable unplugged") as caught:
        await client.call_openrouter("some/model", [Message("user", "Hi")], label=CallLabel("crucible", "answer"))

    assert caught.value.model == "some/model"


async def test_cr17_run_sync_refuses_a_running_loop(council: Make) -> None:
    engine = Crucible(EngineConfig(openrouter_api_key="unused", generate=council()))

    with pytest.raises(ConfigurationError, match=r"await engine\.run"):
        engine.run_sync("any query")


def test_cr17_one_engine_serves_several_event_loops(council: Make) -> None:
    engine = Crucible(EngineConfig(openrouter_api_key="unused", generate=council()))

    answers = [
        engine.run_sync("first").final_response,
        asyncio.run(engine.run("second")).final_response,
        engine.run_sync("third").final_response,
    ]

    assert answers == ["The answer."] * 3


OF_RECORDS = {"Attachment", "Council", "CouncilResult", "Ledger", "headline"}
OF_RECORDS |= {"changed", "checked", "earlier_council", "read_attachments"}


def test_cr18_the_root_exports_exactly_these_names() -> None:
    assert sorted(set(crucible.__all__) - OF_RECORDS) == [
        "ComplexityDomain",
        "CouncilRole",
        "Crucible",
        "DeltaStrategy",
        "EngineConfig",
        "ExecutorResult",
        "LoopGrammar",
        "RedTeamFlavor",
    ]
    assert set(crucible.__all__) > OF_RECORDS
    assert all(hasattr(crucible, name) for name in crucible.__all__)


def test_cr18_the_import_stays_light() -> None:
    code = "import sys, crucible; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert not {"aiohttp", "httpx", "click", "rich", "numpy", "starlette"} & set(done.stdout.split())


def test_cr20_the_configuration_has_the_specified_defaults_and_three_extras() -> None:
    config = EngineConfig(openrouter_api_key="sk-or-canary")

    assert config.model_dump() == {
        "openrouter_api_key": "sk-or-canary",
        "triage_model": "anthropic/claude-sonnet-4-20250514",
        "default_model": "openrouter/auto",
        "observability": False,
        "delta_strategy": None,
        "base_url": None,
        "generate": None,
        "models": (),
    }


def test_cr20_the_key_is_never_shown() -> None:
    config = EngineConfig(openrouter_api_key="sk-or-canary")

    with pytest.raises(ValidationError) as caught:
        EngineConfig.model_validate({"openrouter_api_key": ["sk-or-canary"], "observabilty": "sk-or-canary"})

    shown = f"{config!r} {config} {Crucible(config)!r} {caught.value}"
    assert "canary" not in shown


@pytest.mark.parametrize(
    ("panel", "seated"),
    [
        (("a", "b", "c"), ["a", "c", "b"]),
        (("a", "b"), ["a", "a", "b"]),
        (("mailbox:letters",), ["mailbox:letters"] * 3),
    ],
)
async def test_cr20_a_panel_beats_the_hints_and_the_red_team_has_the_least_used(
    council: Make, seats: Make, ask: Make, panel: tuple[str, ...], seated: list[str]
) -> None:
    model = council(council=seats("domain_expert=best/one", "red_team=best/two", "pragmatist"))

    await ask(model, models=panel)

    asked = {r.label.seat: (r.model, r.fallbacks) for r in model.requests if r.label.round == 1}
    assert [asked[seat] for seat in sorted(asked)] == [(name, ()) for name in seated]
