"""`criticality adopt` of a TypeScript package: what its compiler tells, a run over it, its tests."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.criticality.languages.tools_here import require
from tests.criticality.test_adopt import digests, proposal

from criticality.languages import adopter
from llm_runtime.testing import LoopbackServer, Received

pytestmark = [pytest.mark.toolchain, pytest.mark.box, pytest.mark.long]

WORDS = """import { separator } from "./signs.js";

/** The words of a text in lower case, joined. */
export function toSlug(text: string, sep = separator): string {
  return text.toLowerCase().split(" ").filter((word) => word !== "").join(sep);
}

/** No lower than low, no higher than high; a RangeError where low is above high. */
export const clamp = (value: number, low: number, high: number): number =>
  value < low ? low : value > high ? high : value;

/** Each once, in order. */
export default function unique(items: readonly number[]): number[] {
  return items.filter((item, at) => items.indexOf(item) === at);
}

export function firstOf(items: readonly number[]): number | undefined {
  return items[0];
}

export function emptied(items: number[]): number {
  return items.splice(0).length;
}

export function forever(n: number): number {
  for (;;) n += 1;
}

export const mapped = (f: (n: number) => number, n: number): number => f(n);
export async function later(): Promise<number> { return 1; }
export function* numbers(): Generator<number> { yield 1; }
export function chance(): number { return Math.random(); }
export function since(): number { return Date.now(); }
export function shown(text: string): string { console.log(text); return text; }
export function either(n: number | string): string { return String(n); }
export function $one(n: number): number { return n; }
export class Box {}
function hidden(): number { return 1; }
export const limit = hidden();
"""
REFUSED = {
    "mapped": "f is a function", "later": "asynchronous", "numbers": "a generator", "chance": "Math.random",
    "since": "the clock", "shown": "console", "either": "string | number",
    "$one": "the name $one is none", "Box": "a class", "hidden": "not exported",
    "torn": "it does not compile: line 2: Type 'string'",
}  # fmt: skip
SLUG, CLAMP = ["text: Text", "sep: Text"], ["value: Int", "low: Int", "high: Int"]
BETWEEN = "ENSURES: low <= high implies low <= result and result <= high"
RAISES = "ENSURES: low > high implies raises(RangeError)"
RANGE = {"RangeError": "low is above high"}
FIRST = proposal(["items: List<Int>"], "Option<Int>", "ENSURES: len(items) == 0 implies result == None",
                 "ENSURES: len(items) > 0 implies result == items[0]")  # fmt: skip
#: What a model would answer, in order; a parameter of another type than the compiler's is asked for again.
ANSWERS: dict[str, list[Any]] = {
    "to_slug": [
        proposal(["text: Int"], "Text"),
        proposal(SLUG, "Text", "ENSURES: sep == '-' implies ' ' not in result"),
    ],
    "clamp": [
        proposal(CLAMP, "Int", BETWEEN, RAISES, errors=RANGE),
        {
            "answers": [{"number": 1, "decision": "finding", "because": "its comment says so"}],
            "proposal": proposal(CLAMP, "Int", BETWEEN, errors=RANGE),
        },
    ],
    "unique": [proposal(["items: List<Int>"], "List<Int>", "ENSURES: len(result) == len(set(items))",
                        "ENSURES: set(result) == set(items)")],
    "first_of": [FIRST],
    "emptied": [proposal(["items: List<Int>"], "Int", "ENSURES: result == len(items)")],
    "forever": [
        proposal(["n: Int"], "Int", "ENSURES: result > n"),
        {
            "answers": [{"number": 1, "decision": "withdrawn", "because": "it never ends"}],
            "proposal": proposal(["n: Int"], "Int", "ENSURES: result > n"),
        },
    ],
}  # fmt: skip


@pytest.fixture
async def package(tmp_path: Path) -> Path:
    await require("typescript")
    folder = tmp_path / "shop"
    (folder / "src").mkdir(parents=True)
    options = {"target": "es2023", "module": "nodenext", "strict": True, "types": ["none"]}
    (folder / "package.json").write_text('{ "name": "shop", "type": "module" }')
    (folder / "tsconfig.json").write_text(json.dumps({"compilerOptions": {**options, "types": []}}))
    (folder / "src/words.ts").write_text("declare const console: { log(text: string): void };\n" + WORDS)
    (folder / "src/signs.ts").write_text('export const separator = "-";\n')
    (folder / "src/torn.ts").write_text('export const one = 1;\nexport const two: number = "two";\n')
    (folder / "src/failing.ts").write_text(
        'throw new Error("not today");\nexport function double(n: number): number { return 2 * n; }\n'
    )
    return folder


async def test_what_the_compiler_reads_is_told_with_the_reason_for_what_it_cannot_be(package: Path) -> None:
    read = await asyncio.to_thread(adopter(package).read, package)
    refused = {one.shown.rpartition(".")[2]: one.refused for one in read.candidates if one.refused}
    assert refused.keys() == REFUSED.keys()
    assert [name for name, why in REFUSED.items() if why not in refused[name]] == []
    able = {one.name: one for one in read.candidates if not one.refused}
    assert list(able) == ["double", "to_slug", "unique", "first_of", "emptied", "forever", "clamp"]
    assert [(p.name, p.type, p.default) for p in able["to_slug"].parameters] == [
        ("text", "Text", ""), ("sep", "Text", "separator"),
    ]  # fmt: skip
    assert (able["first_of"].shown, able["first_of"].result) == ("src.words.firstOf", "Option<Int>")


async def test_a_bad_package_is_one_line_each(assay: Any, package: Path) -> None:
    bare = package.parent / "bare"
    (bare / "src").mkdir(parents=True)
    (bare / "package.json").write_text("{}")
    (bare / "src/none.ts").write_text("const inner = 1;\nexport type Name = string;\n")
    for target, words in [
        ("bare", "holds no functions"),
        ("shop::torn", "src.torn cannot be adopted: it does not compile: line 2"),
        ("shop::nothing", "has no function nothing"),
        ("shop::either", "cannot be adopted: its parameter n is string | number, no plain value"),
    ]:
        done = await assay(target)
        assert done.code == 2 and words in done.err and done.err.count("\n") == 1, (target, done.err)
    listed = await assay("shop")
    assert "src.words.toSlug  The words of a text" in listed.out and "not src.torn: it does not" in listed.out
    (package / "tsconfig.json").write_text("{ compilerOptions")
    broken = await assay("shop")
    assert broken.code == 2 and "tsconfig.json" in broken.err and broken.err.count("\n") == 1


async def test_functions_are_judged_as_they_are_and_the_package_stays(assay: Any, package: Path) -> None:
    asked: dict[str, int] = {}

    def answer(received: Received) -> str:
        text = received.messages[0].content
        if "FUNCTION: first_of" in text:
            assert "export function firstOf(items: readonly number[]): number | undefined" in text
            return "```typescript\nreturn items.at(0);\n```"
        name = re.search(r"The function is `(\w+)`", text)
        assert name is not None and "It is TypeScript. Its compiler tells the types" in text
        asked[name[1]] = asked.get(name[1], 0) + 1
        return json.dumps(ANSWERS[name[1]][min(asked[name[1]], len(ANSWERS[name[1]])) - 1])

    before = digests(package)
    more = ["clamp", "unique", "firstOf", "emptied", "forever", "double"]
    async with LoopbackServer(answer) as server:
        done = await assay("shop::toSlug", *more, "--mutants", "6", "--rewrite", "firstOf", "--json", server=server)
    assert done.code == 0, done.err
    adopted = {one["function"].rpartition(".")[2]: one for one in json.loads(done.out)["result"]["adoptions"]}
    assert {name for name, one in adopted.items() if not one["refused"]} == {"toSlug", "clamp", "unique", "firstOf"}
    assert asked["to_slug"] == 2 and adopted["toSlug"]["proposal"]["params"] == SLUG
    assert "changes what it is given" in adopted["emptied"]["refused"]
    assert "2 s for one call" in adopted["forever"]["refused"]
    assert "not today" in adopted["double"]["refused"]
    (wrong,) = adopted["clamp"]["findings"]
    assert (wrong["kind"], wrong["promise"]) == ("finding", RAISES) and "the result was" in wrong["case"]
    measured = adopted["unique"]["measured"]
    assert measured["cases"] > 100 and measured["noticed"] == measured["changes"] > 0
    assert "+  return items.at(0);" in adopted["firstOf"]["rewritten"]
    assert digests(package) == before
    folder = package.parent / "shop-adopted"
    tests = (folder / "tests/words-unique.test.ts").read_text()
    assert 'import { default as unique } from "../../shop/src/words.ts";' in tests and "same(unique([" in tests
    assert "function toSlug(text: string, sep: string): string" in (folder / "docs/contracts.md").read_text()
