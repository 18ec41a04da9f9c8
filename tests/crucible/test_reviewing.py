"""Findings of a review: none lost, none invented, each with the words at its place and the place in a file."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.crucible.records import hold

from crucible import Attachment
from crucible.behaviour import BEHAVIOUR
from crucible.records import FindingRecord
from crucible.reviewing import at_least, checked, diff_places
from llm_runtime.behaviour import behaving
from llm_runtime.errors import StructuredOutputError

#: One line as it should be, and with the fault that somebody put back; written for this project.
FAULTS = [
    ("for i in range(len(rows)):", "for i in range(len(rows) - 1):"),
    ("if age >= 18:", "if age > 18:"),
    ('db.run("SELECT 1 WHERE name = ?", name)', "db.run(f\"SELECT 1 WHERE name = '{name}'\")"),
    ("total += price * count", "total = price * count"),
    ("return a and b", "return a or b"),
    ('with open(path, encoding="utf-8") as file:', "file = open(path)"),
    ("except KeyError:", "except Exception:"),
    ("if user is None or not user.active:", "if user is None and not user.active:"),
    ("lock.acquire()", "pass  # lock.acquire()"),
    ("return round(cents / 100, 2)", "return cents // 100"),
    ("start, end = end, start", "start = end; end = start"),
    ("timeout = min(timeout, 30)", "timeout = max(timeout, 30)"),
    ("assert_equal(result, expected)", "assert_equal(result, result)"),
    ("items = list(items)", "items = items"),
    ("if hmac.compare_digest(given, wanted):", "if given == wanted:"),
    ('path = root / Path(name).name', "path = root / name"),
    ("retries -= 1", "retries =- 1"),
    ("return -delta if back else delta", "return delta if back else delta"),
    ("os.replace(temporary, target)", "os.remove(target); os.rename(temporary, target)"),
    ("def add(item, seen=None):", "def add(item, seen=[]):"),
    ("await session.commit()", "session.commit()"),
    ('if text.strip() == "":', 'if text == "":'),
    ("days = (end - start).days + 1", "days = (end - start).days"),
    ("html.escape(comment)", "comment"),
    ("while low <= high:", "while low < high:"),
    ('logger.info("login of %s", user.id)', 'logger.info("login of %s with %s", user.id, password)'),
    ("return sorted(names, key=str.casefold)", "return names.sort()"),
    ("x = a / b if b else 0.0", "x = a / b"),
    ("queue.put_nowait(copy(job))", "queue.put_nowait(job)"),
    ('url = f"https://{host}/"', 'url = f"http://{host}/"'),
]  # fmt: skip
#: One line before and after a change that does no harm.
NEUTRAL = [(f"limit_{number} = {number}", f"limit_{number}: int = {number}") for number in range(30)]


def diff(before: str, after: str, number: int) -> str:
    return "\n".join(
        [
            f"diff --git a/shop/part{number}.py b/shop/part{number}.py",
            f"--- a/shop/part{number}.py",
            f"+++ b/shop/part{number}.py",
            f"@@ -{number + 10},4 +{number + 10},4 @@ def work():",
            "     first = 1",
            f"-    {before}",
            f"+    {after}",
            "     last = 2",
            "     return first",
        ]
    )


def as_it_is(review: dict[str, Any]) -> str:
    return json.dumps(review)


def in_a_fence(review: dict[str, Any]) -> str:
    return f"Here is my review.\n\n```json\n{json.dumps(review, indent=2)}\n```\nI hope that it helps."


def loud(review: dict[str, Any]) -> str:
    return json.dumps(_each(review, severity=str.upper, place=lambda place: f"[{place.replace(':', ', line ')}]"))


def as_code(review: dict[str, Any]) -> str:
    return json.dumps(_each(review, quote=lambda quote: f"```python\n{quote}\n```"))


def numbered(review: dict[str, Any]) -> str:
    return json.dumps(_each(review, quote=lambda quote: f"7| +    {quote}"))


def thinking(review: dict[str, Any]) -> str:
    draft = {"findings": [], "looked_at": "nothing yet"}
    return f"<think>{json.dumps(draft)} no, wait: # lint: no findings</think>{json.dumps(review)}"


RENDERINGS: list[Callable[[dict[str, Any]], str]] = [as_it_is, in_a_fence, loud, as_code, numbered, thinking]


def _each(review: dict[str, Any], **changed: Callable[[str], str]) -> dict[str, Any]:
    findings = [{**one, **{name: change(one[name]) for name, change in changed.items()}} for one in review["findings"]]
    return {**review, "findings": findings}


@pytest.mark.parametrize("rendered", RENDERINGS)
async def test_no_fault_is_lost_and_none_invented_however_a_review_is_written(rendered: Any) -> None:
    for number, (before, after) in enumerate([*FAULTS, *NEUTRAL]):
        faulty = number < len(FAULTS)
        page = Attachment(name="diff", text=diff(before, after, number))
        finding = {"severity": "critical", "place": "A1:7", "quote": after, "title": "No findings beyond these."}
        told = {"findings": [finding] if faulty else [], "looked_at": "All nine lines."}
        result, _ = await hold({"synthesis": rendered(told)}, material=[page], kind="review")
        assert result.findings is not None and result.attacked
        grave = at_least(checked(result.findings, [page]), "major")
        assert len(grave) == faulty
        for one in grave:
            assert one.verified and one.place == f"shop/part{number}.py:{number + 11}", (one, after)


@pytest.mark.parametrize("number", range(0, len(FAULTS), 3))
def test_an_invented_line_is_never_verified(number: int) -> None:
    before, after = FAULTS[number]
    other = FAULTS[(number + 1) % len(FAULTS)][1]
    page = Attachment(name="diff", text=diff(before, after, 3))
    altered = after.replace("(", "[", 1) if "(" in after else after.replace(" ", " not_", 1)
    for invented in (other, altered, f"{after} or True", after[1:-1] + "xyz", ""):
        (one,) = checked([FindingRecord(severity="major", place="A1:7", quote=invented, title="Made up")], [page])
        assert not one.verified, invented


@pytest.mark.parametrize("line", ["x = 2", "}", "i++", "))", "n--;", "{", "[]", "...)"])
def test_a_whole_line_stands_at_its_place_however_short_it_is(line: str) -> None:
    page = Attachment(name="a.py", text=f"first = one(two)\n    {line}\nlast{line}\n")
    found = [FindingRecord(severity="major", place=place, quote=line, title="T") for place in ("A1:2", "A1:3", "A1:1")]
    right, *wrong = checked(found, [page])
    assert right.verified and right.place == "a.py:2"
    # It is a part of the third line alone, which shows nothing: it is said of the line that it is.
    assert {one.place for one in wrong} == {"a.py:2"}


@pytest.mark.parametrize(
    "quote", ["a = one()\n\nb = two()", "a = one()\nb = two()", "  a = one()\n \n \n  b = two()\n"]
)
def test_blank_lines_in_a_quotation_are_no_words(quote: str) -> None:
    page = Attachment(name="a.py", text="import x\n\na = one()\n\nb = two()\n")
    (one,) = checked([FindingRecord(severity="major", place="A1:3-5", quote=quote, title="T")], [page])
    assert one.verified and one.place == "a.py:3-5"
    (nowhere,) = checked(
        [FindingRecord(severity="major", place="A1:3-5", quote="import x\n\nb = two()", title="T")], [page]
    )
    assert not nowhere.verified


@pytest.mark.parametrize(
    "quote",
    [
        "say(\"hello\", name)\nraise Gone('it is')",
        "say(\"hello\", name)\n\traise Gone('it is')",
        "2|     say(\"hello\", name)\n3| \traise Gone('it is')",
        "```\nsay(\"hello\", name)\nraise Gone('it is')\n```",
        "say(“hello”, name)\nraise Gone('it is')",
        "def greet(name):\n...\nraise Gone('it is')",
    ],
)
def test_an_exact_quotation_is_found_whatever_stands_around_it(quote: str) -> None:
    page = Attachment(name="greet.py", text="def greet(name):\n    say(\"hello\", name)\n\traise Gone('it is')\n")
    (one,) = checked([FindingRecord(severity="minor", place="A1:1-3", quote=quote, title="t")], [page])
    assert one.verified and one.place == "greet.py:1-3"


def test_a_place_that_is_off_is_mended_where_the_words_tell_it_and_left_where_they_do_not() -> None:
    text = "\n".join(f"line number {number} says so" if number != 20 else "return None" for number in range(1, 41))
    page = Attachment(name="a.txt", text=f"{text}\nreturn None")
    near, far, wrong = (
        FindingRecord(severity="minor", place=place, quote=quote, title="t")
        for place, quote in (("A1:18", "return None"), ("A1:5", "return None"), ("A9:1", "line number 7 says so"))
    )
    listed = {one.found.quote + one.place: one.verified for one in checked([near, far, wrong], [page])}
    assert listed == {"return Nonea.txt:20": True, "return Nonea.txt:5": False, "line number 7 says soa.txt:7": True}


@pytest.mark.parametrize("place", ["A2:2", "shop/m.py:2", "", "the second line", "shop/m.py", "A1:7", "diff:7"])
def test_what_a_change_brings_has_its_place_by_the_name_of_its_file_or_by_its_words(place: str) -> None:
    text = "diff --git a/shop/m.py b/shop/m.py\n--- a/shop/m.py\n+++ b/shop/m.py\n@@ -1,2 +1,2 @@\n"
    dossier = [
        Attachment(name="diff", text=f"{text} def mean(xs):\n-    return 0\n+    return sum(xs) / len(xs)"),
        Attachment(name="shop/m.py", text="def mean(xs):\n    return sum(xs) / len(xs)"),
    ]
    (one,) = checked([FindingRecord(severity="minor", place=place, quote="sum(xs) / len(xs)", title="t")], dossier)
    assert (one.place, one.verified) == ("shop/m.py:2", True)
    with behaving([(BEHAVIOUR, 17)]):
        (old,) = checked([FindingRecord(severity="minor", place=place, quote="sum(xs) / len(xs)", title="t")], dossier)
    assert old.verified is place.startswith("A"), "as logs of before have it"


def test_a_finding_is_known_again_by_its_lines_and_not_by_its_words() -> None:
    page = Attachment(name="a.py", text="x = 1\nuse(x, y)\n")
    moved = Attachment(name="a.py", text="# a comment\n\nx = 1\nuse(x,  y)\n")
    (first,) = checked(
        [FindingRecord(severity="major", place="A1:2", quote="use(x, y)", title="y is not there")], [page]
    )
    (later,) = checked(
        [FindingRecord(severity="minor", place="A1:4", quote="`use(x, y)`", title="An unknown name")], [moved]
    )
    assert first.verified and later.verified and first.fingerprint == later.fingerprint


def test_lines_of_deleted_and_renamed_files_have_places() -> None:
    text = "\n".join(
        [
            "diff --git a/old.py b/old.py", "deleted file mode 100644", "--- a/old.py", "+++ /dev/null",
            "@@ -1,3 +0,0 @@", "-guard()", "-work()", "-done()",
            "diff --git a/was.py b/now.py", "rename from was.py", "rename to now.py",
            "--- a/was.py", "+++ b/now.py",
            "@@ -4,3 +4,2 @@", " a()", "-check(a)", " b()",
        ]
    )  # fmt: skip
    places = diff_places(text)
    assert places[5:8] == [("old.py", 1, True), ("old.py", 2, True), ("old.py", 3, True)]
    assert places[14:17] == [("now.py", 4, False), ("now.py", 5, False), ("now.py", 5, False)]
    page = Attachment(name="diff", text=text)
    (one,) = checked([FindingRecord(severity="major", place="A1:6-16", quote="-guard()", title="Both")], [page])
    assert [str(place) for place in one.places] == ["old.py:1-3", "now.py:4-5"]


@pytest.mark.parametrize(
    ("header", "place"),
    [
        (["diff --git a/x.bin b/x.bin", "Binary files a/x.bin and b/x.bin differ"], "x.bin"),
        (["diff --git a/a b.sh b/a b.sh", "old mode 100644", "new mode 100755"], "a b.sh"),
        (["diff --git a/a.py b/b.py", "similarity index 100%", "rename from a.py", "rename to b.py"], "b.py"),
        (['diff --git "a/q\\"\\303\\251.py" "b/q\\"\\303\\251.py"', "new mode 100755"], 'q"é.py'),
        (['--- "a/q\\t.py"', '+++ "b/q\\t.py"', "@@ -2 +2 @@", "-a()", "+b()"], "q\t.py:2"),
        (["diff --git a/c.py b/c.py", "deleted file mode 100644", "index 1..0"], "c.py"),
    ],
)  # fmt: skip
def test_a_finding_on_a_whole_file_and_one_of_any_name_has_its_place(header: list[str], place: str) -> None:
    page = Attachment(name="diff", text="\n".join(header))
    (one,) = checked([FindingRecord(severity="major", place=f"A1:{len(header)}", title="t")], [page])
    assert one.place == place


async def test_a_review_that_cannot_be_read_is_no_review() -> None:
    page = Attachment(name="diff", text=diff("a = 1", "a = 2", 1))
    with pytest.raises(StructuredOutputError):
        await hold({"synthesis": "No findings. ## 1. [critical] A1:7 it is all wrong"}, material=[page], kind="review")
