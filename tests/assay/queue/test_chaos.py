"""A small chaos run: what `make chaos` does for half an hour with 500 runs."""

from __future__ import annotations

import pytest
from bench.chaos import chaos, table
from tests.llm_runtime.store.postgres_server import installed


@pytest.mark.long
@pytest.mark.postgres
async def test_workers_that_are_killed_lose_no_run_and_pay_at_the_most_for_what_was_in_flight() -> None:
    if installed() is None:
        pytest.skip("PostgreSQL is not installed (apt-get install postgresql)")
    ended = await chaos(6, 300, workers=2, pause_s=10, seed=1, troubles={"worker killed": 2, "database killed": 2})
    assert not ended.faults, table(ended)
    assert sum(ended.troubles.values()) > 0
