"""Our data sets are what they say they are, and the loader refuses what is not."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

from fire_circle.datasets import (
    Case,
    DatasetError,
    HistoryCase,
    OverdefenceCase,
    PatternCase,
    Twins,
    load_histories,
    load_overdefence,
    load_temporal_pairs,
)
from fire_circle.results import PatternType

PAIRS = load_temporal_pairs()
HISTORIES = load_histories()
OVERDEFENCE = load_overdefence()
TWINS: Sequence[Twins[PatternCase] | Twins[HistoryCase]] = [*PAIRS, *HISTORIES]
CASES: Sequence[Case] = [member for pair in TWINS for member in (pair.benign, pair.violation)] + list(OVERDEFENCE)

Rows = list[dict[str, Any]]
Change = Callable[[Rows], object]


def rows_of(name: str) -> Rows:
    text = resources.files("fire_circle").joinpath("data", name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n") if line]


def test_there_are_enough_of_each_kind() -> None:
    assert len(PAIRS) >= 40
    assert len(HISTORIES) >= 10
    assert len(OVERDEFENCE) >= 30


@pytest.mark.parametrize("pairs", [PAIRS, HISTORIES], ids=["temporal pairs", "histories"])
def test_the_eight_patterns_are_balanced_in_both_splits(pairs: tuple[Twins[PatternCase], ...]) -> None:
    cells = Counter((pair.pattern, pair.split) for pair in pairs)
    assert {pattern for pattern, _ in cells} == set(PatternType)
    assert len(cells) == 16
    assert len(set(cells.values())) == 1


def test_the_overdefence_prompts_are_balanced_between_splits_and_categories() -> None:
    assert Counter(case.split for case in OVERDEFENCE) == {"development": 20, "test": 20}
    assert set(Counter(case.category for case in OVERDEFENCE).values()) == {8}


def test_temporal_pairs_differ_in_history_and_in_nothing_that_a_judge_sees() -> None:
    for pair in PAIRS:
        assert pair.benign.layers == pair.violation.layers
        assert pair.benign.history != pair.violation.history
        assert pair.benign.split == pair.violation.split
        assert pair.benign.history, "a claim about the past can only be true where there is one"


def test_the_turn_number_alone_does_not_tell_the_members_of_a_pair_apart() -> None:
    same_turn = sum(pair.benign.turn_count == pair.violation.turn_count for pair in PAIRS)
    on_turn_one = sum(pair.violation.turn_count == 1 for pair in PAIRS)
    assert same_turn >= len(PAIRS) / 2
    assert on_turn_one >= len(PAIRS) / 3


def test_twins_of_a_history_share_system_layer_and_turn_and_are_about_as_long() -> None:
    for pair in HISTORIES:
        assert pair.benign.layers.system == pair.violation.layers.system
        assert pair.benign.turn_count == pair.violation.turn_count >= 4
        lengths = sorted(len(member.layers.user) for member in (pair.benign, pair.violation))
        assert lengths[1] <= 1.5 * lengths[0], pair.pair_id


def test_no_user_text_is_used_twice_across_pairs_or_straddles_the_splits() -> None:
    texts = Counter(pair.violation.layers.user for pair in TWINS)
    texts.update(case.layers.user for case in OVERDEFENCE)
    assert set(texts.values()) == {1}


def test_the_histories_that_the_specification_names_show_two_patterns_or_more() -> None:
    named = {pair.pair_id: pair.violation for pair in HISTORIES}
    for name in ("history_04", "history_10"):
        assert named[name].id == name
        assert len({named[name].pattern, *named[name].also}) >= 2
        assert len(named[name].evidence) >= 2


def test_every_violation_has_a_quote_that_stands_in_a_layer() -> None:
    for pair in TWINS:
        assert pair.violation.evidence
        for item in pair.violation.evidence:
            assert item.quote in getattr(pair.violation.layers, item.layer)


def test_cross_layer_evidence_comes_from_both_layers() -> None:
    for pair in TWINS:
        if pair.pattern is PatternType.CROSS_LAYER_FABRICATION:
            assert {item.layer for item in pair.violation.evidence} == {"application", "user"}


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_every_case_could_be_judged(case: Case) -> None:
    case.layers.check(max_layer_chars=2000)
    assert case.layers.least_trusted.name == "user"
    assert case.layers.system.strip()
    assert case.note[-1] == "."


def test_ids_are_unique_over_all_files() -> None:
    assert len({case.id for case in CASES}) == len(CASES)


def test_overdefence_prompts_hold_their_triggers() -> None:
    for case in OVERDEFENCE:
        assert not case.label
        for trigger in case.triggers:
            assert trigger.lower() in case.layers.user.lower()


BROKEN_PAIRS: list[tuple[Change, str]] = [
    (lambda rows: rows.pop(1), "needs one violation and one benign"),
    (lambda rows: rows[1].update(id=rows[0]["id"]), "line 2: the id .* came before"),
    (lambda rows: rows[1]["layers"].update(system="another"), "differ in layers"),
    (lambda rows: rows[1].update(split="test"), "differ in split"),
    (lambda rows: rows[1].update(pattern="false_authority"), "differ in pattern"),
    (lambda rows: rows[1].update(history=rows[0]["history"], turn_count=3), "same history"),
    (lambda rows: rows[0].update(turn_count=1), "line 1: the row: .*turn_count must be 3"),
    (lambda rows: rows[0]["history"].pop(), "alternate user and assistant"),
    (lambda rows: rows[1].update(evidence=[]), "a violation needs evidence"),
    (lambda rows: rows[0].update(evidence=rows[1]["evidence"]), "a benign case has none"),
    (lambda rows: rows[1]["evidence"][0].update(quote="never said"), "not in the user layer"),
    (lambda rows: rows[1].update(pattern="rudeness"), "line 2: pattern"),
    (lambda rows: rows[1].update(label="true"), "line 2: label"),
    (lambda rows: rows[1].update(comment="new"), "line 2: comment"),
    (lambda rows: rows[1].pop("note"), "line 2: note"),
    (lambda rows: rows.clear(), "no case in it"),
]


@pytest.mark.parametrize(("change", "message"), BROKEN_PAIRS)
def test_a_pair_file_that_breaks_its_promise_is_refused(tmp_path: Path, change: Change, message: str) -> None:
    rows = rows_of("temporal_pairs.jsonl")[:4]
    change(rows)
    path = tmp_path / "pairs.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    with pytest.raises(DatasetError, match=message) as caught:
        load_temporal_pairs(path)
    assert "pairs.jsonl" in str(caught.value)
    assert "\n" not in str(caught.value)


BROKEN_HISTORIES: list[tuple[Change, str]] = [
    (lambda rows: rows[1]["layers"].update(system="another"), "differ in their system layer"),
    (lambda rows: rows[1].update(history=[], turn_count=1), "differ in turn_count"),
    (lambda rows: rows[1].update(also=["false_authority"]), "also must be empty"),
    (lambda rows: rows[0].update(also=[rows[0]["pattern"]]), "not the main one"),
]


@pytest.mark.parametrize(("change", "message"), BROKEN_HISTORIES)
def test_a_history_file_that_breaks_its_promise_is_refused(tmp_path: Path, change: Change, message: str) -> None:
    rows = rows_of("histories.jsonl")[:2]
    change(rows)
    path = tmp_path / "histories.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    with pytest.raises(DatasetError, match=message):
        load_histories(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"label": True}, "label must be false"),
        ({"triggers": ["not to be found"]}, "not in the user layer"),
        ({"triggers": []}, "triggers"),
        ({"category": "other"}, "category"),
    ],
)
def test_an_overdefence_file_that_breaks_its_promise_is_refused(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    row = rows_of("overdefence.jsonl")[0] | change
    path = tmp_path / "own.jsonl"
    path.write_text(json.dumps(row), encoding="utf-8")
    with pytest.raises(DatasetError, match=message):
        load_overdefence(path)


@pytest.mark.parametrize("content", [b"not json", b"\xff\xfe{}", b"[1]", b"{}"])
def test_what_is_no_jsonl_is_refused_with_its_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "own.jsonl"
    path.write_bytes(b"\n" + content)
    with pytest.raises(DatasetError, match=r"own\.jsonl, line 2"):
        load_overdefence(path)


def test_a_missing_file_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"nowhere\.jsonl: cannot be read \(No such file"):
        load_histories(tmp_path / "nowhere.jsonl")


def test_a_file_of_ones_own_in_the_same_schema_loads(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    lines = [json.dumps(row) for row in rows_of("overdefence.jsonl")[:2]]
    path.write_text("\n\n".join(lines) + "\n", encoding="utf-8")
    own: tuple[OverdefenceCase, ...] = load_overdefence(path)
    assert own == OVERDEFENCE[:2]


def test_the_example_in_the_documentation_runs(capsys: pytest.CaptureFixture[str]) -> None:
    guide = Path(__file__).parents[2] / "docs" / "fire-circle-dataset.md"
    example = guide.read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    exec(compile(example, guide.name, "exec"), {})
    assert capsys.readouterr().out.strip() in guide.read_text(encoding="utf-8")
