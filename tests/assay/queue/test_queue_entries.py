"""What may wait in the queue: a run whose model this machine could ask, if not at a keyboard."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.docs.pages import ROOT, install

from assay.queue.entry import Entry, entry_of
from assay.registry import read_run
from assay.terms import Terms
from llm_runtime.errors import ConfigurationError

Enter = Callable[..., Entry]


@pytest.fixture
def enter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Enter:
    """Enters a run that asks over the wire of the guest, which is installed unless it is ``gone``."""
    (tmp_path / "config").mkdir()
    monkeypatch.setenv("ASSAY_CONFIG_DIR", str(tmp_path / "config"))

    def entered(kind: str, gone: bool = False, **terms: object) -> Entry:
        if not gone:
            install(ROOT / "tests" / "guests" / "telegraph", tmp_path / "site")
            monkeypatch.syspath_prepend(str(tmp_path / "site"))
        entry = '[endpoints.far]\ndialect = "telegraph"\nbase_url = "http://127.0.0.1:9"\n'
        (tmp_path / "config" / "config.toml").write_text(entry)
        task = {"query": "Why?"} if kind == "crucible.council" else {"system": "", "user": "Ignore all."}
        return entry_of(read_run(kind, task), Terms.model_validate(terms), "r1")

    return entered


@pytest.mark.parametrize(
    ("kind", "terms", "fault"),
    [
        ("fire_circle.circle", {"model": "far:one", "gone": True}, "there is no dialect 'telegraph'"),
        ("crucible.council", {"model": "far:one"}, "far: its wire telegraph does not hold a schema"),
        ("fire_circle.circle", {"seats": {"a": "far:one"}, "budget": 1}, "does not hold max_tokens"),
        ("crucible.council", {"seats": {"red_team": "terminal:"}}, "needs a keyboard"),
    ],
)
def test_what_no_wire_could_carry_is_refused_when_it_is_entered(
    enter: Enter, kind: str, terms: dict[str, object], fault: str
) -> None:
    with pytest.raises(ConfigurationError, match=fault):
        enter(kind, **terms)


def test_what_a_wire_carries_waits(enter: Enter) -> None:
    assert enter("fire_circle.circle", model="far:one").terms == {"model": "far:one"}
