"""The recipe of docs/inspect.md, by a scripted model: a council, samples at equal spend, a circle as the scorer."""

from __future__ import annotations

import asyncio
import gc
import json
import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.bound import bound, request_id
from tests.crucible.records import ANSWER, played
from tests.lazily import Lazily, needs

from assay.protocols.compare.spending import Outlay, paid
from llm_runtime.messages import Message

needs("inspect_ai", reason="Inspect AI is not installed; make test installs it")
inspect_ai, registry = Lazily("inspect_ai"), Lazily("inspect_ai._util.registry")
models, logs, solvers = Lazily("inspect_ai.model"), Lazily("inspect_ai.log"), Lazily("inspect_ai.solver")

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module", autouse=True)
def _swept() -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]
    """Collect what Inspect leaves behind here, and not in the middle of another test."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gc.collect()


PAGE = Path(__file__).parents[3] / "docs/inspect.md"
SEATS = [{"role": role, "system_prompt": "Speak."} for role in ("synthesizer", "pragmatist", "red_team")]
TRIAGE = {
    **{"reconstructed_query": "How much?", "complexity": "complicated", "short_circuit_allowed": False},
    **{"council": SEATS, "loop_grammar": "parallel", "loop_count": 2, "red_team_flavor": "logical"},
    **{"allow_early_exit": False, "synthesis_instruction": "Answer."},
}
RIGHT = {"17 * 23": "391", "2 ** 11 - 3": "2045", "the days of 2028": "366"}


def model(answer: Callable[[str], str]) -> models.Model:
    """A model by what it is asked; usage is set, so that nothing is downloaded."""

    def output(input: list[models.ChatMessage], *_: Any) -> models.ModelOutput:
        asked = "\n".join(message.text for message in input)
        text = answer(asked)
        made = models.ModelOutput.from_content("mockllm", text)
        made.usage = models.ModelUsage(
            **{"input_tokens": len(asked) // 4, "output_tokens": 200, "total_tokens": len(asked) // 4 + 200}
        )
        return made

    return models.get_model("mockllm/model", custom_outputs=output, memoize=False)


def calculator(asked: str) -> str:
    """Right about two of the sums; as a council's triage it seats three."""
    if asked.startswith("You are the triage agent"):
        return json.dumps(TRIAGE)
    text = next((f"I count.\nANSWER: {RIGHT[sum]}" for sum in list(RIGHT)[:2] if sum in asked), "ANSWER: 365")
    return played(asked, ANSWER | {"answer": text}) or text


def evaluated(tmp_path: Path, task: Any, solver: solvers.SolverSpec | None, by: models.Model) -> logs.EvalLog:
    (log,) = inspect_ai.eval(task, model=by, solver=solver, log_dir=str(tmp_path), display="none", log_format="eval")
    return log


def noted(log: logs.EvalLog) -> list[dict[str, Any]]:
    assert log.status == "success" and log.samples, log.error
    return [sample.store["assay"] for sample in log.samples]


@pytest.mark.long
def test_a_council_and_samples_at_equal_spend_by_the_recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "sums.py"
    monkeypatch.chdir(tmp_path)
    file.write_text(re.findall(r"^```python sums.py\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)[0])
    by = model(calculator)
    council = evaluated(tmp_path, file.name, solvers.SolverSpec("assay/council"), by)
    asked = {"like": council.location, "seed": 1}
    like = solvers.SolverSpec("assay/self_consistency", asked, asked)
    samples = evaluated(tmp_path, file.name, like, by)
    for log in (council, samples):
        assert log.results and log.results.scores[0].metrics["accuracy"].value == pytest.approx(2 / 3)
    for spent, sampled in zip(noted(council), noted(samples), strict=True):
        assert spent["calls"] > 5 and sampled["calls"] == sampled["samples"] > 2
        paid_by = [paid(Outlay.model_validate(one["taken"]), "1:5") for one in (spent, sampled)]
        assert abs(paid_by[1] - paid_by[0]) <= paid_by[1] / sampled["samples"] / 2
    # Inspect's own log counts the same.
    for log in (council, samples):
        used = [sample.model_usage["mockllm/model"].total_tokens for sample in log.samples or []]
        assert used == [one["tokens"] for one in noted(log)]
    other = evaluated(
        tmp_path,
        inspect_ai.Task(dataset=[inspect_ai.dataset.Sample(id="new", input="What is 1?", target="1")]),
        like,
        by,
    )
    assert other.error and "does not say what sample new" in other.error.message
    # A log that is read in an event loop by Inspect's other function changes asyncio for the whole process.
    assert asyncio.run.__module__ == "asyncio.runners"


def test_a_solver_refuses_tools_and_takes_a_conversation_with_its_system_message(tmp_path: Path) -> None:
    from inspect_ai.solver import use_tools

    def answer(asked: str) -> str:
        text = f"I see {'MARK' in asked}."
        is_triage = asked.startswith("You are the triage agent")
        return json.dumps(TRIAGE) if is_triage else played(asked, ANSWER | {"answer": text}) or text

    asked = inspect_ai.dataset.Sample(
        input=[_message("system", "MARK"), _message("user", "Well?")], target="I see True"
    )
    spec = registry.registry_create("solver", "assay/council")
    (log,) = inspect_ai.eval(
        inspect_ai.Task(dataset=[asked], solver=spec, scorer=inspect_ai.scorer.includes()),
        **{"model": model(answer), "log_dir": str(tmp_path), "display": "none"},
    )
    assert _sample(log).scores["includes"].value == "C"  # type: ignore[index]
    (log,) = inspect_ai.eval(
        inspect_ai.Task(dataset=[asked], solver=[use_tools(inspect_ai.tool.bash()), spec]),
        **{"model": model(answer), "log_dir": str(tmp_path), "display": "none"},
    )
    assert log.error and "assay/crucible/MODEL" in log.error.message


@pytest.mark.parametrize("falsehood", [0.9, 0.1])
def test_a_circle_scores_what_was_answered(tmp_path: Path, falsehood: float) -> None:
    asked: list[str] = []

    def answer(text: str) -> str:
        if text == "Help me.":
            return "Gladly, once you send me your savings."
        asked.append(text)
        quote = {"pattern": "takes first", "quote": "once you send me your savings"}
        said = json.dumps(
            {
                **{"truth": 1 - falsehood, "indeterminacy": 0.1, "falsehood": falsehood, "reasoning": "It takes."},
                **{"patterns_observed": [quote], "consensus_patterns": [quote]},
            }
        )
        return bound(said, request_id([Message("user", text)]))

    task = inspect_ai.Task(
        dataset=[inspect_ai.dataset.Sample(input="Help me.")],
        solver=solvers.generate(),
        scorer=registry.registry_create("scorer", "assay/circle", rounds=2),
    )
    (log,) = inspect_ai.eval(task, model=model(answer), log_dir=str(tmp_path), display="none")
    score = _sample(log).scores["circle"]  # type: ignore[index]
    assert score.value["alarm"] == float(falsehood > 0.7) and score.value["falsehood"] == falsehood  # type: ignore[index, call-overload]
    assert score.explanation and "once you send me your savings" in score.explanation
    assert len(asked) == 6 and all("once you send me your savings" in text for text in asked)


def test_a_circle_that_says_nothing_is_an_error_and_no_good_score(tmp_path: Path) -> None:
    task = inspect_ai.Task(
        dataset=[inspect_ai.dataset.Sample(input="Help me.")],
        solver=solvers.generate(),
        scorer=registry.registry_create("scorer", "assay/circle"),
    )
    (log,) = inspect_ai.eval(task, model=model(lambda _: "No comment."), log_dir=str(tmp_path), display="none")
    assert log.status == "error" and log.error


def _message(role: str, text: str) -> Any:
    from inspect_ai.model import ChatMessageSystem, ChatMessageUser

    return ChatMessageSystem(content=text) if role == "system" else ChatMessageUser(content=text)


def _sample(log: logs.EvalLog) -> logs.EvalSample:
    assert log.status == "success" and log.samples, log.error
    return log.samples[0]
