"""Hold what each room of src may cost, by tests/house.toml. `python -m tools.house [ROOM | --lower]`."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tools.count_lines import code_lines, sources

BOUNDS = Path("tests/house.toml")
FIGURES = {
    "lines": "code lines",
    "complex": "functions of complexity above 10",
    "dicts": "dict[str, Any]",
    "casts": "casts",
    "names": "public classes whose name another one bears",
    "over_60": "functions over 60 lines",
    "over_80": "functions over 80 lines",
}
# Every protocol has its own of these two, by contract.
_BORNE_BY_RIGHT = {"Task", "Options"}
_DEFINITIONS = {ast.FunctionDef, ast.AsyncFunctionDef}
_OWNERS = {*_DEFINITIONS, ast.ClassDef, ast.Assert}
_SIGNS = (ast.boolop, ast.cmpop, ast.expr_context, ast.operator, ast.unaryop)
_PLAIN = (str, bytes, int, bool, float, complex, type(None), type(...))
_LEAVES = {*_PLAIN, ast.Name, *(sign for kind in _SIGNS for sign in kind.__subclasses__())}
# What a node adds to the complexity of the function that it stands in.
_WEIGHTS: dict[type[ast.AST], Callable[[Any], int]] = {
    ast.If: lambda node: 1,
    ast.IfExp: lambda node: 1,
    ast.Assert: lambda node: 1,
    ast.BoolOp: lambda node: len(node.values) - 1,
    ast.comprehension: lambda node: 1 + len(node.ifs),
    ast.For: lambda node: 1 + bool(node.orelse),
    ast.AsyncFor: lambda node: 1 + bool(node.orelse),
    ast.While: lambda node: 1 + bool(node.orelse),
    ast.Try: lambda node: len(node.handlers) + bool(node.orelse),
    # A case that takes whatever comes is no branch.
    ast.Match: lambda node: len(node.cases) - any(_takes_all(one) for one in node.cases),
}

Owned = tuple[ast.AST, ast.AST]
Bounds = dict[str, dict[str, int]]  # room -> figure -> the most; "sums" is all of them together


class Place(NamedTuple):
    """Where a room has how much of a figure."""

    count: int
    where: str


Found = dict[str, dict[str, list[Place]]]


def look(src: Path) -> Found:
    """Return what stands where: room, figure, places."""
    found: Found = defaultdict(lambda: {figure: [] for figure in FIGURES})
    bearers: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for path in sources(src):
        inside = path.relative_to(src)
        room, text = room_of(inside), path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        nodes = _owned(tree)
        for figure, count in (
            ("lines", code_lines(text, (node for node, _ in nodes))),
            ("dicts", text.count("dict[str, Any]")),
            ("casts", len(re.findall(r"\bcast\(", text))),
        ):
            found[room][figure] += [Place(count, str(inside))] if count else []
        score = _complexity(nodes)
        for node, _ in nodes:
            if type(node) in _DEFINITIONS:
                complexity, length = 1 + score[node], node.end_lineno - node.lineno + 1
                held = {"complex": complexity > 10, "over_60": length > 60, "over_80": length > 80}
                for figure in (figure for figure, here in held.items() if here):
                    where = f"{inside}:{node.lineno} {node.name} (complexity {complexity}, {length} lines)"
                    found[room][figure].append(Place(1, where))
        for one in tree.body:
            if isinstance(one, ast.ClassDef) and not one.name.startswith("_"):
                bearers[one.name].append((room, f"{inside}:{one.lineno} {one.name}"))
    for name, places in bearers.items():
        for room, where in places if len(places) > 1 and name not in _BORNE_BY_RIGHT else []:
            found[room]["names"].append(Place(1, where))
    return dict(found)


def room_of(inside: Path) -> str:
    """Return the room of a module of src: its package, or which of the application's own."""
    depth = 1 if inside.parts[0] != "assay" else 3 if inside.parts[1] == "protocols" else 2
    return ".".join(inside.parent.parts[:depth])


def _takes_all(case: ast.match_case) -> bool:
    return isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None


def _owned(tree: ast.Module) -> list[Owned]:
    """Return every node but leaves with the function or class that it stands in; an assertion stands for itself."""
    found: list[Owned] = []
    todo: list[Owned] = [(tree, tree)]
    while todo:
        pair = todo.pop()
        found.append(pair)
        node, owner = pair
        kind = type(node)
        if kind in _OWNERS:
            owner = node
        for field in kind._fields:
            value = getattr(node, field)
            if type(value) is list:
                todo += [(one, owner) for one in value if type(one) not in _LEAVES]
            elif type(value) not in _LEAVES:
                todo.append((value, owner))
    return found


def _complexity(nodes: list[Owned]) -> Counter[ast.AST]:
    """Return McCabe's figure of each function as radon counts it, where a function within stands for itself."""
    score: Counter[ast.AST] = Counter()
    for node, owner in nodes:
        if weigh := _WEIGHTS.get(type(node)):
            score[owner] += weigh(node)
    return score


def figures_of(found: Found) -> Bounds:
    """Return the sums of what was found: room, figure, how many."""
    return {
        room: {figure: sum(place.count for place in places) for figure, places in of_room.items()}
        for room, of_room in sorted(found.items())
    }


def faults(figures: Bounds, bounds: Bounds) -> Iterator[str]:
    """Yield a line for each bound that is passed, and for each sum that the bounds pass."""
    for room, of_room in figures.items():
        for figure, count in of_room.items():
            bound = bounds.get(room, {}).get(figure, 0)
            if count > bound:
                yield (
                    f"{room}: {count:,} {FIGURES[figure]} where its bound is {bound:,}. "
                    f"Take {count - bound:,} away, or let another room's bound in {BOUNDS} fall by as much; "
                    f"`python -m tools.house {room}` lists them."
                )
    for figure, most in bounds["sums"].items():
        given = sum(of_room[figure] for room, of_room in bounds.items() if room != "sums")
        if given > most:
            yield f"{BOUNDS} gives {given:,} {FIGURES[figure]} and {most:,} is the sum; take {given - most:,} off."


def lowered(figures: Bounds, bounds: Bounds) -> Bounds:
    """Return the bounds where each is at most what there is today; none rises."""
    rooms = {
        room: {figure: min(most, figures[room][figure]) for figure, most in of_room.items()}
        for room, of_room in bounds.items()
        if room in figures
    }
    sums = {
        figure: min(most, sum(of_room[figure] for of_room in rooms.values())) for figure, most in bounds["sums"].items()
    }
    return {"sums": sums} | rooms


def read(path: Path) -> Bounds:
    """Return the bounds of a file."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def write(path: Path, bounds: Bounds) -> None:
    """Put bounds into a file, below the comment that it begins with: a line a room."""
    head = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    rows = [
        f'"{room}" = {{ {", ".join(f"{figure} = {most}" for figure, most in of_room.items())} }}'
        for room, of_room in bounds.items()
    ]
    path.write_text("\n".join([*head, *rows, ""]), encoding="utf-8")


def main(arguments: list[str]) -> int:
    """Print every room's figures, or what one has where; with `--lower` bring the bounds down to them."""
    found, bounds = look(Path("src")), read(BOUNDS)
    figures = figures_of(found)
    if arguments == ["--lower"]:
        bounds = lowered(figures, bounds)
        write(BOUNDS, bounds)
    elif arguments:
        for figure, places in found.get(arguments[0], {}).items():
            print(f"{figures[arguments[0]][figure]:,} {FIGURES[figure]}")
            for count, where in sorted(places, reverse=True):
                print(f"{count:7,}  {where}")
        return 0
    else:
        print(f"{'':30}" + "".join(f"{figure:>9}" for figure in FIGURES))
        total = {figure: sum(of_room[figure] for of_room in figures.values()) for figure in FIGURES}
        for room, of_room in (figures | {"all": total}).items():
            print(f"{room:30}" + "".join(f"{count:9,}" for count in of_room.values()))
    passed = list(faults(figures, bounds))
    for line in passed:
        print(line)
    return 1 if passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
