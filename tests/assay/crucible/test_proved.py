"""What running showed of a finding, on every surface the same; what models and others wrote keeps no power."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.protocols.crucible.findings import comment, sarif
from assay.protocols.crucible.proved import Shown, failing, findings_section, headline, shown
from assay.report.html import story_html
from assay.report.story import Story
from assay.report.terminal import print_story
from crucible.material import Attachment
from crucible.proving.prover import Proven
from crucible.proving.records import Edit, Proof, ProofCheck, Verdict, Witness
from crucible.records import FindingRecord
from crucible.reviewing import checked

AFTER = "def mean(xs):\n    return sum(xs) / len(xs)\n"
DIFF = """diff --git a/m.py b/m.py
--- a/m.py
+++ b/m.py
@@ -1,4 +1,2 @@
 def mean(xs):
-    if not xs:
-        return 0
     return sum(xs) / len(xs)
"""
DOSSIER = [Attachment(name="diff", text=DIFF), Attachment(name="m.py", text=AFTER)]
EXPECTED = {"critical": "nobody tried", "major": "An empty list divides by zero", "minor": "The name is unclear"}
WITNESS = Witness(
    test="from m import mean\n\n\ndef test_nothing():\n    assert mean([]) == 0\n",
    fix=[Edit(path="m.py", old="sum(xs) / len(xs)", new="sum(xs) / len(xs) if xs else 0")],
    says="`mean([])` was 0 and now raises ZeroDivisionError",
    quote="the mean of nothing is 0",
)


def proven(verdict: Verdict = "proved", witness: Witness = WITNESS, **told: Any) -> Proven:
    checks = [ProofCheck(check="fails on the change", ok=True, what="ZeroDivisionError at m.py:2", runs=1)]
    held = {"origin": "regression", "oracle": "crash", "culprits": ["m.py:2-1"], "runs": 9, "seconds": 4.2, **told}
    return Proven(proof=Proof(finding="f" * 32, verdict=verdict, witness=witness, checks=checks, **held), tries=1)


def check(log: dict[str, Any]) -> None:
    """The rules of the official schema that concern what is written here."""
    for result in log["runs"][0]["results"]:
        assert result["level"] in ("note", "warning", "error") and 0 <= result.get("rank", 0) <= 100
        for location in (*result.get("locations", ()), *result.get("relatedLocations", ())):
            place = location["physicalLocation"]
            assert re.fullmatch(r"[A-Za-z0-9._~%/+-]+", place["artifactLocation"]["uri"])
            lines = place.get("region", {"startLine": 1, "endLine": 1})
            assert 1 <= lines["startLine"] <= lines["endLine"]


def listed(**by_severity: Proven) -> list[Shown]:
    found = [
        FindingRecord(severity=severity, place="A2:2", title=title, fails=f"{title}: so it goes.")  # pyright: ignore[reportArgumentType]
        for severity, title in EXPECTED.items()
    ]
    numbers = {number: by_severity[name] for number, name in enumerate(EXPECTED, 1) if name in by_severity}
    return shown(checked(found, DOSSIER), numbers, {"m.py": AFTER})


def test_what_is_proved_comes_first_with_its_witness_and_the_rest_is_called_opinion() -> None:
    ones = listed(major=proven(), minor=proven("not reproduced", refused="it passes\nlog line"))
    assert [one.standing for one in ones] == ["proved", "opinion", "opinion"]
    assert headline(ones) == "1 of 3 findings proved; 2 opinion"
    text = comment(ones, "The change.", "", diff=DIFF)
    assert text.startswith("**1 of 3 findings proved; 2 opinion.**")
    order = [
        "### Proved · major",
        WITNESS.says,
        "it crashes",
        "this is opinion:",
        "<details>",
        "No test shows what follows",
    ]
    places = [text.index(words) for words in order]
    assert places == sorted(places) < [text.index("Not reproduced: it passes.")]
    assert "log line" not in text and text.count("No test shows") == 1
    assert "```suggestion\n    return sum(xs) / len(xs) if xs else 0\n```" in text
    assert "> +    return sum(xs) / len(xs) if xs else 0" in text and "> def test_nothing():" in text


def test_a_review_without_tests_is_written_as_ever() -> None:
    text = comment(listed(), "The change.", "2 objections.")
    assert text.startswith("**3 findings.** 2 objections.\n\n### critical: nobody tried") and "opinion" not in text


def test_a_fix_outside_of_the_lines_of_the_change_is_a_patch_alone() -> None:
    page = "".join(f"a{number} = 1\n" for number in range(90))
    long = Witness(test="t", says="s", fix=[Edit(path="n.py", old="a40 = 1", new="a40 = 2")])
    (one,) = [one for one in listed(major=proven(witness=long)) if one.witness]
    one = Shown(one.finding, one.proven, {"n.py": page})
    assert one.suggestion({("m.py", 1)}) == "" and "-a40 = 1\n+a40 = 2" in one.patch
    two = [Edit(path="n.py", old="a3 = 1\na4", new="b"), Edit(path="gone.py", old="x", new="y")]
    torn = Shown(one.finding, proven(witness=long.model_copy(update={"fix": two})), {"n.py": page})
    assert torn.mended == [] and torn.patch == "", "half a fix is none"


@pytest.mark.parametrize(
    ("verdict", "told", "says"),
    [
        ("argued", {"words": "README.md:3"}, "rests on the words at README.md:3"),
        ("changed", {}, "the change says nothing of it"),
        ("changed", {"told": "its tests change"}, "which is right: its tests change. That it was not meant is opinion"),
        ("stood before", {}, "before it as well"),
        ("asserted", {}, "an opinion with a test"),
        (
            "proved",
            {"origin": "new code", "oracle": "hang"},
            "on this new code, and passes with the fix: it does not end",
        ),
    ],
)
def test_each_verdict_says_what_it_rests_on_and_what_of_it_is_opinion(verdict: Any, told: Any, says: str) -> None:
    (one,) = [one for one in listed(major=proven(verdict, **told)) if one.witness]
    assert says in one.line and one.head.startswith(verdict.capitalize())


def test_what_a_blind_reader_says_stands_beside_argued() -> None:
    for alike, says in ((True, "2 of 2 read it so"), (False, "expects another value")):
        come = proven("argued", words="m.py:1").model_copy(update={"read_alike": alike})
        assert any(says in one.line for one in listed(major=come))


@pytest.mark.parametrize(
    ("fail_on", "many"),
    [("proved", 1), ("changed", 3), ("proved:major", 0), ("changed:major", 2), ("minor", 3), ("critical", 1)],
)
def test_severity_and_proof_are_two_axes_of_a_gate(fail_on: str, many: int) -> None:
    ones = listed(critical=proven("argued"), major=proven("changed"), minor=proven("proved"))
    assert len(failing(ones, fail_on)) == many


def test_sarif_has_rank_fix_and_places_and_an_error_for_what_is_proved_alone() -> None:
    ones = listed(
        critical=proven("not reproduced", refused="no"), major=proven(words="README.md:3"), minor=proven("argued")
    )
    log = json.loads(sarif(ones, "r"))
    check(log)
    results = {one["ruleId"]: one for one in log["runs"][0]["results"]}
    assert [(one["level"], one["rank"]) for one in results.values()] == [("error", 100), ("warning", 60), ("note", 10)]
    proved = results["review/major"]
    (change,) = proved["fixes"][0]["artifactChanges"]
    region = change["replacements"][0]["deletedRegion"]
    lines = AFTER.split("\n")
    lines[region["startLine"] - 1 : region["endLine"]] = [change["replacements"][0]["insertedContent"]["text"]]
    assert "\n".join(lines) == AFTER.replace(WITNESS.fix[0].old, WITNESS.fix[0].new)
    related = [one["physicalLocation"]["artifactLocation"]["uri"] for one in proved["relatedLocations"]]
    assert related == ["m.py", "README.md"]
    assert proved["properties"]["assay"]["proof"]["verdict"] == "proved" and "fixes" not in results["review/critical"]


@pytest.mark.parametrize(
    "hostile", ["</details><script>x</script>", "```\n\n## Free\n```", "![x](http://a/b)", "@all [x](javascript:1)"]
)
def test_nothing_of_a_witness_or_of_what_was_seen_has_powers(hostile: str) -> None:
    check_one = ProofCheck(check=hostile, ok=True, what=hostile, runs=1)
    witness = Witness(test=hostile, says=hostile, quote=hostile, fix=[Edit(path="m.py", old="len(xs)", new=hostile)])
    come = proven(witness=witness, words=f"m.py:1{hostile}", told=hostile)
    come = come.model_copy(update={"proof": come.proof.model_copy(update={"checks": [check_one]})})
    refused = proven("not reproduced", refused=hostile)
    ones = listed(major=come, minor=refused)
    text = comment(ones, hostile, hostile, diff=DIFF)
    outside = re.sub(r"(?ms)^(?:> )?(`{3,}).*?^(?:> )?\1$", "", text)
    for power in ("<script", "![x](", "](javascript", "\n## Free", "@all"):
        assert power not in outside, outside
    assert (
        text.count("<details>") == text.count("</details>") - text.count("&lt;/details>") or "</details><script" in text
    )
    page = story_html(Story("t", "s", sections=(findings_section(ones),)))
    assert "<script>x" not in page and "javascript:" not in re.sub(r">[^<]*<", "><", page)
    check(json.loads(sarif(ones, "r")))


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=30))
def test_any_text_is_shown_everywhere(text: str, old: str, new: str) -> None:
    witness = Witness(test=text, says=text, quote=text, fix=[Edit(path="m.py", old=old, new=new)])
    ones = listed(major=proven("argued", witness=witness, words=text), minor=proven("not reproduced", refused=text))
    json.loads(sarif(ones, "r"))
    assert comment(ones, "", "", diff=DIFF)
    assert story_html(Story("t", "s", sections=(findings_section(ones),)))


def test_the_screen_tells_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    import sys

    print_story(Story("t", "s", sections=(findings_section(listed(major=proven())),)), sys.stdout, whole=True)
    told = capsys.readouterr().out
    assert "Proved · major: An empty list divides by zero  m.py:2" in told, told
    assert "it crashes" in " ".join(told.split())
    assert "ZeroDivisionError at m.py:2" in told and "def test_nothing():" in told


LINES = st.lists(st.sampled_from(["a", "b", "    c", ""]), min_size=1, max_size=9)


@given(LINES, LINES, st.booleans(), st.sampled_from(["\n", "\r\n"]), st.integers(0, 9), st.integers(0, 3))
def test_a_patch_and_its_lines_make_what_the_fix_makes(
    lines: list[str], new: list[str], whole: bool, end: str, at: int, many: int
) -> None:
    page = "".join(f"{number}{text}{end}" for number, text in enumerate(lines))
    page = page if whole else page.removesuffix(end)
    parts = page.split(end)
    edit = Edit(path="n.py", old="\n".join(parts[at : at + many]), new="\n".join(new[: at % 3]))
    count, made = edit.on(page)
    if count != 1 or made == page:
        return
    one = Shown(checked([FindingRecord(severity="major", title="t")], [])[0], None, {"n.py": page})
    one = Shown(one.finding, proven(witness=Witness(test="t", says="s", fix=[edit])), {"n.py": page})
    before, patched = page.split("\n"), list[str]()
    for _, first, last, text in reversed(one.mended):
        before[first - 1 : last] = text.split("\n")
    # A line that is taken away is gone, and leaves no blank one.
    assert "\n".join(before).split() == made.split() and len(before) - made.count("\n") in (1, 2)
    for line in one.patch.split("\n")[2:]:
        patched += [line[1:]] if line[:1] in ("+", " ") else []
    kept = [line.removesuffix("\r") for line in patched]
    assert ("\n" + "\n".join(kept)) in "\n" + made.replace("\r\n", "\n") + "\n"
    assert ("\\ No newline" in one.patch) <= (not page.endswith("\n") or not made.endswith("\n"))


def test_two_edits_of_a_file_are_one_patch_that_applies(tmp_path: Path) -> None:
    page = "".join(f"a{number} = 1\n" for number in range(30)) + "end = 1"
    fix = [Edit(path="n.py", old="a3 = 1\n", new=""), Edit(path="n.py", old="end = 1", new="end = 2\nmore = 3")]
    (one,) = [one for one in listed(major=proven(witness=Witness(test="t", says="s", fix=fix))) if one.witness]
    one = Shown(one.finding, one.proven, {"n.py": page})
    (tmp_path / "n.py").write_text(page)
    subprocess.run(("git", "apply", "-"), input=one.patch, text=True, cwd=tmp_path, check=True)
    assert (tmp_path / "n.py").read_text() == page.replace("a3 = 1\n", "").replace("end = 1", "end = 2\nmore = 3")
