"""Noise makes no group of readers; two camps are found; what all agree on needs no groups."""

from __future__ import annotations

import random

import pytest

from crux.voting import Vote, reader_groups

pytest.importorskip("numpy", reason="groups of readers need the extra 'debate'")

CLAIMS = [f"c{number}" for number in range(20)]
NOISE: list[Vote] = ["agree", "disagree", "pass"]


def tables(readers: int, planted: bool, seed: int) -> dict[str, dict[str, Vote]]:
    """Readers by chance; or half for the first ten claims and half for the others, a fifth of votes by lot."""
    lot = random.Random(seed)

    def vote(reader: int, at: int) -> Vote:
        if not planted or lot.random() < 0.2:
            return lot.choice(NOISE)
        return "agree" if (at < 10) == (reader % 2 == 0) else "disagree"

    return {str(one): {claim: vote(one, at) for at, claim in enumerate(CLAIMS)} for one in range(readers)}


@pytest.mark.parametrize("readers", [8, 12, 30])
def test_noise_gives_no_group(readers: int) -> None:
    found = [reader_groups(tables(readers, planted=False, seed=seed), CLAIMS) for seed in range(6)]
    assert sum(bool(one.groups) for one in found) <= 1
    assert "at random" in " ".join(one.why for one in found)


@pytest.mark.parametrize("readers", [10, 30])
def test_two_camps_are_found(readers: int) -> None:
    for seed in range(3):
        found = reader_groups(tables(readers, planted=True, seed=seed), CLAIMS)
        assert [group.readers for group in found.groups] == [readers // 2] * 2, found.why
        assert all(group.claims for group in found.groups)


def test_what_readers_agree_on_is_shown_without_groups() -> None:
    votes = {str(one): dict.fromkeys(CLAIMS, NOISE[0]) | {"c0": NOISE[1]} for one in range(12)}
    found = reader_groups(votes, CLAIMS)
    assert not found.groups and found.why and found.common == tuple(CLAIMS[1:])
