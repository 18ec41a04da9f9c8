"""The predicates of contracts and claims: a small, closed subset of Python expressions with ``implies``.

Beyond Python: ``A implies B``, ``old(e)`` (``e`` before the call), ``result``, ``raises(E)``, ``raises(E) only if
A`` and ``matches(text, "form")``: the whole text is of the form, a regular expression in ASCII. What is not an
expression at all is prose: kept, shown to models, and counted as not checkable. An expression with a name that
nobody defined is a fault, because it was meant to be checked.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Mapping
from functools import lru_cache

from llm_runtime.structs import Struct
from llm_runtime.toml import own_table

MAX_LENGTH = 500
MAX_DEPTH = 24
_GRAMMAR = own_table("criticality", "spec/grammar.toml")
#: Functions of the language that a predicate may call.
BUILTINS = frozenset(_GRAMMAR["functions"])
#: What an expression may be made of.
ALLOWED: tuple[type[ast.AST], ...] = tuple(getattr(ast, name) for name in _GRAMMAR["nodes"])
#: What bounds an operand of ``implies``; a text in quotes is one piece, whatever it holds.
_MARKS = re.compile(r"""('(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|\bimplies\b|\bfor\b|\blambda\b[^:]*:|[(){}\[\],])""")


#: What a form cannot hold, since it is of the whole text and means the same in every language.
_BEYOND = re.compile(r"\(\?(?!:)|\\[1-9bBAZ]|(?<![\\\[])[\^$]")
_ONLY_IF = re.compile(r"(raises\(\w+\)) only if (.+)\Z")
#: A text in quotes, which an apostrophe within a word does not begin.
_QUOTED = re.compile(r"""(?s)((?:(?<!\w)[rR]|(?<!\w))(?:'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"))""")


class PredicateFault(ValueError):
    """A predicate that was meant to be checked cannot be; one line says why."""


class Predicate(Struct):
    """A parsed predicate.

    Args:
        text: as written.
        code: a Python expression with ``implies`` resolved and each ``old(e)`` replaced by a name; empty for prose.
        olds: the expressions to evaluate before the call, by the name that stands for them.
        names: free names, without those of ``olds``' own making.
        calls: names that are called, without the language's own functions.
        raised: the errors that ``raises(...)`` names.
        when: of ``A implies B``, the code of ``A`` where it speaks of no result and no error; else empty.
    """

    text: str
    code: str = ""
    olds: tuple[tuple[str, str], ...] = ()
    names: frozenset[str] = frozenset()
    calls: frozenset[str] = frozenset()
    raised: frozenset[str] = frozenset()
    when: str = ""

    @property
    def checkable(self) -> bool:
        """Tell whether a test can evaluate it."""
        return bool(self.code)


def one_line(text: str) -> str:
    """Return a clause in one line; blanks come down to one where they stand in no text in quotes."""
    parts = [re.sub(r"\s+", " ", part) for part in _QUOTED.split(text)]
    parts[1::2] = [part.replace("\n", "\\n").replace("\t", "\\t") for part in _QUOTED.findall(text)]
    return "".join(parts).strip()


def parse_predicate(text: str, *, known: Collection[str] | None = None) -> Predicate:
    """Read a predicate; prose comes back without code.

    Args:
        text: one line.
        known: names that it may use besides the language's own; ``None`` leaves names unchecked.

    Raises:
        PredicateFault: too long, nested too deep, a construct outside the subset, or an unknown name.
    """
    return _parsed(text, None if known is None else frozenset(known))


@lru_cache(maxsize=1024)
def _parsed(text: str, known: frozenset[str] | None) -> Predicate:
    text = one_line(text)
    if not text:
        raise PredicateFault("the predicate is empty")
    if len(text) > MAX_LENGTH:
        raise PredicateFault(f"the predicate is longer than {MAX_LENGTH} characters")
    tree = _expression(text)
    if tree is None:
        return Predicate(text)
    _check(tree)
    free = free_names(tree.body) - BUILTINS
    if known is not None:
        unknown = sorted(free - known - {"old", "raises", "result"})
        if unknown:
            raise PredicateFault(f"{text!r} uses {', '.join(unknown)}, which nothing defines")
    calls = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    rewriter = _Rewriter()
    body = ast.fix_missing_locations(rewriter.visit(tree.body))
    return Predicate(
        text=text,
        code=ast.unparse(body),
        olds=tuple(rewriter.olds),
        names=frozenset(free - {"old", "raises"} - rewriter.raised),
        calls=frozenset(calls - BUILTINS - {"old", "raises"}),
        raised=frozenset(rewriter.raised),
        when=_antecedent(body),
    )


def renamed(code: str, names: Mapping[str, str]) -> str:
    """Return an expression with other names in the place of free ones."""
    tree = ast.parse(code, mode="eval")
    free = free_names(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in free:
            node.id = names.get(node.id, node.id)
    return ast.unparse(tree)


def _antecedent(body: ast.expr) -> str:
    """Return ``A`` of ``(not A) or B``, which is how an implication was written above."""
    if isinstance(body, ast.BoolOp) and isinstance(body.op, ast.Or) and len(body.values) == 2:
        first = body.values[0]
        names = {node.id for node in ast.walk(first) if isinstance(node, ast.Name)}
        if isinstance(first, ast.UnaryOp) and isinstance(first.op, ast.Not) and not names & {"result", "raises"}:
            return ast.unparse(first.operand)
    return ""


def _expression(text: str) -> ast.Expression | None:
    """Return the tree; ``None`` for prose. ``implies`` binds weakest and to the right."""
    try:
        return ast.parse(_without_implies(_ONLY_IF.sub(r"\1 implies (\2)", text)), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _without_implies(text: str) -> str:
    """Write each ``A implies B`` as ``(not (A)) or (B)``.

    It reaches as far as its brackets do, and inside brackets no further than a comma, ``for`` or a lambda's head.
    """
    before, operands = [""], [[""]]
    for part in _MARKS.split(text):
        if part == "implies":
            operands[-1].append("")
        elif len(before) > 1 and (part in ("for", ",") or part.startswith("lambda")):
            before[-1] += _implication(operands[-1]) + part
            operands[-1] = [""]
        else:
            if part in (")", "]", "}") and len(before) > 1:
                inside = before.pop() + _implication(operands.pop())
                operands[-1][-1] += inside
            operands[-1][-1] += part
            if part in ("(", "[", "{"):
                before.append("")
                operands.append([""])
    return _implication(operands[0]) if len(before) == 1 else text


def _implication(operands: list[str]) -> str:
    *conditions, written = operands
    for condition in reversed(conditions):
        written = f"(not ({condition})) or ({written})"
    return written


def _check(tree: ast.Expression) -> None:
    for node in ast.walk(tree):
        if not isinstance(node, ALLOWED):
            raise PredicateFault(f"a predicate cannot hold {type(node).__name__}: {ast.unparse(tree)!r}")
        if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            raise PredicateFault(f"a predicate cannot read {node.attr!r}: names with an underscore are private")
        if isinstance(node, ast.Name) and node.id.startswith("_"):
            raise PredicateFault(f"a predicate cannot use the name {node.id!r}")
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "matches" and (why := _form_fault(node)):
            raise PredicateFault(why)
    if _depth(tree) > MAX_DEPTH:
        raise PredicateFault(f"the predicate is nested deeper than {MAX_DEPTH}")


def _form_fault(node: ast.Call) -> str:
    """Tell why ``matches(text, "form")`` names no form; empty where it does."""
    match node.args:
        case [_, ast.Constant(value=str(form))] if not _BEYOND.search(form):
            try:
                re.compile(form, re.ASCII)
            except re.error as fault:
                return f"{form!r} is no regular expression: {fault}"
            return ""
        case _:
            return "matches takes a text and a regular expression in quotes, without anchors, (?...) and \\1"


def _depth(node: ast.AST) -> int:
    return 1 + max((_depth(child) for child in ast.iter_child_nodes(node)), default=0)


def free_names(node: ast.AST) -> set[str]:
    """Return names that are read and not bound by a comprehension or a lambda of the predicate itself."""
    read = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    bound = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return read - bound - {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)}


class _Rewriter(ast.NodeTransformer):
    def __init__(self) -> None:
        self.olds: list[tuple[str, str]] = []
        self.raised: set[str] = set()

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Name) and node.func.id == "old" and len(node.args) == 1:
            name = f"old_{len(self.olds) + 1}"
            self.olds.append((name, ast.unparse(node.args[0])))
            return ast.Name(name, ast.Load())
        if isinstance(node.func, ast.Name) and node.func.id == "raises":
            if len(node.args) != 1 or not isinstance(node.args[0], ast.Name):
                raise PredicateFault("raises(...) takes the name of one error")
            self.raised.add(node.args[0].id)
            return ast.Call(ast.Name("raises", ast.Load()), [node.args[0]], [])
        return self.generic_visit(node)
