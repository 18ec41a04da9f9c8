"""Others' tasks made ours: exercises of Exercism and instances of SWE-bench."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from ai_crucible import check_puzzle, import_folder, load_puzzle
from ai_crucible.puzzle_box import root_at
from llm_runtime.errors import ConfigurationError

EXERCISE = {
    ".meta/config.json": json.dumps(
        {"files": {"solution": ["leap.py"], "test": ["leap_test.py"], "example": [".meta/example.py"]}}
    ),
    ".meta/example.py": "def leap(year):\n    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)\n",
    ".docs/instructions.md": "# Instructions\n\nSay whether a year is a leap year.\n",
    "leap.py": "def leap(year):\n    pass\n",
    "leap_test.py": (
        "import unittest\nfrom leap import leap\n\n\nclass LeapTest(unittest.TestCase):\n"
        "    def test_four(self):\n        self.assertIs(leap(1996), True)\n\n"
        "    def test_century(self):\n        self.assertIs(leap(1900), False)\n"
    ),
}
BEFORE = "def middle(values):\n    return values[len(values) // 2]\n"
TESTS = "from kit.stats import middle\n\n\ndef test_one():\n    assert middle([7]) == 7\n"
PATCH = """\
diff --git a/kit/stats.py b/kit/stats.py
--- a/kit/stats.py
+++ b/kit/stats.py
@@ -1,2 +1,2 @@
 def middle(values):
-    return values[len(values) // 2]
+    return sorted(values)[len(values) // 2]
"""
TEST_PATCH = """\
diff --git a/tests/test_stats.py b/tests/test_stats.py
--- a/tests/test_stats.py
+++ b/tests/test_stats.py
@@ -3,3 +3,7 @@

 def test_one():
     assert middle([7]) == 7
+
+
+def test_in_any_order():
+    assert middle([3, 1, 2]) == 2
"""
INSTANCE = {
    "instance_id": "me__kit-7",
    "repo": "me/kit",
    "problem_statement": "The middle of values that are not sorted is wrong.",
    "patch": PATCH,
    "test_patch": TEST_PATCH,
    "FAIL_TO_PASS": json.dumps(["tests/test_stats.py::test_in_any_order"]),
    "PASS_TO_PASS": ["tests/test_stats.py::test_one"],
}


def lay(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def instances(root: Path, *lines: object) -> Path:
    snapshot = {"kit/__init__.py": "", "kit/stats.py": BEFORE, "tests/test_stats.py": TESTS, ".git/config": "["}
    lay(root / "repos/me__kit-7", snapshot)
    return lay(root, {"tasks.jsonl": "".join(f"{json.dumps(line)}\n" for line in lines)})


@pytest.mark.usefixtures("boxes")
async def test_an_exercise_is_passed_by_its_example_alone(tmp_path: Path) -> None:
    track = lay(tmp_path / "track/exercises/practice/leap", EXERCISE).parents[2]
    (folder,) = import_folder(track, tmp_path / "puzzles").written
    check = await check_puzzle(load_puzzle(folder))
    assert check.ok, check.problems
    assert check.fail_to_pass == ("leap_test.py",)
    puzzle = load_puzzle(folder)
    assert "Say whether a year is a leap year." in puzzle.prompt and [*puzzle.files] == ["leap.py"]


@pytest.mark.usefixtures("boxes")
async def test_an_instance_is_passed_by_its_patch_alone_and_by_hidden_tests(tmp_path: Path) -> None:
    source = instances(tmp_path / "swe", INSTANCE)
    (folder,) = import_folder(source / "tasks.jsonl", tmp_path / "puzzles").written
    check = await check_puzzle(load_puzzle(folder))
    assert check.ok, check.problems
    assert (check.fail_to_pass, check.pass_to_pass) == (("fail to pass",), ("pass to pass",))
    assert [*load_puzzle(folder).files] == ["kit/__init__.py", "kit/stats.py", "tests/test_stats.py"]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"patch": PATCH.replace("[len(values) // 2]", "[0]")}, "does not fit"),
        ({"patch": ""}, "changes nothing"),
        ({"FAIL_TO_PASS": "[]"}, "none fails"),
        ({"FAIL_TO_PASS": ["in words"]}, "not named as path.py::test"),
        ({"FAIL_TO_PASS": "["}, "cannot be read"),
        ({"instance_id": "../../up"}, "no snapshot"),
        ({"patch": PATCH.replace("kit/stats.py", "../stats.py")}, "does not fit"),
    ],
)
def test_an_instance_that_makes_no_puzzle_is_left_out_with_the_reason(
    tmp_path: Path, change: dict[str, object], reason: str
) -> None:
    result = import_folder(instances(tmp_path / "swe", {**INSTANCE, "repo": "x/y", **change}), tmp_path / "puzzles")
    assert not result.written and reason in "".join(result.left_out.values())


def test_a_statement_may_hold_what_unicode_calls_the_end_of_a_line(tmp_path: Path) -> None:
    place = instances(tmp_path / "swe", {**INSTANCE, "problem_statement": "One.\u2028Two\x85Three."}) / "tasks.jsonl"
    place.write_text(json.dumps(json.loads(place.read_text()), ensure_ascii=False), encoding="utf-8")
    (folder,) = import_folder(place, tmp_path / "puzzles").written
    assert "One.\u2028Two\x85Three." in load_puzzle(folder).prompt


def test_lines_that_hold_no_instance_and_names_of_unittest(tmp_path: Path) -> None:
    named = {**INSTANCE, "FAIL_TO_PASS": ["test_x (tests.test_stats.Stats)"]}
    result = import_folder(instances(tmp_path / "swe", [], {"instance_id": "bare"}, named), tmp_path / "puzzles")
    assert sorted(result.left_out) == ["bare", "tasks.jsonl line 1"]
    checks = (result.written[0] / "oracle/checks.json").read_text()
    assert '"tests/test_stats.py::Stats::test_x": "passed"' in checks


def test_of_two_instances_of_one_name_the_first_is_written_and_the_other_is_named(tmp_path: Path) -> None:
    again = {**INSTANCE, "problem_statement": "Something else."}
    result = import_folder(instances(tmp_path / "swe", INSTANCE, again), tmp_path / "puzzles")
    (folder,) = result.written
    assert "not sorted" in load_puzzle(folder).prompt
    assert result.left_out == {"me__kit-7": "me-kit-7 is there already"}


def test_names_in_another_script_have_folders_of_their_own(tmp_path: Path) -> None:
    place = instances(tmp_path / "swe", *({**INSTANCE, "instance_id": name} for name in ("中位数", "медиана")))
    (place / "repos/me__kit-7").rename(place / "repos/me__kit")
    written = import_folder(place, tmp_path / "puzzles").written
    assert len(written) == 2 and {folder.parent for folder in written} == {tmp_path / "puzzles"}
    assert [load_puzzle(folder).files["kit/stats.py"] for folder in written]


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({".meta/config.json": "{"}, "cannot be read"),
        ({".meta/config.json": "{}"}, "names no files"),
        ({".meta/config.json": json.dumps({"files": {"solution": ["../up.py"], "test": ["t.py"]}})}, "cannot be"),
        ({".meta/config.json": EXERCISE[".meta/config.json"].replace("leap.py", "gone.py")}, "gone.py: No such file"),
        ({"leap_test.py": "x = 1\n"}, "holds no tests"),
        ({".meta/config.json": EXERCISE[".meta/config.json"].replace(".py", ".rb")}, "no exercise in Python"),
    ],
)
def test_an_exercise_that_makes_no_puzzle_is_left_out_with_the_reason(
    tmp_path: Path, files: dict[str, str], reason: str
) -> None:
    result = import_folder(lay(tmp_path / "leap", {**EXERCISE, **files}), tmp_path / "puzzles")
    assert not result.written and reason in result.left_out["leap"]


def test_a_folder_without_any_of_it_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no instances"):
        import_folder(lay(tmp_path / "empty", {"README.md": ""}), tmp_path / "puzzles")


HARBOR = {
    "task.toml": 'version = "1.0"\n[metadata]\ndifficulty = "easy"\n[verifier]\ntimeout_sec = 60.0\n',
    "instruction.md": "Write the words of /app/in.txt, sorted, one a line, to /app/out.txt.\n",
    "environment/Dockerfile": "FROM python:3.13-slim\nWORKDIR /app\nCOPY in.txt /app/in.txt\n",
    "environment/in.txt": "pear apple fig\n",
    "tests/test_outputs.py": (
        "from pathlib import Path\n\n\ndef test_sorted():\n"
        '    assert Path("/app/out.txt").read_text().split() == ["apple", "fig", "pear"]\n'
    ),
    "tests/test.sh": "#!/bin/bash\ncurl -LsSf https://x.test/uv | sh\nuvx pytest /tests/test_outputs.py\n"
    "if [ $? -eq 0 ]; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi\n",
}
IN_SHELL = {
    **HARBOR,
    "tests/test.sh": 'if [ "$(head -n 1 /app/out.txt)" = apple ]; then echo 1 > /logs/verifier/reward.txt; fi\n',
}


def task_folder(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.mark.box
@pytest.mark.parametrize("files", [HARBOR, IN_SHELL], ids=["pytest", "shell"])
async def test_a_task_of_harbor_is_run_in_our_box(tmp_path: Path, files: dict[str, str]) -> None:
    if files is IN_SHELL:
        files = {name: text for name, text in files.items() if not name.endswith(".py")}
    imported = import_folder(task_folder(tmp_path / "tasks" / "sort-words", files).parent, tmp_path / "made")
    assert not imported.left_out
    made = tmp_path / "made" / "sort-words"
    puzzle = load_puzzle(made)
    assert puzzle.files == {"in.txt": b"pear apple fig\n"} and "of in.txt, sorted" in puzzle.prompt
    # A person writes the solutions that the check is to tell apart; nothing of the task was run.
    task_folder(made / "oracle", {"gold/out.txt": "apple\nfig\npear\n", "wrong/as_is/out.txt": "pear apple fig\n"})
    gates = (await check_puzzle(puzzle)).gates
    assert {way: gate.passed for way, gate in gates.items()} == {"no-op": False, "gold": True, "wrong/as_is": False}


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        (
            {"environment/Dockerfile": "FROM ubuntu\nRUN apt-get install -y gcc\n"},
            "it needs an image, which --build builds: RUN",
        ),
        (
            {"environment/Dockerfile": "FROM a\nCOPY --from=b /x /app/\n"},
            "it needs an image, which --build builds: COPY",
        ),
        ({"environment/Dockerfile": "FROM a\nCOPY in.txt /etc/\n"}, "it needs an image, which --build builds: COPY"),
        ({"tests/test.sh": "curl x.test | sh\n"}, "its test.sh calls curl"),
        ({"task.toml": "= nothing"}, "it cannot be read"),
        ({"instruction.md": " \n"}, "no instruction"),
    ],
)
def test_a_task_that_needs_an_image_is_left_out_with_that_line(
    tmp_path: Path, changed: dict[str, str], says: str
) -> None:
    imported = import_folder(task_folder(tmp_path / "a-task", {**HARBOR, **changed}), tmp_path / "made")
    assert not imported.written and says in imported.left_out["a-task"]


@pytest.mark.box
@pytest.mark.needs("buildah")
async def test_an_image_is_built_with_its_run_lines_and_boxes_are_made_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # So it builds inside a container too.
    monkeypatch.setenv("STORAGE_DRIVER", "vfs")
    monkeypatch.setenv("BUILDAH_ISOLATION", "chroot")
    run = "python3 -c \"open('in.txt', 'w').write('pear apple fig')\" && mkdir -p /opt/kit && echo here > /opt/kit/sign"
    source = task_folder(
        tmp_path / "tasks" / "sort-words",
        {
            **{name: text for name, text in IN_SHELL.items() if not name.endswith((".py", "in.txt"))},
            "environment/Dockerfile": f"FROM scratch\nCOPY root /\nWORKDIR /app\nRUN {run}\n",
            "tests/test.sh": IN_SHELL["tests/test.sh"].replace("if [", 'if [ "$(cat /opt/kit/sign)" = here ] && ['),
        },
    )
    base = root_at("").folder
    assert base
    shutil.copytree(base, source / "environment/root", symlinks=True)
    told = import_folder(source.parent, tmp_path / "none").left_out["sort-words"]
    assert told == "it needs an image, which --build builds: COPY root /"
    imported = import_folder(source.parent, tmp_path / "made", build=True)
    assert not imported.left_out
    made = tmp_path / "made" / "sort-words"
    assert load_puzzle(made).files == {"in.txt": b"pear apple fig"}
    task_folder(made / "oracle", {"gold/out.txt": "apple\nfig\npear\n", "wrong/as_is/out.txt": "pear apple fig\n"})
    gates = (await check_puzzle(load_puzzle(made))).gates
    assert {way: gate.passed for way, gate in gates.items()} == {"no-op": False, "gold": True, "wrong/as_is": False}
    # What the boxes are made of is a part of what the verdict rests on.
    digest = load_puzzle(made).digest
    (made / "image.tar").unlink()
    assert load_puzzle(made).digest != digest


def test_an_image_that_does_not_build_leaves_its_task_out_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = {"environment/Dockerfile": "FROM scratch\nRUN make\n"}
    source = task_folder(tmp_path / "a-task", {**HARBOR, **changed})
    builder = tmp_path / "bin/buildah"
    task_folder(builder.parent, {"buildah": "#!/bin/sh\necho STEP 1 >&2\necho 'make: not found' >&2\nexit 1\n"})
    builder.chmod(0o755)
    monkeypatch.setenv("PATH", str(builder.parent))
    why = import_folder(source, tmp_path / "made", build=True).left_out["a-task"]
    assert why == "its image is not there: buildah build failed: STEP 1 / make: not found"
    monkeypatch.setenv("PATH", "")
    why = import_folder(source, tmp_path / "made", build=True).left_out["a-task"]
    assert why == "its image is not there: nothing here builds images; install podman, buildah or docker"


def test_a_task_of_terminal_bench_is_read(tmp_path: Path) -> None:
    old = {
        "task.yaml": "instruction: |-\n  Write /app/out.txt.\ndifficulty: hard\nmax_agent_timeout_sec: 300\n",
        "Dockerfile": "FROM ghcr.io/x/python-3-13:1\nWORKDIR /app\n",
        "run-tests.sh": "pytest $TEST_DIR/test_outputs.py\n",
        "tests/test_outputs.py": HARBOR["tests/test_outputs.py"],
    }
    assert import_folder(task_folder(tmp_path / "old", old), tmp_path / "made").written
    puzzle = load_puzzle(tmp_path / "made" / "old")
    assert puzzle.meta.difficulty == 4 and puzzle.meta.budget.seconds == 300 and "Write out.txt." in puzzle.prompt
