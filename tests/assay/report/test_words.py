"""Answers on their way: what is kept of them, and the lines of a terminal."""

from __future__ import annotations

from io import StringIO
from itertools import count

from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console, Group

from assay.console.words import words_lines
from assay.launch import CallWords, Words
from assay.launch.words import TAIL
from llm_runtime.events import CallFinished, CallRetried, CallsQueued, CallStarted, RunResumed
from llm_runtime.messages import CallLabel, Delta, Message, Reply, Request, Usage


def asked(seat: str = "1:pragmatist") -> tuple[Request, CallStarted]:
    request = Request("m", (Message("user", f"to {seat}"),), CallLabel("crucible", "position", seat, 1))
    return request, CallStarted.of(request, {}, lambda *_: False)


def watched(seat: str = "1:pragmatist") -> tuple[Words, Request, CallStarted]:
    words = Words(now=count(1_000, 1_000).__next__)
    request, started = asked(seat)
    words(started)
    return words, request, started


def lines(*calls: CallWords, width: int = 100) -> list[str]:
    return [str(line) for line in words_lines(calls, 9_000, width)]


def test_words_come_with_their_pace_and_go_with_their_call() -> None:
    words, request, started = watched()
    assert [call.stage for call in words.calls()] == ["sent"]
    words.hear(request, Delta("reasoning", "Let me think. ", 4))
    words.hear(request, Delta("reasoning", "On and on.", 8))
    words.hear(request, Delta("text", "Use ", 9))
    words.hear(request, Delta("text", "SQLite.", 11))
    (call,) = words.calls()
    assert (call.stage, call.tail, call.tokens, call.pace) == ("writing", "Use SQLite.", 11, 11 / 3)
    words(CallFinished.of(started, Reply("Use SQLite.", "m", "p", Usage(1, 11))))
    assert words.calls() == ()
    words.hear(request, Delta("text", "late"))
    assert words.calls() == ()


def test_what_a_failed_attempt_brought_is_not_shown_as_the_next_ones() -> None:
    words, request, _ = watched()
    words.hear(request, Delta("text", "half an ans"))
    retried = CallRetried(label=str(request.label), attempt=1, error="ConnectionCut", message="cut", wait_ms=10)
    words(retried)
    assert [(call.stage, call.tail) for call in words.calls()] == [("sent", "")]
    words.hear(request, Delta("text", "half again"))
    words.hear(request, Delta("progress", tokens=0))
    assert [(call.stage, call.tail) for call in words.calls()] == [("sent", "")]
    words(RunResumed(finished_calls=0))
    assert words.calls() == ()


@given(st.lists(st.text(max_size=900), max_size=20))
def test_only_the_end_of_an_answer_is_kept(pieces: list[str]) -> None:
    words, request, _ = watched()
    for piece in pieces:
        words.hear(request, Delta("text", piece))
    (call,) = words.calls()
    assert call.tail == "".join(pieces)[-TAIL:]


def test_the_first_words_are_announced_once() -> None:
    words, request, _ = watched()
    firsts: list[str] = []
    words.on_first = lambda call: firsts.append(call.tail)
    for text in ("a", "b"):
        words.hear(request, Delta("reasoning", text))
    words.hear(request, Delta("text", "c"))
    assert firsts == ["a"]


def test_a_terminal_shows_the_latest_words_of_each_call_and_counts_what_waits() -> None:
    words, request, _ = watched()
    _, started = asked("2:red_team")
    words(started)
    words.hear(request, Delta("text", "word " * 60 + "\x1b[31mthe end", 61))
    words(CallsQueued(provider="here", waiting=1))
    writing, waiting = lines(*words.calls())
    assert writing.startswith("    position by pragmatist, round 1  61 tokens  …") and writing.endswith("the end")
    assert len(writing) <= 100 and "\x1b" not in writing
    assert waiting.strip() == "1 call waiting for a place"
    assert all(len(line) <= 60 for line in lines(*words.calls(), width=60))


def test_a_call_waits_for_a_place_until_it_is_sent() -> None:
    words, request, _ = watched()
    assert [call.stage for call in words.calls()] == ["sent"]
    words(CallsQueued(provider="here", waiting=1))
    assert [call.stage for call in words.calls()] == ["queued"]
    words.hear(request, Delta("progress", tokens=0))
    assert [call.stage for call in words.calls()] == ["sent"]
    words(CallsQueued(provider="here", waiting=0))
    assert [call.stage for call in words.calls()] == ["sent"]


def test_answers_stand_beside_each_other_where_there_is_room() -> None:
    calls = [
        CallWords(CallLabel("crucible", "position", f"{n}:seat{n}"), "writing", 1_000, 2_000, 8_000, 40, f"w{n} " * 300)
        for n in range(3)
    ]
    console = Console(file=StringIO(), width=160)
    with console.capture() as capture:
        console.print(Group(*words_lines(calls, 9_000, 160)))
    shown = capture.get().splitlines()
    assert all("w0" in line and "w1" in line and "w2" in line for line in shown[2:5])
    assert max(map(len, shown)) <= 160 and len(shown) <= 8
