"""What is read in the output of commands that answer by their exit code: how a test failed, and whether any ran."""

from __future__ import annotations

import pytest

from crucible.proving import BoxRequest
from crucible.proving.adapters import Child, adapter

AT_TOP_LEVEL = """# node:assert:90
#   throw new AssertionError(obj);
# AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:
# 1 !== 2
#     at Object.<anonymous> (/repo/test/assay_witness.test.js:7:8)
not ok 1 - /repo/test/assay_witness.test.js
  error: 'test failed'
  code: 'ERR_TEST_FAILURE'
"""
IN_A_TEST = """not ok 1 - it is
  location: '/repo/test/assay_witness.test.js:3:1'
  error: "Cannot read properties of null (reading 'foo')"
  name: 'TypeError'
"""
SPEC = """✖ it is (3.1ms)
  AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:
      at TestContext.<anonymous> (file:///repo/test/assay_witness.test.js:4:26)
"""
NO_JAVASCRIPT = "# SyntaxError: missing ) after argument list\n#     at wrapSafe (node:internal)\n"
NO_MODULE = "# Error: Cannot find module './nothing'\n#   code: 'MODULE_NOT_FOUND',\n"
GO = "--- FAIL: TestIt (0.00s)\n    assay_witness_test.go:9: got 3\nFAIL\tshop\t0.007s\n"
GO_AS_JSON = '{"Output":"    assay_witness_test.go:9: got 3\\n"}\n{"Output":"--- FAIL: TestIt"}\n'
GO_PANICS = "--- FAIL: TestIt (0.00s)\npanic: assignment to entry in nil map\n\t/repo/assay_witness_test.go:5\n"
NO_GO = "# shop\nassay_witness_test.go:5:9: expected ')', found 'EOF'\nFAIL\tshop [setup failed]\n"


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("sh {file}", ["sh", "a b.sh"]),
        ("make check TEST={file}", ["make", "check", "TEST=a b.sh"]),
        ("go test .", ["go", "test", "."]),
    ],
)
def test_the_test_stands_where_a_command_says(command: str, words: list[str]) -> None:
    assert adapter(command).words(command, BoxRequest(tree="a", select=["a b.sh"])) == words


@pytest.mark.parametrize("command", ["python -m pytest -q {file}", "pytest api/{file}", "pytest --rootdir=. ./{file}"])
def test_pytest_is_told_the_place_of_a_test_and_nothing_that_is_none(command: str) -> None:
    words = adapter(command).words(command, BoxRequest(tree="a", select=["api/test_a.py"]))
    assert words[-1] == "api/test_a.py" and not any("{file}" in word for word in words)


@pytest.mark.parametrize("name", ["m.ts", "src/m.tsx", "m.mts", "m.cjs", "m.js"])
def test_a_file_of_typescript_may_be_mended_where_node_runs_its_tests(name: str) -> None:
    how, test = adapter("node --test {file}"), name.replace("m.", "m.test.")
    assert how.is_source(name) and not how.is_test(name) and how.is_test(test)


@pytest.mark.parametrize(
    ("command", "out", "how"),
    [
        ("node --test {file}", AT_TOP_LEVEL, ("exit", "AssertionError", 7)),
        ("node --test {file}", IN_A_TEST, ("exit", "TypeError", 3)),
        ("node --test {file}", SPEC, ("exit", "AssertionError", 4)),
        ("node --test {file}", NO_JAVASCRIPT, ("own", "Module", 0)),
        ("node --test {file}", NO_MODULE, ("own", "Module", 0)),
        ("go test .", GO, ("exit", "FAIL", 9)),
        ("go test -json .", GO_AS_JSON, ("exit", "FAIL", 9)),
        ("go test .", GO_PANICS, ("exit", "panic", 5)),
        ("go test .", NO_GO, ("own", "Module", 0)),
        ("make check", "it broke", ("exit", "exit 1", 0)),
    ],
)
def test_how_a_command_failed_is_read_in_what_it_says(command: str, out: str, how: tuple[str, str, int]) -> None:
    place = "assay_witness_test.go" if "go test" in command else "test/assay_witness.test.js"
    child = Child(code=1, ended="", out=out, reports=[], hung=[], seconds=0.1)
    (one,) = adapter(command).read(BoxRequest(tree="a", select=[place]), child, "/repo").tests
    assert one.failure and (one.failure.kind, one.failure.type, one.failure.line) == how
