"""What a test sees of the machine that it runs on: what it names, and nothing else."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.machine import BASE, FIXED, KEPT, SANDBOXES

from sandbox import backend

#: Programs that are on most machines on which somebody writes code.
MORE = ("make", "bash", "tar", "openssl", "node", "cc", "cargo", "psql", "ssh-agent", "bwrap", "chromium", "man")


def test_a_test_without_a_mark_finds_python_git_a_shell_and_the_core_utilities_alone() -> None:
    (folder,) = os.environ["PATH"].split(os.pathsep)
    found = {path.name for path in Path(folder).iterdir()}
    assert {"python", "python3", "git", "sh", "cat"} <= found <= {"python", "python3", *BASE.split()}
    assert [name for name in MORE if shutil.which(name)] == []


def test_python_on_the_path_is_the_one_that_runs_the_tests() -> None:
    for name in ("python", "python3"):
        shown = subprocess.run([name, "-c", "import sys; print(sys.prefix)"], capture_output=True, text=True)
        assert shown.stdout.strip() == sys.prefix


def test_no_variable_is_the_callers_and_the_home_is_empty() -> None:
    known = ["PATH", "HOME", "ASSAY_CONFIG_DIR", "ASSAY_DATA_DIR", "ASSAY_LOCAL_SERVERS", "PYTEST_CURRENT_TEST"]
    known += ["INSPECT_TRACE_FILE"]  # open from test to test, so not at home
    assert not Path(os.environ["INSPECT_TRACE_FILE"]).is_relative_to(Path.home())
    assert [name for name in os.environ if name not in (*known, *FIXED) and not name.startswith(KEPT)] == []
    assert list(Path.home().iterdir()) == []


@pytest.mark.parametrize("number", [1, 2])
def test_what_a_test_leaves_in_the_environment_or_at_home_the_next_does_not_see(number: int) -> None:
    assert "LEFT_BY_A_TEST" not in os.environ and not (Path.home() / ".left").exists()
    os.environ["LEFT_BY_A_TEST"] = str(number)
    (Path.home() / ".left/below").mkdir(parents=True)


@pytest.mark.parametrize("number", [1, 2])
def test_what_a_test_hangs_on_the_root_log_the_next_does_not_meet(number: int) -> None:
    assert all(type(handler).__module__.startswith("_pytest") for handler in logging.getLogger().handlers)
    logging.getLogger().addHandler(logging.FileHandler(Path.home() / f"{number}.log"))


@pytest.mark.needs("make")
def test_what_a_test_names_is_on_its_path_and_nothing_more_is() -> None:
    assert [name for name in MORE if shutil.which(name)] == ["make"]
    assert subprocess.run(["make", "--version"], capture_output=True, text=True).stdout.startswith("GNU Make")


@pytest.mark.box
def test_what_needs_a_box_is_run_in_each_sandbox_and_sees_no_other() -> None:
    name = os.environ["ASSAY_SANDBOX"]
    assert [one for one, (program, *_) in SANDBOXES.items() if shutil.which(program)] == [name]
    assert backend().name == name


@pytest.mark.needs("no-such-program")
def test_a_test_is_skipped_where_a_program_that_it_names_is_missing() -> None:
    pytest.fail("this program is on no machine")
