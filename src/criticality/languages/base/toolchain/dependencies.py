"""What a language's tests stand on, installed once for all projects of a user, and not fetched again after that."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

from criticality.languages.base.toolchain.workcopy import WorkCopy
from llm_runtime.errors import ConfigurationError
from llm_runtime.structs import Struct
from sandbox import NONE, OF_OURS, Order, run

_DONE = ".complete"
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class NotInstallable(ConfigurationError):
    """The packages that a language's tests stand on could not be fetched or built."""


class Pinned(Struct):
    """The pinned manifest of a language, and how it becomes a folder of the user's cache.

    Args:
        title: the language's name, for people.
        key: the language's name, for the folder.
        files: the manifest; another one is another folder.
        version: of the compiler, since what is built fits it alone.
        install: fetches and builds into a folder that holds the files.
    """

    title: str
    key: str
    files: Mapping[str, str]
    version: str
    install: Callable[[Path], Awaitable[None]]

    @property
    def folder(self) -> Path:
        """Where it is, or will be."""
        text = "\0".join([self.version, *(f"{path}\0{text}" for path, text in sorted(self.files.items()))])
        return cache_root() / f"{self.key}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"

    @property
    def there(self) -> bool:
        """Tell whether it was installed as a whole."""
        return (self.folder / _DONE).is_file()

    async def ensure(self) -> Path:
        """Return the folder, installed now where it was not; other processes that want it wait.

        Raises:
            NotInstallable: no network, or a package is not to be had.
        """
        from filelock import AsyncFileLock

        if self.there:
            return self.folder
        folder = self.folder
        folder.parent.mkdir(parents=True, exist_ok=True)
        async with AsyncFileLock(folder.with_suffix(".lock"), poll_interval=0.2):
            if not self.there:
                # Built in place: compilers write down where things were when they built them.
                shutil.rmtree(folder, ignore_errors=True)
                WorkCopy(folder).follow(self.files)
                await self._install(folder)
        return folder

    async def _install(self, folder: Path) -> None:
        try:
            await self.install(folder)
        except CommandFailed as failed:
            raise NotInstallable(
                f"what {self.title}'s tests need could not be installed ({failed}); connect to the network once, "
                "afterwards it works without"
            ) from None
        (folder / _DONE).touch()


class CommandFailed(Exception):
    """A command of an installation failed; the text is its last line."""


async def command(folder: Path, *words: str, environment: Mapping[str, str] | None = None) -> str:
    """Run a command of an installation.

    Raises:
        CommandFailed: it ended with another code than 0.
    """
    # What it installs is pinned by us, and it has to reach the index: no box.
    order = Order(words, OF_OURS, str(folder), environment=os.environ | dict(environment or {}), python=sys.executable)
    done = await run(order, by=NONE)
    if done.ended or done.code != 0:
        why = f"ended by its limit of {done.ended}" if done.ended else _telling(done.text.splitlines())
        raise CommandFailed(f"{Path(words[0]).name}: {why}")
    return done.text


def _telling(lines: Sequence[str]) -> str:
    """Return the line that says why: the first that speaks of an error, else the last."""
    filled = [text for line in lines if (text := _COLOUR.sub("", line).strip())]
    return (([line for line in filled if "error" in line.lower()] or filled[-1:] or ["no output"])[0])[:200]


def cache_root() -> Path:
    """``CRITICALITY_CACHE``, or the user's cache folder."""
    named = os.environ.get("CRITICALITY_CACHE")
    if named:
        return Path(named)
    import platformdirs

    return platformdirs.user_cache_path("assay", appauthor=False) / "toolchains"
