"""The live display shows a run, in the manner that its stream allows, and never harms it."""

from __future__ import annotations

import contextlib
import os
import pty
import re
import threading
from datetime import datetime
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from assay.console.live import LiveDisplay, manner_for
from assay.launch import Words
from assay.registry import fold_for
from assay.report.progress import Progress, SeatProgress
from assay.report.screen import progress_view
from llm_runtime.errors import BudgetExceeded, ServerFault
from llm_runtime.events import CallRetried, CallStarted, EndpointPaused, RunFinished, RunResumed, RunStarted
from llm_runtime.events.event import Event
from llm_runtime.messages import CallLabel, Delta, Message, Request

CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]")
STARTED = RunStarted(run_id="r", protocol="crucible", title="Why?", task={}, settings={}, seed=1)


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("environment", "on_terminal", "elsewhere"),
    [
        ({"TERM": "xterm"}, "live", "plain"),
        ({"TERM": "xterm", "NO_COLOR": "1"}, "live", "plain"),
        ({"TERM": "xterm", "CI": "true"}, "plain", "plain"),
        ({"TERM": "xterm", "CI": "true", "FORCE_COLOR": "1"}, "live", "coloured"),
        ({"TERM": "dumb"}, "plain", "plain"),
        ({"TERM": "dumb", "FORCE_COLOR": "1"}, "coloured", "coloured"),
        ({}, "plain", "plain"),
    ],
)
def test_the_manner_follows_stream_and_environment(
    environment: dict[str, str], on_terminal: str, elsewhere: str
) -> None:
    assert manner_for(Terminal(), environment) == on_terminal
    assert manner_for(StringIO(), environment) == elsewhere


async def test_without_a_terminal_there_is_a_line_for_each_finished_step(play: Any, scene: Any) -> None:
    moments = await play(scene(roles=("pragmatist", "red_team", "creative"), cost=2_000))
    stream = StringIO()
    clock = iter(range(0, 10_000_000, 500))
    with LiveDisplay(fold_for("crucible", 8), stream=stream, budget=50_000, now=lambda: next(clock)) as display:
        for event, _ in moments:
            display(event)
    lines = stream.getvalue().splitlines()
    assert [re.sub(r"^\[\d+:\d\d\] ", "", line) for line in lines] == [
        "council configured: Pragmatist, Red team and Creative; parallel, up to 3 loops; "
        "it works on: Precisely: Should we migrate to microservices?",
        "loop 1: Pragmatist took a position: 0:pragmatist says position 1. It stays with its reasons.",
        "loop 1: Creative took a position: 2:creative says position 1. It stays with its reasons.",
        "loop 1: red team: 1:red_team says critique 1. It stays with its reasons.",
        "loop 1 of 3 complete: not compared with the loop before",
        "loop 2: Pragmatist took a position: 0:pragmatist says position 2. It stays with its reasons.",
        "loop 2: Creative took a position: 2:creative says position 2. It stays with its reasons.",
        "loop 2: red team: 1:red_team says critique 2. It stays with its reasons.",
        "loop 2 of 3 complete: nothing of substance changed",
        "answer written after 2 loops",
        "run finished",
        "9 calls · 990 tokens · $0.0180 spent, $0.0320 left",
    ]


def test_what_earlier_sittings_came_to_is_not_announced_again() -> None:
    told = [STARTED, RunFinished(state="stopped", message="once"), RunResumed(finished_calls=0)]
    told += [RunFinished(state="stopped", message="twice"), RunResumed(finished_calls=0)]
    stream = StringIO()
    with LiveDisplay(fold_for("criticality.build", 8), stream=stream) as display:
        display.past = 4
        for event in [*told, RunFinished(state="stopped", message="thrice")]:
            display(event)
    assert re.findall("run stopped: .*", stream.getvalue()) == ["run stopped: thrice"]


def screen(progress: Progress, width: int = 100, *, ascii_only: bool = False) -> str:
    console = Console(file=StringIO(), width=width, force_terminal=False, color_system=None)
    with console.capture() as capture:
        console.print(progress_view(progress, 31_000, 500_000, ascii_only=ascii_only, width=width))
    return capture.get()


def test_seats_stand_beside_each_other_where_there_is_room_and_else_one_after_the_other() -> None:
    seats = tuple(SeatProgress(name, "done", says=f"What {name} says.") for name in ("Ada", "Bob", "Cy", "Dee"))
    progress = Progress("Crucible", "Should we?", "taking positions", 1, 3, "loop", seats, 6, 12, 1_000)
    wide, narrow = (screen(progress, width).splitlines() for width in (160, 80))
    assert max(map(len, wide)) <= 160 and max(map(len, narrow)) <= 80
    assert [sum(name in line for name in ("Ada", "Bob", "Cy", "Dee")) for line in wide].count(4) == 2
    assert max(sum(name in line for name in ("Ada", "Bob", "Cy", "Dee")) for line in narrow) == 1


def test_the_picture_says_who_does_what() -> None:
    seats = (
        SeatProgress("Pragmatist", "done", says="Stay with the monolith.", accent="c0"),
        SeatProgress("Expert", "thinking", since=19_000, accent="c1"),
        SeatProgress("Creative", "failed", says="ServerFault", accent="c3"),
        SeatProgress("Red team", "waiting", accent="red"),
    )
    progress = Progress(
        *("Crucible", "Should we?", "taking positions", 2, 3, "loop", seats, 6, 12, 1_000),
        tokens=12_340,
        cost=120_000,
        unpriced=1,
        notes=("retried position 1:expert: RateLimited",),
        news=("a room opens",),
    )
    lines = screen(progress).splitlines()
    assert lines[0] == "Crucible Should we?"
    assert "loop 2 of 3 · 6 of 12 calls · 0:30 · about 0:30 left" in lines[1]
    assert re.fullmatch(r"  ✓ Pragmatist  done            Stay with the monolith\.", lines[2].rstrip())
    assert "thinking 0:12" in lines[3]
    assert "✗ Creative" in lines[4] and "ServerFault" in lines[4]
    assert "taking positions · 12.3k tokens · $0.1200+ spent, $0.3800 left · 1 without a known price" in lines[6]
    assert "• a room opens" in lines[7]
    assert "! retried position 1:expert: RateLimited" in lines[8]
    assert all(len(line) <= 40 for line in screen(progress, 40).splitlines())
    assert "✓" not in screen(progress, ascii_only=True) and "━" not in screen(progress, ascii_only=True)


def test_a_run_that_broke_off_shows_no_full_bar() -> None:
    progress = Progress(
        *("Crucible", "Should we?", "", 1, 3, "loop", (), 4, 4, 1_000), state="stopped", message="interrupted"
    )
    line = screen(progress).splitlines()[1]
    assert "4 calls · 0:30 · stopped: interrupted" in line and "4 of 4" not in line and "━" not in line


@pytest.mark.parametrize("form", ["{}", "```json\n{}\n```", "  {}"])
async def test_a_seat_that_fills_in_a_form_is_shown_with_its_words(form: str, play: Any, scene: Any) -> None:
    text = form.replace("{}", '{"answer": "Stay with one database.", "claims": [{"text": "It is [cheaper]."}]}')
    fold, said = fold_for("crucible", 8), set[str]()
    for event, at in await play(scene(texts={"position": text})):
        fold.apply(event, at)
        said |= {seat.says for seat in fold.progress().seats if seat.says}
    assert any(words.startswith("Stay with one database. It is cheaper") for words in said)
    assert not [words for words in said if set('{}"') & set(words)]


async def test_what_was_refused_and_never_sent_is_no_call_that_was_made(play: Any, scene: Any) -> None:
    fold, fault = fold_for("crucible", 8), BudgetExceeded("of 3 calls 3 calls are spent")
    for event, at in await play(scene(faults={"position/0:pragmatist/1": fault})):
        fold.apply(event, at)
    progress, story = fold.progress(), fold.story()
    answered = progress.calls_done
    assert progress.state == "failed" and f"{answered} calls" in screen(progress)
    assert {fact.label: fact.value for fact in story.facts}["Calls"] == f"{answered} + 1 failed"


def watched(events: list[Event], **options: Any) -> tuple[str, LiveDisplay]:
    """What arrives on a real pseudo-terminal while ``events`` are shown on it."""
    master, slave = pty.openpty()
    arrived = bytearray()

    def read() -> None:
        with contextlib.suppress(OSError):  # Linux ends a terminal that nobody holds with an I/O error
            while piece := os.read(master, 65_536):
                arrived.extend(piece)

    reader = threading.Thread(target=read)
    reader.start()
    with (
        os.fdopen(slave, "w", encoding="utf-8") as stream,
        LiveDisplay(fold_for("crucible", 8), stream=stream, manner="live", **options) as display,
    ):
        for event in events:
            display(event)
    reader.join()
    os.close(master)
    return arrived.decode(), display


def test_what_a_terminal_writes_of_ctrl_c_stays_on_the_last_line() -> None:
    request = Request("m", (Message("user", "Why?"),), CallLabel("crucible", "position", "1:pragmatist", 1))
    words, started = Words(), CallStarted.of(request, {}, lambda *_: False)
    words(started)
    words.hear(request, Delta("text", "word " * 200))
    text, _ = watched([STARTED, started], words=words)
    lines = [re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line) for line in re.split(r"[\r\n]+", text)]
    assert any("word word" in line for line in lines) and max(map(len, lines)) <= 78, lines


def test_no_color_takes_the_colours_away_and_leaves_the_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    text, display = watched([STARTED])
    assert "Why?" in text and display.redraws >= 1
    assert not re.search(r"\x1b\[[0-9;]*(3[0-7]|9[0-7])m", text), "no colour, though bold and dim may stay"


async def test_on_a_terminal_only_our_own_escapes_arrive(play: Any, scene: Any) -> None:
    bad = "red \x1b[31m \x1b]52;c;AAAA\x07 \x1b]8;;https://evil.test\x1b\\ \u202e \x9b2J \r\n over"
    places = ("position", "critique", "synthesis", "prompt")
    fault = {"position/0:pragmatist/2": ServerFault(bad, status=500)}
    moments = await play(scene(query=bad, texts=dict.fromkeys(places, bad), faults=fault))
    text, display = watched([event for event, _ in moments])
    assert "Pragmatist" in text and "finished" in text and "red" in text
    ours = re.sub(r"\x1b\[(\?25[lh]|[0-9;]*m|2K|\d*A)", "", text.replace("\r", ""))
    assert not CONTROLS.search(ours)
    assert "52;c" not in ours and "evil.test" not in ours
    assert text.rindex("\x1b[?25h") > text.rindex("\x1b[?25l"), "the cursor is given back"
    assert display.redraws >= 1


def test_nothing_is_drawn_twice() -> None:
    _, display = watched([STARTED], now=lambda: 1_000)
    assert display.redraws <= 2


async def test_somebody_else_may_have_the_terminal_for_a_while(play: Any, scene: Any) -> None:
    stream = Terminal()
    with LiveDisplay(fold_for("crucible"), stream=stream, manner="live") as display:
        display(STARTED)
        with display.paused():
            assert stream.getvalue().endswith("\x1b[?25h")
            length = len(stream.getvalue())
            display(RunFinished(state="finished"))
            assert len(stream.getvalue()) == length
    assert "finished" in stream.getvalue()[length:]


class Broken(Terminal):
    def write(self, text: str) -> int:
        raise BrokenPipeError("nobody reads any more")


class Careless:
    """A fold that fails at everything."""

    def __getattr__(self, name: str) -> Any:
        raise ZeroDivisionError(name)


@pytest.mark.parametrize("manner", ["live", "plain", "coloured"])
async def test_a_display_that_fails_does_no_harm(play: Any, scene: Any, manner: Any) -> None:
    moments = await play(scene())
    for fold, stream in ((fold_for("crucible"), Broken()), (Careless(), Terminal())):
        with LiveDisplay(fold, stream=stream, manner=manner) as display:  # type: ignore[arg-type]
            for event, _ in moments:
                display(event)


def test_a_fault_of_the_run_passes_through() -> None:
    with pytest.raises(KeyboardInterrupt), LiveDisplay(fold_for("crucible"), stream=StringIO()):
        raise KeyboardInterrupt


def test_a_provider_that_is_left_alone_is_a_note_on_every_screen() -> None:
    fold = fold_for("crucible")
    fold.apply(EndpointPaused(provider="acme", seconds=30, message="HTTP 503"), 1_000)
    assert fold.progress().notes == ("acme is left alone for 30 s: HTTP 503",)


def test_a_long_wait_for_a_provider_says_when_it_goes_on() -> None:
    fold = fold_for("crucible")
    fold.apply(CallRetried(label="c/position/1:x/1/1", attempt=1, error="RateLimited", message="", wait_ms=95_000), 0)
    at = datetime.fromtimestamp(95).strftime("%H:%M")
    assert fold.progress().notes == ("retried position 1:x: rate limited", f"goes on at {at}")
    fold.apply(RunFinished(state="stopped"), 95_000)
    assert not any("goes on" in note for note in fold.progress().notes)
