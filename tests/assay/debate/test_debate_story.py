"""The report of a debate in any state and with anything in its fields: it is drawn, and nothing in it runs."""

from __future__ import annotations

import importlib.util
import json
from html.parser import HTMLParser
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import pytest

from assay.registry import fold_for, story_of_events
from assay.report.html import story_html
from assay.report.markdown import story_markdown
from assay.report.story import Details, Marked, Note, Prose, Quote, Voice
from assay.report.terminal import print_story
from llm_runtime.errors import StoreDamaged
from llm_runtime.events import Event, RunFinished, RunResumed, parse_event

pytest.importorskip("bm25s", reason="a debate needs the extra 'debate'")

from .test_debate_demo import play, started

_spec = importlib.util.spec_from_file_location(
    "hostile_payloads", Path(__file__).parents[1] / "report" / "hostile_payloads.py"
)
assert _spec and _spec.loader
_hostile = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_hostile)
PAYLOADS: list[str] = _hostile.PAYLOADS
KEPT = {"type", "id", "position", "stance", "before", "after", "state", "phase", "disagreementType", "kind", "method"}
REFERENCES = {"roomId", "cruxRoomId", "cardId", "card_id", "aspect", "sourceAspect", "item", "question_id"}


async def debate() -> list[Event]:
    """The recorded debate's events, from its first to its last."""
    result, _, events = await play()
    return [started(), *events, RunFinished(state="finished", result=result.model_dump(mode="json"))]


def timed(events: list[Event]) -> list[tuple[Event, int]]:
    return [(event, 1_000 * place) for place, event in enumerate(events)]


async def test_the_cards_come_first_with_quotations_that_open_to_their_place() -> None:
    story = story_of_events(timed(await debate()))
    assert [section.heading for section in story.sections][:5] == [
        "Crux cards",
        "Alignment map",
        "Position shifts",
        "Crux graph",
        "Concessions",
    ]
    page = story_html(story)
    assert "<mark>There was no one to have done it.</mark>" in page
    assert "No source: nothing" in page and "What would change this mind" in page
    assert page.count("Where it stands") == 12 == page.count("The whole text")


async def test_a_quotation_opens_to_its_paragraph_first_and_then_to_the_text() -> None:
    story = story_of_events(timed(await debate()))
    side = next(block for block in story.sections[0].blocks if isinstance(block, Voice))
    quote, opened = next(pair for pair in pairwise(side.blocks) if isinstance(pair[0], Quote))
    assert isinstance(quote, Quote) and isinstance(opened, Details)
    paragraph, whole = opened.blocks
    assert isinstance(paragraph, Marked) and isinstance(whole, Details)
    assert [text for text, mark in paragraph.pieces() if mark] == [quote.text]
    assert "\n\n" not in paragraph.text
    (text,) = whole.blocks
    assert isinstance(text, Marked) and paragraph.text in text.text and len(text.text) > 2 * len(paragraph.text)


async def test_every_sentence_of_a_card_opens_to_message_belief_and_place() -> None:
    story = story_of_events(timed(await debate()))
    rests = next(b for b in story.sections[0].blocks if isinstance(b, Details) and b.summary.startswith("What each"))
    for sentence in rests.blocks:
        assert isinstance(sentence, Voice)
        assert isinstance(sentence.blocks[0], Prose)
        said = any(isinstance(b, Details) and b.summary.startswith("Said in m") for b in sentence.blocks)
        written = any(isinstance(b, Quote) and ", 20" in b.by for b in sentence.blocks)
        unsaid = any(isinstance(b, Note) and b.text.startswith("No source") for b in sentence.blocks)
        assert (said or written) is not unsaid


async def test_a_terminal_is_shown_the_cards_and_what_is_folded_stays_so() -> None:
    class Terminal(StringIO):
        def isatty(self) -> bool:
            return True

    story = story_of_events(timed(await debate()))
    short, whole = Terminal(), Terminal()
    print_story(story, short)
    print_story(story, whole, whole=True)
    said, all_said = (" ".join(screen.getvalue().split()) for screen in (short, whole))
    assert "What would change this mind" in said and "▸ Where it stands" in said
    assert "I still say that two thirds of the traffic evaporated." in all_said
    assert "I still say that two thirds of the traffic evaporated." not in said
    assert len(short.getvalue().splitlines()) < 140


async def test_every_beginning_of_a_debate_can_be_shown() -> None:
    events = await debate()
    for length in range(1, len(events) + 1):
        fold = fold_for("crux")
        for event, at in timed(events[:length]):
            fold.apply(event, at)
            fold.announce(event)
        progress = fold.progress()
        assert progress.calls_expected is None or progress.calls_expected >= progress.calls_done
        if length % 12 == 0 or length == len(events):
            assert story_html(fold.story()).startswith("<!doctype html>")


async def test_a_resumed_debate_is_told_once() -> None:
    events = await debate()
    twice = [*events[:40], RunResumed(finished_calls=20), *events[1:]]
    once, again = (story_of_events(timed(told)) for told in (events, twice))
    assert [s for s in once.sections if s.heading == "What was said"] == [
        s for s in again.sections if s.heading == "What was said"
    ]


async def test_the_display_tells_rooms_cards_and_concessions() -> None:
    fold, lines = fold_for("crux"), list[str]()
    for event, at in timed(await debate()):
        fold.apply(event, at)
        lines += [line] if (line := fold.announce(event)) else []
    progress = fold.progress()
    assert [line.partition(":")[0] for line in progress.news] == [
        "card, values, open",
        "room-2 opens",
        "card, definition, resolved",
    ]
    assert not progress.notes, "a room is no trouble"
    assert progress.seats[0].says.startswith("NUANCED: Let it decide")
    for part in ("round 1 of 2", "clash: ", "room-1 opens", "card, values, open", "NO to YES: earned by m26"):
        assert any(part in line for line in lines), part


class _Seen(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.bad: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "input" and ("id", "annex") in attrs:
            return  # the report's own: whether all of it is printed
        if tag in ("script", "img", "iframe", "object", "form", "base", "video", "input", "embed"):
            self.bad.append(tag)
        for name, value in attrs:
            outside = name in ("href", "src") and not (value or "").startswith(("#", "data:,"))
            if name.startswith("on") or outside:
                self.bad.append(f"{tag} {name}={value}")


@pytest.mark.parametrize("start", range(0, len(PAYLOADS), 40))
async def test_whatever_stands_in_any_field_nothing_runs_loads_or_steers(start: int) -> None:
    batch = PAYLOADS[start : start + 40]
    count = 0

    def poisoned(value: Any, key: str = "") -> Any:
        nonlocal count
        if isinstance(value, dict):
            return {name: poisoned(inner, name) for name, inner in cast("dict[str, Any]", value).items()}
        if isinstance(value, list):
            return [poisoned(inner, key) for inner in cast("list[Any]", value)]
        if isinstance(value, str) and key not in KEPT | REFERENCES and key not in ("messages", "persona", "personas"):
            count += 1
            return batch[count % len(batch)].encode("utf-8", "replace").decode()
        return value

    events: list[Event] = []
    for event in await debate():
        data = json.loads(json.dumps(event.payload()))
        if data["type"].startswith("crux."):
            data = {"type": data["type"], **{name: poisoned(v, name) for name, v in data.items() if name != "type"}}
        events.append(parse_event(data))
    story = story_of_events(timed(events))
    seen = _Seen()
    seen.feed(story_html(story))
    assert not seen.bad
    assert "\x1b" not in story_markdown(story)
    screen = StringIO()
    print_story(story, screen, whole=True)
    assert "\x1b" not in screen.getvalue() and "\u202e" not in screen.getvalue()


@pytest.mark.parametrize("event", [{"type": "crux_card_posted", "card": 7}, {"type": "applause"}, {}])
async def test_a_log_whose_data_fit_no_type_is_refused_in_one_line(event: dict[str, Any]) -> None:
    payloads = [one.payload() for one in (await debate())[:60]]
    damaged = ({**one, "event": event} if one["type"] == "crux.posted" else one for one in payloads)
    with pytest.raises(StoreDamaged, match=r"an event of type crux\.posted does not fit: .") as refused:
        story_of_events(timed([parse_event(one) for one in damaged]))
    assert "\n" not in str(refused.value)
