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
from tests.assay.cli.conftest import TRIAGE

from assay.protocols.crucible.findings import comment, diff_places, findings, sarif
from crucible.material import Attachment
from llm_runtime.testing import LoopbackServer, Received

Assay = Any
RESPONSE = """### [MAJOR] A2:2 An empty list divides by zero

`mean([])` raises: "return sum(xs) / len(xs)" [A2:2]. Give 0 for an empty list.

### [minor] A1:9 The guard is gone

The removed line was "if not xs:" [A1:7].

### [CRITICAL] A9:1 Made up

"There is no such line in any file" [A9:1].
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Two commits, the second of which takes a guard out, and a change that is not committed."""

    def git(*words: str) -> None:
        subprocess.run(("git", "-C", str(tmp_path), *words), check=True, capture_output=True)

    git("init", "-q", "-b", "main")
    git("config", "user.email", "a@example.com")
    git("config", "user.name", "A")
    (tmp_path / "m.py").write_text(
        "def mean(xs):\n    if not xs:\n        return 0\n    return sum(xs) / len(xs)\n"
    )
    git("add", "m.py")
    git("commit", "-qm", "one")
    (tmp_path / "m.py").write_text("def mean(xs):\n    return sum(xs) / len(xs)\n")
    git("commit", "-qam", "two")
    return tmp_path


def council(response: str) -> Callable[[Received], str]:
    def answer(received: Received) -> str:
        if received.messages[0].content.startswith("You are the triage agent"):
            return json.dumps(TRIAGE)
        if "Produce the final response." in received.messages[-1].content:
            return response
        return "1. Nothing of it is quoted."

    return answer


async def test_findings_have_file_and_line_and_end_a_build(assay: Assay, repository: Path) -> None:
    async with LoopbackServer(council(RESPONSE)) as server:
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
    assert "locations" not in by_rule["review/critical"], "a place that does not exist is none"
    text = (repository / "c.md").read_text()
    assert "`m.py:2`" in text and "its quotation was not found" in text and "place not found" in text


async def test_what_is_not_committed_is_reviewed_where_nothing_is_named(assay: Assay, repository: Path) -> None:
    async with LoopbackServer(council("No findings. All of it was read.")) as server:
        refused = await assay("review", "-q", server=server)
        assert refused.code == 2 and "nothing is uncommitted" in refused.err and not server.requests
        (repository / "m.py").write_text("def mean(xs):\n    return 0\n")
        done = await assay("review", "--fail-on", "minor", "-q", server=server)
    assert done.code == 0 and "No findings" in done.out


async def test_a_response_that_is_no_review_passes_no_gate(assay: Assay, repository: Path) -> None:
    async with LoopbackServer(council("It looks good to me.")) as server:
        done = await assay(
            "review", "HEAD~1..HEAD", "--fail-on", "major", "--sarif", "f.sarif", "-q", server=server
        )
    assert done.code == 6 and "no findings in their form" in done.err and "looks good" in done.out
    assert not json.loads((repository / "f.sarif").read_text())["runs"][0]["invocations"][0]["executionSuccessful"]


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


DIFF = "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1,3 +1,3 @@\n a\n-b\n+c\n d\n"


def test_a_place_in_a_diff_is_the_line_of_the_file_as_it_is_now() -> None:
    places = diff_places(DIFF)
    assert places[4:8] == [("x.py", 1), ("x.py", 2), ("x.py", 2), ("x.py", 3)]
    dossier = [Attachment(name="diff", text=DIFF.rstrip("\n"))]
    (one,) = findings('### [MAJOR] A1:6-7 Renamed\n\n"+c" [A1:7]', dossier)
    assert (one.place, one.quoted) == ("x.py:2", True)


@pytest.mark.parametrize(
    "heading",
    ["### [MAJOR] A1:7 Broken", "**[Major] A1:7 Broken**", "## MAJOR: A1:7 — Broken", "1. [major] [A1:7] Broken"],
)
def test_headings_are_read_as_models_write_them(heading: str) -> None:
    dossier = [Attachment(name="diff", text=DIFF.rstrip("\n"))]
    (one,) = findings(f"{heading}\n\nIt breaks.", dossier)
    assert (one.severity, one.place, one.title) == ("major", "x.py:2", "Broken")


@given(st.text(alphabet='#[]*AMJORmajor1:- \n"`<>@', max_size=200))
def test_no_response_breaks_the_reading(text: str) -> None:
    dossier = [Attachment(name="diff", text=DIFF.rstrip("\n"))]
    found = findings(f"### [MAJOR] A1:7 {text}", dossier)
    json.loads(sarif(found, "r"))
    assert "<script" not in comment(found, "")
