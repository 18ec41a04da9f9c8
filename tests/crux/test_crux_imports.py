"""Bringing texts in: folders, feeds, X archives, JSONL, and everything bad that can be in them."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from collections.abc import Awaitable, Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crux.personas.corpus import chunked, make_corpus, shared_texts
from crux.personas.fetching import as_file
from crux.personas.importing import import_corpus
from crux.personas.persona import check_name, slug
from crux.sources.file import CorpusError
from crux.sources.utterance import Utterance
from llm_runtime.http.public import Page

Build = Callable[..., Awaitable[Any]]


def essay(text: str, key: str = "t1", date: str = "2020-01-01") -> Utterance:
    return Utterance(id=key, source="essay", date=date, text=text)


# --- imports


def test_a_folder_of_markdown_text_and_html(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(
        "---\nid: one\ntitle: \"The Queue\"\ndate: '2019-02-11'\nauthor: Ann Ash\n"
        "signed: Publia\nreplies_to: [x, y]\n---\n\nA queue.",
        "utf-8",
    )
    (tmp_path / "2020-05-06-b.txt").write_text("# A title\r\n\r\nPlain words.", "utf-8")
    (tmp_path / "c.html").write_text(
        "<html><head><title>t</title><style>p{}</style></head><body><p>Seen &amp; read</p>"
        "<script>alert('never')</script><p onclick=x>Second</p><noscript>no</noscript></body></html>",
        "utf-8",
    )
    (tmp_path / "d.md").write_text("---\ntitle: nothing\n---\n\n", "utf-8")
    (tmp_path / "e.md").write_bytes(bytes(range(256)))
    (tmp_path / "picture.png").write_bytes(b"no text")

    found = import_corpus(tmp_path)

    texts = {item.id: item for item in found.corpus.items}
    assert (found.author, found.aliases) == ("Ann Ash", ("Publia",))
    assert texts["one"].replies_to == ("x", "y") and texts["one"].date == "2019-02-11"
    assert texts["2020-05-06-b"].date == "2020-05-06" and texts["2020-05-06-b"].title == "A title"
    assert texts["c"].text == "Seen & read\n\nSecond"
    assert [line.split(":")[0] for line in found.skipped] == [
        "d.md",
        "e.md is not UTF-8 at byte 128; convert it first",
        "of no kind that is read here",
    ]


RSS = """<?xml version="1.0"?><rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel>
<item><title>On tolls</title><link>https://example.org/tolls</link><guid>g1</guid>
<pubDate>Mon, 11 Feb 2019 08:00:00 +0100</pubDate><description>short</description>
<content:encoded><![CDATA[<p>A toll <b>leaves</b> money.</p><script>x()</script>]]></content:encoded></item>
<item><title>Bad link</title><link>javascript:alert(1)</link><description>Words here.</description></item>
<item><title>Empty</title></item></channel></rss>"""
ATOM = """<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>urn:1</id><title>T</title>
<link rel="alternate" href="https://example.org/1"/><updated>2020-03-04T00:00:00Z</updated>
<content type="html">&lt;p&gt;Atom words.&lt;/p&gt;</content></entry></feed>"""


def test_feeds(tmp_path: Path) -> None:
    (tmp_path / "rss.xml").write_text(RSS, "utf-8")
    (tmp_path / "feed.atom").write_text(ATOM, "utf-8")

    rss = {item.id: item for item in import_corpus(tmp_path / "rss.xml").corpus.items}
    assert rss["g1"].text == "A toll leaves money." and rss["g1"].date == "2019-02-11"
    assert [item.url for item in rss.values()] == ["https://example.org/tolls", ""]
    (atom,) = import_corpus(tmp_path / "feed.atom").corpus.items
    assert (atom.text, atom.date, atom.url) == ("Atom words.", "2020-03-04", "https://example.org/1")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("<rss><channel><item>", "not well-formed"),
        ("", "not well-formed"),
        ("<html></html>", "no <item> or <entry>"),
        ('<!DOCTYPE x [<!ENTITY a "aaaa">]><rss><item><title>&a;</title></item></rss>', "declares"),
        ('<rss><!ENTITY x SYSTEM "file:///etc/passwd"></rss>', "declares"),
        ("<rss><channel><item><title>only</title></item></channel></rss>", "holds no text"),
    ],
)
def test_malformed_feeds_are_refused_in_one_line(tmp_path: Path, text: str, fault: str) -> None:
    (tmp_path / "bad.xml").write_text(text, "utf-8")
    with pytest.raises(CorpusError, match=fault) as caught:
        import_corpus(tmp_path / "bad.xml")
    assert "\n" not in str(caught.value)


def tweets(count: int = 3, text: str = "Post {n} about the toll &amp; the queue") -> str:
    posts = [
        {"tweet": {"id_str": str(n), "created_at": "Wed Oct 10 20:19:24 +0000 2018", "full_text": text.format(n=n)}}
        for n in range(count)
    ]
    posts.append({"tweet": {"id_str": "r", "full_text": "RT @someone: not mine"}})
    return "window.YTD.tweets.part0 = " + json.dumps(posts)


def test_an_x_archive_as_folder_file_and_zip(tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    (folder / "data").mkdir(parents=True)
    (folder / "data/tweets.js").write_text(tweets(), "utf-8")
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("data/tweets.js", tweets())
        archive.writestr("../outside.txt", "never extracted")

    for path in (folder, folder / "data/tweets.js", tmp_path / "x.zip"):
        items = import_corpus(path).corpus.items
        assert [item.text for item in items] == [f"Post {n} about the toll & the queue" for n in range(3)]
        assert items[0].date == "2018-10-10" and items[0].source == "x"
    assert not (tmp_path.parent / "outside.txt").exists()


def test_a_split_x_archive_is_read_to_its_last_part(tmp_path: Path) -> None:
    def part(number: int) -> str:
        post = {"tweet": {"id_str": str(number), "full_text": f"Post of part {number}"}}
        return f"window.YTD.tweets.part{number} = " + json.dumps([post])

    names = ["tweets.js", *(f"tweets-part{number}.js" for number in range(1, 12))]
    (tmp_path / "archive/data").mkdir(parents=True)
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        for number, name in reversed(list(enumerate(names))):
            (tmp_path / "archive/data" / name).write_text(part(number), "utf-8")
            archive.writestr(f"twitter-2024/data/{name}", part(number))
        archive.writestr("twitter-2024/data/tweets-media.js", "no posts")

    for path in (tmp_path / "archive", tmp_path / "x.zip"):
        items = import_corpus(path).corpus.items
        assert {item.text for item in items} == {f"Post of part {number}" for number in range(12)}
    (tmp_path / "archive/data/tweets-part3.js").write_text("window.YTD = [{", "utf-8")
    with pytest.raises(CorpusError, match=r"tweets-part3\.js is damaged"):
        import_corpus(tmp_path / "archive")


def test_a_large_archive_is_read_within_a_bound_of_memory(tmp_path: Path) -> None:
    large = tmp_path / "tweets.js"
    large.write_text(tweets(100, "{n} " + "words about the queue " * 10_000), "utf-8")
    program = (
        "import sys; from pathlib import Path; from crux.personas.importing import import_corpus\n"
        "assert len(import_corpus(Path(sys.argv[1])).corpus.items) == 100\n"
        "lines = open('/proc/self/status').read().splitlines()\n"
        "print(next(int(line.split()[1]) for line in lines if line.startswith('VmHWM')) // 1024)"
    )
    if not Path("/proc/self/status").is_file():
        pytest.skip("the most memory a process has held is read from /proc")
    done = subprocess.run([sys.executable, "-c", program, str(large)], check=True, capture_output=True, text=True)
    assert int(done.stdout) < 8 * large.stat().st_size // 2**20


@pytest.mark.long
def test_a_fifty_megabyte_archive_is_read(tmp_path: Path) -> None:
    large = tmp_path / "tweets.js"
    large.write_text(tweets(100, "{n} " + "words about the queue " * 25_000), "utf-8")
    assert large.stat().st_size > 50 * 2**20
    assert len(import_corpus(large).corpus.items) == 100


def test_an_archive_that_is_a_bomb_is_not_read(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("data/tweets.js", b"0" * (60 * 2**20))
    with pytest.raises(CorpusError, match="unpack to 60 MiB"):
        import_corpus(tmp_path / "bomb.zip")


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        ("tweets.js", "window.YTD = [{", "damaged"),
        ("tweets-part1.js", "window.YTD = [{", "damaged"),
        ("tweets.js", "window.YTD = 7", "no list of posts"),
        ("x.zip", "not a zip", "not a readable ZIP"),
        ("lines.jsonl", "", "holds no text"),
        ("lines.jsonl", "nonsense\n[]\n{}", "line 1"),
        ("book.mobi", "BOOK", "no source of texts"),
        ("empty.md", "  \n", "holds no text"),
    ],
)
def test_what_cannot_be_imported_says_why_in_one_line(tmp_path: Path, name: str, content: str, fault: str) -> None:
    (tmp_path / name).write_text(content, "utf-8")
    with pytest.raises(CorpusError, match=fault) as caught:
        import_corpus(tmp_path / name)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        (
            "cp1252",
            "Où est le péage ? L’été dernier, on a payé à l’entrée du pont, et personne n’a protesté. Le maire "
            "répondit que chaque planche coûtait deux francs, et qu’il fallait bien que quelqu’un les payât.",
        ),
        ("cp1251", "Каждый, кто переходит мост, должен платить за доски. Счёт у ворот это доказывает."),
        ("utf-16", "Wer über die Brücke geht, soll für die Bohlen zahlen; das ist gerecht."),
        ("gb18030", "过桥的人应当为木板付钱。门口的计数就是证明。有人说通行费会毁了城里的穷人。"),
    ],
)
def test_an_encoding_that_is_not_utf_8_is_guessed_and_that_is_said(tmp_path: Path, encoding: str, text: str) -> None:
    (tmp_path / "pont.txt").write_bytes(text.encode(encoding))
    found = import_corpus(tmp_path / "pont.txt")
    assert found.corpus.items[0].text == text.strip()
    (line,) = found.skipped
    assert line.startswith("pont.txt: not UTF-8, read as ") and "a guess" in line


def test_of_a_fetched_page_only_what_it_is_about_is_read(tmp_path: Path) -> None:
    body = (
        b"<html><nav><a>Home</a> Subscribe</nav><article><h1>The toll</h1><p>A toll keeps a bridge in repair.</p>"
        b"<aside>More posts</aside></article><footer>Imprint</footer></html>"
    )
    file = as_file(Page("https://ann.example/posts/toll", body, "text/html"), tmp_path)
    assert file.name == "ann-example-posts-toll.html"
    text = import_corpus(file).corpus.items[0].text
    assert text == "The toll\n\nA toll keeps a bridge in repair."
    with pytest.raises(CorpusError, match="image/png"):
        as_file(Page("https://ann.example/me.png", b"", "image/png"), tmp_path)


def test_an_empty_folder_and_a_missing_one(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="holds no text"):
        import_corpus(tmp_path)
    with pytest.raises(CorpusError, match="no such file"):
        import_corpus(tmp_path / "gone")


def test_links_in_a_folder_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("outside", "utf-8")
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "own.md").write_text("inside", "utf-8")
    (folder / "link.md").symlink_to(tmp_path / "secret.md")
    assert [item.text for item in import_corpus(folder).corpus.items] == ["inside"]


def test_jsonl_keeps_its_fields(tmp_path: Path) -> None:
    line = {"id": "a", "source": "talk", "title": "T", "date": "2020-01-02T10:00", "url": "https://e.org", "text": "W"}
    (tmp_path / "l.jsonl").write_text(json.dumps(line) + "\n", "utf-8")
    (item,) = import_corpus(tmp_path / "l.jsonl").corpus.items
    assert item.model_dump() == {**line, "date": "2020-01-02T10:00:00Z", "repliesTo": ()}


@given(st.text(max_size=6_000))
def test_every_chunk_is_where_it_says(text: str) -> None:
    for item in make_corpus([essay(text)]).items:
        chunks = chunked(item)
        assert all(item.text[c.start : c.end] == c.text for c in chunks)
        assert all(a.end <= b.start for a, b in pairwise(chunks))
        assert "".join("".join(c.text for c in chunks).split()) == "".join(item.text.split())


def test_equal_texts_are_kept_once_and_texts_of_two_people_are_noticed() -> None:
    words = "The queue is a price, paid in minutes."
    corpus = make_corpus([essay(words, "a"), essay(f" {words}\n", "b"), essay("Something else.", "c")])
    assert [item.id for item in corpus.items] == ["a", "c"]
    assert shared_texts(corpus, make_corpus([essay(words, "z")])) == ["a"]


async def test_two_people_who_share_texts_may_debate_and_it_is_said(small_persona: Any, hold: Any) -> None:
    words = "The queue is a price, paid in minutes, and nobody has the money."
    panel = [await small_persona("Ann Ash", words), await small_persona("Bob Birch", words, "Another one on traffic.")]
    held = await hold(panel, aspects=2)
    assert "share 1 of 1 texts" in held.of("error")[0].error
    assert held.result.state == "finished"


def test_where_nobody_is_named_nobody_is_given_the_words_of_all(tmp_path: Path) -> None:
    pytest.importorskip("webvtt", reason="needs the extra 'import'")
    cues = "".join(f"\n00:00:0{n}.000 --> 00:00:0{n + 1}.000\nAnd then line {n}.\n" for n in range(4))
    (tmp_path / "t.vtt").write_text(f"WEBVTT\n{cues}", "utf-8")
    with pytest.raises(CorpusError, match="nobody in it is called Ada Quill; there are: no names at all"):
        import_corpus(tmp_path / "t.vtt", speaker="Ada Quill")
    assert import_corpus(tmp_path / "t.vtt", name="Ada Quill").corpus.items


@pytest.mark.parametrize("names", [("नितिन", "नातान"), ("Zoe\u0308", "Zoe\u0301"), ("กิน", "กัน")])
def test_a_name_of_any_script_is_one_and_is_nobody_elses(names: tuple[str, str]) -> None:
    assert [check_name(one) for one in names] == list(names) and len({slug(one) for one in names}) == 2
