"""Scanners of a language's own over a finished project: each that is here is run; the others are called not run."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from criticality.judging.served import interpreter
from criticality.language import Fact
from criticality.project import files
from sandbox import NONE, OF_OURS, Completed, NoIsolation, Order, Root, run

#: They ask a list in the network.
ONLINE = frozenset({"pip-audit", "npm", "cargo-audit", "dependency-check"})
_LIMITS = OF_OURS.model_copy(update={"seconds": 120})
_FINDINGS = re.compile(r"\b(CVE|GHSA|CWE|PYSEC|RUSTSEC|GO)-\d|\bseverity\b", re.IGNORECASE)


def scanners(commands: Sequence[tuple[str, ...]]) -> list[Fact]:
    """Return which scanners of a language are here."""
    return [
        Fact(name, "here" if shutil.which(name) else None, f"install {name}, to have projects scanned", needed=False)
        for name, *_ in commands
    ]


async def audited(
    commands: Sequence[tuple[str, ...]], sources: Mapping[str, str], manifests: Mapping[str, str]
) -> dict[str, str]:
    """Return what each scanner says of a project, in a few words, by the scanner's name.

    Args:
        commands: programs with their arguments; they look through the folder that they run in, and end with 1
            where they have findings. One of :data:`ONLINE` asks a list in the network, and gets the manifests
            alone, which hold nothing that a model wrote; any other stands in a box.
        sources: files with the bodies of models.
        manifests: all others of the project.
    """
    results = {command[0]: "not run: not installed" for command in commands}
    for command in (one for one in commands if shutil.which(one[0])):
        with tempfile.TemporaryDirectory(prefix="criticality-", ignore_cleanup_errors=True) as name:
            online = command[0] in ONLINE
            order = _laid(command, Path(name), {**manifests, **({} if online else sources)})
            if online:
                order = replace(order, environment=os.environ)
            try:
                results[command[0]] = _words(await run(order, by=NONE if online else ""))
            except NoIsolation as fault:
                results[command[0]] = f"not run: {fault}"
    return results


def _laid(command: tuple[str, ...], folder: Path, tree: Mapping[str, str]) -> Order:
    """Lay files into a folder; return what a scanner is run in: it sees them, and what it is made of."""
    folder.chmod(0o755)
    for path, text in tree.items():
        files.write_atomic(folder / path, text, durable=False)
    # Scanners of Go ask its compiler.
    programs = [Path(at) for at in map(shutil.which, (command[0], "go")) if at]
    path = ":".join([*(str(at.parent) for at in programs), "/usr/bin:/bin"])
    beside = [place for at in programs for place in (at.parent, at.resolve().parents[1])]
    return Order(
        command, _LIMITS, str(folder), Root(whole=True), environment={"PATH": path, "HOME": "/tmp"},
        readable=(folder, *interpreter(), *beside), python=sys.executable,
    )  # fmt: skip


def _words(done: Completed) -> str:
    if done.ended:
        return f"not run: ended by its limit of {done.ended}"
    lines = [line.strip() for line in done.text.splitlines() if line.strip()]
    last = lines[-1][:160] if lines else f"exit code {done.code}"
    match done.code:
        case 0:
            return "nothing found"
        # Scanners end with the same code where they cannot reach their lists.
        case 1 if _FINDINGS.search(done.text):
            return f"findings: {last}"
        case _:
            return f"not run: {last}"
