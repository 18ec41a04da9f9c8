"""Findings of other tools as they write them: where they are, how grave they are, and which are none."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from assay.protocols.crucible.foreign import read_findings
from llm_runtime.errors import ConfigurationError

FILE = "packages/api/m.py"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository of two packages, one of which is where one stands."""
    folder = tmp_path / "check out"
    for name in (FILE, "packages/ui/i.js"):
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text("def mean(xs):\n    return 1\n\n\ndef other(x):\n    return 2\n")
    for words in (("init", "-q"), ("add", ".")):
        subprocess.run(("git", *words), cwd=folder, check=True)
    monkeypatch.chdir(folder / "packages/api")
    return folder


def read(text: str) -> list[tuple[str, str, str]]:
    Path("../../../f").write_text(text)
    return [(one.place, one.severity, one.found.title) for one in read_findings("../../../f", "")[0]]


def sarif(uri: str = FILE, rule: Mapping[str, Any] | None = None, **result: Any) -> str:
    physical = {"artifactLocation": {"uri": uri}, "region": {"startLine": 2}}
    one = {"message": {"text": "It fails."}, "locations": [{"physicalLocation": physical}], **result}
    driver = {"name": "x", "rules": [{"id": "Q1"}, {"id": "R1", **(rule or {})}]}
    return json.dumps({"version": "2.1.0", "runs": [{"tool": {"driver": driver}, "results": [one]}]})


@pytest.mark.parametrize("uri", [FILE, f"./{FILE}", "m.py", "./m.py", "../api/m.py", "{root}/" + FILE, "{address}"])
def test_a_file_is_found_however_a_tool_names_it(checkout: Path, uri: str) -> None:
    written = uri.format(root=checkout, address=(checkout / FILE).as_uri())
    assert read(sarif(written)) == [(f"{FILE}:2", "major", "It fails.")]


@pytest.mark.parametrize(
    ("location", "bases"),
    [
        ({"uri": FILE, "uriBaseId": "ROOT"}, {"ROOT": {"uri": "file:///home/ci/"}}),
        ({"uri": "m.py", "uriBaseId": "API"}, {"API": {"uri": "api/", "uriBaseId": "P"}, "P": {"uri": "packages"}}),
        ({"uri": "m.py", "uriBaseId": "API"}, {"API": {"uri": "packages/api/", "uriBaseId": "X"}, "X": {}}),
        ({"uri": "m.py", "uriBaseId": "API"}, {"API": {"uri": "{address}/packages/api/"}}),
        ({"uri": FILE, "uriBaseId": "A"}, {"A": {"uri": "", "uriBaseId": "B"}, "B": {"uriBaseId": "A"}}),
        ({"uri": FILE, "uriBaseId": "nowhere"}, {}),
        ({"index": 1}, {"API": {"uri": "packages/api/"}}),
        ({"uri": FILE, "index": 0}, {}),
    ],
)
def test_a_file_is_found_by_its_base_and_by_the_list_of_the_run(checkout: Path, location: Any, bases: Any) -> None:
    log = json.loads(sarif())
    (run,) = log["runs"]
    run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"] = location
    run["artifacts"] = [{}, {"location": {"uri": "m.py", "uriBaseId": "API"}}]
    run["originalUriBaseIds"] = bases
    (checkout / "m.py").write_text("another\n")
    subprocess.run(("git", "add", "."), cwd=checkout, check=True)
    assert read(json.dumps(log).replace("{address}", checkout.as_uri())) == [(f"{FILE}:2", "major", "It fails.")]


@pytest.mark.parametrize("location", [{}, {"index": 7}, {"index": -2}, {"uri": "passwd", "uriBaseId": "ETC"}])
def test_what_its_base_leads_out_of_the_checkout_has_no_place(checkout: Path, location: Any) -> None:
    log = json.loads(sarif())
    log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"] = location
    log["runs"][0] |= {"originalUriBaseIds": {"ETC": {"uri": "file:///etc/"}}}
    assert read(json.dumps(log)) == [("place not found", "major", "It fails.")]


@pytest.mark.parametrize(
    "uri", ["", "/etc/passwd", "file:///etc/passwd", "../../../../x.py", "a%00b", "https://h/m.py"]
)
def test_what_is_no_file_of_the_checkout_has_no_place(checkout: Path, uri: str) -> None:
    assert read(sarif(uri)) == [("place not found", "major", "It fails.")]


@pytest.mark.parametrize(
    ("rule", "result", "severity", "title"),
    [
        ({"defaultConfiguration": {"level": "note"}}, {}, "minor", "It fails."),
        ({"defaultConfiguration": {"level": "note"}}, {"level": "error"}, "major", "It fails."),
        ({}, {}, "major", "It fails."),
        ({"shortDescription": {"text": "Use of eval"}}, {"message": {"id": "default"}}, "major", "Use of eval"),
        ({}, {"message": {}}, "major", "R1"),
    ],
)
def test_what_a_result_leaves_out_its_rule_says(
    checkout: Path, rule: Any, result: Any, severity: str, title: str
) -> None:
    assert read(sarif(rule=rule, ruleId="R1", **result)) == [(f"{FILE}:2", severity, title)]


@pytest.mark.parametrize(
    ("result", "many"),
    [
        ({"kind": "pass", "level": "none"}, 0),
        ({"kind": "notApplicable"}, 0),
        ({"kind": "fail"}, 1),
        ({"kind": "review"}, 1),
        ({"baselineState": "absent"}, 0),
        ({"baselineState": "unchanged"}, 1),
        ({"suppressions": [{"kind": "inSource"}]}, 0),
        ({"suppressions": [{"kind": "external", "status": "rejected"}]}, 1),
        ({"suppressions": []}, 1),
        ({"suppressions": None}, 1),
    ],
)
def test_what_passed_is_gone_or_is_suppressed_is_no_finding(checkout: Path, result: Any, many: int) -> None:
    assert len(read(sarif(**result))) == many


def test_each_line_of_a_tool_is_a_finding_at_its_place(checkout: Path) -> None:
    said = [
        f"{FILE}:2:5: E711 Comparison",
        "./m.py:6: said twice\n\t  return 2\n\t  ^",
        f"{checkout}/packages/ui/i.js".replace(" ", "_") + ":1:1: not here",
    ]
    assert [place for place, _, _ in read("\n".join(said))] == [f"{FILE}:2", f"{FILE}:6", "place not found"]
    assert [place for place, _, _ in read("It crashes.\n\nm.py:2: ZeroDivisionError\nm.py:6: too")] == [f"{FILE}:2"]


@pytest.mark.parametrize("named", ["{}:6", "`{}:6`", "{}#L6", "`{}`, line 6", "{} (line 6)", "{} line 6"])
def test_the_line_of_a_claim_is_read_as_people_write_it(checkout: Path, named: str) -> None:
    assert [place for place, _, _ in read(f"- In {named.format(FILE)} it is wrong.")] == [f"{FILE}:6"]


def test_an_issue_is_about_what_it_calls_wherever_one_stands(checkout: Path) -> None:
    assert [place for place, _, _ in read("other(1) is 2\n\nIt should be 1.")] == [f"{FILE}:5"]


@pytest.mark.parametrize("text", ['[{"filePath": "m.py", "messages": []}]', "[]", '{"results": []}'])
def test_json_that_is_no_sarif_is_told_and_not_proved(checkout: Path, text: str) -> None:
    with pytest.raises(ConfigurationError, match="no SARIF that can be read; have the tool write SARIF"):
        read(text)
    assert len(read("[Bug] mean(1) is wrong")) == 1
