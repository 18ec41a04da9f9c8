"""Nothing that a model writes runs, loads, links or steers, whatever field it is written into."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pty
import re
import subprocess
import tempfile
import threading
from html.parser import HTMLParser
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt
from tests.extent import PATIENCE

from assay.registry import story_of_events
from assay.report.clean import clean, one_line
from assay.report.columns import Column
from assay.report.html import story_html
from assay.report.markdown import plain_text, prose_text, story_markdown
from assay.report.markup import element, render
from assay.report.story import Details, Fact, Figure, Note, Pin, Plain, Prose, Quote, Section, Story, Table, Voice
from assay.report.svg.bars import Bar, bar_chart
from assay.report.svg.intervals import Dot, interval_plot
from assay.report.svg.timeline import Span, timeline
from assay.report.terminal import print_story

_spec = importlib.util.spec_from_file_location("hostile_payloads", Path(__file__).with_name("hostile_payloads.py"))
assert _spec and _spec.loader
_module = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_module)
PAYLOADS: list[str] = _module.PAYLOADS
ESCAPES: list[str] = _module.ESCAPES
#: Ten at a time, of all kinds: what each of them costs is less than what a test does.
TENS = pytest.mark.parametrize("payloads", [PAYLOADS[number::17] for number in range(17)], ids=range(17))

CONTROLS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2065\u206a-\u206f\ufeff\U000e0000-\U000e0fff]"
)
TAGS = re.compile(
    "html|head|meta|title|link|style|body|header|div|p|span|h[1-6]|dl|dt|dd|nav|ol|ul|li|a|main|section|details|summary"
    "|table|caption|thead|tbody|tfoot|tr|th|td|figure|figcaption|blockquote|strong|em|s|code|pre|br|hr|mark|ins|del|sup|footer"
    "|svg|desc|rect|line|text|circle|label"
)
#: The one control of a report: it says nothing that a report holds.
ANNEX = [("type", "checkbox"), ("id", "annex"), ("autocomplete", "off")]
ATTRIBUTES = re.compile(
    "lang|title|charset|http-equiv|content|name|rel|href|class|id|dir|scope|tabindex|open|start|aria-label|xmlns|viewbox"
    "|width|height|role|[xy][12]?|rx|c[xy]|r|opacity|text-anchor|font-size"
)


class Inspector(HTMLParser):
    """Collects whatever in a page is not on the list."""

    def __init__(self) -> None:
        super().__init__()
        self.faults: list[str] = []
        self.policy = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "input" and attrs == ANNEX:
            return
        if not TAGS.fullmatch(tag):
            self.faults.append(f"<{tag}>")
        for name, value in attrs:
            if not ATTRIBUTES.fullmatch(name):
                self.faults.append(f"{tag} {name}")
            if name == "href" and not self.may_point(tag, value or ""):
                self.faults.append(f"{tag} href={value}")
            if name == "href" and (value or "").startswith("http") and "nofollow" not in (dict(attrs)["rel"] or ""):
                self.faults.append(f"{value} without rel")
            if name == "http-equiv":
                self.policy = dict(attrs)["content"] or ""

    def may_point(self, tag: str, href: str) -> bool:
        if tag == "link":
            return href == "data:,"
        return tag == "a" and re.match(r"(#|https?://|mailto:)", href) is not None

    def handle_comment(self, data: str) -> None:
        self.faults.append(f"<!--{data}")


def inspected(page: str) -> Inspector:
    inspector = Inspector()
    inspector.feed(page)
    inspector.close()
    return inspector


def faults_of(page: str) -> list[str]:
    return inspected(page).faults


def story_saying(text: str) -> Story:
    """A story with ``text`` in every field there is."""
    picture = timeline([text], [Span(text, 0, 5, "c0", text)], text, text)
    table = Table((Column(text), Column(text, "number")), ((text, text),), (text, text), text)
    blocks = (
        Prose(text),
        Prose(text, changed=((0, len(text)),) if "\n" not in text else ()),
        Prose(text, gone=((0, text),), pins=(Pin(0, len(text), text, "attacked", "claim-O1", "O1", text),)),
        Plain(text),
        Quote(text, text),
        Note(text, "bad"),
        table,
        Figure(picture, text, text),
        Figure(bar_chart([Bar(text, 1, text)], text, text), text, text),
        Figure(interval_plot([Dot(text, 0.5, 0.1, 0.9)], text, text, write=str), text, text),
        Details(text, (Plain(text), Prose(text))),
        Voice(text, (Prose(text),), "c0", text),
    )
    sections = tuple(Section(text, blocks) for _ in range(4))
    return Story(text, text, "bad", (Fact(text, text),), sections)


def test_there_are_at_least_150_payloads() -> None:
    assert len(set(PAYLOADS)) >= 150


@TENS
def test_a_page_holds_only_what_is_on_the_list(payloads: list[str]) -> None:
    for payload in payloads:
        page = story_html(story_saying(payload))
        seen = inspected(page)
        assert seen.faults == [], payload
        assert seen.policy == "default-src 'none'; style-src 'unsafe-inline'; img-src data:", payload
        assert not CONTROLS.search(page), payload


@TENS
def test_a_picture_of_its_own_holds_no_more_than_text(payloads: list[str]) -> None:
    for payload in payloads:
        svg = render(timeline([payload], [Span(payload, 0, 5, "red", payload)], payload, payload))
        assert faults_of(svg) == [], payload


async def test_every_field_of_a_real_run_is_escaped(play: Any, scene: Any) -> None:
    bad = "</script><img src=//evil.test onerror=alert(1)>[x](javascript:alert(1)) \x1b]52;c;AA\x07\u202e"
    places = ("reconstructed", "prompt", "instruction", "position", "critique", "synthesis")
    moments = await play(scene(query=bad, texts=dict.fromkeys(places, bad)))
    story = story_of_events(moments)
    assert faults_of(story_html(story)) == []
    assert "\x1b" not in story_markdown(story)


@TENS
def test_markdown_for_a_forge_has_no_markup_pictures_or_links(payloads: list[str]) -> None:
    permissive = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    for payload in payloads:
        for written in (prose_text(payload), plain_text(payload), f"> [!NOTE]\n> {plain_text(payload)}"):
            tokens = permissive.parse(written + "\n\n<b>after</b>")
            inline = [child for token in tokens for child in token.children or ()]
            tags = [token.content for token in (*tokens, *inline) if token.type in ("html_block", "html_inline")]
            assert {tag.strip() for tag in tags} <= {"<b>", "</b>", "<!-- -->"}, payload
            assert not [token for token in inline if token.type in ("link_open", "image")], payload
            assert [token.content for token in tokens if token.type == "inline"][-1] == "<b>after</b>", payload


def test_a_mention_in_prose_notifies_nobody_and_code_stays_code() -> None:
    written = prose_text("Ask @team about #12.\n\n```python\n@cache\ndef f(a: list[int]) -> bool: return a[0] < 1\n```")
    assert "@team" not in written and "#12" not in written
    assert "> @cache\n> def f(a: list[int]) -> bool: return a[0] < 1\n" in written


@TENS
def test_clean_text_is_clean_and_stays_so(payloads: list[str]) -> None:
    for payload in payloads:
        text = clean(payload)
        assert not CONTROLS.search(text), payload
        assert clean(text) == text, payload
        text.encode()


def test_cleaning_keeps_words_and_drops_whole_sequences() -> None:
    assert clean("a \x1b[1;31mred\x1b[0m word\tand\nlines — ünïcødé 漢字") == "a red word\tand\nlines — ünïcødé 漢字"
    assert clean("\x1b]8;;https://evil.test\x1b\\click\x1b]8;;\x1b\\ here") == "click here"
    assert clean("\x1b]0;no end, yet all of this is text").endswith("no end, yet all of this is text")
    assert one_line("a\n\n b\tc", 5) == "a b c"
    assert one_line("abcdefgh", 5) == "abcd…"


def test_cleaning_is_linear() -> None:
    for pump in ("\x1b]", "\x1b[0;", "\x1b]8;;", "\x9d", "\x1b[" + "1" * 50):
        assert len(clean(pump * 100_000)) <= len(pump) * 100_000


def through_a_terminal(story: Story, *, whole: bool) -> str:
    """What arrives at the other side of a pseudo-terminal when a story is printed to it."""
    master, slave = pty.openpty()
    arrived = bytearray()

    def read() -> None:
        with contextlib.suppress(OSError):  # Linux ends a terminal that nobody holds with an I/O error
            while piece := os.read(master, 65_536):
                arrived.extend(piece)

    reader = threading.Thread(target=read)
    reader.start()
    with os.fdopen(slave, "w", encoding="utf-8", errors="strict") as stream:
        print_story(story, stream, whole=whole)
    reader.join()
    os.close(master)
    return arrived.decode()


@pytest.mark.parametrize("payload", ESCAPES)
def test_only_our_own_escapes_reach_a_terminal(payload: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    for whole in (True, False):
        arrived = through_a_terminal(story_saying(payload), whole=whole)
        assert "\x1b[" in arrived, "a terminal gets colours"
        without_colours = re.sub(r"\x1b\[[0-9;]*m", "", arrived.replace("\r\n", "\n"))
        assert not CONTROLS.search(without_colours)


def test_a_pipe_gets_the_bare_answer() -> None:
    sheet = StringIO()
    print_story(Story("Q", "", sections=(Section("Answer", (Prose("**Yes** \x1b[31mreally\n"),)),)), sheet)
    assert sheet.getvalue() == "**Yes** really\n"


def test_an_attribute_is_escaped_too() -> None:
    from assay.report.markup import render

    assert render(element("rect", class_='"><script>')) == '<rect class="&quot;&gt;&lt;script&gt;"></rect>'


@pytest.mark.browser
def test_a_browser_runs_nothing_of_a_hostile_report(tmp_path: Path) -> None:
    marks = "".join(
        f"<script>document.title='RAN{i}'</script><img src=x onerror=\"document.title='RAN{i}'\">"
        f"<svg onload=\"document.title='RAN{i}'\">[x](javascript:document.title='RAN{i}')"
        for i in range(3)
    )
    page = tmp_path / "report.html"
    page.write_text(story_html(story_saying(marks + "\n\n" + "\n\n".join(PAYLOADS).encode(errors="replace").decode())))
    with tempfile.TemporaryDirectory() as profile:
        flags = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
        more = "--disable-component-update --disable-sync"
        command = ["chromium", *flags.split(), *more.split(), f"--user-data-dir={profile}", "--dump-dom"]
        dom = subprocess.run([*command, page.as_uri()], capture_output=True, text=True, timeout=PATIENCE).stdout
    assert "<h2>" in dom
    title = re.search(r"<title>(.*?)</title>", dom, re.DOTALL)
    assert title and title[1].endswith("Assay") and not title[1].startswith("RAN")
    assert faults_of(dom) == []
