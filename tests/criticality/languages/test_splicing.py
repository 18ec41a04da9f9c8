"""A body goes into its function and nowhere else, in each language that is read with tree-sitter (CT10)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.extent import FULL

from criticality.bodies import BodyUnreadable, SpliceRefused
from criticality.languages import language
from criticality.languages.base.grammar import declarations, inspection, splicing

pytest.importorskip("tree_sitter")


@dataclass(frozen=True)
class Sample:
    """A module with one function to fill, between others that must stay as they are.

    Args:
        before, after: the text around the body of ``target``.
        good: bodies that are in order.
        escapes: bodies that would declare, end or attach something outside of their function.
        hostile: pieces that are put together at random.
    """

    before: str
    after: str
    good: list[str]
    escapes: list[str]
    hostile: list[str] = field(default_factory=list[str])

    @property
    def source(self) -> str:
        return f"{self.before}{self.after}"


SAMPLES = {
    "rust": Sample(
        before=(
            "#![forbid(unsafe_code)]\nuse crate::domain::*;\n\n/// First.\n#[inline]\n"
            "pub fn first(a: i64) -> i64 {\n"
            "    todo!()\n}\n\nmacro_rules! twice { ($x:expr) => { $x * 2 }; }\n\n/// Does it.\n#[must_use]\n"
            "pub fn target<T: Ord + Clone>(items: &[T], größe: i64) -> Result<i64, Failed> where T: Default {"
        ),
        after="\n    todo!()\n}\n\npub fn last(a: &str) -> bool {\n    a == \"}\" // }\n}\n",
        good=[
            "Ok(größe)", "fn target() -> i64 { 1 }\nOk(target())", 'let s = r#"}{"#;\nOk(s.len() as i64)',
            "let c = '}';\n// }\n/* } /* } */ */\nOk(c as i64)", "Ok(match items { [] => 0, _ => 1 })",
        ],
        escapes=[
            "{ 0 } fn evil() {", "Ok(0) } fn evil() { 1", "Ok(0)\n}\n#[test]\nfn evil() {",
            "#![allow(warnings)]\nOk(0)",
            "#[inline]\nfn h() {}\nOk(0)", "//! documents the function\nOk(0)",
            "macro_rules! m { () => {} }\nOk(0)",
            'r#"', "/* /* */", "'", '"', "Ok(0) } mod evil { fn f() {", "Ok(0) }", "{",
        ],
        hostile=['r#"', '"#', "'a", "b'}'", "/*", "*/", "todo!()", "vec![", "]", "#[x]", "unsafe {", "|x| {", "=>"],
    ),
    "typescript": Sample(
        before=(
            'import { Failed } from "./domain.js";\n\n/** First. */\nexport function first(a: number): number {\n'
            '  throw new Error("not implemented");\n}\n\nexport class Box { @logged m(): number { return 1; } }\n\n'
            "function target(a: string): string;\n"
            "/** Does it. */\n"
            "export function target<T extends object>(items: readonly T[], größe: number): number {"
        ),
        after='\n  throw new Error("not implemented");\n}\n\n'
        'export const last = (a: string): boolean => { return a === "}"; };\n',
        good=[
            "return größe;", "function target(): number { return 1; }\nreturn target();",
            "const s = `}${`{${größe}`}`;\nreturn s.length;",
            "const r = /[}]/;\nreturn r.test('}') ? 1 : 0; // }", "/* } */ return items.length;",
        ],
        escapes=[
            "{ 0 } function evil() {", "return 1; } export function evil() { return 2;", "} function evil() {",
            "return `", "return '", "/*", "return 1; } /", "return 1; } export const evil = () => {",
            "@logged\nreturn 1;",
            "return 1; // \u2028} function evil() {", "<!-- }", "return 1 } declare module 'x' {", "}", "{",
        ],
        hostile=["`", "${", "/*", "*/", "/}/", "<T>", "=>", "`}`", "'", "async", "@dec", "import(", "?.", "</"],
    ),
    "go": Sample(
        before=(
            'package domain\n\nimport "errors"\n\n// First.\nfunc First(a int64) int64 {\n'
            '\tpanic("not implemented")\n}\n\n'
            "//go:noinline\n// Target does it.\nfunc target[T comparable](items []T, größe int64) (int64, error) {"
        ),
        after='\n\tpanic("not implemented")\n}\n\nfunc (b *Box) Last(a string) bool { return a == "}" /* } */ }\n',
        good=[
            "return größe, nil", "target := func() int64 { return 1 }\nreturn target(), nil",
            "s := `}{\n}`\nreturn int64(len(s)), nil",
            "c := '}'\n// }\nreturn int64(c), nil", "if len(items) == 0 {\n\treturn 0, nil\n}\nreturn 1, nil",
        ],
        escapes=[
            "{ 0 } func evil() {", "return 1, nil\n}\n\nfunc evil() {", "return 1, nil }; func evil() { return",
            "`", "/*", '"',
            "return 0, nil\n}\nvar evil = func() {", "//go:linkname target evil\nreturn 0, nil",
            "//line evil.go:1\nreturn 0, nil",
            "/*line evil.go:1*/\nreturn 0, nil", "}", "{", "return 1, nil } ; type evil struct {",
        ],
        hostile=["`", "/*", "*/", "func(", ":=", "go ", "case", "'", "chan", "<-", "[]", ";", "//go:x\n"],
    ),
    "java": Sample(
        before=(
            "package box;\n\nimport java.util.List;\n\n/** Module. */\npublic final class Module {\n"
            "  private Module() {}\n\n"
            '  @Deprecated\n  public static int first(int a) {\n'
            '    throw new UnsupportedOperationException("not implemented");\n  }\n\n'
            "  public static int other(int a) { return 1; }\n\n  /** Does it. */\n  @SafeVarargs\n"
            "  public static <T extends Comparable<T>> "
            "int target(List<? extends T> items, int größe) throws Failed {"
        ),
        after=(
            '\n    throw new UnsupportedOperationException("not implemented");\n  }\n\n'
            '  public static int other(String a) '
            '{ return a.equals("}") ? 1 : 0; }\n}\n'
        ),
        good=[
            "return größe;", "return items.size(); // }", "char c = '}';\nreturn c;",
            'String s = """\n    }{\n    """;\nreturn s.length();',
            "/* } */ return items.stream().map(x -> { return 1; }).toList().size();",
        ],
        escapes=[
            "{ 0 } void evil() {", "return 1; } static int evil() { return 2;", "return 1; } } class Evil { {",
            '"', "'", "/*", '"""',
            "return 1; // \\u000a } static void evil() {", 'return "\\u0022; } static void evil() {',
            "return \\u007d static void evil() {",
            '@SuppressWarnings("all") int a = 1;\nreturn a;', "return 1; } static {", "}", "{",
        ],
        hostile=['"""', "/*", "*/", "->", "@A", "\\u007d", "'", "class X {", "static {", "<T>", "new Object() {",
        "switch (a) {"],
    ),
    "cpp": Sample(
        before=(
            '#include "module.hpp"\n\n#define TWICE(x) ((x) * 2)\n\nnamespace box::module {\n\n/// First.\n'
            '[[nodiscard]] std::int64_t first(std::int64_t a) {\n'
            '  throw std::logic_error("not implemented");\n}\n\nint over(int a) { return a; }\n\n'
            'template <typename T>\n  requires std::totally_ordered<T>\n'
            "[[nodiscard]] std::int64_t target(const std::vector<T>& items, std::int64_t größe) {"
        ),
        after='\n  throw std::logic_error("not implemented");\n}\n\n'
        'int over(std::string a) { return a == "}" ? 1 : 0; }  // }\n\n}  // namespace box::module\n',
        good=[
            "return größe;", 'const auto* s = R"x(}{)x";\nreturn größe + (s == nullptr ? 0 : 1);',
            "const char c = '}';\n// }\nreturn c;",
            "const auto target = [&](int a) { return a; };\nreturn target(1);", "/* } */ return std::ssize(items);",
        ],
        escapes=[
            "{ 0 } void evil() {", "return 1; } int evil() { return 2;",
            "return 1; } } namespace evil { void f() {", '"', "'", "/*", 'R"x(',
            "return 1; // \\\n} int evil() {", "return 1; ??> int evil() ??<", "return 1; %> int evil() <%",
            "#define evil }\nreturn 1;",
            "#include <cstdlib>\nreturn 1;", "%:define evil\nreturn 1;",
            "[[gnu::constructor]] int a = 1;\nreturn a;", "}", "{",
            "return \\u007d;", "_Pragma(\"once\") return 1;",
        ],
        hostile=['R"(', ')"', "/*", "*/", "#if 0\n", "#endif\n", "\\\n", "??/", "<%", "[&] {", "'", "template <",
        "[[x]]"],
    ),
}  # fmt: skip
_COMMON = [
    "{", "}", "(", ")", ";", "\n", " ", '"', "'", "//", "\\", "return 1;", "return 1", "1", "x", "if (x) {",
    "else", "=", ",",
    "\u202e", "\u2066", "\ufeff", "\u2028", "\r", "\x0b", "\x85", "evil", "größe", "// }\n", "/* } */", '"}"',
    "#", "@", "<", ">",
]  # fmt: skip
languages = pytest.mark.parametrize("name", list(SAMPLES))


def grammar(name: str) -> SimpleNamespace:
    """Return the source operations of a language by their names."""
    parts = (
        declarations.declarations, inspection.leaked, inspection.security, splicing.body_of, splicing.read_body,
        splicing.splice,
    )  # fmt: skip
    return SimpleNamespace(**{part.__name__: partial(part, language(name).table) for part in parts})


def _filled(sample: Sample, grammar: SimpleNamespace, body: str) -> str:
    return grammar.splice(sample.source, "target", body)


@languages
def test_a_body_in_order_is_put_in_and_read_back(name: str) -> None:
    sample, source = SAMPLES[name], grammar(name)
    for body in sample.good:
        after = _filled(sample, source, body)
        assert after.startswith(sample.before)
        assert after.endswith(sample.after[sample.after.index("}") :])
        assert source.body_of(after, "target") == body
        assert _filled(sample, source, source.body_of(after, "target")) == after
        assert source.leaked(after) != [] and "first" not in source.leaked(after)


@languages
def test_a_body_that_leaves_its_function_is_refused_in_one_line(name: str) -> None:
    sample, source = SAMPLES[name], grammar(name)
    for body in sample.escapes:
        with pytest.raises(SpliceRefused) as refused:
            _filled(sample, source, body)
        assert "\n" not in str(refused.value) and len(str(refused.value)) < 160, body


@pytest.mark.parametrize("body", ["return 1; \\", "return 1;\\ \t", "\\ \n", "return 1; // \\\n\n"])
def test_a_body_does_not_take_the_line_after_it_for_its_own(body: str) -> None:
    with pytest.raises(SpliceRefused, match="backslash at the end of a line"):
        _filled(SAMPLES["cpp"], grammar("cpp"), body)


def test_a_comment_without_an_end_is_no_regular_expression() -> None:
    with pytest.raises(SpliceRefused, match="comment without an end"):
        _filled(SAMPLES["typescript"], grammar("typescript"), "/*return 1; } /")


@languages
def test_hidden_characters_are_refused(name: str) -> None:
    for hidden in "\u202e\u2066\u200b\u2028\x0b\x85\u00ad\ufeff":
        with pytest.raises(SpliceRefused, match=f"U[+]{ord(hidden):04X}"):
            _filled(SAMPLES[name], grammar(name), f"return 1; // {hidden}")


@pytest.mark.counted
@languages
@pytest.mark.parametrize("batch", [0, pytest.param(1, marks=pytest.mark.long)])
def test_no_body_changes_a_byte_outside_of_its_own(name: str, batch: int) -> None:
    sample, source = SAMPLES[name], grammar(name)
    before = source.declarations(sample.source)
    closing = sample.after[sample.after.index("}") :]
    pieces = st.sampled_from([*_COMMON, *sample.hostile, *sample.good, *sample.escapes])
    accepted: list[str] = []

    @settings(
        max_examples=600 if FULL or batch else 200,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(st.lists(pieces, min_size=1 + batch, max_size=3 + 5 * batch).map("".join))
    def holds(body: str) -> None:
        try:
            after = _filled(sample, source, body)
        except SpliceRefused as refused:
            assert "\n" not in str(refused)
            return
        accepted.append(body)
        source.security(body)  # what a file takes in, the inspection can read
        assert after.startswith(sample.before) and after.endswith(closing)
        found = source.declarations(after)
        assert [(d.name, d.header) for d in found] == [(d.name, d.header) for d in before]
        inside = after.encode()[len(sample.before.encode()) : len(after.encode()) - len(closing.encode())].decode()
        assert _is_closed(inside, name), body

    holds()
    assert len(accepted) > 10, "the cases should not all be refused"


def _is_closed(text: str, language: str) -> bool:
    """Whether braces outside of literals and comments close within the text: read by hand, without a parser."""
    stack: list[str] = []
    at, quote, deep = 0, "", 0
    while at < len(text):
        rest, char = text[at:], text[at]
        step = 1
        if deep:
            deep += (rest.startswith("/*") and language == "rust") - rest.startswith("*/")
            step = 2 if rest.startswith("*/") or (rest.startswith("/*") and language == "rust") else 1
        elif quote:
            raw = (quote == "`" and language == "go") or quote.endswith(("#", ')"'))
            if char == "\\" and not raw:
                step = 2
            elif quote == "`" and language == "typescript" and rest.startswith("${"):
                stack.append("${")
                quote, step = "", 2
            elif rest.startswith(quote):
                quote, step = "", len(quote)
        elif rest.startswith("//"):
            step = (rest + "\n").index("\n")
        elif rest.startswith("/*"):
            deep, step = 1, 2
        elif language == "rust" and rest.startswith('r#"'):
            quote, step = '"#', 3
        elif language == "cpp" and rest.startswith('R"'):
            end = rest.index("(")
            quote, step = f'){rest[2:end]}"', end + 1
        elif language == "java" and rest.startswith('"""'):
            quote, step = '"""', 3
        elif language == "rust" and char == "'":
            step = 3 if rest[2:3] == "'" else rest.index("'", 2) + 1 if rest[1:2] == "\\" else 1
        elif language == "typescript" and rest.startswith(("/}/", "/[}]/")):
            step = rest.index("/", 1) + 1
        elif char in "\"'" or (char == "`" and language in ("go", "typescript")):
            quote = char
        elif char == "{":
            stack.append(char)
        elif char == "}":
            if not stack:
                return False
            quote = "`" if stack.pop() == "${" else ""
        at += step
    return not stack and not quote and not deep


@languages
def test_the_whole_function_is_read_as_its_body(name: str) -> None:
    sample, source = SAMPLES[name], grammar(name)
    body = sample.good[0]
    header = next(d.header for d in source.declarations(sample.source) if d.name == "target")
    for answer in (body, f"```\n{body}\n```", f"Here it is.\n\n```{name}\n{header} {{\n    {body}\n}}\n```\n"):
        assert source.read_body(answer, "target") == body
    assert "evil" in source.read_body(
        f"{header} {{\n{body}\n}}\n{header.replace('target', 'evil')} {{\n{body}\n}}", "target"
    )
    with pytest.raises(SpliceRefused, match="empty"):
        source.read_body("```\n\n```", "target")
    with pytest.raises(SpliceRefused, match="longer"):
        source.read_body("x" * 20_001, "target")


@pytest.mark.parametrize("name", ["java", "cpp"])
def test_an_overload_is_named_by_its_whole_header(name: str) -> None:
    sample, source = SAMPLES[name], grammar(name)
    overloaded = {"java": "other", "cpp": "over"}[name]
    with pytest.raises(SpliceRefused, match="2 functions called"):
        source.splice(sample.source, overloaded, "return 2;")
    headers = [d.header for d in source.declarations(sample.source) if d.name == overloaded]
    after = source.splice(sample.source, headers[1], "return 2;")
    assert [source.body_of(after, h) for h in headers][1] == "return 2;"
    assert after.startswith(sample.before)


@languages
def test_what_does_not_parse_or_does_not_exist_is_said(name: str) -> None:
    sample, source = SAMPLES[name], grammar(name)
    with pytest.raises(SpliceRefused, match="no function called nothing"):
        source.splice(sample.source, "nothing", "return 1;")
    with pytest.raises(BodyUnreadable, match="module does not parse"):
        source.splice(sample.before, "target", "return 1;")


@languages
def test_values_over_several_lines_keep_their_own_indentation(name: str) -> None:
    literal = {
        "rust": 'let s = "a\n  b";\nOk(s.len() as i64)', "typescript": "const s = `a\n  b`;\nreturn s.length;",
        "go": "s := `a\n  b`\nreturn int64(len(s)), nil", "java":
        'String s = """\n  a\n    b""";\nreturn s.length();',
        "cpp": 'const std::string s = R"(a\n  b)";\nreturn std::ssize(s);',
    }[name]  # fmt: skip
    after = _filled(SAMPLES[name], grammar(name), literal)
    assert literal in after
    assert grammar(name).body_of(after, "target") == literal
