"""`criticality adopt` of TypeScript functions on null and on objects that any text is a key of."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.criticality.languages.tools_here import require
from tests.criticality.test_adopt import digests, proposal

from criticality.adopt.proposing import Proposal, artifacts_of
from criticality.judging.domain import Domain
from criticality.judging.wire import Codec, to_json
from criticality.languages import adopter
from criticality.languages.typescript.adopting.serving import AdoptedTypeScript
from criticality.languages.typescript.toolchain import NODE, TypeScriptToolchain
from criticality.spec.types import parse_type
from criticality.standing import Candidate, NamedTypes, Package, Parameter
from llm_runtime.testing import LoopbackServer, Received

pytestmark = [pytest.mark.toolchain, pytest.mark.box]

NULLS = """export type Mode = "on" | "off";
export interface Person { name: string; age: number | null; note?: string | null }
export interface Trie { ends: boolean; readonly below: { readonly [letter: string]: Trie } }
export type Answer = { kind: "found"; value: string | null } | { kind: "missing" };
interface Endless { [key: string]: Endless }
class Held { [key: string]: number }

/** How often each word stands there. */
export function counted(words: readonly string[]): Record<string, number> {
  const found: Record<string, number> = Object.create(null);
  for (const word of words) found[word] = (found[word] ?? 0) + 1;
  return found;
}

/** What stands under a key, or null. */
export function lookup(held: Record<string, number>, key: string): number | null {
  return Object.hasOwn(held, key) ? held[key]! || null : null;
}

/** The last of all, or null where there is none. */
export function last(items: readonly number[]): number | null {
  return items.at(-1) as number | null;
}

export function first(items: readonly number[]): number | null {
  return items[0] ?? null;
}

/** The same, with what is null left out. */
export function kept(held: Record<string, Mode | null>): { [key: string]: Mode } {
  return Object.fromEntries(Object.entries(held).filter(([, mode]) => mode !== null)) as { [key: string]: Mode };
}

/** A year older, where the age is known. */
export function older(person: Person): Person {
  return { ...person, age: person.age === null ? null : person.age + 1 };
}

export const echoed = (held: Record<string, number | null>): Record<string, number | null> => ({ ...held });
export const noted = (person: Person): string | null | undefined => person.note;
export const told = (answer: Answer): Answer => answer;
export const deep = (trie: Trie): boolean => trie.ends;
export const some = <T>(items: readonly T[]): T | null => items[0] ?? null;
export const both = (counts: Partial<Record<Mode, number>>): Readonly<Record<Mode, boolean>> =>
  ({ on: counts.on !== undefined, off: counts.off !== undefined });

export function endless(held: Endless): number { return Object.keys(held).length; }
export function instance(held: Held): number { return Object.keys(held).length; }
export function unknowns(held: Record<string, unknown>): number { return Object.keys(held).length; }
export function numbered(held: Record<number, string>): number { return Object.keys(held).length; }
export function partly(held: { [key: string]: number; size: number }): number { return held.size; }
"""  # fmt: skip
REFUSED = {
    "endless": "which has no end", "instance": "Held", "unknowns": "unknown", "numbered": "Record<number, string>",
    "partly": "{ [key: string]: number; size: number; }",
}  # fmt: skip
TYPES = {
    "counted": ({"words": "List<Text>"}, "Map<Text, Int>"),
    "lookup": ({"held": "Map<Text, Int>", "key": "Text"}, "Option<Int>"),
    "last": ({"items": "List<Int>"}, "Option<Int>"),
    "first": ({"items": "List<Int>"}, "Option<Int>"),
    "kept": ({"held": "Map<Text, Option<Mode>>"}, "Map<Text, Mode>"),
    "older": ({"person": "Person"}, "Person"),
    "echoed": ({"held": "Map<Text, Option<Int>>"}, "Map<Text, Option<Int>>"),
    "noted": ({"person": "Person"}, "Option<TextOrNull>"),
    "told": ({"answer": "Answer"}, "Answer"),
    "deep": ({"trie": "Trie"}, "Bool"),
    "some": ({"items": "List<Int>"}, "Option<Int>"),
    "both": ({"counts": "PartialRecordModenumber"}, "ReadonlyRecordModeboolean"),
}  # fmt: skip


@pytest.fixture
async def package(tmp_path: Path) -> Path:
    await require("typescript")
    folder = tmp_path / "nulls"
    folder.mkdir()
    (folder / "package.json").write_text('{ "name": "nulls", "type": "module" }')
    (folder / "nulls.ts").write_text(NULLS)
    return folder


async def read(package: Path) -> Package:
    return await asyncio.to_thread(adopter(package).read, package)


async def test_null_and_objects_by_text_are_read_and_for_the_rest_is_told_why_not(package: Path) -> None:
    held = await read(package)
    refused = {one.name: one.refused for one in held.candidates if one.refused}
    assert refused.keys() == REFUSED.keys(), refused
    assert [(name, refused[name]) for name, why in REFUSED.items() if why not in refused[name]] == []
    able = {one.name: one for one in held.candidates if not one.refused}
    assert {n: ({p.name: p.type for p in one.parameters}, one.result) for n, one in able.items()} == TYPES
    person = able["older"].named
    assert person.records["Person"] == {"name": "Text", "age": "Option<Int>", "note": "Option<TextOrNull>"}
    assert person.records["TextOrNull"] == {"value": "Option<Text>"}
    assert person.own["Person"] == {"age": "Nullable<Int>"}
    assert able["deep"].named.records["Trie"] == {"ends": "Bool", "below": "Map<Text, Trie>"}
    assert able["told"].named.invariants["Answer"] == [
        "kind == AnswerKind.FOUND implies value is not None", "kind == AnswerKind.MISSING implies value is None",
    ]  # fmt: skip
    assert "`None` stands for it" in person.told and "`None`" not in able["counted"].named.told
    for one in able.values():
        made = {"params": [f"{p.name}: {p.type}" for p in one.parameters], "returns": one.result, "doc": "It."}
        assert artifacts_of(one, Proposal.model_validate(made)).spec is not None


def test_native_tests_write_null_and_keys_as_the_source_has_them(tmp_path: Path) -> None:
    kind, result = "Map<Text, Option<Int>>", "Option<TextOrNull>"
    named = NamedTypes(
        records={"TextOrNull": {"value": "Option<Text>"}}, keys={"TextOrNull": {"value": ""}},
        invariants={"TextOrNull": []},
        own={"": {"held": "Keyed<Text, Nullable<Int>>"}, "TextOrNull": {"value": "Nullable<Text>"}},
    )  # fmt: skip
    candidate = Candidate(
        "m.f", "m", "f", tmp_path / "m.ts", source="f", named=named, result=result, title="TypeScript", exported="f",
        parameters=(Parameter("held", type=kind), Parameter("n", type="Option<Int>")),
    )  # fmt: skip
    made = {"params": [f"held: {kind}", "n: Option<Int>"], "returns": result, "doc": "It."}
    artifacts = artifacts_of(candidate, Proposal.model_validate(made))
    codec = Codec(Domain(artifacts.approved), artifacts.plan)
    one = codec.domain.types["TextOrNull"]
    held = to_json(codec.out({"__proto__": None, "constructor": 1}, parse_type(kind)))
    cases = [[[held, None], 0, to_json(codec.out(value, parse_type(result)))] for value in (None, one(None), one("a"))]
    language = AdoptedTypeScript(Package(tmp_path, tmp_path, (candidate,), {}, "typescript"), candidate)
    (text,) = language.case_files(artifacts.approved, artifacts.plan, {"m.f": cases}).values()
    call = 'same(f({ ["__proto__"]: null, "constructor": 1 }, undefined), '
    assert [line.strip() for line in text.splitlines() if "__proto__" in line] == [
        f"{call}undefined);", f"{call}null);", f'{call}"a");',
    ]  # fmt: skip


def test_a_record_that_holds_itself_crosses_the_wire(tmp_path: Path) -> None:
    named = NamedTypes(
        records={"Tree": {"value": "Int", "below": "List<Tree>"}}, keys={"Tree": {"value": "value", "below": "below"}},
        invariants={"Tree": []},
    )  # fmt: skip
    candidate = Candidate(
        "m.f", "m", "f", tmp_path / "m.ts", source="f", named=named, result="Tree", title="TypeScript", exported="f",
        parameters=(Parameter("tree", type="Tree"),),
    )  # fmt: skip
    artifacts = artifacts_of(candidate, Proposal(params=["tree: Tree"], returns="Tree", doc="It."))
    codec, kind = Codec(Domain(artifacts.approved), artifacts.plan), parse_type("Tree")
    tree = codec.domain.types["Tree"]
    held = tree(1, (tree(2, ()), tree(3, (tree(4, ()),))))
    assert codec.read(codec.out(held, kind), kind) == held


LAST = ["ENSURES: len(items) > 0 implies result == items[len(items) - 1]"]
FOUND = ["ENSURES: key not in held implies result is None", "ENSURES: key in held implies result == held[key]"]
ODD = "ENSURES: '__proto__' in held and 'constructor' in held implies len(result) > 1"
ANSWERS: dict[str, list[Any]] = {
    "lookup": [
        proposal(["held: Map<Text, Int>", "key: Text"], "Option<Int>", *FOUND),
        {
            "answers": [{"number": 1, "decision": "finding", "because": "its comment says so"}],
            "proposal": proposal(["held: Map<Text, Int>", "key: Text"], "Option<Int>", FOUND[0]),
        },
    ],
    "last": [
        proposal(["items: List<Int>"], "Option<Int>", "ENSURES: len(items) == 0 implies result is None", *LAST),
        {
            "answers": [{"number": 1, "decision": "finding", "because": "its comment says so"}],
            "proposal": proposal(["items: List<Int>"], "Option<Int>", "REQUIRES: len(items) > 0", *LAST),
        },
    ],
    "first": [proposal(["items: List<Int>"], "Option<Int>", "ENSURES: len(items) == 0 implies result is None",
                       "ENSURES: len(items) > 0 implies result == items[0]")],
    "counted": [proposal(["words: List<Text>"], "Map<Text, Int>", "ENSURES: len(result) == len(set(words))",
                         "ENSURES: all(result[word] == words.count(word) for word in words)",
                         "ENSURES: '__proto__' in words and 'constructor' in words implies len(result) > 1")],
    "kept": [proposal(["held: Map<Text, Option<Mode>>"], "Map<Text, Mode>",
                      "ENSURES: all(key in held and held[key] == result[key] for key in result)",
                      "ENSURES: all(key in result for key in held if held[key] is not None)")],
    "older": [proposal(["person: Person"], "Person", "ENSURES: person.age is None implies result == person",
                       "ENSURES: person.age is not None implies result == replace(person, age=person.age + 1)")],
    "echoed": [proposal(["held: Map<Text, Option<Int>>"], "Map<Text, Option<Int>>", "ENSURES: result == held", ODD)],
    "noted": [proposal(["person: Person"], "Option<TextOrNull>", "ENSURES: result == person.note")],
    "told": [proposal(["answer: Answer"], "Answer", "ENSURES: result == answer")],
}  # fmt: skip
#: Takes the types out of a package and the tests that stand beside it, as a newer node does by itself.
BARE = """import {{ mkdirSync, readFileSync, readdirSync, writeFileSync }} from "node:fs";
import ts from "{packages}/node_modules/typescript/lib/typescript.js";
const compilerOptions = {{ module: "esnext", target: "es2023", rewriteRelativeImportExtensions: true }};
for (const folder of ["nulls", "nulls-adopted/tests"]) {{
  mkdirSync(`bare/${{folder}}`, {{ recursive: true }});
  for (const name of readdirSync(folder).filter((one) => one.endsWith(".ts"))) {{
    const {{ outputText }} = ts.transpileModule(readFileSync(`${{folder}}/${{name}}`, "utf8"), {{ compilerOptions }});
    writeFileSync(`bare/${{folder}}/${{name.replace(".ts", ".js")}}`, outputText);
  }}
}}
writeFileSync("bare/package.json", '{{ "type": "module" }}');
"""


@pytest.mark.long
async def test_deviations_behind_null_and_behind_a_key_are_found_and_the_tests_pass(
    assay: Any, package: Path, tmp_path: Path
) -> None:
    asked: dict[str, int] = {}

    def answer(received: Received) -> str:
        name = re.search(r"The function is `(\w+)`", received.messages[0].content)
        assert name is not None
        asked[name[1]] = asked.get(name[1], 0) + 1
        return json.dumps(ANSWERS[name[1]][min(asked[name[1]], len(ANSWERS[name[1]])) - 1])

    before = digests(package)
    first, *more = ANSWERS
    async with LoopbackServer(answer) as server:
        done = await assay(f"nulls::{first}", *more, "--mutants", "4", "--json", server=server)
    assert done.code == 0, done.err
    adopted = {one["function"].rpartition(".")[2]: one for one in json.loads(done.out)["result"]["adoptions"]}
    assert {name: one["refused"] for name, one in adopted.items() if one["refused"]} == {}
    found = {name: one["findings"][0] for name, one in adopted.items() if one["findings"]}
    assert found.keys() == {"lookup", "last"} and {one["kind"] for one in found.values()} == {"finding"}
    assert found["lookup"]["promise"] == FOUND[1] and "the result was None" in found["lookup"]["case"]
    # Where null is promised, undefined is none.
    assert found["last"]["case"] == "items=(); its result has another type than was promised"
    told, rejected = (sum(one["suite"][at] for one in adopted.values()) for at in (0, 1))
    assert told == rejected > 20
    assert digests(package) == before
    tests = {path.name: path.read_text() for path in (tmp_path / "nulls-adopted/tests").iterdir()}
    assert '["__proto__"]: ' in tests["nulls-counted.test.ts"] and ": null" in tests["nulls-echoed.test.ts"]
    await asyncio.to_thread(passes, tmp_path)


def passes(folder: Path) -> None:
    node = str(NODE.path())
    (folder / "bare.mjs").write_text(BARE.format(packages=TypeScriptToolchain.pinned().folder))
    for words in (["bare.mjs"], ["--test", "bare/nulls-adopted/tests/"]):
        done = subprocess.run([node, *words], cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
