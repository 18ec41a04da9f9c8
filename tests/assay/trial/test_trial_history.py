"""`assay trial from-history`: tasks of one's own repository, admitted by the command, then a trial over them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.ai_crucible.test_ai_crucible_history import MORE, RIGHT, WRONG, Repository
from tests.assay.trial.test_trial_command import SUBMIT

from llm_runtime.testing import LoopbackServer, Received

Assay = Any
WEAK = MORE.replace("assertEqual(total(4), 10)", "assertGreater(total(4), 6)")


def repair(received: Received) -> str:
    arguments = {"path": "calc/sums.py", "content": RIGHT}
    write = f"```tool\n{json.dumps({'tool': 'write_file', 'arguments': arguments})}\n```"
    return SUBMIT if "<<<ASSISTANT " in received.messages[-1].content else write


@pytest.mark.long
@pytest.mark.usefixtures("boxes")
async def test_which_model_is_best_on_our_code_is_two_commands(assay: Assay, tmp_path: Path) -> None:
    own = Repository(tmp_path / "own")
    own.commit("Begin", calc__sums_py=WRONG, tests__test_sums_py="")
    own.commit("Let n itself count as well", calc__sums_py=RIGHT, tests__test_sums_py=WEAK)
    own.commit("Forget that n counts", calc__sums_py=WRONG, tests__test_other_py="def test_nothing():\n    pass\n")
    own.commit("Let n itself count, and see that it does", calc__sums_py=RIGHT, tests__test_sums_py=MORE)
    done = await assay("trial", "from-history", "own", "tasks", "--origin", "sums")
    assert done.code == 0, done.out + done.err
    head, *rows, last = done.out.splitlines()
    assert head.split() == ["commit", "mutants", "refused", "cheats", "refused", "task"]
    assert last == "1 task written to tasks, 2 commits left out"
    assert rows[0].split()[-1].startswith("sums-") and rows[0].count(" of ") == 2
    assert "left out: no test of 1 fails before it" in rows[1]
    assert "left out: its checks refuse" in rows[2] and "mutants of the gold, below 80%" in rows[2]
    assert done.err.startswith("then: assay trial run tasks --model MODEL")
    async with LoopbackServer(repair) as server:
        ran = await assay("trial", "run", "tasks", "--model", f"{server.url}/v1#tiny", "--k", "1", "-q")
    assert ran.code == 0 and "1 of 1 attempts passed" in ran.out, ran.out + ran.err
    none = await assay("trial", "from-history", "own", "tasks", "--origin", "sums", "--look", "1")
    assert none.code == 1 and "0 tasks written" in none.out
    one = await assay("trial", "from-history", "own", "tasks", "--origin", "sums", "--look", "1", "--json")
    (commit,) = json.loads(one.out)["commits"]
    assert one.code == 1 and commit["why"] == "it is there already" and commit["commit"]["tests"]
