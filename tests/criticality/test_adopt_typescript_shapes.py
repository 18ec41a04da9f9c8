"""`criticality adopt` of TypeScript functions on records, unions and generics: read, judged, and tested as they are."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.criticality.languages.tools_here import require
from tests.criticality.test_adopt import digests, proposal

from criticality.adopt.proposing import Proposal, artifacts_of
from criticality.languages import adopter
from criticality.standing import Package
from llm_runtime.testing import LoopbackServer, Received

pytestmark = [pytest.mark.toolchain, pytest.mark.box]

SHAPES = """export interface Point { readonly x: number; readonly y: number; readonly label?: string }
export type Mode = "top-left" | "top" | "class";
export type Shape =
  | { kind: "circle"; at: Point; radius: number }
  | { kind: "box"; at: Point; width: number; height?: number };
export interface Pair<A, B> { first: A; second: B }
export interface Tree { value: number; below: readonly Tree[] }
type Options = { depth?: number; onDone?: () => void };

export function moved(point: Point, by: { dx: number; dy: number }): Point {
  return { ...point, x: point.x + by.dx, y: point.y + by.dy };
}

/** The room that a shape takes. */
export function area(shape: Shape): number {
  return shape.kind === "circle" ? 3 * shape.radius * shape.radius : shape.width * (shape.height ?? shape.width);
}

export function turned(mode: Mode, sign: -1 | 0 | 1 = 1): Mode {
  const modes: Mode[] = ["top-left", "top", "class"];
  return modes[(modes.indexOf(mode) + sign + 3) % 3]!;
}

export function chunked<T>(items: readonly T[], { size }: { size: number }): T[][] {
  const found: T[][] = [];
  for (let at = 0; at < items.length; at += size) found.push(items.slice(at, at + size));
  return found;
}

export const swapped = ({ first, second }: Pair<number, string>): Pair<string, number> =>
  ({ first: second, second: first });
export const lengths = <T extends string>(items: Set<T>): Map<string, number> =>
  new Map([...items].map((one) => [one, one.length]));
export function summed(tree: Tree): number {
  return tree.below.reduce((sum, one) => sum + summed(one), tree.value);
}
export function span([low, high]: readonly [number, number], options?: Options): number {
  return (options?.depth ?? 1) * (high - low);
}
export function found(items: readonly Point[], x: number): Point | undefined {
  return items.find((one) => one.x === x);
}

export function either(n: number | string): string { return String(n); }
export function keyed<T, K extends keyof T>(item: T, key: K): T[K] { return item[key]; }
export function called(box: { run(): number }): number { return box.run(); }
export function mixed(one: { kind: "a"; n: number } | { kind: "b"; n: string }): string { return String(one.n); }
export function blurred(one: { n: number } | { m: number }): number { return Object.keys(one).length; }
"""  # fmt: skip
REFUSED = {
    "either": "string | number", "keyed": "string | number | symbol",
    "called": "an object with methods", "mixed": "several types", "blurred": "whose parts no property tells apart",
}  # fmt: skip
TYPES = {
    "moved": ({"point": "Point", "by": "By"}, "Point"),
    "area": ({"shape": "Shape"}, "Int"),
    "turned": ({"mode": "Mode", "sign": "Sign"}, "Mode"),
    "chunked": ({"items": "List<Int>", "given1": "Given1"}, "List<List<Int>>"),
    "swapped": ({"given": "PairNumberString"}, "PairStringNumber"),
    "lengths": ({"items": "Set<Text>"}, "Map<Text, Int>"),
    "summed": ({"tree": "Tree"}, "Int"),
    "span": ({"given": "Tuple<Int, Int>", "options": "Option<Options>"}, "Int"),
    "found": ({"items": "List<Point>", "x": "Int"}, "Option<Point>"),
}  # fmt: skip


@pytest.fixture
async def package(tmp_path: Path) -> Path:
    await require("typescript")
    folder = tmp_path / "plane"
    folder.mkdir()
    (folder / "package.json").write_text('{ "name": "plane", "type": "module" }')
    (folder / "shapes.ts").write_text(SHAPES)
    return folder


async def read(package: Path) -> Package:
    return await asyncio.to_thread(adopter(package).read, package)


async def test_records_unions_and_generics_are_read_and_for_the_rest_is_told_why_not(package: Path) -> None:
    held = await read(package)
    refused = {one.name: one.refused for one in held.candidates if one.refused}
    assert refused.keys() == REFUSED.keys(), refused
    assert [(name, refused[name]) for name, why in REFUSED.items() if why not in refused[name]] == []
    able = {one.name: one for one in held.candidates if not one.refused}
    assert {n: ({p.name: p.type for p in one.parameters}, one.result) for n, one in able.items()} == TYPES
    shape = able["area"].named
    assert shape.enums == {"ShapeKind": ["circle", "box"]}
    assert shape.records["Shape"] == {
        "kind": "ShapeKind", "at": "Point", "radius": "Option<Int>", "width": "Option<Int>", "height": "Option<Int>",
    }  # fmt: skip
    assert shape.invariants["Shape"][0] == (
        "kind == ShapeKind.CIRCLE implies radius is not None and width is None and height is None"
    )
    assert '`Mode.CLASS_` is "class"' in able["turned"].named.told
    assert sorted(able["turned"].named.enums["Sign"]) == ["minus_1", "n0", "n1"]
    assert able["span"].named.records == {"Options": {"depth": "Option<Int>"}}
    assert "`T` is taken at `Int`" in able["chunked"].named.told
    assert able["summed"].named.records == {"Tree": {"value": "Int", "below": "List<Tree>"}}
    # Each can stand in a specification: its names are such, and what is made of each other comes to an end.
    for one in able.values():
        made = {"params": [f"{p.name}: {p.type}" for p in one.parameters], "returns": one.result, "doc": "It."}
        assert artifacts_of(one, Proposal.model_validate(made)).spec is not None


AREA = [
    "ENSURES: shape.kind == ShapeKind.CIRCLE implies result == 3 * shape.radius * shape.radius",
    "ENSURES: shape.height is not None implies result == shape.width * shape.height",
    "ENSURES: shape.kind == ShapeKind.BOX and shape.height is None implies result == shape.width * shape.width",
]
ANSWERS: dict[str, Any] = {
    "moved": proposal(["point: Point", "by: By"], "Point",
                      "ENSURES: result == replace(point, x=point.x + by.dx, y=point.y + by.dy)"),
    "area": proposal(["shape: Shape"], "Int", *AREA),
    "turned": proposal(["mode: Mode", "sign: Sign"], "Mode",
                       "ENSURES: sign == Sign.N0 implies result == mode",
                       "ENSURES: sign != Sign.N0 implies result != mode",
                       "ENSURES: mode == Mode.TOP and sign == Sign.N1 implies result == Mode.CLASS_"),
    "chunked": proposal(["items: List<Int>", "given1: Given1"], "List<List<Int>>", "REQUIRES: 1 <= given1.size <= 50",
                        "ENSURES: all(len(part) <= given1.size for part in result)",
                        "ENSURES: [one for part in result for one in part] == list(items)",
                        "ENSURES: all(len(result[i]) == given1.size for i in range(len(result) - 1))"),
    "swapped": proposal(["given: PairNumberString"], "PairStringNumber",
                        "ENSURES: result == PairStringNumber(given.second, given.first)"),
    "summed": proposal(["tree: Tree"], "Int",
                       "ENSURES: len(tree.below) == 0 implies result == tree.value",
                       "ENSURES: len(tree.below) == 1 and len(tree.below[0].below) == 0 implies "
                       "result == tree.value + tree.below[0].value"),
    "found": proposal(["items: List<Point>", "x: Int"], "Option<Point>",
                      "ENSURES: all(one.x != x for one in items) implies result is None",
                      "ENSURES: result is not None implies result in items and result.x == x"),
}  # fmt: skip


@pytest.mark.long
async def test_they_are_judged_as_they_are_and_their_tests_tell_changed_bodies_apart(assay: Any, package: Path) -> None:
    def answer(received: Received) -> str:
        text = received.messages[0].content
        name = re.search(r"The function is `(\w+)`", text)
        assert name is not None and "These names are types too" in text
        return json.dumps(ANSWERS[name[1]])

    before = digests(package)
    first, *more = ANSWERS
    async with LoopbackServer(answer) as server:
        done = await assay(f"plane::{first}", *more, "--mutants", "8", "--json", server=server)
    assert done.code == 0, done.err
    adopted = {one["function"].rpartition(".")[2]: one for one in json.loads(done.out)["result"]["adoptions"]}
    assert {name: one["refused"] for name, one in adopted.items() if one["refused"]} == {}
    assert {name: one["findings"] for name, one in adopted.items() if one["findings"]} == {}
    told, rejected = (sum(one["suite"][at] for one in adopted.values()) for at in (0, 1))
    assert told >= 0.95 * rejected > 0, {name: one["suite"] for name, one in adopted.items()}
    assert digests(package) == before
    tests = {path.name: path.read_text() for path in (package.parent / "plane-adopted/tests").iterdir()}
    text = "".join(tests.values())
    assert 'same(area({ kind: "circle", at: { x: ' in text and 'turned("class", -1)' in text
