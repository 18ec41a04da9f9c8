"""The programs of a language on this machine: where each is, of which version, and how to get it."""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import lru_cache
from pathlib import Path

from pydantic import TypeAdapter

from criticality.languages.base.data import vocabulary
from llm_runtime.errors import ConfigurationError
from llm_runtime.structs import Struct

_VERSION = re.compile(r"(?<!\d)\d+(\.\d+)+")
_ANSWER_S = 20


class Program(Struct):
    """A program that a language stands on.

    Args:
        name: as the shell finds it.
        ask: the arguments that make it say its version.
        get: how to get it, one line.
        at_least: the lowest version that will do, such as ``(20, 19)``.
        needed: whether nothing works without it.
    """

    name: str
    ask: tuple[str, ...]
    get: str
    at_least: tuple[int, ...] = ()
    needed: bool = True

    @property
    def version(self) -> str | None:
        """As the program says it; ``None`` where it is not here, does not answer, or is too old."""
        path = shutil.which(self.name)
        found = _VERSION.search(_output(path, self.ask)) if path else None
        version = found[0] if found else None
        if version is None or tuple(int(part) for part in version.split("."))[: len(self.at_least)] < self.at_least:
            return None
        return version

    def path(self) -> Path:
        """Tell where it is, links resolved.

        Raises:
            ConfigurationError: it is not here.
        """
        path = shutil.which(self.name)
        if path is None or self.version is None:
            raise ConfigurationError(f"{self.name} is not here, or too old; {self.get} (see: criticality doctor)")
        return Path(path).resolve()

    def says(self, *words: str) -> str:
        """Return what the program answers to some arguments; empty where it does not."""
        return _output(str(shutil.which(self.name) or self.name), words)


def programs(package: str) -> tuple[Program, ...]:
    """Return the programs that a language stands on, as its words have them."""
    return TypeAdapter(tuple[Program, ...]).validate_python(vocabulary(package).get("programs", ()))


def prefix(program: Path) -> Path:
    """Return the folder of an installation whose ``bin`` holds the program."""
    return program.parent.parent


@lru_cache(maxsize=64)
def _output(path: str, words: tuple[str, ...]) -> str:
    try:
        done = subprocess.run([path, *words], capture_output=True, text=True, timeout=_ANSWER_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return (done.stdout + done.stderr).strip() if done.returncode == 0 else ""
