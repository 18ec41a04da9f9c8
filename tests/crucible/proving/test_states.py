"""What is read of a repository, and what a person is told who asks for what is not there."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.crucible.proving.shop import BASE, Shop, git, witness, write

from crucible.behaviour import BEHAVIOUR
from crucible.proving import BoxRequest, States, judge, read_change, read_state
from crucible.proving.adapters import Child, adapter
from crucible.proving.change import ProvenChange
from crucible.proving.probe import covered
from crucible.proving.records import Edit, Ran, Witness
from llm_runtime.behaviour import behaving
from llm_runtime.errors import ConfigurationError
from sandbox import NoIsolation

FIRST = ("    if not items:\n        return 0\n    return items[0]\n", "    return items[0]\n")


def test_a_change_knows_its_tests_its_pages_and_its_hunks(shop: Shop) -> None:
    tests = BASE["tests/test_lists.py"] + "\n\ndef test_more():\n    assert longest(['b']) == 'b'\n"
    change = shop.change("shop/lists.py", FIRST, ("LIMIT = 3", "LIMIT = 4"), more={"tests/test_lists.py": tests})
    assert [one.path for one in change.files] == ["shop/lists.py"] and len(change.hunks) == 2
    assert (
        change.near[0].path == "tests/test_lists.py"
        and "tests/test_lists.py" in change.altered
        and "first" in change.names
    )
    assert change.place == "tests/test_assay_witness.py" and str(shop.folder) not in change.model_dump_json()
    for hunk in change.hunks:
        text = change.without(hunk)["shop/lists.py"]
        assert ("LIMIT = 3" in text) != ("if not items" in text)
    assert ProvenChange.model_validate_json(change.model_dump_json()) == change


def test_pages_are_those_that_name_what_changed(shop: Shop) -> None:
    change = shop.change("shop/lists.py", ('" and " + names[-1]', '", and " + names[-1]'))
    assert [(page.path, page.line) for page in change.docs] == [("README.md", 5)]
    assert read_state(["shop/lists.py:20"], shop.command, at=shop.folder).names == ["join_names"]


def test_of_a_long_module_those_tests_are_near_that_name_what_changed(shop: Shop) -> None:
    others = "".join(f"\n\ndef test_other_{n}():\n    assert {n} == {n}  # {'-' * 80}\n" for n in range(700))
    more = "\n\nclass TestFirst:\n    def test_one(self):\n        assert first([1]) == 1\n"
    long = f"{BASE['tests/test_lists.py']}{others}{more}"
    write(shop.folder, {"tests/test_lists.py": long})
    git(shop.folder, "commit", "-qam", "more tests")
    near = shop.change("shop/lists.py", FIRST).near[0]
    assert (near.path, near.tests) == (
        "tests/test_lists.py",
        ["tests/test_lists.py::test_first", "tests/test_lists.py::TestFirst::test_one"],
    )


@pytest.mark.box
async def test_a_module_of_tests_that_cannot_be_imported_stops_no_other(shop: Shop) -> None:
    change = shop.change("shop/lists.py", FIRST, more={"tests/test_broken.py": "import nothing_of_the_kind\n"})
    ask = BoxRequest(tree=change.head, select=["tests/test_broken.py", "tests/test_prices.py"], sealed=False)
    with States(change, at=shop.folder) as run:
        ran = await run(ask)
    assert ran.agrees and [one.outcome for one in ran.tests] == ["failed", "passed", "passed", "passed"], ran


def test_a_renamed_file_keeps_its_base(shop: Shop) -> None:
    git(shop.folder, "mv", "shop/prices.py", "shop/costs.py")
    change = read_change("", shop.command, at=shop.folder)
    assert [(one.was, one.path) for one in change.files] == [("shop/prices.py", "shop/costs.py")]
    assert change.files[0].base == change.files[0].head == BASE["shop/prices.py"]


def test_what_is_not_there_is_one_line(shop: Shop, tmp_path: Path) -> None:
    for revisions, command, at, why in (
        ("HEAD..HEAD", shop.command, shop.folder, "changes nothing"),
        ("", shop.command, shop.folder, "what is uncommitted changes nothing"),
        ("nowhere..HEAD", shop.command, shop.folder, "git: "),
        ("--all", shop.command, shop.folder, "is no range"),
        ("", shop.command, tmp_path, "not a git repository"),
    ):
        with pytest.raises(ConfigurationError, match=why) as told:
            read_change(revisions, command, at=at)
        assert "\n" not in str(told.value)
    with pytest.raises(ConfigurationError, match="is no command"):
        shop.change("shop/lists.py", FIRST).model_copy(update={"command": "'"}).adapter  # noqa: B018
    with pytest.raises(ConfigurationError, match="no such file"):
        read_state(["nowhere.py:3"], shop.command, at=shop.folder)


async def test_without_a_box_nothing_runs(shop: Shop) -> None:
    change = shop.change("shop/lists.py", FIRST)
    with States(change, at=shop.folder) as run, pytest.raises(NoIsolation):
        await judge(change, witness("assert lists.first([]) == 0", FIRST[::-1]), [], "f", run)


@pytest.mark.box
async def test_what_was_installed_is_seen_and_secrets_are_not(shop: Shop) -> None:
    write(shop.folder, {
        ".gitignore": "node_modules/\n.env\nshop/_made.py\n", "node_modules/x/y.txt": "here", ".env": "KEY=1",
        "shop/_made.py": "MADE = 5\n",
    })  # fmt: skip
    change = shop.change("shop/lists.py", FIRST)
    test = (
        "import os\n\nfrom shop._made import MADE\n\n\ndef test_it():\n    assert MADE == 5\n"
        "    assert os.path.exists('node_modules/x/y.txt')\n    assert not os.path.exists('.env')\n"
    )
    with States(change, at=shop.folder) as run:
        ran = await run(BoxRequest(tree=change.head, files={change.place: test}, select=[change.place]))
        assert [one.outcome for one in ran.tests] == ["passed"], ran
        with pytest.raises(ConfigurationError, match="leads out of the repository"):
            await run(BoxRequest(tree=change.head, files={"../x": ""}))


@pytest.mark.box
async def test_another_command_shows_by_its_exit_code_that_something_changed(shop: Shop) -> None:
    change = shop.change("shop/lists.py", FIRST)
    change = read_change("HEAD~1..HEAD", "sh {file}", at=shop.folder)
    assert change.adapter.name == "any"


SHELL = {
    "lib.sh": 'first() {\n  if [ -z "$1" ]; then echo none; else echo "$1"; fi\n}\n',
    "tests/lib_test.sh": '. ./lib.sh\n[ "$(first a)" = a ]\n',
    "tests/broken_lib_test.sh": ". ./lib.sh\nexit 3\n",
}
GUARD, NO_GUARD = 'if [ -z "$1" ]; then echo none; else echo "$1"; fi', 'echo "$1"'


@pytest.mark.box
@pytest.mark.parametrize(
    ("fix", "verdict", "says"),
    [
        (GUARD, "changed", "near tests pass with the fix as they did: 1"),
        ("echo none", "not reproduced", "the fix breaks tests/lib_test.sh"),
    ],
)
async def test_near_tests_of_any_command_hold_a_fix(tmp_path: Path, fix: str, verdict: str, says: str) -> None:
    shop = Shop(tmp_path / "checkout", SHELL, "sh {file}")
    change = shop.change("lib.sh", (GUARD, NO_GUARD))
    test = '. ./li*.sh\n[ "$(first)" = none ]\n'
    true = Witness(test=test, fix=[Edit(path="lib.sh", old=NO_GUARD, new=fix)])
    with States(change, at=shop.folder) as run:
        proof = await judge(change, true, ["lib.sh:2"], "f", run)
        with behaving([(BEHAVIOUR, 12)]):
            before = await judge(change, true, ["lib.sh:2"], "f", run)
    assert proof.verdict == verdict and says in str(proof.checks), proof
    assert before.verdict == "changed" and "near tests" not in str(before.checks)


@pytest.mark.parametrize(
    ("command", "says"), [("sh {file}", "with the fix"), ("python -m pytest {file}", "ran to an end")]
)
async def test_a_command_that_hangs_is_told_in_one_line(tmp_path: Path, command: str, says: str) -> None:
    """A box ends it; who proves hears that it was the command, whatever test is given to it."""
    path, suffix = ("lib.py", "py") if "pytest" in command else ("lib.sh", "sh")
    shop = Shop(tmp_path / "checkout", {path: "a = 1\n", f"tests/lib_test.{suffix}": "a = 1\n"}, command)
    change = shop.change(path, ("1", "2"))
    true = Witness(test="def test():\n    assert 1\n", fix=[Edit(path=path, old="2", new="1")])

    async def hangs(ask: BoxRequest) -> Ran:
        return change.adapter.read(ask, Child(code=-9, ended="time", out="", reports=[], hung=[], seconds=65), "/r")

    proof = await judge(change, true, [], "f", hangs)
    assert says in proof.refused and f"“{command}” does not come to an end and prints nothing" in proof.refused
    with behaving([(BEHAVIOUR, 13)]):
        assert "come to an end" not in (await judge(change, true, [], "f", hangs)).refused


NODE = {
    "lib.js": "exports.first = (xs) => xs[0];\n\n\n\n\n\nexports.last = (xs) => {\n\n\n\n\n  return 0 * xs;\n};\n",
    "lib.test.js": "const assert = require('assert');\nassert.equal(require('./lib.js').last([1]), 0);\n",
}
TRUE = "const assert = require('assert');\nassert.equal(require('./lib').first([1, 2]), 1);\n"


@pytest.mark.box
@pytest.mark.needs("node")
async def test_what_node_ran_is_known_and_a_test_of_something_else_is_refused(tmp_path: Path) -> None:
    shop = Shop(tmp_path / "checkout", NODE, "node {file}")
    change = shop.change("lib.js", ("xs[0]", "xs[1]"))
    true = Witness(test=TRUE, fix=[Edit(path="lib.js", old="xs[1]", new="xs[0]")])
    with States(change, at=shop.folder) as run:
        ask = BoxRequest(tree=change.head, files={change.place: TRUE}, select=[change.place], watch=["lib.js"])
        lines = (await run(ask)).lines["lib.js"]
        assert {1, 7} <= {*lines} and 12 not in lines
        assert (await judge(change, true, ["lib.js:1"], "f", run)).verdict == "changed"
        unlike = change.model_copy(update={"hunks": []})
        other = await judge(unlike, true, ["lib.js:12"], "f", run)
        with behaving([(BEHAVIOUR, 14)]):
            assert (await judge(unlike, true, ["lib.js:12"], "f", run)).verdict == "changed"
    assert other.verdict == "not reproduced" and "nothing at lib.js:12 runs in the test" in other.refused


def test_what_go_ran_stands_in_its_profile(tmp_path: Path) -> None:
    profile = "mode: set\na.b/shop/lib.go:3.29,5.2 1 1\na.b/shop/lib.go:7.28,9.2 1 0\na.b/shop/my/lib.go:1.1,1.2 1 1\n"
    (tmp_path / "go").write_text(profile)
    child = Child(code=1, ended="", out="", reports=[], hung=[], seconds=0, lines=[*covered(["lib.go"], str(tmp_path))])
    ask = BoxRequest(tree="t", select=["a"], watch=["shop/lib.go", "other.go"])
    ran = adapter("go test {file}").read(ask, child, "/r")
    assert ran.lines == {"shop/lib.go": [3, 4, 5]} and ran.ran == ["shop/lib.go:"]
    command = adapter("go test {file}").words("go test {file}", BoxRequest(tree="t", files={"a": ""}, select=["a"]))
    assert command == ["go", "test", "-coverprofile=/tmp/assay-cover/go", "a"]


@pytest.mark.box
async def test_a_folder_that_is_given_is_read_where_it_lies_and_its_programs_are_found(shop: Shop) -> None:
    beside = shop.folder.parent / "deps"
    write(shop.folder, {".gitignore": "built/\n", "built/x.txt": "1"})
    write(beside, {"y.txt": "2", "bin/mytest": "#!/bin/sh\ncat built/x.txt\n"})
    (beside / "bin/mytest").chmod(0o755)
    change = shop.change("shop/lists.py", FIRST)
    test = (
        f"def test():\n    assert open('built/x.txt').read() == '1' and open({str(beside / 'y.txt')!r}).read() == '2'\n"
    )
    asked = BoxRequest(tree=change.head, files={change.place: test}, select=[change.place])
    with States(change, at=shop.folder) as run:
        assert [one.outcome for one in (await run(asked)).tests] == ["failed"]
    with States(change, at=shop.folder, env=["built", str(beside)]) as run:
        assert [one.outcome for one in (await run(asked)).tests] == ["passed"]
    with States(
        change.model_copy(update={"command": "mytest {file}"}), at=shop.folder, env=["built", "../deps"]
    ) as run:
        assert (await run(asked.model_copy(update={"select": []}))).tail == "1"
    refused = pytest.raises(ConfigurationError, match="--env shop: the change has it already")
    with States(change, at=shop.folder, env=["shop"]) as run, refused:
        await run(asked)
