"""What a trial says of its attempts while they are made; and how models are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.protocols.ai_crucible.events import AttemptEnded, TrialBegan
from assay.protocols.ai_crucible.report.fold import TrialFold
from assay.protocols.ai_crucible.report.words import dollars
from assay.protocols.ai_crucible.trials import check_models, solver_of
from assay.report.clean import fenced
from assay.report.units import points
from llm_runtime.errors import NoModelError


def test_attempts_are_counted_once_over_all_sittings() -> None:
    fold = TrialFold()
    ended = AttemptEnded(puzzle="a", passed=True, tokens=1500, cost=250_000)
    fold.apply(TrialBegan(trial="t", attempts=4, puzzles=2), 0)
    fold.apply(ended, 1)
    assert fold.announce(ended) == "a: passed; 1 of 4 attempts"
    again = TrialBegan(trial="t", attempts=4, puzzles=2, done=1)
    fold.apply(again, 2)
    assert fold.announce(again) == "trial t: going on with 1 of 4 done"
    fold.apply(ended, 3)
    progress = fold.progress()
    assert (progress.calls_done, progress.calls_expected, progress.call_noun) == (2, 4, "attempt")
    assert (progress.tokens, progress.cost) == (3000, 500_000)


def test_attempts_can_be_looked_through_while_others_are_made() -> None:
    fold = TrialFold()
    assert fold.story().bench is not None, "there is a way there, with nothing on it"
    fold.apply(TrialBegan(trial="t", attempts=4, puzzles=2), 0)
    for epoch, passed in ((1, True), (2, False)):
        fold.apply(AttemptEnded(puzzle="a", passed=passed, tokens=1500, cost=0, epoch=epoch, model="m"), epoch)
    bench = fold.story().bench
    assert bench is not None
    assert [(case.name, case.state, case.place) for case in bench().cases] == [
        ("a", "passed", "t/a/1"),
        ("a", "failed", "t/a/2"),
    ]


def test_attempts_of_another_run_count_as_done() -> None:
    fold = TrialFold()
    fold.apply(TrialBegan(trial="t", attempts=4, puzzles=2, done=3), 0)
    assert fold.progress().calls_done == 3


@pytest.mark.parametrize(
    ("name", "solver"),
    [
        ("google/gemini-x", "google/gemini-x"),
        ("openrouter:vendor/model", "assay/single/openrouter:vendor/model"),
        ("ollama:qwen3:8b", "assay/single/ollama:qwen3:8b"),
        ("mailbox:letters", "assay/single/mailbox:letters"),
        ("http://127.0.0.1:9/v1#tiny", "assay/single/http://127.0.0.1:9/v1#tiny"),
        ("assay/crucible", "assay/crucible"),
        ("assay/crucible/ollama:qwen3", "assay/crucible/ollama:qwen3"),
    ],
)
def test_a_model_of_ours_is_reached_through_our_gateway_and_others_through_inspect(
    name: str, solver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-canary-0123456789")
    assert solver_of(name) == solver


def test_a_package_that_inspect_lacks_is_not_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(name: str) -> None:
        return None

    monkeypatch.setattr("assay.protocols.ai_crucible.trials.find_spec", nowhere)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-0123456789")
    assert solver_of("openai/gpt-4o") == "assay/single/openai:gpt-4o"
    assert solver_of("mockllm/model") == "mockllm/model"


@pytest.mark.parametrize("name", ["openai:gpt-4o", "anthropic:claude-opus-5", "openrouter:some/model"])
def test_a_vendor_without_a_key_is_refused_before_an_attempt_is_planned(name: str) -> None:
    with pytest.raises(NoModelError, match="has no key"):
        check_models([name], [], [], untagged=False)
    with pytest.raises(NoModelError, match="has no key"):
        check_models(["ollama:qwen3"], [], [name], untagged=False)


def test_a_council_is_named_after_the_model_that_is_configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "config.toml").write_text('model = "ollama:qwen3"\n')
    monkeypatch.setenv("ASSAY_CONFIG_DIR", str(tmp_path))
    assert solver_of("assay/crucible") == "assay/crucible/ollama:qwen3"


@pytest.mark.parametrize("text", ["", "a", "```", "`````\n```", "~~~"])
def test_nothing_in_a_code_block_can_close_it(text: str) -> None:
    fence, *_, last = fenced(text).split("\n")
    assert fence == last and fence not in text


def test_amounts_are_written_for_people() -> None:
    assert (points(0.004), points(-0.5), dollars(None), dollars(1.5)) == ("0 pp", "−50 pp", "–", "$1.50")
