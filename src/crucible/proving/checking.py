"""What a witness may say and what a fix may change, read without running anything."""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from crucible.proving.change import Change
from crucible.proving.records import Edit, Witness
from llm_runtime.errors import ConfigurationError

#: Of the standard library what only computes.
_PURE = frozenset(
    """abc array base64 bisect calendar cmath collections contextlib copy dataclasses datetime decimal difflib enum
    fractions functools heapq io itertools json math numbers operator re statistics string struct textwrap types typing
    unicodedata unittest urllib uuid zoneinfo asyncio __future__ html hashlib binascii ipaddress""".split()
)
_NO_NAMES = frozenset(
    """open exec eval compile getattr setattr delattr hasattr globals locals vars dir __import__ input breakpoint id
    memoryview exit quit help print monkeypatch mocker mock Mock MagicMock patch request pytestconfig tmp_path tmpdir
    tmp_path_factory capfd recwarn caplog attrgetter methodcaller""".split()
)
_NO_ATTRIBUTES = frozenset(
    """now today utcnow time_ns monotonic perf_counter random urandom uuid1 uuid4 getenv environ modules settrace
    getsource signature sleep urlopen request socket skip skipif xfail skipTest importorskip fail exit main usefixtures
    fromisocalendar_now MonkeyPatch fixture open read_text write_text stat skipUnless expectedFailure mock addfinalizer
    today getattr attrgetter methodcaller create_subprocess_exec create_subprocess_shell open_connection gi_frame f_back
    f_globals f_locals f_code tb_frame tb_next cr_frame ag_frame gi_code cr_code func_globals""".split()
)
_BRANCHES = (ast.If, ast.While, ast.Try, ast.IfExp, ast.Match, ast.BoolOp, ast.Global, ast.Nonlocal, ast.Delete, ast.TryStar,
             ast.NamedExpr)  # fmt: skip
_BUILT = frozenset(dir(builtins)) - _NO_NAMES
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}")
_LARGEST_FIX = 40


def complaint(change: Change, witness: Witness) -> str:
    """Return why a witness is refused by its words alone, as its prover can act on it; empty where it is not."""
    how = change.adapter
    if not witness.test.strip():
        return "there is no test; write one"
    named = [
        one
        for one in (*(f.path.rpartition("/")[2] for f in change.files), how.witness)
        if one and one in witness.test
    ]
    if named:
        return f"the test names the file {named[0]}; it may depend on no file"
    if how.name == "pytest":
        return next(_of_python(witness.test), "")
    if how.refused:
        rest = re.sub(how.imports, "", witness.test, flags=re.MULTILINE)
        if bad := re.search(how.refused, rest, re.MULTILINE):
            return f"the test says {bad[0]}; it may import what it tests and what asserts, and nothing else"
    return ""


def _of_python(test: str) -> Iterator[str]:
    try:
        tree = ast.parse(test)
    except (SyntaxError, ValueError, RecursionError) as fault:
        yield f"the test is no Python: {fault}"
        return
    yield from _top(tree)
    imported = {alias.asname or alias.name.partition(".")[0] for node in ast.walk(tree)
                if isinstance(node, ast.Import | ast.ImportFrom) for alias in node.names}  # fmt: skip
    for node in ast.walk(tree):
        line = f"line {getattr(node, 'lineno', 0)}"
        if isinstance(node, _BRANCHES):
            yield f"{line}: {type(node).__name__.lower()}: a witness goes straight on; assert one thing a line, use pytest.raises"
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from _import(node, line)
        elif isinstance(node, ast.Name | ast.arg):
            name = node.id if isinstance(node, ast.Name) else node.arg
            if name in _NO_NAMES or (name.startswith("__") and name.endswith("__")):
                yield f"{line}: {name} may not be used: no files, no reflection, no patches, no printing"
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and name in imported:
                yield f"{line}: {name} is imported and may not be given another value"
        elif isinstance(node, ast.Attribute):
            yield from _attribute(node, imported, line)
        elif isinstance(node, ast.For | ast.comprehension):
            yield from _loop(node, line)
        elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and _root(node) in imported:
            yield f"{line}: what is imported may not be changed"
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if _ADDRESS.search(node.value) or ">>>" in node.value:
                yield f"{line}: a text with an address or an example of an interpreter may not be used"
    if not any(
        isinstance(n, ast.Assert) or _calls(n, "raises", "warns", "approx") or _calls_assert(n)
        for n in ast.walk(tree)
    ):
        yield "the test asserts nothing of its own; assert what is right with a literal value"


def _top(tree: ast.Module) -> Iterator[str]:
    tests = 0
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            tests += sum(
                isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef) and n.name.startswith("test")
                for n in ast.walk(node)
            )
            decorators = [one for inner in ast.walk(node) for one in getattr(inner, "decorator_list", [])]
            if bad := next(
                (
                    one
                    for one in decorators
                    if not ast.unparse(one).startswith(("pytest.mark.", "staticmethod", "property"))
                ),
                None,
            ):
                yield f"line {bad.lineno}: {ast.unparse(bad)[:40]}: only pytest.mark.parametrize and the like may decorate"
            if (
                isinstance(node, ast.ClassDef)
                and not all(ast.unparse(one).endswith("TestCase") for one in node.bases)
                and node.name.startswith("Test")
            ):
                yield f"line {node.lineno}: a class of tests has no base but unittest.TestCase"
        elif not isinstance(node, ast.Import | ast.ImportFrom | ast.Expr | ast.Assign) or (
            not isinstance(node, ast.Import | ast.ImportFrom)
            and any(isinstance(n, ast.Call) for n in ast.walk(node))
        ):
            yield f"line {node.lineno}: outside of tests stand imports, literals and functions alone"
    if not tests:
        yield "there is no function whose name begins with test"


def _import(node: ast.Import | ast.ImportFrom, line: str) -> Iterator[str]:
    names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
    for name in names:
        top = name.partition(".")[0]
        if top in sys.stdlib_module_names and (top not in _PURE or name in ("unittest.mock", "urllib.request")):
            yield f"{line}: {name} may not be imported: no clock, chance, files, processes, network or reflection"
        if top == "_pytest" or any(part.startswith("_") and part != "__future__" for part in name.split(".")):
            yield f"{line}: {name} is private; use public names"
    for alias in node.names if isinstance(node, ast.ImportFrom) else ():
        if alias.name == "*" or alias.name in _NO_NAMES | _NO_ATTRIBUTES:
            yield f"{line}: {alias.name} may not be imported"
        if alias.name.startswith("_") and alias.name != "annotations":
            yield f"{line}: {alias.name} is private; use public names"


def _attribute(node: ast.Attribute, imported: set[str], line: str) -> Iterator[str]:
    forbidden = node.attr in _NO_ATTRIBUTES or (node.attr in sys.stdlib_module_names and node.attr not in _PURE)
    if node.attr.startswith("_") or forbidden:
        yield f"{line}: .{node.attr} may not be used: public names only, no clock, chance, file, process or reflection"
    if not isinstance(node.ctx, ast.Load) and _root(node) in imported:
        yield f"{line}: what is imported may not be changed"


def _loop(node: ast.For | ast.comprehension, line: str) -> Iterator[str]:
    if isinstance(node, ast.comprehension) and node.ifs:
        yield f"{line}: a comprehension with a condition branches"
    calls = [one for one in ast.walk(node.iter) if isinstance(one, ast.Call)]
    if isinstance(node, ast.For) and not all(isinstance(c.func, ast.Name) and c.func.id in _BUILT for c in calls):
        yield f"{line}: a loop runs over literals, not over what is tested"


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def _calls(node: ast.AST, *names: str) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in names


def _calls_assert(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr.startswith("assert")


def mended(change: Change, edits: Sequence[Edit]) -> dict[str, str]:
    """Return the files that a fix makes of the head.

    Raises:
        ConfigurationError: it does not apply; says why, for its prover.
    """
    made = {one.path: one.head for one in change.files if one.head is not None}
    if not edits:
        raise ConfigurationError("there is no fix; give the smallest edit, such as a hunk taken back")
    for edit in edits:
        if edit.path not in made:
            raise ConfigurationError(f"the fix edits {edit.path}, which is no source file of the change")
        count = made[edit.path].count(edit.old) if edit.old else 0
        if count != 1:
            raise ConfigurationError(
                f"the fix's old text stands {count} times in {edit.path}; it has to stand there once"
            )
        made[edit.path] = made[edit.path].replace(edit.old, edit.new)
    lines = sum(max(edit.old.count("\n"), edit.new.count("\n")) + 1 for edit in edits)
    if lines > _LARGEST_FIX:
        raise ConfigurationError(f"the fix is {lines} lines long; at most {_LARGEST_FIX} are allowed")
    return {path: text for path, text in made.items() if text != change.text(path)}


def bent(change: Change, witness: Witness, made: Mapping[str, str]) -> str:
    """Return why a fix is refused by its words: a public name is gone, or it knows the witness."""
    known = _literals(witness.test)
    for path, text in made.items():
        before = change.text(path) or ""
        was = next((one.base or "" for one in change.files if one.path == path), "")
        if path.endswith(".py"):
            if gone := _public(before) & _public(was) - _public(text):
                return f"with the fix {min(gone)} is gone from {path}; a fix removes no public name or parameter"
            try:
                compile(text, path, "exec", dont_inherit=True)
            except (SyntaxError, ValueError) as fault:
                return f"with the fix {path} is no Python: {fault}"
        if shared := (_literals(text) - _literals(before) - _literals(was)) & known:
            return f"the fix brings {min(shared)[:60]}, which stands in the test too; mend the cause, not the case"
        if re.search(r"PYTEST|sys\.argv|\b(pytest|_getframe|inspect)\b", "".join(_new(before, text))):
            return "the fix asks who is calling; mend the cause"
    return ""


def _new(before: str, after: str) -> list[str]:
    had = set(before.splitlines())
    return [line for line in after.splitlines() if line not in had]


def _literals(text: str) -> set[str]:
    """Return the literals of a source that are more than 0, 1, -1, 2, None, true, false and empty ones."""
    try:
        values = [node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)]
        return {
            repr(one) for one in values if one not in (0, 1, 2, "", b"", None, ...) and not isinstance(one, bool)
        }
    except (SyntaxError, ValueError, RecursionError):
        return {
            one
            for one in re.findall(r"'[^'\n]+'|\"[^\"\n]+\"|\b\d+(?:\.\d+)?\b", text)
            if one not in ("0", "1", "2")
        }


def _public(text: str) -> set[str]:
    """Return the public names of a Python text, and the parameters of its functions."""
    try:
        todo: list[tuple[str, ast.AST]] = [("", ast.parse(text))]
    except (SyntaxError, ValueError, RecursionError):
        return set()
    found: set[str] = set()
    while todo:
        prefix, parent = todo.pop()
        for node in ast.iter_child_nodes(parent):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and not node.name.startswith(
                "_"
            ):
                found.add(prefix + node.name)
                if isinstance(node, ast.ClassDef):
                    todo.append((f"{prefix}{node.name}.", node))
                else:
                    given = node.args
                    found |= {
                        f"{prefix}{node.name}({one.arg})"
                        for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)
                    }
            elif isinstance(node, ast.If | ast.Try):
                todo.append((prefix, node))
            elif isinstance(node, ast.Assign):
                found |= {
                    prefix + one.id for one in node.targets if isinstance(one, ast.Name) and one.id[:1] != "_"
                }
    return found


def examples(text: str) -> set[tuple[str, str]]:
    """Return call and answer of each example in a text: those of an interpreter, and plain assertions."""
    found: set[tuple[str, str]] = set()
    lines = text.splitlines()
    for line, after in pairwise([*lines, ""]):
        if line.lstrip().startswith(">>> ") and (
            pair := _pair(f"assert ({line.lstrip()[4:]}) == ({after.strip()})")
        ):
            found.add(pair)
    for line in lines:
        if line.lstrip().startswith(("assert ", "self.assertEqual(", "self.assertEquals(")) and (
            pair := _pair(line.strip())
        ):
            found.add(pair)
    return found


def asserted(test: str) -> set[tuple[str, str]]:
    """Return call and answer of each assertion of a witness."""
    nodes = [node for node in ast.walk(ast.parse(test)) if isinstance(node, ast.Assert | ast.Expr)]
    return {pair for node in nodes if (pair := _pair(ast.unparse(node)))}


def _pair(line: str) -> tuple[str, str] | None:
    try:
        node = ast.parse(line).body[0]
        if isinstance(node, ast.Assert) and isinstance(node.test, ast.Compare) and len(node.test.ops) == 1:
            if isinstance(node.test.ops[0], ast.Eq | ast.Is):
                left, right = node.test.left, node.test.comparators[0]
                return (_bare(left), repr(ast.literal_eval(right))) if _has_call(left) else None
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and len(node.value.args) >= 2:
            if ast.unparse(node.value.func) in ("self.assertEqual", "self.assertEquals", "self.assertIs"):
                left, right = node.value.args[:2]
                return (_bare(left), repr(ast.literal_eval(right))) if _has_call(left) else None
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        pass
    return None


def _has_call(node: ast.AST) -> bool:
    return any(isinstance(one, ast.Call) for one in ast.walk(node))


def _bare(node: ast.expr) -> str:
    """Return an expression without the modules before its names."""
    return re.sub(r"\b(?:[A-Za-z_]\w*\.)+(?=[A-Za-z_]\w*\()", "", ast.unparse(node))
