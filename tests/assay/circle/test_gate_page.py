"""The examples of docs/gate.md, run as they stand there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.assay.circle.test_hostile_changes import git

from llm_runtime.testing import LoopbackServer

PAGE = (Path(__file__).parents[3] / "docs/gate.md").read_text()
ROOT = Path(__file__).parents[3]


def blocks(kind: str) -> list[str]:
    return re.findall(rf"```{kind}\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.process
async def test_the_examples_run_as_they_stand(assay: Any, server: LoopbackServer, tmp_path: Path) -> None:
    for name, text in (("suite.toml", blocks("toml")[0]), ("cases.jsonl", blocks("json")[0])):
        (tmp_path / name).write_text(text)
    (tmp_path / "policy.md").write_text(blocks("text")[0])
    online, *offline = [line for block in blocks("sh") for line in block.splitlines()]
    done = await assay(*shlex.split(online)[1:], "-q", server=server)
    assert done.code == 1 and "waiver: gate F>=0.7 holds" in done.err and "bread" not in done.err, done.err
    for words in ("init -qb main", "add suite.toml cases.jsonl policy.md assay.lock assay.signers", "commit -qm base"):
        git(tmp_path, *words.split())
    for command in offline:
        again = await assay(*shlex.split(command)[1:], "-q")
        assert again.code == 1 and "3 from the lock" in again.out, again.err
    await assay(*shlex.split(offline[1])[1:], "-q", "--summary", "s.md")
    assert "Nothing became worse" in (tmp_path / "s.md").read_text()


def test_the_page_names_what_there_is() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    (job,) = yaml.safe_load(blocks("yaml")[0])["jobs"].values()
    assert set(job["steps"][1]["with"]) <= set(action["inputs"])
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert hook["id"] in PAGE
    from assay.protocols.fire_circle.gating.suite import _File
    from assay.protocols.fire_circle.gating.targets import Target

    named = set(re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| (`.*?) \|", PAGE, re.MULTILINE))))
    assert set(_File.model_fields) <= named
    assert {line.split(" = ")[0] for line in blocks("toml")[1].splitlines()[1:]} <= set(Target.model_fields)
