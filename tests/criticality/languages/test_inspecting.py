"""What a body may not do is found before it runs; what it may do is left alone; changes and smells are found."""

from __future__ import annotations

import textwrap
import tomllib
from pathlib import Path
from typing import Any

import account_system
import pytest

from criticality.bodies import BodyUnreadable
from criticality.catalog import smells
from criticality.languages import language
from criticality.languages.base.grammar.inspection import BodyPlace, Purity, inspect, leaked, security
from criticality.languages.base.grammar.mutants import mutants
from criticality.languages.base.grammar.smells import detect
from criticality.languages.base.grammar.table import Table

pytest.importorskip("tree_sitter")
languages = pytest.mark.parametrize("name", ("typescript", "rust", "go", "java", "cpp", "python"))

GOOD = {
    "rust": [
        "let mut sorted = items.to_vec();\nsorted.sort();\nOk(sorted.iter().map(|x| x.total).sum::<i64>())",
        "if amount <= 0 {\n    return Err(Failed::new());\n}\nOk(std::cmp::max(amount, planned(items)))",
        "let seen: std::collections::BTreeMap<i64, i64> = items.iter().map(|x| (x.id, 1)).collect();\n"
        "Ok(seen.len() as i64)",
    ],
    "typescript": [
        "const sorted = [...items].sort((a, b) => a.total - b.total);\nreturn sorted[0]?.total ?? 0;",
        "if (amount <= 0) {\n  throw new Failed();\n}\nreturn Math.max(amount, planned(items));",
        "const process = items.length;\nconst { module } = { module: 1 };\nreturn process + module;",
        "items = [...items];\nitems.push(1);\nreturn items.length;",
    ],
    "go": [
        "sorted := append([]Box{}, items...)\n"
        "sort.Slice(sorted, func(i, j int) bool { return sorted[i].Total < sorted[j].Total })\n"
        "return sorted[0].Total, nil",
        "if amount <= 0 {\n\treturn 0, ErrFailed\n}\nreturn max(amount, planned(items)), nil",
        "user := items[0]\nreturn user.Total, nil",
    ],
    "java": [
        "var sorted = new ArrayList<>(items);\nsorted.sort(Comparator.comparing(Box::total));\n"
        "return sorted.get(0).total();",
        "if (amount <= 0) {\n  throw new Failed();\n}\nreturn Math.max(amount, planned(items));",
        "return java.util.stream.IntStream.range(0, 3).sum();",
    ],
    "cpp": [
        "auto sorted = items;\nstd::sort(sorted.begin(), sorted.end());\nreturn sorted.front().total;",
        "if (amount <= 0) {\n  throw Failed();\n}\nreturn std::max(amount, planned(items));",
        "const auto twice = [&](std::int64_t x) { return x * 2; };\nreturn twice(amount);",
    ],
    "python": [
        "ordered = sorted(items, key=lambda x: x.total)\nreturn ordered[0].total",
        "if amount <= 0:\n    raise Failed\n\nreturn max(amount, planned(items))",
        "def half(x: int) -> int:\n    return x // 2\nreturn sum(half(x.id) for x in items if x.id is not None)",
    ],
}  # fmt: skip
SECURITY = {
    "rust": [
        "unsafe { *p }", 'std::fs::read("x")', "use std::fs;", "std::process::exit(1)", "impl X for Y {} 1",
        'include_str!("x")',
        "x.iter().map(|v| v.unwrap_unchecked())", 'std::env::var("A")', "core::ptr::null()", 'env!("X")', "foo!(1)",
        "static mut A: i64 = 1; 1", 'extern "C" { fn f(); } 1', "std::thread::spawn(|| 1)", "mod m {} 1",
        "async { 1 }",
    ],
    "typescript": [
        'import("fs")', 'eval("1")', "return process.env", '[].constructor.constructor("x")()', 'require("fs")',
        "class A {}",
        'return globalThis["x"]', "async () => 1", 'new Function("x")', "// @ts-ignore\nreturn 1",
        "return a.__proto__",
        "// eslint-disable-next-line\nreturn 1", "const eval2 = 1; eval('x')", "return import.meta",
        "this.x = 1", "fetch('x')",
    ],
    "go": [
        "os.Exit(1)", 'exec.Command("x")', "go f()", "unsafe.Pointer(x)", "reflect.ValueOf(x)",
        "//go:linkname x y\nreturn 1",
        "syscall.Getpid()", 'net.Dial("tcp", "x")', "recover()", "ch <- 1", "type X struct{}", "runtime.GC()",
        "// nolint\nreturn 1",
    ],
    "java": [
        "System.exit(1);", "Runtime.getRuntime();", 'new java.io.File("x");', "java.nio.file.Files.x();",
        "a.getClass();", "class X {}",
        "new Object() { int y; };", 'Class.forName("x");', "String.class.x();", '@SuppressWarnings("x") int y = 1;',
        "new ProcessBuilder();", "Thread.sleep(1);", "synchronized (a) { }", "return 1; // NOSONAR",
    ],
    "cpp": [
        'std::system("x");', 'system("x");', 'asm("nop");', "::fork();", "new int;", 'std::ifstream f("x");',
        'extern "C" int f();',
        "static int x = 1;", 'std::filesystem::remove("x");', "reinterpret_cast<int>(x);", "std::thread t;",
        "using namespace std;",
        "struct X {};", "const_cast<int&>(x) = 1;", "goto out; out: return 1;", "return 1; // NOLINT",
        "getenv(\"x\");",
    ],
    "python": [
        "import os", "from os import path", "global x\nx = 1", "class A:\n    pass", "async def f():\n    pass",
        "yield 1", "def inner():\n    nonlocal amount\n    return 1",
    ],
}  # fmt: skip
SEMANTIC = {
    "rust": ["todo!()", 'println!("x")', "other(1)", "std::time::Instant::now()", "crate::m::other(2)",
    "unimplemented!()"],
    "typescript": [
        "console.log(1)", "Math.random()", "items.sort()", 'throw new Error("not implemented");', "return other(1)",
        "items[0] = 1", "delete items.x", "items.x!.y = 3", "return new Date()", "items.x++",
    ],
    "go": [
        "fmt.Println(1)", "sort.Ints(items)", 'panic("not implemented")', "other(1)", "items[0] = 1", "time.Now()",
        "items.x++", "rand.Int()",
    ],
    "java": [
        "items.add(1);", "throw new UnsupportedOperationException();", "other(1);", "Math.random();",
        "new Random().x();",
        "items.x = 1;", "Instant.now();",
    ],
    "cpp": [
        'throw std::logic_error("not implemented");', "other(1);", "rand();", "getpid();",
        "int getpid(); getpid();",
        "auto t = std::chrono::system_clock::now();",
    ],
    "python": [
        "raise NotImplementedError", "print(amount)", "list(map(print, items))", "return other(1)", "f = other",
    ],
}  # fmt: skip


def grammar(name: str) -> Table:
    return language(name).table


def _findings(name: str, body: str, purity: Purity = "pure") -> list[Any]:
    place = BodyPlace("f", ["items", "amount"], ["f", "planned", "Failed"], ["f", "planned", "other"], purity)
    return inspect(grammar(name), body, place)


@languages
def test_a_body_that_computes_is_left_alone(name: str) -> None:
    for body in GOOD[name]:
        assert _findings(name, body) == [], body
        assert security(grammar(name), body, ["items", "amount"]) == []


@languages
def test_what_reaches_outside_is_a_security_finding(name: str) -> None:
    for body in SECURITY[name]:
        assert "security" in {f.kind for f in _findings(name, body)}, body
        assert security(grammar(name), body), body


@languages
def test_what_breaks_plan_or_purity_is_a_semantic_finding(name: str) -> None:
    for body in SEMANTIC[name]:
        assert "semantic" in {f.kind for f in _findings(name, body)}, body


def test_the_contract_decides_what_a_body_may_change_and_write() -> None:
    assert _findings("typescript", "items.push(amount);", "writes") == []
    assert _findings("typescript", "console.log(amount);", "writes") != []
    assert _findings("typescript", "console.log(amount);", "io") == []


@pytest.mark.parametrize("name", [name for name in GOOD if name != "python"])
def test_the_recorded_bodies_pass_inspection(name: str) -> None:
    bodies = tomllib.loads(Path(__file__).with_name("bodies").joinpath(f"{name}.toml").read_text("utf-8"))
    target, plan = language(name), account_system.plan()
    every = [function.name for module in plan for function in module.functions]
    for module in plan:
        for function in module.functions:
            body = bodies["accounts"][f"{module.name}.{function.name}"]
            assert target.inspect_body(body, function, module=module.name, siblings=every) == []
            assert target.security_findings(body, function) == []


@languages
def test_a_body_that_does_not_parse_is_unreadable(name: str) -> None:
    for body in ("if (", "}", '"', "{ 0 } fn evil() {", "return 1; } void evil() {", "} function evil() {"):
        with pytest.raises(BodyUnreadable):
            _findings(name, body)


@languages
def test_only_what_is_to_do_stands_in_a_skeleton(name: str) -> None:
    table = grammar(name)
    opening = {
        "rust": "pub fn {}() -> i64 {{\n    {}\n}}\n", "typescript": "export function {}(): number {{\n  {}\n}}\n",
        "go": "func {}() int64 {{\n\t{}\n}}\n", "java": "public static long {}() {{\n    {}\n}}\n",
        "cpp": "std::int64_t {}() {{\n  {}\n}}\n", "python": "def {}() -> int:\n    {}\n",
    }[name]  # fmt: skip
    source = table.file[0] + opening.format("one", table.todo) + opening.format("two", "return 1;") + table.file[1]
    assert leaked(table, source) == ["two"]


@languages
def test_every_mutant_is_one_change_that_still_parses(name: str) -> None:
    operators = {"<": "<=", "+": "-"} | ({"and": "or"} if name == "python" else {"&&": "||"})
    for body in GOOD[name]:
        found = mutants(grammar(name), body)
        assert len(found) == len(set(found)) and body not in found
        for mutant in found:
            assert mutants(grammar(name), mutant) is not None
    body = {
        "rust": "if a < 3 && b { return 1; }\na + 1",
        "go": "if a < 3 && b {\n\treturn 1\n}\nreturn a + 1",
        "python": "if a < 3 and b:\n    return 1\nreturn a + 1",
    }.get(name, "if (a < 3 && b) { return 1; }\nreturn a + 1;")
    found = mutants(grammar(name), body)
    for old, new in operators.items():
        assert body.replace(f" {old} ", f" {new} ") in found
    assert body.replace("3", "4") in found
    assert any(("not (" if name == "python" else "!") in mutant for mutant in found)
    assert any("return 1" not in mutant for mutant in found), "a statement is left out"


@languages
def test_the_catalogs_smells_are_found_and_clean_code_has_none(name: str) -> None:
    deep = {
        "rust": "if a { if b { if c { if d { return 1; } } } }\n{}", "go":
        "if a {\nif b {\nif c {\nif d {\nreturn 1\n}\n}\n}\n}\n{}", "python":
        "if a:\n for x in b:\n  while c:\n   if d:\n    return 1\n{}",
    }.get(name, "if (a) { if (b) { if (c) { if (d) { return 1; } } } }\n{}")  # fmt: skip
    loop = {
        "rust": "let mut out = Vec::new();\nfor x in items { out.push(x.id); }\nout.len()",
        "typescript": "const out: number[] = [];\nfor (const x of items) { out.push(x.id); }\nreturn out.length;",
        "go": "out := []int64{}\nfor _, x := range items {\n\tout = append(out, x.ID)\n}\nreturn int64(len(out))",
        "java": "var out = new ArrayList<Long>();\nfor (var x : items) { out.add(x.id()); }\nreturn out.size();",
        "cpp": "std::vector<int> out;\nfor (const auto& x : items) { out.push_back(x.id); }\nreturn 0;",
        "python": "out = []\nfor x in items:\n    out.append(x.id)\nreturn len(out)",
    }[name]
    end = {"rust": "0", "go": "return 0", "python": "return 0"}.get(name, "return 0;")
    unused = {
        "rust": "let unused = 1;\n0", "typescript": "const unused = 1;\nreturn 0;", "go": "unused := 1\nreturn 0",
        "java": "int unused = 1;\nreturn 0;", "cpp": "const int unused = 1;\nreturn 0;",
        "python": "unused = 1\nreturn 0",
    }[name]  # fmt: skip
    magic = {
        "rust": "if amount > 4711 { return 1; }\n0",
        "go": "if amount > 4711 {\n\treturn 1\n}\nreturn 0",
        "python": "if amount > 4711:\n    return 1\nreturn 0",
    }.get(name, "if (amount > 4711) { return 1; }\nreturn 0;")
    dead = {"rust": "return 1;\n0", "go": "return 1\nreturn 0", "python": "return 1\nreturn 0"}.get(
        name, "return 1;\nreturn 0;"
    )
    wanted = {
        "deep-nesting": deep.replace("{}", end), "imperative-loop": loop, "unused-binding":
        unused, "magic-values": magic,
        "unreachable-code": dead,
        "over-documentation": f"// one\n// two\n// three\n{end}".replace("//", "#" if name == "python" else "//"),
        "long-function-body": "\n".join(["planned();"] * 60 + [end]),
        "high-cyclomatic-complexity": "\n".join([magic[: magic.rindex("\n")]] * 12 + [end]),
        "repeated-code-blocks": "\n".join(["planned(1);", "planned(2);", "planned(3);"] * 2 + [end]),
    }  # fmt: skip
    for smell, body in wanted.items():
        assert smell in smells()
        found, _ = detect(grammar(name), {"m": _module(name, body)})
        assert smell in {f.smell_id for f in found}, (smell, body)
        assert all(f.function == "m.f" for f in found)
    for body in GOOD[name][1:2]:
        found, metrics = detect(grammar(name), {"m": _module(name, body)})
        assert found == []
        assert metrics == {"m.f": {"complexity": 2, "length": 4, "nesting": 1}}


def _module(name: str, body: str) -> str:
    table = grammar(name)
    header = {
        "rust": "pub fn f() -> i64", "typescript": "export function f(): number", "go": "func f() int64",
        "java": "public static long f()", "cpp": "std::int64_t f()", "python": "",
    }[name]  # fmt: skip
    if name == "python":
        return "def f() -> int:\n" + textwrap.indent(f'"""Do it."""\n{body}\n', "    ")
    return f"{table.file[0]}{header} {{\n{body}\n}}\n{table.file[1]}"


#: Declarations that may stand before a function, and two that may not.
DECLARED: dict[str, tuple[str, ...]] = {
    "rust": (
        "fn half(x: i64) -> i64 { x / 2 }\nconst LIMIT: i64 = 3;\ntype Ids = Vec<i64>;",
        "pub fn half() {}", "fn f() { std::process::exit(1) }",
    ),
    "typescript": (
        "function half(x: number): number { return x / 2; }\nconst LIMIT = 3;\ntype Ids = readonly number[];",
        "export function f(): void {}", "const x = compute();",
    ),
    "go": ("func half(x int64) int64 { return x / 2 }\nconst limit = 3\n", "func Half() {}", "var x = 1"),
    "java": (
        "private static long half(long x) { return x / 2; }\nprivate static final int LIMIT = 3;",
        "public static void f() {}", "static { }",
    ),
    "cpp": (
        "static int half(int x) { return x / 2; }\nconstexpr int kLimit = 3;\nusing Ids = std::vector<int>;",
        "int f() { return 1; }", "#define X 1",
    ),
    "python": (
        "def _half(x: int) -> int:\n    return x // 2\n_LIMIT = 3\n_Ids = tuple[int, ...]",
        "def half() -> None:\n    return None", "_x = compute()", "_all = {}", "def _f(x=open('y')):\n    return x",
    ),
}  # fmt: skip


@languages
def test_a_transformation_declares_only_what_is_private(name: str) -> None:
    good, *bad = DECLARED[name]
    assert language(name).declaration_fault("") == language(name).declaration_fault(good) == ""
    for text in (*bad, "{"):
        assert language(name).declaration_fault(text)
