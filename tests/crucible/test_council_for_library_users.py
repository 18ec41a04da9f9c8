"""A program that uses the package alone: attachments, a review of a range of Git, a follow-up, a challenge."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.crucible.records import configuration, effects, hold

from crucible import changed, checked, earlier_council, headline, read_attachments
from crucible.proving import read_change
from llm_runtime import Request
from llm_runtime.errors import ConfigurationError

BEFORE = "def share(total, people):\n    if not people:\n        return 0\n    return total / people\n"
AFTER = "def share(total, people):\n    return total / people\n"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository whose last commit takes a guard away."""
    for name, value in {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)

    def git(*words: str) -> None:
        who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
        subprocess.run(("git", *who, *words), check=True, capture_output=True)

    git("init", "-q")
    for text in (BEFORE, AFTER):
        Path("share.py").write_text(text)
        git("add", "share.py")
        git("commit", "-q", "-m", "a change")
    return tmp_path


async def test_a_program_reviews_a_range_and_gets_findings_with_places_in_its_files(repository: Path) -> None:
    material = changed("HEAD~1..HEAD")
    assert [one.name for one in material] == ["diff", "share.py"]
    found = {
        "severity": "major",
        "place": "A2:2",
        "quote": "    return total / people",
        "title": "Nobody to share with divides by zero.",
        "fails": "share(1, []) raises ZeroDivisionError.",
        "mend": "Keep the guard.",
    }
    review = {"findings": [found], "looked_at": "Both files."}
    result, _ = await hold({"synthesis": review}, material=material, kind="review")
    assert result.attacked and result.findings is not None
    (one,) = checked(result.findings, material)
    assert (one.severity, one.place, one.verified) == ("major", "share.py:2", True)


def test_what_is_changed_is_read_and_what_a_link_leads_to_is_not(repository: Path) -> None:
    secret = repository.parent / "secret.txt"
    secret.write_text("A key of somebody.\n")
    Path("share.py").unlink()
    Path("share.py").symlink_to(secret)
    Path("large.txt").write_text("word\n" * 100_000)
    subprocess.run(("git", "add", "-N", "large.txt"), check=True)
    material = changed("")
    assert [one.name for one in material] == ["diff"] and "A key of" not in material[0].text
    with pytest.raises(ConfigurationError, match=r"^there is nothing to review: HEAD\.\.HEAD changes nothing$"):
        changed("HEAD..HEAD")


@pytest.mark.parametrize("revisions", ["HEAD~1..", "HEAD~1...", "HEAD^!", "HEAD^-", "HEAD~1", "@~..@"])
def test_a_range_is_what_git_takes_it_for_whatever_is_not_committed(repository: Path, revisions: str) -> None:
    Path("share.py").write_text("not committed\n")
    diff, file = changed(revisions)
    assert file.text.rstrip() == AFTER.rstrip() and "not committed" not in diff.text
    assert read_change(revisions, "python -m pytest -q {file}").text("share.py") == AFTER


@pytest.mark.parametrize("revisions", ["HEAD~9", "share.py", "a..b..c", "HEAD~1^!"])
def test_a_range_that_names_no_commit_says_what_to_write(repository: Path, revisions: str) -> None:
    with pytest.raises(
        ConfigurationError, match=r"write A\.\.B, A\^! or one revision, fetch what a shallow clone lacks"
    ):
        changed(revisions)


async def test_a_program_goes_on_from_an_answer_and_challenges_a_sentence_of_it(tmp_path: Path) -> None:
    notes = tmp_path / "load.md"
    notes.write_text("Peak load is 20 orders an hour.\n")
    material, left_out = read_attachments([str(notes)])
    first, _ = await hold(material=material)
    assert not left_out
    told = earlier_council("How many servers?", first.final_response, first.ledger)
    assert first.final_response in told and headline(first.ledger) in told

    def challenged(request: Request) -> Any:
        ids = re.findall(r"<<<CLAIM (O\d+)", request.messages[-1].content)
        return effects(request) if ids else {"claims": []}

    sentence = first.final_response.split(";")[0]
    second, model = await hold(
        {"effects": challenged}, material=material, earlier=told, challenge=sentence, configured=configuration()
    )
    assert second.ledger.objections[0].claim.words in sentence
    seats = [request for request in model.requests if request.label.phase == "position"]
    assert all("Peak load is 20" in "\n".join(turn.content for turn in one.messages) for one in seats)


def test_the_package_needs_nothing_of_the_application() -> None:
    code = (
        "import sys, json, crucible; from crucible import changed, checked, earlier_council, read_attachments; "
        "print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules} & {'assay', 'click', 'rich'})))"
    )
    done = subprocess.run((sys.executable, "-c", code), capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []
    assert set(__import__("crucible").__all__) >= {"Council", "changed", "checked", "earlier_council"}
