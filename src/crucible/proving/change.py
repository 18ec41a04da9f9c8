"""A change as a proof needs it: both states by their trees, hunks, what is near, and what is written of it."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from crucible.proving.adapters import Adapter, adapter
from llm_runtime.errors import ConfigurationError

_SECONDS = 120
#: Characters of a file of the change; of a file of tests; of all paragraphs. Files beyond the first are left out.
_FILE, _TESTS, _DOCS = 200_000, 60_000, 40_000
_NEAR, _NAMED = 8, 40
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_DIFF = ("diff", "--no-color", "--no-ext-diff", "--no-textconv", "-M", "--src-prefix=a/", "--dst-prefix=b/")
_PAGES = ("*.md", "*.rst", "*.txt")
_Lines: TypeAlias = list[Annotated[str, Field(max_length=_FILE)]]


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class ChangedFile(_Record):
    """A file of the change on both sides; ``was`` is its path on the base, and a text is ``None`` where it is not."""

    path: str
    was: str
    base: str | None
    head: str | None


class Hunk(_Record):
    """Lines of the base in place of which stand lines of the head; both first lines are 1-based."""

    path: str
    base_first: int
    head_first: int
    base_lines: _Lines
    head_lines: _Lines

    @property
    def last(self) -> int:
        """Its last line on the head."""
        return self.head_first + max(len(self.head_lines), 1) - 1

    def __str__(self) -> str:
        return f"{self.path}:{self.head_first}-{self.last}"


class Page(_Record):
    """Words of the repository, and where they begin."""

    path: str
    line: int
    text: str


class Change(_Record):
    """A change, or one state, as plain data.

    Args:
        revisions: as they were asked for.
        command: the command of the tests.
        base: the id of the tree before; ``head`` of the one after. They are the same for a single state.
        files: what changed, or where the findings are, tests left out.
        hunks: of those files, at most three unchanged lines apart from each other.
        near: files of tests on the head, the nearest first.
        docs: paragraphs of pages on the head that name what changed.
        names: functions and classes of the hunks.
        place: where a witness is laid.
        altered: lines of tests and pages that the change brings, by their file.
    """

    revisions: str
    command: str
    base: str
    head: str
    diff: str = ""
    files: list[ChangedFile] = []
    hunks: list[Hunk] = []
    near: list[Page] = []
    docs: list[Page] = []
    names: list[str] = []
    place: str = ""
    altered: dict[str, str] = {}

    @property
    def single(self) -> bool:
        """Whether it is one state."""
        return self.base == self.head

    @property
    def adapter(self) -> Adapter:
        """How its tests are run and read."""
        return adapter(self.command)

    @property
    def alters_tests(self) -> bool:
        """Whether it changes tests."""
        return any(self.adapter.is_test(name) for name in self.altered)

    def text(self, path: str) -> str | None:
        """Return a file of the change on the head."""
        return next((one.head for one in self.files if one.path == path), None)

    def without(self, hunk: Hunk) -> dict[str, str]:
        """Return the head's file with one hunk taken back."""
        lines = (self.text(hunk.path) or "").splitlines(keepends=True)
        start = hunk.head_first - 1 + (not hunk.head_lines)
        lines[start : start + len(hunk.head_lines)] = hunk.base_lines
        return {hunk.path: "".join(lines)}


class Repository:
    """Git for a checkout. What it writes lies in a folder of its own: never the index, never an object.

    Raises:
        ConfigurationError: it is none.
    """

    def __init__(self, at: Path, own: Path) -> None:
        self._at, self._environment = at, dict(os.environ)
        top, objects = self("rev-parse", "--show-toplevel", "--git-path", "objects").splitlines()[:2]
        self._at = self.root = Path(top)
        (own / "objects").mkdir(exist_ok=True)
        more = os.environ.get("GIT_ALTERNATE_OBJECT_DIRECTORIES", "")
        self._environment |= {
            "GIT_INDEX_FILE": str(own / "index"), "GIT_OBJECT_DIRECTORY": str(own / "objects"),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": os.pathsep.join(filter(None, (str((at / objects).resolve()), more))),
            "GIT_OPTIONAL_LOCKS": "0",
        }  # fmt: skip

    def __call__(self, *words: str, fine: int = 0) -> str:
        """Return what Git says; an exit code up to ``fine`` is no error."""
        command = ("git", "-C", str(self._at), "-c", "core.quotepath=off", "-c", "core.hooksPath=/dev/null", *words)
        try:
            done = subprocess.run(
                command, capture_output=True, timeout=_SECONDS, env=self._environment, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as fault:
            raise ConfigurationError(f"git cannot be run: {type(fault).__name__}; install it") from None
        if done.returncode > fine:
            complaint = done.stderr.decode("utf-8", "replace").strip().split("\n")[0][:200]
            raise ConfigurationError(f"git: {complaint or f'exit code {done.returncode}'}")
        return done.stdout.decode("utf-8", "replace")

    def tree(self, revision: str) -> str:
        """Return the id of a revision's tree; of what lies in the checkout for an empty one."""
        if revision:
            return self("rev-parse", "--verify", "--end-of-options", f"{revision}^{{tree}}").strip()
        self("read-tree", "HEAD")
        self("add", "--all", "--ignore-errors", fine=1)
        return self("write-tree").strip()

    def show(self, tree: str, path: str) -> str | None:
        """Return a text; ``None`` where there is none, or one too long or no text."""
        try:
            text = self("cat-file", "blob", f"{tree}:{path}")
        except ConfigurationError:
            return None
        return text if "\0" not in text and "\ufffd" not in text and len(text) <= _FILE else None


@contextmanager
def repository(at: Path) -> Iterator[Repository]:
    """Give Git for a checkout, until what it wrote is thrown away."""
    with tempfile.TemporaryDirectory(prefix="assay-git-", ignore_cleanup_errors=True) as own:
        yield Repository(at, Path(own))


def read_change(revisions: str, command: str, *, at: Path | None = None) -> Change:
    """Return what a range changes, with what is near it.

    Args:
        revisions: ``A..B`` or ``A...B``; one revision means what was done since it parted from ``HEAD``; empty,
            what is not committed.
        command: of the tests, as ``python -m pytest -q {file}``.
        at: a folder of the checkout; this one where left out.

    Raises:
        ConfigurationError: it is no range of a repository here, or changes nothing.
    """
    with repository(at or Path.cwd()) as git:
        left, right = _sides(git, revisions)
        base, head = git.tree(left), git.tree(right)
        diff = git(*_DIFF, base, head, "--")
        if not diff.strip():
            raise ConfigurationError(
                f"there is nothing to prove: {revisions or 'what is uncommitted'} changes nothing"
            )
        how = adapter(command)
        narrow = _hunks(git(*_DIFF, "-U0", "--inter-hunk-context=3", base, head, "--"))
        names = {path: was for path, was, _ in narrow}
        found = [
            ChangedFile(path=path, was=was, base=git.show(base, was), head=git.show(head, path))
            for path, was in names.items() if how.is_source(path) and not how.is_test(path)
        ]  # fmt: skip
        mine = {one.path for one in found if one.head is not None}
        hunks = [hunk for _, _, hunk in narrow if hunk.path in mine]
        altered = {path: "" for path in names if how.is_test(path) or path.endswith(tuple(p[1:] for p in _PAGES))}
        for _, _, hunk in narrow:
            if hunk.path in altered:
                altered[hunk.path] += "".join(hunk.head_lines or hunk.base_lines)[:_TESTS]
        change = Change(
            revisions=revisions, command=command, base=base, head=head, diff=diff[: 4 * _FILE], files=found,
            hunks=hunks, names=_names(found, hunks), altered=altered,
        )  # fmt: skip
        return _with_what_is_near(git, change)


def read_state(places: Sequence[str], command: str, *, at: Path | None = None, revision: str = "") -> Change:
    """Return one state with what is near some places in it.

    Args:
        places: as ``file:line``.
        command: of the tests.
        at: a folder of the checkout; this one where left out.
        revision: the state; what lies in the checkout where left out.

    Raises:
        ConfigurationError: there is no repository here, or no such file in it.
    """
    with repository(at or Path.cwd()) as git:
        tree = git.tree(revision)
        spots = [parsed(place) for place in places]
        found = [
            ChangedFile(path=path, was=path, base=text, head=text)
            for path in dict.fromkeys(path for path, _, _ in spots) if (text := git.show(tree, path)) is not None
        ]  # fmt: skip
        if places and not found:
            raise ConfigurationError(f"{places[0]}: there is no such file in the repository")
        near = [
            Hunk(path=path, base_first=first, head_first=first, base_lines=[], head_lines=[""] * (last - first + 1))
            for path, first, last in spots if first
        ]  # fmt: skip
        change = Change(
            revisions=revision, command=command, base=tree, head=tree, files=found, names=_names(found, near)
        )
        return _with_what_is_near(git, change)


def parsed(place: str) -> tuple[str, int, int]:
    """Return file, first and last line of a place; zeros where it is all of a file."""
    path, _, lines = place.rpartition(":")
    first, _, last = lines.partition("-")
    return (
        (path, int(first), int(last or first))
        if path and first.isdigit() and (last or "0").isdigit()
        else (place, 0, 0)
    )


def functions(text: str) -> dict[str, tuple[int, int, str]]:
    """Return the functions and classes of a Python text: first line, last line, docstring, by qualified names."""
    try:
        todo: list[tuple[str, ast.AST]] = [("", ast.parse(text))]
    except (SyntaxError, ValueError, RecursionError):
        return {}
    found: dict[str, tuple[int, int, str]] = {}
    while todo:
        prefix, parent = todo.pop()
        for node in ast.iter_child_nodes(parent):
            inner = prefix
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                name = prefix + node.name
                first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
                found[name] = (first, node.end_lineno or first, ast.get_docstring(node, clean=False) or "")
                inner = f"{name}." if isinstance(node, ast.ClassDef) else f"{name}.<locals>."
            todo.append((inner, node))
    return found


def _sides(git: Repository, revisions: str) -> tuple[str, str]:
    if revisions.startswith("-"):
        raise ConfigurationError(
            f"{revisions} is no range; write A..B, a revision, or nothing for what is uncommitted"
        )
    if not revisions:
        return "HEAD", ""
    left, dots, right = revisions.partition("...") if "..." in revisions else revisions.partition("..")
    left, right = left or "HEAD", right or "HEAD"
    return (git("merge-base", "--", left, right).strip() if dots != ".." else left), right


def _hunks(diff: str) -> list[tuple[str, str, Hunk]]:
    """Return path, path before, and hunk, for each of a diff without context."""
    found: list[tuple[str, str, Hunk]] = []
    was = path = ""
    left = right = 0
    for line in diff.splitlines(keepends=True):
        if left <= 0 and right <= 0 and line.startswith(("--- ", "+++ ")):
            name = line[4:].rstrip("\n").split("\t")[0].strip('"')
            was, path = (name[2:], path) if line[0] == "-" else (was, was if name == "/dev/null" else name[2:])
        elif match := _HUNK.match(line):
            left, right = int(match[2] or 1), int(match[4] or 1)
            spot = Hunk(path=path, base_first=int(match[1]), head_first=int(match[3]), base_lines=[], head_lines=[])
            found.append((path, path if was == "v/null" else was, spot))
        elif left > 0 or right > 0:
            if line[0] in "- ":
                found[-1][2].base_lines.append(line[1:])
                left -= 1
            if line[0] in "+ ":
                found[-1][2].head_lines.append(line[1:])
                right -= 1
    return found


def _names(files: Sequence[ChangedFile], hunks: Sequence[Hunk]) -> list[str]:
    """Return the names of what hunks lie in."""
    found: dict[str, None] = {}
    for one in files:
        spans = functions(one.head or "")
        for hunk in (hunk for hunk in hunks if hunk.path == one.path):
            for name, (first, last, _) in spans.items():
                if first <= hunk.last and hunk.head_first <= last and not name.endswith("__"):
                    found[name.rpartition(".")[2]] = None
    return list(found)[:_NAMED]


def _with_what_is_near(git: Repository, change: Change) -> Change:
    """Return a change with its tests, by their names and by what they name, and with pages that name it."""
    how, tree = change.adapter, change.head
    stems = {Path(one.path).stem.strip("_") for one in change.files} - {"init", "main", "index"}
    listed = git("ls-tree", "-r", "-z", "--name-only", tree).split("\0")
    tests = [name for name in listed if how.is_test(name)]
    words = [word for name in (*stems, *change.names) for word in ("-e", name)]
    counts: dict[str, int] = {}
    for line in git("grep", "-c", "-I", "-w", "-F", *words, tree, "--", fine=1).splitlines() if words else ():
        name, _, count = line.partition(":")[2].rpartition(":")
        counts[name] = int(count)
    named = {name: any(stem and stem in Path(name).stem for stem in stems) for name in tests}
    ranked = sorted(
        (n for n in tests if named[n] or n in counts), key=lambda n: (not named[n], -counts.get(n, 0), n)
    )
    near = [
        Page(path=name, line=1, text=text[:_TESTS]) for name in ranked[:_NEAR] if (text := git.show(tree, name))
    ]
    docs: list[Page] = []
    for name in sorted(
        (n for n in counts if n.endswith(tuple(p[1:] for p in _PAGES))), key=lambda n: (n.count("/"), n)
    ):
        docs += _paragraphs(name, git.show(tree, name) or "", change.names)
    room = _DOCS
    kept = [one for one in docs if (room := room - len(one.text)) > 0]
    beside = (
        [one.path for one in change.files] if how.beside else ranked or tests or [one.path for one in change.files]
    )
    first = Path((beside or [""])[0])
    place = str(first.parent / how.witness.format(suffix=first.suffix))
    return change.model_copy(update={"near": near, "docs": kept, "place": place})


def _paragraphs(path: str, text: str, names: Sequence[str]) -> Iterator[Page]:
    wanted = re.compile(r"\b(?:" + "|".join(map(re.escape, names or ["(?!)"])) + r")\b")
    line = 1
    for part in re.split(r"(\n[ \t]*\n)", text):
        if wanted.search(part):
            yield Page(path=path, line=line + len(part) - len(part.lstrip("\n")), text=part)
        line += part.count("\n")
