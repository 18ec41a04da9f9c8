"""The attack tests hold for root, who runs this, and for an ordinary user, as whom they are run again here."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

NOBODY = 65534
TESTS = Path(__file__).parents[1]
ATTACKS = [TESTS / "ai_crucible" / "test_ai_crucible_attacks.py", TESTS / "sandbox" / "test_sandbox_escapes.py"]


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder of that user's own; pytest's are closed to others."""
    folder = Path(tempfile.mkdtemp(prefix="assay-nobody-"))
    os.chown(folder, NOBODY, NOBODY)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.needs("setpriv")
@pytest.mark.box
@pytest.mark.long
@pytest.mark.skipif(os.geteuid() != 0, reason="this is an ordinary user: the attack tests themselves are the proof")
def test_the_attack_tests_pass_as_an_ordinary_user(home: Path) -> None:
    became = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--no-new-privs"]
    # An interpreter in root's own folder is closed to others; the system's of the same version will do.
    interpreters = (sys.executable, f"/usr/bin/python{sys.version_info[0]}.{sys.version_info[1]}")

    def run(interpreter: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        path = os.pathsep.join(place for place in sys.path if place)
        environment = {"PATH": os.defpath, "HOME": str(home), "TMPDIR": str(home), "PYTHONPATH": path}
        return subprocess.run(
            [*became, interpreter, "-B", *arguments],
            capture_output=True, text=True, check=False, cwd="/", env=environment,
        )  # fmt: skip

    for interpreter in interpreters:
        seen = run(interpreter, "-c", f"import ai_crucible, pytest; open({str(ATTACKS[0])!r}).close()")
        if not seen.returncode:
            break
    else:
        reason = (seen.stderr.strip().splitlines() or ["no reason given"])[-1]
        pytest.skip(f"uid {NOBODY} cannot run this interpreter or read this checkout: {reason}")
    done = run(
        interpreter, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--rootdir={TESTS.parent}", *map(str, ATTACKS)
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    print(done.stdout.strip().splitlines()[-1])
    if not re.search(r"\d+ passed", done.stdout):
        pytest.skip(f"uid {NOBODY} gets no box here: {done.stdout.strip().splitlines()[-1]}")
