"""What an earlier public attempt at this design got wrong, each fault by name, so that it does not come back."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.ai_crucible.scripted import scripted_solver

from ai_crucible import Ledger, SealedGrader, Signer, load_puzzle, run_attempt, run_pass_hat_k
from ai_crucible.events import TrialPlanned
from ai_crucible.types import AttemptState


@pytest.mark.box
def test_it_imported_one_class_of_inspect_and_wrote_the_rest_anew() -> None:
    pytest.importorskip("inspect_ai", reason="Inspect AI is not installed; make test installs it")
    from inspect_ai import Task
    from inspect_ai.scorer import Scorer
    from inspect_ai.util import SandboxEnvironment, registry_info

    import ai_crucible
    from ai_crucible.inspect_sandbox import BwrapSandbox
    from ai_crucible.trial import trial

    # What a trial is made of is Inspect's own: the task, its parts by their registered names, the box.
    task = trial("off-by-one-total", k=3)
    assert isinstance(task, Task) and issubclass(BwrapSandbox, SandboxEnvironment)
    assert isinstance(task.scorer, list) and isinstance(task.scorer[0], Scorer)
    assert task.epochs == 3 and task.epochs_reducer is not None
    assert {registry_info(part).type for part in (*task.scorer, *task.epochs_reducer, task.solver)} == {
        "scorer", "score_reducer", "solver",
    }  # fmt: skip
    # And what Inspect does, it does: none of this is in a module of ours under another name.
    root = Path(str(ai_crucible.__file__)).parent
    names = {
        alias.name
        for file in root.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "inspect_ai"
        for alias in node.names
    }
    assert names >= {
        "Epochs", "MemoryDataset", "Sample", "SandboxEnvironment", "Task", "accuracy", "eval_set", "execute_tools",
        "get_model", "mean", "pass_at", "pass_k", "read_eval_log", "scorer", "solver", "task", "transcript",
    }  # fmt: skip


@pytest.mark.usefixtures("boxes")
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_the_log_failed_inspects_own_reader_with_thirteen_errors(tmp_path: Path) -> None:
    inspect_ai = pytest.importorskip("inspect_ai", reason="Inspect AI is not installed; make test installs it")
    from inspect_ai.log import EvalLog, read_eval_log
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    from ai_crucible.trial import trial

    def answer(*_: object) -> ModelOutput:
        output = ModelOutput.for_tool_call("mockllm", "submit", {"summary": "done"})
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

    solver = get_model("mockllm/model", custom_outputs=answer)
    (log,) = inspect_ai.eval(trial("off-by-one-total"), model=solver, log_dir=str(tmp_path), display="none")
    read = read_eval_log(log.location)
    assert read.status == "success" and read.samples
    # What Inspect reads, it can write and read again: every field is of its own types.
    assert EvalLog.model_validate_json(read.model_dump_json()).samples


@pytest.mark.usefixtures("boxes")
async def test_the_solver_read_the_sealed_oracle_and_the_gate_passed(make_puzzle: Callable[..., Path]) -> None:
    folder = make_puzzle()
    gold = folder / "oracle/gold/total.py"
    copy = f"cp {gold} total.py || cp ../oracle/gold/total.py total.py || cp /oracle/gold/total.py total.py"
    cheat = scripted_solver(("exec", {"argv": ["sh", "-c", copy]}))
    state = await run_attempt(load_puzzle(folder), cheat, SealedGrader())
    assert "solved" in state.scores["oracle"].failed


@pytest.mark.usefixtures("boxes")
async def test_no_regression_was_hard_coded_true(make_puzzle: Callable[..., Path]) -> None:
    broken = "def total(n):\n    if n == 0:\n        raise ValueError\n    return n * (n + 1) // 2\n"
    solver = scripted_solver(("write_file", {"path": "total.py", "content": broken}))
    state = await run_attempt(load_puzzle(make_puzzle()), solver, SealedGrader())
    assert state.scores["verdict"].solved
    assert state.scores["oracle"].failed == ("no_regression", "quality")


@pytest.mark.usefixtures("boxes")
async def test_all_trials_shared_one_working_directory(make_puzzle: Callable[..., Path]) -> None:
    puzzle, grader = load_puzzle(make_puzzle()), SealedGrader()
    good = "def total(n):\n    return n * (n + 1) // 2\n"

    async def attempt(number: int) -> AttemptState:
        # Only the first solves anything; the others would inherit its work from a shared folder.
        steps = [("write_file", {"path": "total.py", "content": good})] if number == 1 else []
        return await run_attempt(puzzle, scripted_solver(*steps), grader)

    states = await run_pass_hat_k(3, attempt)
    assert [state.scores["oracle"].passed for state in states] == [True, False, False]


def test_the_hash_chain_verified_after_truncation(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "l.jsonl", tmp_path / "anchors", Signer.built_in(tmp_path / "key"), lambda: 1)
    ledger.append([TrialPlanned(trial=str(n), puzzles={}, model="m", k=1) for n in range(5)])
    whole = ledger.path.read_bytes().splitlines(keepends=True)
    for length in range(5):
        ledger.path.write_bytes(b"".join(whole[:length]))
        assert not ledger.verify().ok
