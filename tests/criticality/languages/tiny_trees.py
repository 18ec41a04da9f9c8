"""A function of two lines and its tests in each language: some that pass, some that fail, some that misbehave."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Tiny:
    """One language's tree.

    Args:
        path: of the module; ``source`` says whether a number is even, ``broken`` does not compile.
        error: words of the compiler's message.
        test: path of the test file.
        head: how a test file begins; a ``tests`` text follows, then ``tail``.
        good: a test ``holds`` that passes, and ``breaks`` that says "PROMISE does not hold".
        bad: a test ``forks``, a test ``dials``, both of which fail where a process or a socket is refused.
        loops: a test that never ends.
        hoards: a test that takes memory without end.
        others: files that the tree has besides.
    """

    path: str
    source: str
    broken: str
    error: str
    test: str
    head: str
    good: str
    bad: str
    loops: str
    hoards: str
    tail: str = ""
    others: tuple[tuple[str, str], ...] = ()

    def tree(self, source: str, tests: str = "") -> dict[str, str]:
        """The tree with a source and tests."""
        tree = {self.path: source, **dict(self.others)}
        return tree | ({self.test: self.head + tests + self.tail} if tests else {})


_TS = "export function isEven(n: number): boolean {\n  return n % 2 === 0;\n}\n"
_RUST = "//! Numbers.\n\n/// Whether it is even.\npub fn is_even(n: i64) -> bool {\n    n % 2 == 0\n}\n"
_GO = "package project\n\n// IsEven says whether it is even.\nfunc IsEven(n int) bool {\n\treturn n%2 == 0\n}\n"
_JAVA = (
    "package numbers;\n\npublic final class Numbers {\n    private Numbers() {}\n\n"
    "    public static boolean isEven(long n) {\n        return n % 2 == 0;\n    }\n}\n"
)
_CPP = '#include "numbers.hpp"\n\nnamespace numbers {\nbool is_even(long n) { return n % 2 == 0; }\n}\n'

TINY = {
    "typescript": Tiny(
        path="src/numbers.ts",
        source=_TS,
        broken=_TS.replace(" === 0", ""),
        error="not assignable to type 'boolean'",
        test="tests/numbers.test.ts",
        head=(
            'import { test } from "vitest";\nimport fc from "fast-check";\n'
            'import { isEven } from "../src/numbers.js";\n'
        ),
        good=(
            'test("holds", () => {\n'
            "  fc.assert(fc.property(fc.integer(), (n) => isEven(n * 2)), { seed: 1 });\n});\n"
            'test("breaks", () => {\n  if (isEven(2)) throw new Error("PROMISE does not hold");\n});\n'
        ),
        bad=(
            'test("forks", async () => {\n  (await import("node:child_process")).execFileSync("/bin/true");\n});\n'
            'test("dials", async () => {\n  await fetch("http://127.0.0.1:9");\n});\n'
        ),
        loops='test("loops", () => {\n  for (;;);\n});\n',
        hoards='test("hoards", () => {\n  const a = [];\n  for (;;) a.push(Buffer.alloc(1 << 24, 1));\n});\n',
    ),
    "rust": Tiny(
        path="src/lib.rs",
        source=_RUST,
        broken=_RUST.replace(" == 0", ""),
        error="mismatched types",
        test="tests/numbers.rs",
        head="#![allow(unused_imports)]\nuse project::is_even;\nuse proptest::prelude::*;\n",
        good=(
            "proptest! {\n    #[test]\n    fn holds(n in -99i64..99) { prop_assert!(is_even(n * 2)); }\n}\n"
            '#[test]\nfn breaks() { assert!(!is_even(2), "PROMISE does not hold"); }\n'
        ),
        bad=(
            '#[test]\nfn forks() { std::process::Command::new("/bin/true").status().unwrap(); }\n'
            '#[test]\nfn dials() { std::net::UdpSocket::bind("127.0.0.1:0").unwrap(); }\n'
        ),
        loops="#[test]\n#[allow(clippy::empty_loop)]\nfn loops() { loop {} }\n",
        hoards="#[test]\nfn hoards() { let mut a = vec![]; loop { a.push(vec![1u8; 1 << 24]); } }\n",
    ),
    "go": Tiny(
        path="numbers.go",
        source=_GO,
        broken=_GO.replace(" == 0", ""),
        error="as bool value in return statement",
        test="numbers_test.go",
        head=(
            'package project\n\nimport (\n\t"net"\n\t"os/exec"\n\t"testing"\n\n\t"pgregory.net/rapid"\n)\n\n'
            "var _, _, _ = exec.Command, rapid.Check, net.ListenPacket\n"
        ),
        good=(
            "func Test_holds(t *testing.T) {\n\trapid.Check(t, func(t *rapid.T) {\n\t\tn := rapid.IntRange(-99, 99)"
            '.Draw(t, "n")\n\t\tif !IsEven(n * 2) {\n\t\t\tt.Fatal(n)\n\t\t}\n\t})\n}\n'
            'func Test_breaks(t *testing.T) {\n\tif IsEven(2) {\n\t\tt.Fatal("PROMISE does not hold")\n\t}\n}\n'
        ),
        bad=(
            'func Test_forks(t *testing.T) {\n\tif err := exec.Command("/bin/true").Run(); err != nil {\n'
            "\t\tt.Fatal(err)\n\t}\n}\n"
            'func Test_dials(t *testing.T) {\n\tif _, err := net.ListenPacket("udp", "127.0.0.1:0"); err != nil {\n'
            "\t\tt.Fatal(err)\n\t}\n}\n"
        ),
        loops="func Test_loops(t *testing.T) {\n\tfor {\n\t}\n}\n",
        hoards=(
            "func Test_hoards(t *testing.T) {\n\tvar a [][]byte\n\tfor {\n\t\tb := make([]byte, 1<<24)\n"
            "\t\tfor i := range b {\n\t\t\tb[i] = 1\n\t\t}\n\t\ta = append(a, b)\n\t}\n}\n"
        ),
    ),
    "java": Tiny(
        path="src/main/java/numbers/Numbers.java",
        source=_JAVA,
        broken=_JAVA.replace(" == 0", ""),
        error="incompatible types",
        test="src/test/java/numbers/NumbersTest.java",
        head=(
            "package numbers;\n\nimport net.jqwik.api.ForAll;\nimport net.jqwik.api.Property;\n"
            "import org.junit.jupiter.api.Test;\n\nfinal class NumbersTest {\n"
        ),
        good=(
            '@Property(seed = "1")\nboolean holds(@ForAll short n) { return Numbers.isEven(n * 2L); }\n'
            '@Test\nvoid breaks() { if (Numbers.isEven(2)) throw new AssertionError("PROMISE does not hold"); }\n'
        ),
        bad=(
            '@Test\nvoid forks() throws Exception { new ProcessBuilder("/bin/true").start(); }\n'
            "@Test\nvoid dials() throws Exception { new java.net.DatagramSocket(); }\n"
        ),
        loops="@Test\nvoid loops() { for (;;); }\n",
        hoards=(
            "@Test\nvoid hoards() {\n    var a = new java.util.ArrayList<byte[]>();\n"
            "    for (;;) a.add(new byte[1 << 24]);\n}\n"
        ),
        tail="}\n",
    ),
    "cpp": Tiny(
        path="src/numbers.cpp",
        source=_CPP,
        broken=_CPP.replace(" == 0", ' == ""'),
        error="comparison between pointer and integer",
        test="tests/numbers_test.cpp",
        head=(
            "#include <gtest/gtest.h>\n#include <rapidcheck.h>\n#include <rapidcheck/gtest.h>\n"
            '#include <sys/socket.h>\n#include <unistd.h>\n#include <vector>\n#include "numbers.hpp"\n'
        ),
        good=(
            "RC_GTEST_PROP(Numbers, holds, (short n)) { RC_ASSERT(numbers::is_even(n * 2L)); }\n"
            'TEST(Numbers, breaks) {\n  if (numbers::is_even(2)) FAIL() << "PROMISE does not hold";\n}\n'
        ),
        bad=(
            "TEST(Numbers, forks) {\n  ASSERT_NE(fork(), -1);\n}\n"
            "TEST(Numbers, dials) {\n  ASSERT_NE(socket(AF_INET, SOCK_DGRAM, 0), -1);\n}\n"
        ),
        loops="TEST(Numbers, loops) {\n  for (volatile int n = 0;;) n = 1 - n;\n}\n",
        hoards=(
            "TEST(Numbers, hoards) {\n  std::vector<std::vector<char>> a;\n  for (;;) a.emplace_back(1 << 24, 1);\n}\n"
        ),
        others=(("include/numbers.hpp", "#pragma once\n\nnamespace numbers {\nbool is_even(long n);\n}\n"),),
    ),
}
