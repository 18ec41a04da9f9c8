"""`assay review`: a range of Git in, findings with file and line out, and an exit code that a build can trust."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.crucible.records import played

from assay.protocols.crucible.findings import comment, sarif
from assay.protocols.crucible.proved import shown
from crucible.material import Attachment
from crucible.records import FindingRecord
from crucible.reviewing import checked
from llm_runtime.testing import LoopbackServer, Received

Assay = Any
REVIEW = {
    "findings": [
        {"severity": "minor", "place": "A1:7", "quote": "if not xs:", "title": "The guard is gone"},
        {
            "severity": "MAJOR",
            "place": "A2:2",
            "quote": "    return sum(xs) / len(xs)",
            "title": "An empty list divides by zero",
            "fails": "`mean([])` raises ZeroDivisionError.",
            "mend": "Give 0 for an empty list.",
        },
        {"severity": "critical", "place": "A9:1", "quote": "There is no such line", "title": "Made up"},
    ],
    "looked_at": "The function and its change.",
}
NOTHING = {"findings": [], "looked_at": "Both versions of the function, line by line."}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Two commits, the second of which takes a guard out, and a change that is not committed."""

    def git(*words: str) -> None:
        subprocess.run(("git", "-C", str(tmp_path), *words), check=True, capture_output=True)

    git("init", "-q", "-b", "main")
    git("config", "user.email", "a@example.com")
    git("config", "user.name", "A")
    (tmp_path / "m.py").write_text("def mean(xs):\n    if not xs:\n        return 0\n    return sum(xs) / len(xs)\n")
    git("add", "m.py")
    git("commit", "-qm", "one")
    (tmp_path / "m.py").write_text("def mean(xs):\n    return sum(xs) / len(xs)\n")
    git("commit", "-qam", "two")
    return tmp_path


def council(review: Any, **instead: str) -> Callable[[Received], str]:
    def answer(received: Received) -> str:
        text = "\n".join(turn.content for turn in received.messages if turn.role == "user")
        other = next((said for sign, said in instead.items() if sign in text), None)
        return played(text, review) if other is None else other

    return answer


async def test_findings_have_file_and_line_and_end_a_build(assay: Assay, repository: Path) -> None:
    async with LoopbackServer(council(REVIEW)) as server:
        options = ("--fail-on", "major", "--sarif", "f.sarif", "--comment", "c.md", "-q")
        done = await assay("review", "HEAD~1..HEAD", *options, server=server)
        texts = ["\n".join(message.content for message in one.messages) for one in server.requests]
    assert done.code == 1 and "2 of 3 findings are major or graver" in done.err, done.err
    assert any("-    if not xs:" in text and "2|     return sum(xs) / len(xs)" in text for text in texts)
    log = json.loads((repository / "f.sarif").read_text())["runs"][0]
    assert log["invocations"] == [{"executionSuccessful": True}]
    by_rule = {result["ruleId"]: result for result in log["results"]}
    place = by_rule["review/major"]["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "m.py"}, "region": {"startLine": 2, "endLine": 2}}
    assert by_rule["review/major"]["properties"] == {"quotation": "found"}
    assert by_rule["review/critical"]["properties"] == {"quotation": "not found"}
    assert "locations" not in by_rule["review/critical"], "a place that does not exist is none"
    text = (repository / "c.md").read_text()
    assert "`m.py:2`" in text and "these words do not stand there" in text and "place not found" in text
    assert done.out.index("critical: Made up") < done.out.index("major: An empty list") < done.out.index("minor: ")


async def test_a_review_that_is_finished_is_gated_wherever_it_was_begun(assay: Assay, repository: Path) -> None:
    async with LoopbackServer(council(REVIEW)) as server:
        first = await assay("review", "HEAD~1..HEAD", "--json", "-q", server=server)
        run, asked = json.loads(first.out)["run_id"], len(server.requests)
        again = await assay("review", "--of", run, "--fail-on", "major", "--sarif", "f.sarif", "-q", server=server)
        assert (again.code, len(server.requests)) == (1, asked) and "major: An empty list" in again.out
        listed = await assay("runs", "list", server=server)
    assert len(json.loads((repository / "f.sarif").read_text())["runs"][0]["results"]) == 3
    assert "3 findings: 1 critical, 1 major and 1 minor" in listed.out, listed.out
    async with LoopbackServer(council(NOTHING)) as server:
        other = json.loads((await assay("ask", "Which?", "--form", "prose", "--json", "-q", server=server)).out)[
            "run_id"
        ]
        refused = await assay("review", "--of", other, server=server)
    assert refused.code == 2 and f"run {other} is no finished review" in refused.err


async def test_what_is_not_committed_is_reviewed_where_nothing_is_named(assay: Assay, repository: Path) -> None:
    async with LoopbackServer(council(NOTHING)) as server:
        refused = await assay("review", "-q", server=server)
        assert refused.code == 2 and "git add what is new" in refused.err and not server.requests
        (repository / "m.py").write_text("def mean(xs):\n    return 0\n")
        done = await assay("review", "--fail-on", "minor", "-q", server=server)
    assert done.code == 0 and "No findings." in done.out and "line by line" in done.out


async def test_what_git_does_not_have_yet_is_said_to_be_in_no_review(assay: Assay, repository: Path) -> None:
    (repository / "m.py").write_text("def mean(xs):\n    return 0\n")
    (repository / ".gitignore").write_text(".*\n*.db*\nignored.py\n")
    for name in ("ignored.py", "pages/a one.py", "pages/é.py"):
        (repository / name).parent.mkdir(exist_ok=True)
        (repository / name).write_text("new = 1\n")
    async with LoopbackServer(council(NOTHING)) as server:
        done = await assay("review", "--json", "-q", server=server)
    assert "not reviewed, for Git does not have it yet: pages/a one.py and 1 more; git add -N" in done.err, done.err
    assert [one.partition(":")[0] for one in done.json["task"]["left_out"]] == ["pages/a one.py", "pages/é.py"]


@pytest.mark.parametrize(
    "said",
    ["It looks good to me.", "No findings.", "## 1. [critical] A1:7 All is wrong\n\nNo findings beyond these.", "{}"],
)
async def test_a_response_that_is_no_review_passes_no_gate(assay: Assay, repository: Path, said: str) -> None:
    async with LoopbackServer(council(said)) as server:
        options = ("--fail-on", "major", "--sarif", "f.sarif", "-q")
        done = await assay("review", "HEAD~1..HEAD", *options, server=server)
    assert done.code == 6, done.err
    assert not json.loads((repository / "f.sarif").read_text())["runs"][0]["invocations"][0]["executionSuccessful"]


async def test_a_review_that_nobody_attacked_passes_no_gate(assay: Assay, repository: Path) -> None:
    refusal = {"Attack by your attack vector": "I'm sorry, but I can't help with attacking people."}
    async with LoopbackServer(council(NOTHING, **refusal)) as server:
        done = await assay("review", "HEAD~1..HEAD", "--fail-on", "major", "-q", server=server)
    assert done.code == 6 and "no critic attacked" in done.err, done.err


async def test_a_finding_is_the_same_to_a_forge_however_it_is_worded(assay: Assay, repository: Path) -> None:
    prints: list[dict[str, str]] = []
    for title in ("An empty list divides by zero", "Division by zero when xs is empty"):
        (finding,) = [{**one, "title": title} for one in REVIEW["findings"][1:2] if isinstance(one, dict)]
        async with LoopbackServer(council({**REVIEW, "findings": [finding]})) as server:
            await assay("review", "HEAD~1..HEAD", "--sarif", "f.sarif", "-q", server=server)
        (result,) = json.loads((repository / "f.sarif").read_text())["runs"][0]["results"]
        prints.append(result["partialFingerprints"])
    assert prints[0] == prints[1]


@pytest.mark.parametrize(
    ("range_", "says"),
    [("nowhere..HEAD", "git: "), ("HEAD..HEAD", "changes nothing"), ("--output=x", "No such option")],
)
async def test_a_range_that_cannot_be_is_one_line(assay: Assay, repository: Path, range_: str, says: str) -> None:
    done = await assay("review", range_, "-q")
    assert done.code == 2 and says in done.err


async def test_outside_of_a_repository_it_says_so(assay: Assay) -> None:
    done = await assay("review", "-q")
    assert done.code == 2 and "not a git repository" in done.err and len(done.err.splitlines()) == 1


@given(st.text(max_size=200), st.text(max_size=80), st.text(max_size=20))
def test_nothing_that_a_model_writes_has_powers_in_a_comment(text: str, quote: str, place: str) -> None:
    page = Attachment(name="diff", text="a\nb")
    told = FindingRecord(severity="major", title=f"{text}<script>x", place=place, quote=f"{quote}<script>", fails=text)
    listed = shown(checked([told], [page]), {}, {})
    json.loads(sarif(listed, "r"))
    lines = comment(listed, text, text).split("\n")
    assert "<script" not in "\n".join(line for line in lines if not line.startswith("    "))


def test_quoted_code_is_shown_as_it_stands() -> None:
    code = 'if user is None:\n    raise ValueError("<none>")  # @dataclass\n\n\treturn _x_[0]'
    told = FindingRecord(severity="major", title="T", place="A1:1-4", quote=code)
    listed = shown(checked([told], [Attachment(name="a.py", text=code)]), {}, {})
    shows = '    if user is None:\n        raise ValueError("<none>")  # @dataclass\n\n    \treturn _x_[0]\n'
    assert f"`a.py:1-4`\n\n{shows}" in comment(listed, "", "")
