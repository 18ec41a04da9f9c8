"""Readers vote on claims; groups that vote alike are found, and none so small that it names somebody."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crux.voting import LEAST_GROUP, Vote, cast_vote, read_votes, reader_groups

pytest.importorskip("numpy", reason="groups of readers need the extra 'debate'")

CLAIMS = [f"c{number}" for number in range(12)]


def camps(*sizes: int, seen: int = 10, seed: int = 1) -> dict[str, dict[str, Vote]]:
    """Readers of several camps: of each claim but the last two, one camp agrees and the others do not."""
    lot = random.Random(seed)
    votes: dict[str, dict[str, Vote]] = {}
    for camp, size in enumerate(sizes):
        for reader in range(size):
            own: dict[str, Vote] = {}
            for at in sorted(lot.sample(range(12), seen)):
                likely: Vote = "agree" if at >= 10 or at % len(sizes) == camp else "disagree"
                own[CLAIMS[at]] = likely if lot.random() < 0.9 else "pass"
            votes[f"{camp}-{reader}"] = own
    return votes


@pytest.mark.parametrize("sizes", [(9, 6), (7, 7, 6)])
def test_readers_who_vote_alike_are_one_group(sizes: tuple[int, ...]) -> None:
    found = reader_groups(camps(*sizes), CLAIMS)
    assert sorted(group.readers for group in found.groups) == sorted(sizes) and not found.why
    for group in found.groups:
        assert group.claims and all(abs(one.inside - one.outside) > 0.2 for one in group.claims)
    assert {"c10", "c11"} <= set(found.common), "what everybody agrees on divides nobody"


def test_a_few_readers_are_no_groups() -> None:
    found = reader_groups(camps(4, 3), CLAIMS)
    assert found.groups == () and "8 readers with 7 votes each are needed; there are 7" in found.why
    few = reader_groups(camps(9, 6, seen=3), CLAIMS)
    assert few.readers == 15 and few.counted == 0 and few.groups == ()
    lone = camps(12, 1)
    assert all(group.readers >= LEAST_GROUP for group in reader_groups(lone, CLAIMS).groups)
    assert reader_groups({}, []).groups == ()


@settings(max_examples=40, deadline=None)
@given(
    st.dictionaries(
        st.integers(0, 30),
        st.dictionaries(st.sampled_from(CLAIMS), st.sampled_from(["agree", "disagree", "pass"])),
        max_size=25,
    )
)
def test_whatever_is_voted_no_group_is_too_small(votes: dict[int, dict[str, Vote]]) -> None:
    found = reader_groups({str(key): own for key, own in votes.items()}, CLAIMS)
    assert sum(group.readers for group in found.groups) in (0, found.counted)
    assert all(group.readers >= LEAST_GROUP for group in found.groups)
    assert bool(found.why) == (not found.groups)


def test_the_last_vote_of_a_reader_counts_and_damage_is_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "votes" / "run.jsonl"
    assert read_votes(file) == {}
    cast_vote(file, "r1", "c1", "agree")
    cast_vote(file, "r1", "c1", "disagree")
    cast_vote(file, "r2", "c1", "pass")
    with file.open("a", encoding="utf-8") as lines:
        lines.write('{"reader": "r3", "vote": "agree"}\nnonsense\n[]\n')
        lines.write('{"reader": "r4", "claim": "c1", "vote": "buy"}\n')
    assert read_votes(file) == {"r1": {"c1": "disagree"}, "r2": {"c1": "pass"}}
