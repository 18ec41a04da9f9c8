"""A range of Git as attachments: the diff, and each changed file around its changes, by its own line numbers."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from crucible.attaching import attachment
from crucible.material import MOST_CHARACTERS, MOST_ITEMS, Attachment, only
from crucible.reviewing import DIFF, diff_places
from llm_runtime.errors import ConfigurationError
from llm_runtime.grouping import grouped

#: Lines of a file that are shown on both sides of a change.
_AROUND = 40
_PATIENCE = 60, "install it, or pipe a diff"
_RANGE = re.compile(r"(.*?)(\.{2,3}|$)(.*)", re.DOTALL)
#: What one commit did, as against its first parent.
_OWN = re.compile(r"(.+)\^[!-]", re.DOTALL)
_WAY = "; write A..B, A^! or one revision, fetch what a shallow clone lacks, or commit first"
_DIFF = ("diff", "--no-color", "--no-ext-diff", "--no-textconv", "-M", "--src-prefix=a/", "--dst-prefix=b/")


def changed(revisions: str) -> list[Attachment]:
    """Return what a range changes.

    Args:
        revisions: ``A..B`` or ``A...B``; one revision means what was done since it parted from ``HEAD``; empty,
            what is not committed.

    Raises:
        ConfigurationError: it is no range of a repository here, or changes nothing that can be read.
    """
    left, dots, right = ends(revisions)
    root = Path(_git("rev-parse", "--show-toplevel").strip())
    diff = _git("-C", str(root), "-c", "core.quotepath=off", *_DIFF, f"{left}{dots}{right}" if right else left, "--")
    if not diff.strip():
        way = "git add what is new, or name a range, as in HEAD~3..HEAD"
        what = f"{revisions} changes nothing" if revisions else f"nothing that Git has is uncommitted; {way}"
        raise ConfigurationError(f"there is nothing to review: {what}")
    whole = [attachment(DIFF, diff)]
    touched = grouped(place[:2] for place in diff_places(whole[0].text) if place)
    room = MOST_CHARACTERS - len(diff)
    for name, lines in touched.items() if room > 0 else ():
        if (text := _after(root, right, name)) is None or len(whole) == MOST_ITEMS:
            continue
        near = {line + step for line in lines for step in range(-_AROUND, _AROUND + 1) if line + step > 0}
        one = only(attachment(name, text), near)
        if len(one.text) < room:
            room -= len(one.text)
            whole.append(one)
    return whole


def unknown() -> list[str]:
    """Return the files of the checkout that Git neither has nor ignores: no diff shows them."""
    return _git("ls-files", "--others", "--exclude-standard", "--full-name", "-z", ":/").split("\0")[:-1]


def ends(revisions: str) -> tuple[str, str, str]:
    """Return both ends of a range with the dots between them, as Git reads it; the right one is empty on disk.

    Raises:
        ConfigurationError: it is an option.
    """
    if revisions.startswith("-"):
        raise ConfigurationError(f"{revisions} is no range; write A..B, a revision, or nothing for what is uncommitted")
    if own := _OWN.fullmatch(revisions):
        return f"{own[1]}^", "..", own[1]
    left, dots, right = _RANGE.fullmatch(revisions or "HEAD..").groups()  # pyright: ignore[reportOptionalMemberAccess] - it fits any text
    return left or "HEAD", dots or "...", right or ("HEAD" if revisions else "")


def _after(root: Path, revision: str, name: str) -> str | None:
    """Return a file as it is after the change; ``None`` where it is gone, binary or no text."""
    try:
        if not revision and (root / name).is_symlink():
            return None  # what it leads to is no part of the change
        show = ("-C", str(root), "show", f"{revision}:{name}")
        data = asked_of_git(show, *_PATIENCE) if revision else (root / name).read_bytes()
        return data.decode("utf-8") if data.strip() and b"\0" not in data else None
    except (OSError, UnicodeDecodeError, ConfigurationError):
        return None


def _git(*arguments: str) -> str:
    return asked_of_git(arguments, *_PATIENCE).decode("utf-8", "replace")


def asked_of_git(
    arguments: Sequence[str], seconds: float, way_out: str, *, fine: int = 0, env: Mapping[str, str] | None = None
) -> bytes:
    """Return what Git says; an exit code up to ``fine`` is no error.

    Raises:
        ConfigurationError: it cannot be run, and ``way_out`` says what to do; or it refuses.
    """
    try:
        done = subprocess.run(("git", *arguments), capture_output=True, timeout=seconds, env=env, check=False)
    except (OSError, subprocess.TimeoutExpired) as fault:
        raise ConfigurationError(f"git cannot be run: {type(fault).__name__}; {way_out}") from None
    if not 0 <= done.returncode <= fine:
        complaint = done.stderr.decode("utf-8", "replace").strip().split("\n")[0][:200]
        way = _WAY if "bad revision" in complaint or "no merge base" in complaint else ""
        raise ConfigurationError(f"git: {complaint or f'exit code {done.returncode}'}{way}")
    return done.stdout
