"""Whose signatures count, and what a change is measured against: always from outside the change.

One function for the command, the fixture of pytest, the hook and the action. Of a commit that the workflow names,
the base, it reads the file of allowed signers, the lock and the suite; what lies in the folder is the change's own.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from fire_circle.gates.lock import Lock, lock_of
from llm_runtime.errors import ConfigurationError
from llm_runtime.files import saying
from llm_runtime.rewording import instead, reworded
from llm_runtime.settings import data_dir
from llm_runtime.store.signing import KeySigner
from llm_runtime.structs import Struct

SIGNERS = "assay.signers"
"""The file of those whose verdicts count, a line each: a public key in hex, and whose it is."""

_KEY = re.compile(r"^[^\S\n]*+([0-9a-f]{64})\b", re.MULTILINE)
_SECONDS = 120


class Base(Struct):
    """A commit of the repository that is worked in.

    Args:
        commit: its full name.
        here: the working folder, seen from the top of the repository.
    """

    commit: str
    here: str

    @classmethod
    def of(cls, name: str) -> Base:
        """Find a commit by any name that git knows.

        Raises:
            ConfigurationError: there is none such.
        """
        refused = ConfigurationError(
            f"--baseline {name[:60]!r}: git knows no such commit here; fetch it first (git fetch origin BRANCH)"
        )
        with instead(refused, OSError, subprocess.SubprocessError):
            commit = _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}").decode()
            return cls(commit.strip(), _git("rev-parse", "--show-prefix").decode().rstrip("\n"))

    def place(self, path: Path) -> str:
        """Return a path as the repository has it; nothing on the way is followed.

        Raises:
            ConfigurationError: it lies outside the repository.
        """
        place = os.path.normpath(Path(self.here, os.path.relpath(path)))
        if place.split(os.sep, 1)[0] == "..":
            raise ConfigurationError(f"{path} lies outside the repository of the baseline; name a file within it")
        return PurePosixPath(place).as_posix()

    def text(self, place: str) -> str | None:
        """Return the text of a file; ``None`` where the commit has none."""
        try:
            return _git("show", f"{self.commit}:{place}").decode()
        except (subprocess.SubprocessError, UnicodeDecodeError):
            return None

    def near(self, path: Path, name: str) -> str:
        """Return the text of a file of this name in the folder of ``path``, or else in the next one above."""
        texts = (self.text((folder / name).as_posix()) for folder in PurePosixPath(self.place(path)).parents)
        return next((text for text in texts if text is not None), "")

    @contextmanager
    def folder(self) -> Generator[Path]:
        """Write out the whole commit for as long as the block lasts; give its working folder.

        Raises:
            ConfigurationError: git cannot.
        """
        with TemporaryDirectory(prefix="assay-base-") as aside:
            env = {**os.environ, "GIT_INDEX_FILE": str(Path(aside, "index"))}
            with reworded(f"git cannot write out the baseline {self.commit[:12]}", subprocess.SubprocessError):
                _git("read-tree", self.commit, env=env)
                _git(f"--work-tree={aside}", "checkout-index", "--all", f"--prefix={aside}/tree/", env=env)
            yield Path(aside, "tree", self.here)


class Trust(Struct):
    """What a verdict of a lock rests on: public keys in hex, and the base, where there is one."""

    keys: frozenset[str]
    base: Base | None = None

    def lock(self, path: Path, lock: Lock) -> Lock:
        """Return a lock with what the base has of it: a verdict cannot be put back to an older one.

        Raises:
            ConfigurationError: the base's is no lock.
        """
        text = self.base.text(self.base.place(path)) if self.base else None
        return lock if text is None else lock | lock_of(text, f"{path.name} of the baseline")


def signing(key: str | None = None) -> KeySigner:
    """Return who signs here: with the key in that file, or with the one in Assay's data folder."""
    return KeySigner(Path(key) if key else data_dir() / "lock.key")


def trust(
    lock: Path, own: KeySigner, environment: Mapping[str, str], baseline: str | None = None, signers: Sequence[str] = ()
) -> Trust:
    """Return whose signatures count for a lock.

    Always those of the own key and of ``signers``. With a baseline those that its file of signers names, whatever
    the folder's says; at a person's desk, without one, those that the folder's names.

    Args:
        lock: its place.
        own: the key that signs here; one that was never used counts for nothing.
        environment: tells whether this is a build; ``ASSAY_BASELINE`` and ``ASSAY_SIGNERS`` stand for what is left
            out.
        baseline: a commit.
        signers: public keys in hex, from a workflow's settings.

    Raises:
        ConfigurationError: a key is none, git does not know the commit, or a build names neither.
    """
    baseline = environment.get("ASSAY_BASELINE") or None if baseline is None else baseline
    named = signers or environment.get("ASSAY_SIGNERS", "").split()
    desk = _is_desk(environment, baseline, named)
    mine = [own.public_key.hex()] if own.exists else []
    base = None if baseline is None else Base.of(baseline)
    listed = base.near(lock, SIGNERS) if base else _near(lock) if desk else ""
    return Trust(frozenset((*_KEY.findall(listed), *named, *mine)), base)


def _is_desk(environment: Mapping[str, str], baseline: str | None, named: Sequence[str]) -> bool:
    """Return whether a person sits here; refuse a build that names neither a baseline nor keys."""
    if wrong := [key for key in named if not _KEY.fullmatch(key)]:
        raise ConfigurationError(f"--signer {wrong[0][:70]!r}: a public key is 64 hex digits")
    pulled = environment.get("GITHUB_EVENT_NAME", "").startswith("pull_request")
    build = pulled or environment.get("CI", "") not in ("", "false", "0")
    if build and baseline is None and (pulled or not named):
        raise ConfigurationError(
            "a build trusts nothing that the change brings: name the commit that it is measured against with "
            "--baseline or ASSAY_BASELINE (HEAD where everything is merged)" + ("" if pulled else ", or a --signer")
        )
    return not build


def enrol(lock: Path, own: KeySigner) -> list[str]:
    """Return what is told of an own key that does not count yet for others; the first one makes the file.

    Raises:
        ConfigurationError: the file cannot be written.
    """
    named, line = _near(lock), own.public_key.hex()
    if not named:
        with saying(f"{lock.with_name(SIGNERS)} cannot be written"):
            lock.with_name(SIGNERS).write_text(f"{line} the first developer\n", encoding="utf-8")
        return []
    told = f"your verdicts count for others once {SIGNERS} of the main branch has the line: {line} YOUR NAME"
    return [] if line in named else [told]


def _near(lock: Path) -> str:
    place = next((one for folder in lock.absolute().parents if (one := folder / SIGNERS).is_file()), None)
    return place.read_text(encoding="utf-8", errors="replace") if place else ""


def _git(*words: str, env: Mapping[str, str] | None = None) -> bytes:
    return subprocess.run(["git", *words], check=True, capture_output=True, timeout=_SECONDS, env=env).stdout
