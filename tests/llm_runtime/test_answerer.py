"""Who answers a call is said when it is routed, and nothing of this machine with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from llm_runtime.answerer import Answerer, asked_words
from llm_runtime.events import CallFinished, CallStarted, Event, parse_event
from llm_runtime.gateway import Gateway
from llm_runtime.messages import CallLabel, Message, Reply, Request
from llm_runtime.providers.scripted import scripted
from llm_runtime.settings import ConfigFile, Settings
from llm_runtime.wrappers.recording import recording

ASKED = Request("openrouter/auto", (Message("user", "Why?"),), CallLabel("crucible", "position", "1:pragmatist"))


@pytest.mark.parametrize(
    ("provider", "model", "words"),
    [
        ("openrouter", "vendor/model", "openrouter:vendor/model"),
        ("ollama", "qwen3:8b", "ollama:qwen3:8b"),
        ("http://ann:secret@10.0.0.5:8000/v1", "tiny", "10.0.0.5:8000:tiny"),
        ("mailbox", "/home/ann/letters/", "a mailbox (letters)"),
        ("mailbox", r"C:\Users\ann\letters", "a mailbox (letters)"),
        ("mailbox", "", "a mailbox"),
        ("terminal", "", "a person"),
        ("terminal", "Ann", "Ann"),
        ("tool", "tool:python", "a program (python)"),
        ("demo", "hand-written", "a recording (hand-written)"),
    ],
)
def test_who_answers_is_named_without_paths_and_secrets(provider: str, model: str, words: str) -> None:
    assert Answerer.of(provider, model).words == words


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("openrouter/auto", "asked for openrouter/auto"),
        ("mailbox:/home/ann/letters", "asked for a mailbox (letters)"),
        ("terminal:", "asked for a person"),
        ("", "asked"),
    ],
)
def test_a_wish_is_called_a_wish(asked: str, words: str) -> None:
    assert asked_words(asked) == words


async def _events(config: ConfigFile, tmp_path: Path) -> list[Event]:
    events: list[Event] = []

    async def person(request: Request) -> Reply:
        return await scripted(lambda _: "Because.")(request)

    async with Gateway(Settings(config=config), person=person) as gateway:
        ask = recording(gateway.generate, events.append, who=gateway.who)
        await ask(ASKED)
    return events


async def test_a_person_in_a_seat_is_said_when_the_call_begins(tmp_path: Path) -> None:
    started, finished = await _events(ConfigFile(seats={"pragmatist": "terminal:"}), tmp_path)
    assert isinstance(started, CallStarted) and isinstance(finished, CallFinished)
    assert started.by == Answerer(kind="person")


async def test_an_event_says_by_whom_in_its_canonical_form_and_reads_it_back(tmp_path: Path) -> None:
    (started, _) = await _events(ConfigFile(model="terminal:Ann"), tmp_path)
    assert started.payload()["by"] == {"kind": "person", "name": "Ann", "endpoint": ""}
    again = parse_event(started.payload())
    assert again.canonical() == started.canonical() and again == started


async def test_an_event_of_before_has_no_such_field() -> None:
    started = CallStarted.of(ASKED, {}, lambda _digest, _occurrence: False)
    assert "by" not in started.payload() and b'"by"' not in started.canonical()


async def test_what_a_recording_answers_leaves_it_to_the_recorded_reply() -> None:
    started = CallStarted.of(ASKED, {}, lambda _digest, _occurrence: True, Answerer(kind="person"))
    assert started.replayed and started.by is None
