"""The progress line: attempts, time left, tokens, cost; and how models are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.protocols.ai_crucible.commands.progress import TrialProgress
from assay.protocols.ai_crucible.events import AttemptEnded, TrialBegan
from assay.protocols.ai_crucible.report.words import dollars, signed
from assay.protocols.ai_crucible.trials import solver_of
from assay.report.clean import fenced


def test_time_left_follows_from_the_attempts_done() -> None:
    times = iter([0.0, 10.0])
    progress = TrialProgress("m", limit=2.0, quiet=True, now=lambda: next(times))
    with progress:
        progress(TrialBegan(trial="t", attempts=4, puzzles=2))
        progress(AttemptEnded(puzzle="a", passed=True, tokens=1500, cost=250_000))
        progress(AttemptEnded(puzzle="b", passed=False, tokens=1500, cost=250_000))
        assert progress.line() == "2 of 4 attempts · 1 passed · 0:10 left · 3.0k tokens · $0.5000 of $2.00"


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
def test_a_model_of_ours_is_reached_through_our_gateway_and_others_through_inspect(name: str, solver: str) -> None:
    assert solver_of(name) == solver


def test_a_package_that_inspect_lacks_is_not_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(name: str) -> None:
        return None

    monkeypatch.setattr("assay.protocols.ai_crucible.trials.find_spec", nowhere)
    assert solver_of("openai/gpt-4o") == "assay/single/openai:gpt-4o"
    assert solver_of("mockllm/model") == "mockllm/model"


def test_a_council_is_named_after_the_model_that_is_configured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config.toml").write_text('model = "ollama:qwen3"\n')
    monkeypatch.setenv("ASSAY_CONFIG_DIR", str(tmp_path))
    assert solver_of("assay/crucible") == "assay/crucible/ollama:qwen3"


@pytest.mark.parametrize("text", ["", "a", "```", "`````\n```", "~~~"])
def test_nothing_in_a_code_block_can_close_it(text: str) -> None:
    fence, *_, last = fenced(text).split("\n")
    assert fence == last and fence not in text


def test_amounts_are_written_for_people() -> None:
    assert (signed(0.004), signed(-0.5), dollars(None), dollars(1.5)) == ("0 pp", "−50 pp", "–", "$1.50")
