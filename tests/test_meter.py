"""What a test may take of a processor is measured, in its own process and in those that it starts."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

_CONFTEST = """
from tests.meter import Meter

def pytest_configure(config):
    config.addinivalue_line("markers", "long: takes seconds")
    config.addinivalue_line("markers", "slow: takes half of them")
    config.pluginmanager.register(Meter("costs.txt", bound=0.04))
"""
_TESTS = """
import subprocess, sys, time
import pytest

WORK = "sum(number * number for number in range(2_500_000))"

@pytest.fixture(scope="module")
def made_once(): exec(WORK)

def test_quick(made_once): pass
def test_waits(): time.sleep(0.5)
def test_works(): exec(WORK)
def test_starts_what_works(): subprocess.run([sys.executable, "-c", WORK])
@pytest.mark.long
def test_says_so(): subprocess.run([sys.executable, "-c", WORK])
"""


@pytest.fixture
def weighed(tmp_path: Path) -> str:
    (tmp_path / "conftest.py").write_text(_CONFTEST)
    (tmp_path / "test_some.py").write_text(_TESTS)
    place = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), "."],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": place, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        **{"cwd": tmp_path, "capture_output": True, "text": True},
    )
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


def test_what_works_too_long_fails_and_what_waits_or_says_so_does_not(weighed: str, tmp_path: Path) -> None:
    failed = re.findall(r"^FAILED test_some\.py::(\w+)", weighed, re.MULTILINE)
    assert failed == ["test_works", "test_starts_what_works"] and "3 passed" in weighed
    assert re.search(r"it takes \d\.\d s of a processor", weighed)
    dearest = [line for line in (tmp_path / "costs.txt").read_text().splitlines() if "::" in line][:4]
    assert all(float(line.split()[0]) > 0.05 for line in dearest)
    assert {line.split("::")[1] for line in dearest} == {
        *("test_works", "test_starts_what_works", "test_says_so", "test_quick (shared)")
    }


def test_what_is_called_slow_is_there() -> None:
    tests = Path(__file__).parent
    for name in (tests / "slow.txt").read_text("utf-8").splitlines():
        path, test = name.split("[")[0].split("::")[:2]
        assert test in (tests.parent / path).read_text("utf-8"), f"{name}: write them by make test-cost"
