"""Scanners of a language's own over a finished project: each that is here is run; the others are called not run."""

from __future__ import annotations

import asyncio
import re
import shutil
import tempfile
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from collections.abc import Mapping, Sequence
from pathlib import Path

from criticality.language import Fact
from criticality.project import files

_LONGEST_S = 120.0
_FINDINGS = re.compile(r"\b(CVE|GHSA|CWE|PYSEC|RUSTSEC|GO)-\d|\bseverity\b", re.IGNORECASE)


def scanners(commands: Sequence[tuple[str, ...]]) -> list[Fact]:
    """Return which scanners of a language are here."""
    return [
        Fact(
            name, "here" if shutil.which(name) else None, f"install {name}, to have projects scanned", needed=False
        )
        for name, *_ in commands
    ]


async def audited(commands: Sequence[tuple[str, ...]], tree: Mapping[str, str]) -> dict[str, str]:
    """Return what each scanner says of a project, in a few words, by the scanner's name.

    Args:
        commands: programs with their arguments; they look through the folder that they run in, and end with 1
            where they have findings.
        tree: the project's files.
    """
    results = {command[0]: "not run: not installed" for command in commands}
    here = [command for command in commands if shutil.which(command[0])]
    if here:
        with tempfile.TemporaryDirectory(prefix="criticality-", ignore_cleanup_errors=True) as name:
            for path, text in tree.items():
                files.write_atomic(Path(name, path), text, durable=False)
            for command in here:
                results[command[0]] = await _words(command, name)
    return results


async def _words(command: tuple[str, ...], folder: str) -> str:
    process = await asyncio.create_subprocess_exec(*command, cwd=folder, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT)
    try:
        async with asyncio.timeout(_LONGEST_S):
            output, _ = await process.communicate()
    except TimeoutError:
        return f"not run: no answer within {_LONGEST_S:.0f} s"
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    lines = [line.strip() for line in output.decode("utf-8", "replace").splitlines() if line.strip()]
    last = lines[-1][:160] if lines else f"exit code {process.returncode}"
    match process.returncode:
        case 0:
            return "nothing found"
        # Scanners end with the same code where they cannot reach their lists.
        case 1 if _FINDINGS.search(output.decode("utf-8", "replace")):
            return f"findings: {last}"
        case _:
            return f"not run: {last}"
