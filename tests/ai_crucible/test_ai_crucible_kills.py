"""A trial that is killed before any step that it takes on the disk goes on to the same figures, attested."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.extent import kills
from tests.lazily import needs

needs("inspect_ai", reason="Inspect AI is not installed; make test installs it")

# Each sitting is a copy of one process that has loaded Inspect; PLACE and a step to die before come as lines.
SITTINGS = """
import itertools, json, os, sys
from pathlib import Path
from inspect_ai import eval_set
from inspect_ai.model import ModelAPI, ModelOutput, ModelUsage, modelapi
from ai_crucible import Workshop, trial

class Quick(ModelAPI):
    async def generate(self, input, tools, tool_choice, config):
        with (root / "asked").open("a") as file:
            file.write("x")
        output = ModelOutput.for_tool_call("quick", "submit", {"summary": "done"})
        output.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
        return output

@modelapi(name="quick")
def quick():
    return Quick

def die_before(last):
    def hook(event, arguments):
        global steps
        place, mode = (*map(str, arguments), "", "")[:2]
        ours = place.startswith((f"{root}/shop/", f"{root}/anchors/"))
        if ours and event in ("open", "os.rename", "os.truncate"):
            if not (event == "open" and mode.startswith("r")) and not place.endswith(".lock"):
                if steps == last:
                    os.kill(os.getpid(), 9)
                steps += 1
    sys.addaudithook(hook)

def sitting():
    shop = Workshop.at(root / "shop", anchors=root / "anchors")
    report = shop.run([sys.argv[1]], model="quick/model", k=2, trial="kill", at_once=1)
    figures = sorted((a.puzzle, a.epoch, a.passed, a.terminated_by, a.tool_calls) for a in report.attempts)
    return [report.status, figures, shop.verify().ok, shop.unfinished(), len((root / "asked").read_text())]

for line in sys.stdin:
    place, last = line.split()
    root, steps = Path(place), 0
    root.mkdir(exist_ok=True)
    if (child := os.fork()) == 0:
        os.dup2(2, 1)
        die_before(int(last))
        ended = sitting()
        (root / "ended").write_text(json.dumps([*ended, steps]))
        os._exit(0)
    print(os.waitpid(child, 0)[1], flush=True)
"""


@pytest.mark.long
@pytest.mark.process
@pytest.mark.usefixtures("boxes")
def test_a_trial_killed_before_any_step_on_the_disk_ends_as_if_it_had_not_been(
    tmp_path: Path, make_puzzle: Callable[..., Path]
) -> None:
    with (tmp_path / "told").open("w") as told:
        sittings = subprocess.Popen(
            [sys.executable, "-c", SITTINGS, str(make_puzzle())],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=told, text=True,
        )  # fmt: skip

    def sit(root: Path, last: int) -> int:
        assert sittings.stdin and sittings.stdout
        print(root, last, file=sittings.stdin, flush=True)
        return int(sittings.stdout.readline())

    def ended(root: Path) -> tuple[list[Any], int, int]:
        *figures, asked, steps = json.loads((root / "ended").read_text())
        return figures, asked, steps

    try:
        assert sit(tmp_path / "quiet", -1) == 0
        quiet, needed, steps = ended(tmp_path / "quiet")
        assert quiet[0] == "success" and len(quiet[1]) == needed == 2 and quiet[2:] == [True, []]
        for last in kills(range(steps)):
            root = tmp_path / f"killed-{last}"
            assert sit(root, last) == 9
            assert sit(root, -1) == 0, f"killed before step {last}: {(tmp_path / 'told').read_text()[-2000:]}"
            figures, asked, _ = ended(root)
            # An attempt that was under way may be asked once more, none that was witnessed before it.
            assert figures == quiet and needed <= asked <= needed + 1, f"killed before step {last}"
    finally:
        sittings.communicate()
