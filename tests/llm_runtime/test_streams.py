"""Bytes into events, whatever the line ends, wherever a chunk ends; and reasoning out of a text in pieces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_runtime.http.streams import EventStream, LineStream, StreamEvent
from llm_runtime.providers._thinking import ThinkingSplit

MEBIBYTE = 2**20


def read(stream: EventStream | LineStream, *chunks: bytes) -> list[StreamEvent]:
    events = [event for chunk in chunks for event in stream.read(chunk)]
    return [*events, *stream.close()]


def test_events_have_names_and_data_and_comments_mean_nothing() -> None:
    stream = b": hello\n\nevent: start\ndata: {}\n\ndata:one\ndata: two\nid: 4\n\ndata\n\nevent: none\n\ndata: last"
    assert read(EventStream(MEBIBYTE), stream) == [(b"start", b"{}"), (b"", b"one\ntwo"), (b"", b""), (b"", b"last")]


def test_lines_are_values_and_empty_ones_mean_nothing() -> None:
    assert read(LineStream(MEBIBYTE), b'{"a":1}\r\n\n{"b"', b":2}\n{}") == [
        (b"", b'{"a":1}'),
        (b"", b'{"b":2}'),
        (b"", b"{}"),
    ]


@given(
    st.lists(st.text(st.characters(exclude_characters="\r\n\ufeff")), max_size=5),
    st.sampled_from([b"\n", b"\r\n", b"\r"]),
    st.booleans(),
    st.data(),
)
def test_any_cut_and_any_line_end_give_the_same_events(
    texts: list[str], end: bytes, mark: bool, data: st.DataObject
) -> None:
    raw = (b"\xef\xbb\xbf" if mark else b"") + b"".join(b"data: %b%b%b" % (t.encode(), end, end) for t in texts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=6)))
    chunks = [raw[a:b] for a, b in zip([0, *cuts], [*cuts, len(raw)], strict=True)]
    expected = [(b"", text.encode()) for text in texts]
    assert read(EventStream(MEBIBYTE), *chunks) == expected


@pytest.mark.parametrize("kind", [EventStream, LineStream])
@pytest.mark.parametrize("size", [1, 1000])
def test_an_event_that_does_not_end_is_too_large_wherever_it_is_cut(
    kind: type[EventStream | LineStream], size: int
) -> None:
    stream = kind(5000)
    for _ in range(5000 // size):
        assert not stream.read(b"d" * size)
        assert not stream.overflow
    stream.read(b"d")
    assert stream.overflow


PIECES = st.lists(st.sampled_from(["<think>", "</think>", "<thi", "nk>", "</", "think>", "a", " ", "\n", "<", "b c"]))


def split(pieces: list[str]) -> tuple[str, str]:
    splitter = ThinkingSplit()
    parts = [part for piece in pieces for part in splitter.feed(piece)] + splitter.close()
    text, reasoning = ("".join(p for k, p in parts if k == kind) for kind in ("text", "reasoning"))
    return text, reasoning


@given(PIECES)
def test_reasoning_is_the_same_however_the_text_is_cut(pieces: list[str]) -> None:
    whole = "".join(pieces)
    text, reasoning = split(pieces)
    assert (text, reasoning) == split([whole]) == split(list(whole))
    if whole.lstrip().startswith("<think>"):
        thought, closed, answer = whole.lstrip()[len("<think>") :].partition("</think>")
        assert (text, reasoning) == (answer.lstrip() if closed else "", thought)
    else:
        assert (text, reasoning) == (whole, ""), "a tag further down is part of the text"
