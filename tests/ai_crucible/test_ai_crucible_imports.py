"""What importing costs and needs, and how a box is described to bubblewrap."""

from __future__ import annotations

import re
import subprocess
import sys


def test_the_package_imports_without_inspect_and_says_what_is_missing() -> None:
    script = """
import sys
sys.modules["inspect_ai"] = None
import ai_crucible
from llm_runtime.errors import MissingExtraError
assert not {"aiohttp", "cryptography", "asyncio.trio"} & set(sys.modules)
try:
    ai_crucible.Workshop.at(ai_crucible.workshop.Path("nowhere")).attempts()
except MissingExtraError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert re.fullmatch(r"reading logs needs an optional part; install it with: .*\[eval\]'?", done.stdout.strip()), (
        done.stderr
    )
