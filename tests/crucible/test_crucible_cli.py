"""CR19: the specification's own chatbot, one thin file over the standard library."""

from __future__ import annotations

import ast
import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.extent import PATIENCE

import crucible.cli as cli
from crucible import EngineConfig
from llm_runtime.errors import ServerFault
from llm_runtime.testing import ScriptedModel, faulty

Make = Callable[..., Any]


@pytest.fixture
def talk(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Type lines into the chatbot; everything it printed."""

    def type_lines(model: Any, *lines: str, observability: bool = False) -> str:
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        cli.converse(EngineConfig(openrouter_api_key="unused", generate=model, observability=observability))
        return capsys.readouterr().out

    return type_lines


def test_the_conversation_of_the_specification(council: Make, configuration: Make, talk: Make) -> None:
    triages = [configuration(loop_count=4), configuration(complexity="simple", short_circuit_allowed=True)]
    model = council({"triage": triages, "synthesis": "Migrate only if...", "answer": "Paris."})

    shown = talk(
        model, "Should we migrate to microservices?", "trace on", "What's the capital of France?", "exit", "never read"
    )

    assert shown == (
        "Crucible v1.0\n"
        "Type 'exit' to quit, 'trace on/off' to toggle observability\n"
        "\n"
        "> \n"
        "[Processing... 4 loops executed]\n"
        "\n"
        "Migrate only if...\n"
        "\n"
        "> Observability enabled.\n"
        "\n"
        "> \n"
        "[Processing... short-circuited]\n"
        "\n"
        "Paris.\n"
        "\n"
        "> "
    )


def test_the_trace_is_printed_while_it_is_on(council: Make, talk: Make) -> None:
    traced = talk(council(loop_count=2), "A question", "exit", observability=True)
    silent = talk(council(loop_count=2), "trace on", "trace off", "A question")

    assert "--- Loop 2, positions changed: yes" in traced
    assert "red_team:\ncritique by 1:red_team in loop 1" in traced
    assert "Observability disabled." in silent
    assert "--- Loop" not in silent


def test_an_exception_is_printed_and_the_conversation_goes_on(council: Make, configuration: Make, talk: Make) -> None:
    model = council({"triage": ["not JSON", configuration(), configuration()]})

    shown = talk(faulty(model, {3: ServerFault("down")}), "First", "", "Second", "exit")

    assert "TriageError: triage gave no valid configuration" in shown
    assert shown.count("The answer.") == 1


def test_the_end_of_input_ends_the_conversation(council: Make, talk: Make) -> None:
    assert talk(council()).endswith("\n> ")


def test_a_model_cannot_drive_the_terminal(council: Make, talk: Make) -> None:
    shown = talk(council({"synthesis": "\x1b]52;c;ZXZpbA==\x07safe\u202e \x9b2Jtext\twith\nlines می‌روم"}), "A question")

    assert "]52;c;ZXZpbA==safe 2Jtext\twith\nlines می‌روم" in shown
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(shown)


def test_without_a_key_one_line_says_what_to_set(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("OPENROUTER_API_KEY", raising=False)

    assert cli.main([]) == 78
    assert "OPENROUTER_API_KEY" in capsys.readouterr().err


def test_the_key_and_the_flag_reach_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[EngineConfig] = []
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-or-canary")
    monkeypatch.setattr(cli, "converse", seen.append)

    assert cli.main(["-v"]) == 0
    assert (seen[0].openrouter_api_key, seen[0].observability) == ("sk-or-canary", True)


def test_an_interrupt_ends_with_its_own_code(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(config: EngineConfig) -> None:
        raise KeyboardInterrupt

    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-or-canary")
    monkeypatch.setattr(cli, "converse", interrupted)

    assert cli.main([]) == 130


@pytest.mark.skipif(sys.platform == "win32", reason="pipes break in another way there")
def test_a_reader_that_leaves_ends_it_without_a_word() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "crucible.cli"],
            input=b"exit\n",
            stdout=writing,
            stderr=subprocess.PIPE,
            env={**os.environ, "OPENROUTER_API_KEY": "sk-or-canary"},
            timeout=PATIENCE,
        )
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (cli.READER_GONE, b"")


def test_a_broken_pipe_is_no_fault_of_a_question(council: Make, talk: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(result: Any) -> None:
        raise BrokenPipeError

    monkeypatch.setattr(cli, "show", gone)
    with pytest.raises(BrokenPipeError):
        talk(council(), "A question", "exit")


def test_it_is_one_file_over_the_standard_library_and_the_public_root() -> None:
    tree = ast.parse(Path(cli.__file__).read_text(encoding="utf-8"))
    imported = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    imported |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}

    assert "crucible" in imported
    assert all(name in sys.stdlib_module_names for name in imported - {"crucible"})


def test_scripted_models_answer_the_same_engine_that_serves_openrouter(council: Make, talk: Make) -> None:
    model: ScriptedModel = council()

    talk(model, "A question", "exit")

    assert model.asked("triage")[0].messages[1].content.count("A question") == 1
