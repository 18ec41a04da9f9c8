"""What a test of a language's tools begins with: it is skipped, with the reason, where they are not here."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from criticality.languages import language
from criticality.languages.base.toolchain.dependencies import NotInstallable

#: What runs a delivered project's tests without a network; Maven and npm fetch packages first.
RUNNERS = {
    "python": [[sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]],
    "go": [["go", "vet", "./..."], ["go", "test", "./..."]],
    "rust": [["cargo", "test", "--offline", "--quiet"]],
    "cpp": [["cmake", "-B", "build"], ["cmake", "--build", "build"], ["ctest", "--test-dir", "build"]],
}


async def require(name: str) -> None:
    """Skip the test unless a language's programs are here and its packages can be installed."""
    target = language(name)
    missing = [f"{fact.name}: {fact.get}" for fact in target.facts() if fact.needed and not fact.version]
    if missing:
        pytest.skip("; ".join(missing))
    pinned = target.tools.pinned()
    try:
        if pinned is not None:
            await pinned.ensure()
    except NotInstallable as refused:
        pytest.skip(str(refused))


async def ran(words: list[str], folder: Path, world: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a program in a folder, to its end."""
    run = partial(subprocess.run, words, cwd=folder, env=world, capture_output=True, text=True, check=False)
    return await asyncio.to_thread(run)


async def failed(name: str, root: Path) -> str:
    """Run a delivered project's own tests, and return what they say where they fail."""
    for words in RUNNERS.get(name, []):
        done = await ran(words, root)
        if done.returncode != 0:
            return f"{words}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    return ""
