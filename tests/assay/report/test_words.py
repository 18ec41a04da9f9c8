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


def lines(*calls: CallWords, width: int = 100, height: int = 24) -> list[str]:
    console = Console(file=StringIO(), width=width)
    with console.capture() as capture:
        console.print(Group(*words_lines(calls, 9_000, width, height)))
    return capture.get().splitlines()


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
    head, pace, *writing, waiting = lines(*words.calls())
    assert (head.strip(), pace.strip()) == ("position by pragmatist, round 1", "61 tokens")
    assert "".join(writing).rstrip().endswith("the end") and "\x1b" not in "".join(writing)
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


def seats(many: int) -> list[CallWords]:
    return [
        CallWords(CallLabel("crucible", "position", f"{n}:seat{n}"), "writing", 1_000, 2_000, 8_000, 40, f"w{n} " * 300)
        for n in range(many)
    ]


def test_answers_stand_beside_each_other_where_there_is_room() -> None:
    shown = lines(*seats(3), width=160)
    assert all("w0" in line and "w1" in line and "w2" in line for line in shown[2:5])
    assert max(map(len, shown)) <= 160 and len(shown) <= 10


def test_a_small_terminal_shows_words_of_all_who_speak_and_no_more_rows_than_it_has() -> None:
    for many in (1, 2, 4, 6):
        shown = lines(*seats(many), width=80, height=16)
        assert len(shown) <= 16 and all(f"w{n} w{n} w{n}" in "\n".join(shown) for n in range(many)), many
    assert sum("w0" in line and "w1" in line for line in lines(*seats(2), width=80, height=16)) >= 6


def test_a_form_is_read_as_what_is_filled_in() -> None:
    words, request, _ = watched()
    words.hear(request, Delta("text", '{"complexity": "complex", "council": [{"role": "expert",'))
    words.hear(request, Delta("text", ' "brief": "You know\\ndatabases."}]'))
    (call,) = words.calls()
    assert not set('{}[]"\\') & set(call.said) and "council" not in call.said
    assert "expert" in call.said and "You know databases." in " ".join(call.said.split())
