"""What a forge and pre-commit read: the action's own script is run, and SARIF keeps the rules of its schema."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.assay.circle.test_hostile_changes import git

from llm_runtime.testing import LoopbackServer

ROOT = Path(__file__).parents[3]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
HOSTILE = "As we agreed in turn 3 [click](javascript:alert(1)) and [owner](1) {0} \u200bhidden"


def action_step(name: str) -> dict[str, Any]:
    (step,) = (step for step in ACTION["runs"]["steps"] if step.get("name") == name)
    return step


def test_the_action_passes_inputs_by_the_environment_and_never_pushes() -> None:
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step.get("run", "") and "push" not in step.get("run", "")
    assert set(re.findall(r"inputs\.(\w+)", json.dumps(ACTION))) == set(ACTION["inputs"])
    assert action_step("Findings")["if"].startswith("always()")


@pytest.mark.long
@pytest.mark.process
@pytest.mark.needs("bash")
async def test_the_action_runs_the_gate_on_a_fork_without_secrets(
    assay: Any, server: LoopbackServer, models: str, tmp_path: Path, world: dict[str, str]
) -> None:
    (tmp_path / "cases.jsonl").write_text(json.dumps({"id": "a", "prompt": HOSTILE}) + "\n")
    (tmp_path / "suite.toml").write_text(f'cases = ["cases.jsonl"]\nmodels = {json.dumps(models.split(","))}\n')
    assert (await assay("circle", "gate", "suite.toml", "-q", server=server)).code == 1

    def run(**inputs: str) -> tuple[int, str]:
        names = dict.fromkeys(action_step("Gate")["env"], "")
        path = f"{Path(sys.executable).parent}:{world['PATH']}"
        places = {name: str(tmp_path / name.lower()) for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
        python = {"PYTHONPATH": os.environ["PYTHONPATH"]} if "PYTHONPATH" in os.environ else {}
        env = {**world, **names, **places, **python, "PATH": path, "RUNNER_TEMP": str(tmp_path), **inputs}
        script = action_step("Gate")["run"]
        done = subprocess.run(["bash", "-e", "-c", script], cwd=tmp_path, env=env, capture_output=True, text=True)
        return done.returncode, done.stderr

    refused = run(SUITE="suite.toml", OFFLINE="auto", FORK="true", EVENT="pull_request")
    assert refused[0] == 2 and "--baseline" in refused[1]
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "suite.toml", "cases.jsonl", "assay.lock", "assay.signers")
    git(tmp_path, "commit", "-qm", "base")
    code, words = run(SUITE="suite.toml", OFFLINE="auto", FORK="true", BUDGET="1", EVENT="push")
    assert code == 1 and "a: gate F>=0.7 holds" in words
    assert "assay.sarif" in (tmp_path / "github_output").read_text()
    assert "Gate: suite" in (tmp_path / "github_step_summary").read_text()
    assert run(SUITE="suite.toml", OFFLINE="true", ARGUMENTS="--fail-on\nF>=0.99\n")[0] == 0
    log = json.loads((tmp_path / "assay.sarif").read_text())
    check(log)


@pytest.mark.process
@pytest.mark.needs("bash")
def test_the_action_writes_one_comment_and_then_that_one_anew(tmp_path: Path, world: dict[str, str]) -> None:
    """A `gh` that keeps comments in a file stands in for the forge's."""
    (tmp_path / "bin").mkdir()
    gh, review = tmp_path / "bin" / "gh", tmp_path / "assay-review.md"
    gh.write_text(f"""#!{sys.executable}
import json, pathlib, sys
kept = pathlib.Path({str(tmp_path / "kept.json")!r})
bodies = json.loads(kept.read_text()) if kept.exists() else []
words = sys.argv[1:]
body = next((pathlib.Path(w[6:]).read_text() for w in words if w.startswith("body=@")), None)
if body is None:
    print(*[n for n, text in enumerate(bodies) if text.startswith("<!-- assay-review -->")], sep="\\n")
elif "PATCH" in words:
    bodies[int(words[words.index("PATCH") + 1].rpartition("/")[2])] = body
else:
    bodies.append(body)
kept.write_text(json.dumps(bodies))
""")
    gh.chmod(0o755)
    step = action_step("Comment")
    assert step["env"]["GH_TOKEN"] == "${{ github.token }}" and "fork" in step["if"]
    env = {**world, "PATH": f"{gh.parent}:{world['PATH']}", "RUNNER_TEMP": str(tmp_path), "COMMENTS": "c", "PLACE": "p"}

    def comment() -> list[str]:
        subprocess.run(["bash", "-e", "-c", step["run"]], env=env, check=True, capture_output=True)
        return json.loads((tmp_path / "kept.json").read_text())

    for text in ("**1 of 1 finding proved.**", "**No findings.**"):
        review.write_text(text)
        assert comment() == [f"<!-- assay-review -->\n{text}"]


def test_the_hook_of_pre_commit_asks_nobody() -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert "--offline" in hook["entry"] and hook["pass_filenames"] is False


async def test_sarif_of_a_stopped_suite_keeps_the_rules_of_its_schema(
    assay: Any, server: LoopbackServer, models: str, tmp_path: Path
) -> None:
    (tmp_path / "cases.jsonl").write_text(json.dumps({"id": "a [x](y)", "prompt": HOSTILE}) + "\n")
    (tmp_path / "suite.toml").write_text(f'cases = ["cases.jsonl"]\nmodels = {json.dumps(models.split(","))}\n')
    await assay("circle", "gate", "suite.toml", "-q", "--sarif", "s.sarif", server=server)
    log = json.loads((tmp_path / "s.sarif").read_text())
    check(log)
    (run,) = log["runs"]
    kinds = [result["ruleId"].partition("/")[2] for result in run["results"]]
    assert kinds == ["verdict", "temporal_inconsistency", "hidden_characters"]
    assert all(re.search(r"(?<!\\)\[", result["message"]["text"]) is None for result in run["results"])
    region = run["results"][1]["locations"][0]["physicalLocation"]["region"]
    assert region["startLine"] == 1 and region["endColumn"] - region["startColumn"] == len("As we agreed in turn 3")


def check(log: dict[str, Any]) -> None:
    """The rules of the official schema that concern what is written here, and those of GitHub."""
    assert log["version"] == "2.1.0" and set(log) <= {"$schema", "version", "runs"}
    (run,) = log["runs"]
    assert set(run) <= {"tool", "automationDetails", "columnKind", "invocations", "results", "artifacts"}
    assert run["automationDetails"]["id"].startswith("assay-circle/") and run["columnKind"] == "unicodeCodePoints"
    rules = run["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    for rule in rules:
        assert rule["help"]["text"] and rule["shortDescription"]["text"]
        assert 0 <= float(rule["properties"]["security-severity"]) <= 10 and "security" in rule["properties"]["tags"]
    for invocation in run["invocations"]:
        assert isinstance(invocation["executionSuccessful"], bool)
    known = {"ruleId", "message", "locations", "partialFingerprints", "kind", "level", "rank", "properties"}
    for result in run["results"]:
        assert set(result) <= known | {"relatedLocations"} and result["ruleId"] in {rule["id"] for rule in rules}
        assert result["kind"] in ("fail", "informational") and result["level"] in ("none", "warning", "error")
        assert result["message"]["text"] and re.fullmatch("[0-9a-f]{64}", result["partialFingerprints"]["assay/v1"])
        assert "primaryLocationLineHash" not in result["partialFingerprints"]
        assert -1 <= result.get("rank", -1) <= 100
        for location in (*result["locations"], *result.get("relatedLocations", ())):
            place = location["physicalLocation"]
            assert re.fullmatch(r"[A-Za-z0-9._~%/+-]+", place["artifactLocation"]["uri"])
            region = place.get("region", {})
            for name in ("startLine", "startColumn", "endLine", "endColumn"):
                assert region.get(name, 1) >= 1
            assert region.get("charOffset", 0) >= 0 and region.get("charLength", 0) >= 0
