"""A disk that is full, fails, tears a write or loses power at any write: nothing that was on disk is lost by it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.extent import PATIENCE


@pytest.mark.needs("cc")
@pytest.mark.toolchain
@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="the disk is made of C, on Linux")
@pytest.mark.parametrize("store", ["runs", "batches"])
def test_a_fault_at_any_write_loses_nothing_that_was_on_disk(tmp_path: Path, store: str) -> None:
    library = tmp_path / "disk.so"
    source = Path(__file__).with_name("disk.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
    done = subprocess.run(
        [sys.executable, "-m", "tests.llm_runtime.store.disk_faults", store, tmp_path],
        env={**os.environ, "LD_PRELOAD": str(library)},
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        timeout=10 * PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    outcome = json.loads(done.stdout)
    assert outcome["writes"] > 15 and outcome["wrong"] == []
