"""Logs of debates that other versions wrote, or that are damaged: they open, are read, replayed and forked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, cast

import pytest

from assay.demo import import_played
from assay.launch import Launcher
from assay.protocols.crux.report.state import state_of
from assay.protocols.crux.task import Options, Task, seated
from assay.registry import opened, story_of, story_of_events
from assay.report.html import story_html
from assay.terms import in_force
from crux.personas.authors import shipped_persona
from crux.personas.shipped import shipped_authors
from llm_runtime.errors import ConfigurationError
from llm_runtime.events import RunStarted
from llm_runtime.store import RunStore, open_store

pytest.importorskip("bm25s", reason="a debate needs the extra 'debate'")
pytest.importorskip("bm25s", reason="a debate needs the extra 'debate'")


def old_log(**settings: Any) -> RunStarted:
    """The first event of a debate as versions before 0.2 wrote it."""
    engine = {
        "models": ["ollama:small", "ollama:large"],
        "takes_temperature": False,
        "debate": {"aspects": "auto", "rooms_per_aspect": 1, "rebuttals": [2, 2]},
    }
    personas = [shipped_persona(author).model_dump(mode="json") for author in shipped_authors()]
    models = {"model": "mailbox:letters", "seats": {"card": "terminal:"}, "max_tokens": 900}
    caps = {"cost": 1_500_000, "calls": 40, "seconds": 60.0}
    return RunStarted(
        run_id="old",
        protocol="crux",
        title="",
        task={"topic": "Should it?", "evidence": [{"id": "e1", "text": "A count.", "room": "", "after_turn": 2}]},
        settings={"engine": engine, "personas": personas, "models": models, "caps": caps, **settings},
        seed=7,
    )


def test_the_log_of_an_older_version_says_what_it_said() -> None:
    run = opened(old_log())
    task, options = cast("Task", run.task), cast("Options", run.options)
    config = options.config()
    assert run.run.name == "crux.debate" and task.evidence[0].text == "A count."
    assert (options.fast, options.strong) == ("ollama:small", "ollama:large")
    assert not config.models.strong.takes_temperature
    assert (config.aspects, config.rooms_per_aspect, config.rebuttals) == ("auto", 1, (2, 2))
    assert [persona.id for persona in seated(options)] == shipped_authors()
    terms = in_force([old_log()])
    assert (terms.model, terms.seats, terms.max_tokens) == ("mailbox:letters", {"card": "terminal:"}, 900)
    assert (terms.budget, terms.max_calls, terms.deadline) == (1.5, 40, 60.0)


DAMAGED: list[dict[str, Any]] = [
    {"personas": 7},
    {"personas": [{"contract": {}}]},
    {"engine": 7},
    {"engine": {"debate": 7}},
    {"engine": {"models": 7}},
    {"engine": {"models": {"a": 1}}},
    {"engine": {"debate": {"aspects": 9}}},
    {"engine": {"debate": {"what is this": 1}}},
    {"options": {"panel": [7]}},
]


@pytest.mark.parametrize("settings", DAMAGED)
def test_a_damaged_log_is_drawn_and_not_gone_on_with(settings: dict[str, Any]) -> None:
    log = old_log(**settings)
    assert "Should it?" in story_html(story_of_events([(log, 0)]))
    with pytest.raises(ConfigurationError):
        options = cast("Options", opened(log).options)
        seated(options)
        options.config()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    with closing(open_store(tmp_path / "runs.db")) as runs:
        yield runs


async def test_the_recording_that_was_played_beforehand_opens_replays_and_forks(
    store: RunStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = import_played(store, "debate", "played")
    state = state_of(store, run_id)
    assert len(state.debate.cards) == 2 and state.config is not None and len(state.texts) == 2
    assert "Where it stands" in story_html(story_of(store.records(run_id)))
    launcher = Launcher(store)
    replayed = await launcher.replay(run_id)
    assert replayed.result == replayed.recorded
    # A key, so that a gateway opens; every call is answered from the recording.
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-or-nobody-asks")
    fork = await launcher.fork(run_id, store.summary(run_id).events)
    assert (await fork.outcome()).result == replayed.recorded
    assert store.summary(fork.run_id).parent == run_id and store.summary(fork.run_id).calls == 0
