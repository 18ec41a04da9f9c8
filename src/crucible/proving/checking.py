"""What a witness may say, what a fix may change, and which examples it repeats, read without running anything."""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise, product

from pydantic import BaseModel, Field

from crucible.behaviour import BEHAVIOUR
from crucible.proving.change import ProvenChange, functions
from crucible.proving.records import Edit, Witness
from llm_runtime.toml import own_table

_LARGEST_FIX = 40
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,}|>>>|__\w+__")
_WITH = re.compile(r"with (pytest|self)\.(raises|warns|assertRaises\w*|subTest)\(")
_ASKS_WHO = re.compile(r"PYTEST|sys\.argv|\b(?:pytest|_getframe|inspect|traceback)\b")


class _Law(BaseModel):
    of: str
    holds: list[str]
    then: list[str]
    needs: str = ".*"
    unless: str = "(?!)"
    denied: str = ""
    given: str = ""
    promised: str = Field(alias="as", default="")


class _Words(BaseModel):
    names: str
    bare: str
    allowed: str
    changing: str
    pure: str
    marks: str
    loud: str
    limits: str
    excludes: str
    narrows: str
    promised: dict[str, str]
    laws: dict[str, str]
    own: str
    asks_kind: str
    posed: dict[str, _Law]
    annotated: dict[str, dict[str, str]]


@cache
def words() -> _Words:
    """Return what a witness may not say, and what annotations promise."""
    return _Words.model_validate(own_table("crucible.proving", "words.toml"))


def complaint(change: ProvenChange, witness: Witness) -> str:
    """Return why a witness is refused by its words alone, as its prover can act on it; empty where it is not."""
    how, test = change.adapter, witness.test
    names = [path.rpartition("/")[2] for path in (*(one.path for one in change.files), change.place)]
    bare = re.sub(how.imports, "", test, flags=re.MULTILINE)
    if named := next((name for name in names if name in (test if BEHAVIOUR.before(18) else bare)), ""):
        return f"the test names the file {named}; it may depend on no file"
    if how.name == "pytest":
        return next(_of_python(test), "")
    bad = re.search(how.refused, bare, re.MULTILINE)
    return f"the test says {bad[0]}; it may import what it tests and what asserts, no more" if bad else ""


def _of_python(test: str) -> Iterator[str]:
    try:
        tree = ast.parse(test)
    except (SyntaxError, ValueError, RecursionError) as fault:
        yield f"the test is no Python: {fault}"
        return
    nodes = list(ast.walk(tree))
    imported = {(one.asname or one.name).partition(".")[0] for one in nodes if isinstance(one, ast.alias)} - {"pytest"}
    for node, rule in product(nodes, _RULES):
        if why := rule(node, imported):
            yield f"line {getattr(node, 'lineno', 0)}: {why}"
    if _calls_outside(tree):
        yield "outside of tests stand imports, literals and functions alone"
    if not re.search(r"\bdef test", test) or not re.search(r"\bassert|\.raises\(|\.warns\(", test):
        yield "there is no function named test that asserts what is right; assert it with a literal value"


def _calls_outside(tree: ast.Module) -> bool:
    tops = [one for one in tree.body if isinstance(one, ast.Assign | ast.Expr | ast.With | ast.For | ast.Assert)]
    return any(isinstance(node, ast.Call) for one in tops for node in ast.walk(one))


def _kind(node: ast.AST, imported: set[str]) -> str:
    name = type(node).__name__
    return "" if name in words().allowed.split() else f"{name}: a witness goes straight on: one assertion a line"


def _name(node: ast.AST, imported: set[str]) -> str:
    said, told = _says(node), words()
    if isinstance(node, ast.Import | ast.ImportFrom) and said[0] in sys.stdlib_module_names:
        said = said if said[0] in told.pure.split() else [f"_{said[0]}"]
    kept = isinstance(node, ast.Attribute | ast.keyword) and not BEHAVIOUR.before(19)
    named = {*told.names.split()} - {*told.bare.split() * kept}
    bad = [one for one in said if one in named or (one[:1] == "_" and one not in ("_", "__future__"))]
    return f"{bad[0]} may not be used: no file, clock, chance, process, patch, private name" if bad else ""


def _change(node: ast.AST, imported: set[str]) -> str:
    match node:
        case ast.Assign(value=(ast.Name() | ast.Attribute()) as one):
            bad = BEHAVIOUR.before(14) or not any(isinstance(part, ast.Call) for part in ast.walk(one))
        case ast.Name(ctx=ast.Store(), id=name) if name in dir(builtins):
            return f"{name} is Python's own name and may not be given to another"
        case ast.Name(ctx=ast.Store()) | ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()) as one:
            bad = True
        case ast.Attribute(attr=name) as one:
            bad = name in words().changing.split()
        case _:
            return ""
    return "what is imported may not be changed or renamed" if bad and _root(one) in imported else ""


def _course(node: ast.AST, imported: set[str]) -> str:
    match node:
        case ast.For():
            calls = {_root(one) for one in ast.walk(node.iter) if isinstance(one, ast.Call)}
            return "" if calls <= {*dir(builtins)} else "a loop runs over literals, not over what is tested"
        case ast.comprehension(ifs=[_, *_]):
            return "a comprehension with a condition branches"
        case ast.With() if not _WITH.match(ast.unparse(node)):
            return "with: pytest.raises and the like; nothing else may surround what is tested"
        case ast.Attribute(value=ast.Attribute(attr="mark")) if node.attr not in words().marks.split():
            return f"pytest.mark.{node.attr} may not be used; a mark changes the surroundings"
        case ast.Constant(value=str(text)) if _ADDRESS.search(text):
            return "a text with an address, a prompt or a name of Python's own may not be used"
        case _:
            return ""


_RULES = (_kind, _name, _change, _course)


def _says(node: ast.AST) -> list[str]:
    """Return the names that a node says."""
    match node:
        case ast.Name(id=name) | ast.arg(arg=name) | ast.Attribute(attr=name) | ast.keyword(arg=str(name)):
            return [name]
        case ast.Import(names=names):
            return [part for alias in names for part in alias.name.split(".")]
        case ast.ImportFrom(module=module, names=names):
            return [*(module or "_").split("."), *(alias.name for alias in names)]
        case _:
            return []


def _root(node: ast.AST) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def mended(change: ProvenChange, edits: Sequence[Edit]) -> tuple[dict[str, str], str]:
    """Return the files that a fix makes of the head, and why it does not apply; empty where it does."""
    made = {one.path: one.head for one in change.files if one.head is not None}
    if not edits:
        return {}, "there is no fix; give the smallest edit, such as a hunk taken back"
    for edit in edits:
        count, text = edit.on(made.get(edit.path, "\0"))
        if count != 1:
            return {}, f"the fix's old text stands {count} times in {edit.path} of the change; it has to once"
        made[edit.path] = text
    if sum(max(edit.old.count("\n"), edit.new.count("\n")) + 1 for edit in edits) > _LARGEST_FIX:
        return {}, f"the fix is longer than {_LARGEST_FIX} lines"
    return {path: text for path, text in made.items() if text != change.text(path)}, ""


def bent(change: ProvenChange, witness: Witness, made: Mapping[str, str]) -> str:
    """Return why a fix is refused by its words: a public name is gone, or it knows the witness."""
    for path, text in made.items():
        before = change.text(path)
        was = next((one.base or "" for one in change.files if one.path == path), "")
        if gone := _public(before) & _public(was) - _public(text):
            return f"with the fix {min(gone)} is gone from {path}; a fix removes no public name or parameter"
        if shared := (_literals(text) - _literals(before) - _literals(was)) & _literals(witness.test):
            return f"the fix brings {min(shared)[:60]}, which stands in the test too; mend the cause, not the case"
        if {*_ASKS_WHO.findall(text)} - {*_ASKS_WHO.findall(before)}:
            return "the fix asks who is calling; mend the cause"
    return ""


def _literals(text: str) -> set[str]:
    """Return the literals of a source that are more than 0, 1, 2 and empty ones."""
    found = re.findall(r"'([^'\n]+)'|\"([^\"\n]+)\"|\b(\d+(?:\.\d+)?)\b", text)
    return {"".join(one) for one in found} - {"0", "1", "2"}


def _public(text: str) -> set[str]:
    """Return the public names of a Python text, and the parameters of its functions."""
    found = {name: node for name, node in functions(text).items() if not re.search(r"(^|\.)_[^_]|<", name)}
    return {*found} | {f"{name}({one})" for name, node in found.items() for one in parameters(node)}


def parameters(node: ast.AST | None) -> dict[str, str]:
    """Return the parameters of a function with what annotates them; none of what is no function."""
    given = getattr(node, "args", ast.arguments([], [], None, [], [], None, []))
    listed = [*given.posonlyargs, *given.args, *given.kwonlyargs, *filter(None, (given.vararg, given.kwarg))]
    return {one.arg: ast.unparse(one.annotation) if one.annotation else "" for one in listed}


def annotated(change: ProvenChange, key: str) -> tuple[str, str]:
    """Return what annotates an argument, by the probe's name for it, on the base and on the head, or in the stub."""
    path, name, given = re.findall(r"\A([^:]*+):(.*)\(([^()]*)\)", key)[0]
    texts = next(((one.base, one.head, one.stub) for one in change.files if one.path == path), ("", "", ""))
    base, head, stub = (parameters(functions(text or "").get(name)).get(given, "") for text in texts)
    return (base, head) if BEHAVIOUR.before(16) else (base or stub, head or stub)


def examples(text: str) -> set[tuple[str, str]]:
    """Return call and answer of each example in a text: those of an interpreter, and plain assertions."""
    lines = [line.strip() for line in text.splitlines()]
    shown = [f"assert ({line[4:]}) == ({after})" for line, after in pairwise([*lines, ""]) if line.startswith(">>> ")]
    return {pair for line in (*lines, *shown) if line.startswith(("assert", "self.assert")) and (pair := _pair(line))}


def _pair(line: str) -> tuple[str, str] | None:
    """Return call and answer of an assertion, without the modules before its names."""
    try:
        match ast.parse(line).body[0]:
            case ast.Assert(test=ast.Compare(left=left, ops=[ast.Eq() | ast.Is()], comparators=[right])):
                pass
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr="assertEqual" | "assertIs"), args=[left, right, *_])):
                pass
            case _:
                return None
        call = re.sub(r"\b(?<!\w\.)(?:[A-Za-z_]\w*+\.)++(?=[A-Za-z_]\w*+\()", "", ast.unparse(left))
        return (call, repr(ast.literal_eval(right))) if "(" in call else None
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError, IndexError):
        return None
