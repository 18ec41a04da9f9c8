"""A change as a proof needs it: both states by their trees, hunks, what is near, and what is written of it."""

from __future__ import annotations

import ast
import difflib
import os
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

from crucible.behaviour import BEHAVIOUR
from crucible.changes import asked_of_git, ends
from crucible.proving.adapters import Adapter, adapter
from crucible.proving.records import FrozenRecord
from llm_runtime.errors import ConfigurationError

#: Characters of a file of the change, of the diff, of a file of tests, of all paragraphs; files of tests; names;
#: tests of a long module.
_FILE, _DIFFS, _TESTS, _DOCS, _NEAR, _NAMED, _SECONDS, _CHOSEN = 400_000, 800_000, 60_000, 40_000, 8, 40, 120, 60
#: Hunks are one where no more lines than these lie between them.
_APART = 3
#: In files of more lines, such as a lock of packages, lines that stand everywhere are not matched: that takes minutes.
_LONG = 2_000
_DIFF = ("diff", "--no-color", "--no-ext-diff", "--no-textconv", "-M")
#: What says of an example, or the name of its page, that it shows what was.
_DATED = re.compile(
    r"(?i)(?<![a-z])(not|never|old|version|was|were|before|formerly|deprecated|longer|previous(ly)?|earlier|until|prior|"
    r"used to|legacy|wrong|incorrect|bugs?|changelog|changes\.\w+|history|news|releases?|(migrat|upgrad)\w+)(?![a-z])"
)
_PAGES = (".md", ".rst", ".txt")
Defined: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class ChangedFile(FrozenRecord):
    """A file on both sides; ``was`` is its path on the base, and a text is ``None`` where it is not.

    ``stub`` is that of Python beside it, where it is the same on both sides.
    """

    path: str
    was: str
    base: str | None
    head: str | None
    stub: str = ""


class Hunk(FrozenRecord):
    """Lines of the base in place of which stand lines of the head; both first lines are 1-based."""

    path: str
    base_first: int
    head_first: int
    base_lines: list[str]
    head_lines: list[str]

    @property
    def last(self) -> int:
        """Its last line on the head; where it has none there, the one that follows."""
        return self.head_first + max(len(self.head_lines), 1) - 1

    def __str__(self) -> str:
        return f"{self.path}:{self.head_first}-{self.last}"


class Excerpt(FrozenRecord):
    """Words of the repository, and where they begin.

    Args:
        tests: those of a long module that name what changed, as pytest chooses them; none where all of it runs.
    """

    path: str
    line: int
    text: str
    tests: list[str] = []


class ProvenChange(FrozenRecord):
    """A change, or one state, as plain data.

    Args:
        revisions: as they were asked for.
        command: the command of the tests.
        base: the id of the tree before; ``head`` of the one after. They are the same for a single state.
        files: what changed, or where the findings are, tests left out.
        hunks: of those files.
        near: files of tests on the head, the nearest first.
        docs: paragraphs of pages on the head that name what changed.
        names: functions and classes of the hunks.
        place: where a witness is laid.
        altered: lines of tests and pages that the change brings or takes away, by their file.
    """

    revisions: str = ""
    command: str = ""
    base: str = ""
    head: str = ""
    diff: str = ""
    files: list[ChangedFile] = []
    hunks: list[Hunk] = []
    near: list[Excerpt] = []
    docs: list[Excerpt] = []
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

    def text(self, path: str) -> str:
        """Return a file of the change on the head; empty for another."""
        return next((one.head or "" for one in self.files if one.path == path), "")

    def without(self, hunk: Hunk) -> dict[str, str]:
        """Return the head's file with one hunk taken back."""
        lines, at = lines_of(self.text(hunk.path)), hunk.head_first - 1
        lines[at : at + len(hunk.head_lines)] = hunk.base_lines
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
        others = filter(None, (str((at / objects).resolve()), os.environ.get("GIT_ALTERNATE_OBJECT_DIRECTORIES")))
        self._environment |= {"GIT_INDEX_FILE": str(own / "index"), "GIT_OBJECT_DIRECTORY": str(own / "objects")}
        self._environment["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = os.pathsep.join(others)

    def __call__(self, *words: str, fine: int = 0) -> str:
        """Return what Git says; an exit code up to ``fine`` is no error."""
        command = ("-C", str(self._at), "-c", "core.quotepath=off", "-c", "core.hooksPath=/dev/null", *words)
        said = asked_of_git(command, _SECONDS, "install it", fine=fine, env=self._environment)
        return said.decode("utf-8", "replace")

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


def read_change(revisions: str, command: str, *, at: Path | None = None) -> ProvenChange:
    """Return what a range changes, with what is near it.

    Args:
        revisions: ``A..B`` or ``A...B``; one revision means what was done since it parted from ``HEAD``; empty,
            what is not committed.
        command: of the tests, as ``python -m pytest -q {file}``.
        at: a folder of the checkout; this one where left out.

    Raises:
        ConfigurationError: it is no range of a repository here, or changes nothing.
    """
    left, dots, right = ends(revisions)
    with tempfile.TemporaryDirectory(prefix="assay-git-", ignore_cleanup_errors=True) as own:
        git = Repository(at or Path.cwd(), Path(own))
        base = git.tree(left if dots == ".." else git("merge-base", "--end-of-options", left, right).strip())
        head = git.tree(right)
        diff = git(*_DIFF, base, head, "--")
        if not diff.strip():
            raise ConfigurationError(f"nothing to prove: {revisions or 'what is uncommitted'} changes nothing")
        files, hunks, altered = _listed(git, adapter(command), base, head)
        change = ProvenChange(
            revisions=revisions, command=command, base=base, head=head, diff=diff[:_DIFFS], altered=altered
        )
        return _filled(git, change, files, hunks)


_Listed: TypeAlias = tuple[list[ChangedFile], list[Hunk], dict[str, str]]


def _listed(git: Repository, how: Adapter, base: str, head: str) -> _Listed:
    """Return the sources that differ between two trees, their hunks, and lines that differ in tests and pages."""
    files, altered = list[ChangedFile](), dict[str, str]()
    listed = git(*_DIFF, "--name-status", "-z", base, head, "--")
    for was, path in re.findall(r"(?:R\d+\0([^\0]+)|[AMDT])\0([^\0]+)\0", listed):
        old = was or path
        stub = "".join(filter(None, {git.show(base, f"{old}i")} & {git.show(head, f"{path}i")}))
        one = ChangedFile(path=path, was=old, base=git.show(base, old), head=git.show(head, path), stub=stub)
        if how.is_test(path) or path.endswith(_PAGES):
            altered[path] = "".join("".join(hunk.base_lines + hunk.head_lines) for hunk in hunks(one))[:_TESTS]
        elif how.is_source(path):
            files.append(one)
    return files, [hunk for one in files if one.head is not None for hunk in hunks(one)], altered


def read_state(places: Sequence[str], command: str, *, at: Path | None = None, revision: str = "") -> ProvenChange:
    """Return one state with what is near some places in it.

    Args:
        places: as ``file:line``.
        command: of the tests.
        at: a folder of the checkout; this one where left out.
        revision: the state; what lies in the checkout where left out.

    Raises:
        ConfigurationError: there is no repository here, or no such file in it.
    """
    with tempfile.TemporaryDirectory(prefix="assay-git-", ignore_cleanup_errors=True) as own:
        git = Repository(at or Path.cwd(), Path(own))
        tree, spots = git.tree(revision), [parsed(place) for place in places]
        texts = {path: git.show(tree, path) for path, _, _ in spots}
        files = [ChangedFile(path=path, was=path, base=text, head=text) for path, text in texts.items() if text]
        if places and not files:
            raise ConfigurationError(f"{places[0]}: there is no such file in the repository")
        near = [
            Hunk(path=path, base_first=first, head_first=first, base_lines=[], head_lines=[""] * (last - first + 1))
            for path, first, last in spots if first
        ]  # fmt: skip
        change = ProvenChange(revisions=revision, command=command, base=tree, head=tree)
        return _filled(git, change, files, near).model_copy(update={"hunks": []})


def parsed(place: str) -> tuple[str, int, int]:
    """Return file, first and last line of a place; zeros where it is all of a file."""
    match = re.fullmatch(r"(.+):(\d+)(?:-(\d+))?", place)
    return (match[1], int(match[2]), int(match[3] or match[2])) if match else (place, 0, 0)


def functions(text: str) -> dict[str, Defined]:
    """Return the functions and classes of a Python text, by their qualified names."""
    marked = "" if BEHAVIOUR.before(18) else "\ufeff"
    try:
        todo: list[tuple[str, ast.AST]] = [("", ast.parse(text.removeprefix(marked)))]
    except (SyntaxError, ValueError, RecursionError):
        return {}
    found: dict[str, Defined] = {}
    for prefix, parent in todo:
        for node in ast.iter_child_nodes(parent):
            if isinstance(node, Defined):
                found[prefix + node.name] = node
                more = "." if isinstance(node, ast.ClassDef) else ".<locals>."
                todo.append((f"{prefix}{node.name}{more}", node))
            else:
                todo.append((prefix, node))
    return found


def within(text: str, first: int, last: int) -> set[str]:
    """Return the names of what some lines of a Python text lie in, or hold."""
    found = functions(text).items()
    return {name for name, node in found if node.lineno <= last and first <= (node.end_lineno or last)}


def lines_of(text: str) -> list[str]:
    """Return lines with their ends, as Git and Python count them: a form feed ends none."""
    return text.splitlines(keepends=True) if BEHAVIOUR.before(18) else re.findall(r"[^\n]*\n|[^\n]+", text)


def hunks(one: ChangedFile) -> list[Hunk]:
    """Return where the two sides of a file differ, with their lines as they end."""
    old, new = lines_of(one.base or ""), lines_of(one.head or "")
    spans: list[list[int]] = []
    for kind, *span in difflib.SequenceMatcher(None, old, new, autojunk=len(new) > _LONG).get_opcodes():
        if kind != "equal" and spans and span[2] - spans[-1][3] <= _APART:
            spans[-1] = [spans[-1][0], span[1], spans[-1][2], span[3]]
        elif kind != "equal":
            spans.append(span)
    return [
        Hunk(path=one.path, base_first=a + 1, head_first=c + 1, base_lines=old[a:b], head_lines=new[c:d])
        for a, b, c, d in spans
    ]  # fmt: skip


def _filled(git: Repository, change: ProvenChange, files: list[ChangedFile], hunks: list[Hunk]) -> ProvenChange:
    """Return a change with its files, with tests by their names and by what they name, and with pages of it."""
    how, tree = change.adapter, change.head
    texts = {one.path: one.head or "" for one in files}
    inside = (one for hunk in hunks for one in sorted(within(texts[hunk.path], hunk.head_first, hunk.last)))
    names = list(dict.fromkeys(one.rpartition(".")[2] for one in inside if not one.endswith("__")))[:_NAMED]
    stems = {Path(path).stem.strip("_") for path in texts} - {"init", "main", "index", ""}
    tests = [name for name in git("ls-tree", "-r", "-z", "--name-only", tree).split("\0") if how.is_test(name)]
    words = [word for name in (*stems, *names) for word in ("-e", name)]
    said = git("grep", "-c", "-I", "-w", "-F", *words, tree, "--", fine=1) if words else ""
    counts = {name: int(count) for name, count in re.findall(r"^\w+:(.*):(\d+)$", said, re.MULTILINE)}
    own = {name: any(stem in Path(name).stem for stem in stems) for name in tests}
    ranked = sorted((n for n in tests if own[n] or n in counts), key=lambda n: (not own[n], -counts.get(n, 0), n))
    # Helpers of tests, and nothing that names what changed, say less than any test does.
    ranked = [n for n in ranked if "test" in Path(n).name] or [n for n in tests if "test" in Path(n).name] or ranked
    near = [_near(name, git.show(tree, name) or "", {*names}) for name in ranked[:_NEAR]]
    pages = {name: git.show(tree, name) or "" for name in sorted(counts) if name.endswith(_PAGES)}
    room, docs = _DOCS, [page for name, text in pages.items() for page in _paragraphs(name, text, names)]
    kept = [one for one in docs if (room := room - len(one.text)) > 0]
    first = Path([*([] if how.beside else ranked or tests), *texts, ""][0])
    return change.model_copy(update={
        "files": files, "hunks": hunks, "names": names, "near": near, "docs": kept,
        "place": str(first.parent / how.witness.format(suffix=first.suffix)),
    })  # fmt: skip


def _near(path: str, text: str, names: set[str]) -> Excerpt:
    """Return a module of tests, with those tests of a long one in Python that name what changed."""
    defined = functions(text if len(text) > _TESTS else "")
    tests = [one for one in defined if re.fullmatch(r"(\w+\.)?test_?\w*", one)]
    about = [one for one in tests if names & {*re.findall(r"\w+", ast.unparse(defined[one]))}]
    chosen = [f"{path}::{one.replace('.', '::')}" for one in about[:_CHOSEN]]
    return Excerpt(path=path, line=1, text=text[:_TESTS], tests=chosen)


def _paragraphs(path: str, text: str, names: Sequence[str]) -> list[Excerpt]:
    found, line = list[Excerpt](), 1
    parts = re.split(r"(\n[ \t]*\n)", text)
    for at, part in enumerate(parts):
        if _DATED.search("\n".join([path, *parts[max(at - 2, 0) : at], part.partition(">>> ")[0]])):
            part = part.replace(">>> ", "")  # no example of what holds now
        if any(re.search(rf"\b{re.escape(name)}\b", part) for name in names):
            found.append(Excerpt(path=path, line=line, text=part))
        line += part.count("\n")
    return found
