"""Who said what, in every format: each file has a known answer, and accounts for every character."""

from __future__ import annotations

import base64
import csv
import io
import json
import zipfile
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from crux.sources import PlaceReading, Utterance, read_place
from crux.sources.file import CorpusError


class Said(NamedTuple):
    """A sentence of somebody, what that person quotes of whom before it, and code after it."""

    speaker: str
    words: str
    quotes: str = ""
    whom: str = ""
    code: str = ""


ADA, BEN, CLEO = "Ada Quill", "Ben Reed", "Cléo Márquez"
#: Of two people, with quotations; with code and angle brackets; in three languages; of many short turns.
THREADS: tuple[tuple[Said, ...], ...] = (
    (
        Said(ADA, "The plugin API must go before the next release."),
        Said(BEN, "I do not agree, since forty teams build on it.", "The plugin API must go before", ADA),
        Said(ADA, "Forty teams can move in a year; we did it in 2019.", "forty teams build on it", BEN),
    ),
    (
        Said(ADA, "We should return List<String> and never Optional<T> here.", code="return Optional.of(x);"),
        Said(BEN, "A Map<K, V> & a <br> in prose are only words.", "We should return List<String>", ADA),
        Said(ADA, "Is 3 < 4 > 2 true? See <https://example.org/a?b=1&c=2>.", code="if (a < b) { c(); }"),
    ),
    (
        Said(ADA, "Wer über die Brücke geht, soll für die Bohlen zahlen."),
        Said(CLEO, "Où est le péage ? L’été dernier, on a payé à l’entrée du pont.", "soll für die Bohlen", ADA),
        Said(BEN, "过桥的人应当为木板付钱。门口的计数就是证明。"),
    ),
    tuple(
        Said((ADA, BEN, CLEO)[turn % 3], f"This is turn {turn} of a long and patient talk about the bridge.")
        for turn in range(12)
    ),
)
WHEN = "2026-02-03T10:{:02}:00Z"


def github(path: Path, thread: tuple[Said, ...]) -> None:
    def post(n: int, one: Said) -> dict[str, Any]:
        body = f"> {one.quotes}\n\n" if one.quotes else ""
        body += one.words.replace("<br>", "`<br>`") + (f"\n\n```\n{one.code}\n```" if one.code else "")
        who = {"login": one.speaker, "is_bot": False}
        return {"id": f"IC_{n}", "author": who, "body": body, "createdAt": WHEN.format(n), "url": f"https://e.org/{n}"}

    bot = {"id": "b", "author": {"login": "ci[bot]"}, "body": "Build 7 passed, says the bot.", "createdAt": ""}
    gone = {"id": "d", "author": {"login": ""}, "body": "[deleted]", "createdAt": ""}
    comments = [bot, *(post(n, one) for n, one in enumerate(thread[1:], start=1)), gone]
    path.write_text(json.dumps({**post(0, thread[0]), "title": "API", "number": 7, "comments": comments}), "utf-8")


def github_rest(path: Path, thread: tuple[Said, ...]) -> None:
    rows = [
        {
            "id": n,
            "user": {"login": one.speaker, "type": "User"},
            "body": (f"> {one.quotes}\r\n\r\n" if one.quotes else "") + one.words.replace("<br>", "`<br>`"),
            "created_at": WHEN.format(n),
            "html_url": f"https://e.org/{n}",
        }
        for n, one in enumerate(thread)
    ]
    rows.append({"id": 99, "user": {"login": "x", "type": "Bot"}, "body": "A bot speaks here.", "created_at": ""})
    path.write_text(json.dumps(rows, ensure_ascii=False, indent=1), "utf-8")


def discussion(path: Path, thread: tuple[Said, ...]) -> None:
    def node(n: int, one: Said) -> dict[str, Any]:
        body = (f"> {one.quotes}\n\n" if one.quotes else "") + one.words.replace("<br>", "`<br>`")
        return {"id": f"D{n}", "author": {"login": one.speaker}, "body": body, "createdAt": WHEN.format(n)}

    comments = [{**node(n, one), "replies": {"nodes": []}} for n, one in enumerate(thread[1:], start=1)]
    comments[0]["replies"]["nodes"] = comments[1:]
    whole = {**node(0, thread[0]), "title": "T", "comments": {"nodes": comments[:1]}}
    path.write_text(json.dumps({"data": {"repository": {"discussion": whole}}}), "utf-8")


def gitlab(path: Path, thread: tuple[Said, ...]) -> None:
    def note(n: int, one: Said) -> dict[str, Any]:
        body = (f"> {one.quotes}\n\n" if one.quotes else "") + one.words.replace("<br>", "`<br>`")
        return {"id": n, "body": body, "author": {"username": one.speaker}, "created_at": WHEN.format(n)}

    notes = [{**note(n, one), "system": False, "noteable_type": "Issue"} for n, one in enumerate(thread) if n]
    notes.append({**note(50, Said(ADA, "changed the description")), "system": True, "noteable_type": "Issue"})
    first = note(0, thread[0])
    whole = {"iid": 4, "title": "T", "description": first["body"], "author": first["author"], "Notes": notes}
    path.write_text(json.dumps({**whole, "created_at": WHEN.format(0)}), "utf-8")


def slack(path: Path, thread: tuple[Said, ...]) -> None:
    ids = {name: f"U{n}" for n, name in enumerate((ADA, BEN, CLEO))}
    (path / "general").mkdir(parents=True)
    users = [{"id": key, "name": "x", "profile": {"real_name": name}} for name, key in ids.items()]
    (path / "users.json").write_text(json.dumps(users), "utf-8")
    messages: list[dict[str, Any]] = [{"type": "message", "subtype": "channel_join", "text": "has joined", "ts": "1"}]
    for n, one in enumerate(thread):
        text = (f"&gt; {escape(one.quotes, quote=False)}\n" if one.quotes else "") + escape(one.words, quote=False)
        text += f"\n```{chr(10)}{escape(one.code, quote=False)}{chr(10)}```" if one.code else ""
        messages.append({"type": "message", "user": ids[one.speaker], "text": text, "ts": f"{1770112800 + n}.000100"})
    messages.append({"type": "message", "bot_id": "B1", "text": "A reminder of the bot.", "ts": "1770113800.1"})
    (path / "general" / "2026-02-03.json").write_text(json.dumps(messages), "utf-8")


def discord(path: Path, thread: tuple[Said, ...]) -> None:
    messages = [
        {
            "id": str(n),
            "type": "Reply" if n else "Default",
            "timestamp": WHEN.format(n),
            "content": (f"> {one.quotes}\n" if one.quotes else "") + one.words,
            "author": {"id": f"9{hash(one.speaker) % 1000}", "name": "n", "nickname": one.speaker, "isBot": False},
            "reference": {"messageId": str(n - 1)} if n else None,
        }
        for n, one in enumerate(thread)
    ]
    messages.append({**messages[0], "id": "j", "type": "GuildMemberJoin", "content": "Joined the server."})
    path.write_text(json.dumps({"guild": {"id": "1"}, "channel": {"id": "2"}, "messages": messages}), "utf-8")


def teams(path: Path, thread: tuple[Said, ...]) -> None:
    def post(n: int, one: Said) -> dict[str, Any]:
        quoted = f"<blockquote><p>{escape(one.quotes)}</p></blockquote>" if one.quotes else ""
        code = f"<pre><code>{escape(one.code)}</code></pre>" if one.code else ""
        return {
            "id": str(n),
            "messageType": "message",
            "createdDateTime": WHEN.format(n),
            "from": {"user": {"id": f"u-{one.speaker}", "displayName": one.speaker}},
            "body": {"contentType": "html", "content": f"{quoted}<p>{escape(one.words)}</p>{code}"},
        }

    value = [{**post(0, thread[0]), "replies": [post(n, one) for n, one in enumerate(thread) if n]}]
    path.write_text(json.dumps({"value": value}), "utf-8")


def vtt(style: str) -> Callable[[Path, tuple[Said, ...]], None]:
    def write(path: Path, thread: tuple[Said, ...]) -> None:
        cues: list[str] = ["WEBVTT\n"]
        for n, one in enumerate(thread):
            words = one.words.replace("<br>", "break").replace("<", "&lt;").replace(">", "&gt;")
            shown = {"tags": f"<v {one.speaker}>{words}</v>", "names": f"{one.speaker}: {words}"}[style]
            cues.append(f"{n}\n00:{n:02}:00.000 --> 00:{n:02}:09.000\n{shown}\n")
        path.write_text("\n".join(cues), "utf-8")

    return write


def minutes(path: Path, thread: tuple[Said, ...]) -> None:
    turns = [f"{one.speaker}: {one.words}" for one in (*thread, *thread[:2])]
    path.write_text(f"Minutes of 3 February\n\nPresent: {ADA}, {BEN}\n\n" + "\n\n".join(turns), "utf-8")


def bold_minutes(path: Path, thread: tuple[Said, ...]) -> None:
    turns = [f"**{one.speaker}:** {one.words}" for one in (*thread, *thread[:2])]
    path.write_text("# Meeting\n\n## Item 1\n\n" + "\n".join(turns), "utf-8")


def eml(one: Said, n: int) -> str:
    quoted = f"On Tue, {one.whom} <a@x.org> wrote:\r\n> {one.quotes}\r\n\r\n" if one.quotes else ""
    text = f"{quoted}{one.words}\r\n\r\n-- \r\nSent with care from the office of the bridge\r\n"
    address = f"{one.speaker.split()[0].lower().replace('é', 'e')}@x.org"
    name = f"=?utf-8?b?{base64.b64encode(one.speaker.encode()).decode()}?="
    head = f"From: {name} <{address}>\r\nSubject: API\r\nDate: Tue, 03 Feb 2026 10:{n:02}:00 +0000\r\n"
    head += f"Message-ID: <m{n}@x>\r\n" + (f"In-Reply-To: <m{n - 1}@x>\r\n" if n else "")
    kind = "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: "
    if n % 2:
        coded = base64.b64encode(text.encode()).decode()
        return f"{head}{kind}base64\r\n\r\n{coded}\r\n"
    return f"{head}{kind}8bit\r\n\r\n{text}"


def mbox(path: Path, thread: tuple[Said, ...]) -> None:
    mails = [f"From x@y Tue Feb  3 10:00:00 2026\n{eml(one, n)}".replace("\r\n", "\n") for n, one in enumerate(thread)]
    path.write_bytes("\n".join(mails).encode())


def mails(path: Path, thread: tuple[Said, ...]) -> None:
    path.mkdir()
    for n, one in enumerate(thread):
        (path / f"{n:02}.eml").write_bytes(eml(one, n).encode())


def rows(table: bool) -> Callable[[Path, tuple[Said, ...]], None]:
    def write(path: Path, thread: tuple[Said, ...]) -> None:
        data = [
            {
                "id": f"r{n}",
                "speaker": one.speaker,
                "date": WHEN.format(n),
                "text": (f"> {one.quotes}\n\n" if one.quotes else "") + one.words.replace("<br>", "`<br>`"),
            }
            for n, one in enumerate(thread)
        ]
        out = io.StringIO()
        writer = csv.DictWriter(out, list(data[0]))
        writer.writeheader()
        writer.writerows(data)
        path.write_text(out.getvalue() if table else "\n".join(map(json.dumps, data)), "utf-8", newline="")

    return write


def feed(path: Path, thread: tuple[Said, ...]) -> None:
    entries = "".join(
        f"<entry><id>urn:{n}</id><title>T{n}</title><author><name>{one.speaker}</name></author>"
        f"<updated>{WHEN.format(n)}</updated><content type='html'>"
        + escape(f"<blockquote>{escape(one.quotes)}</blockquote><p>{escape(one.words)}</p>")
        + "</content></entry>"
        for n, one in enumerate(thread)
    )
    path.write_text(f'<feed xmlns="http://www.w3.org/2005/Atom">{entries}</feed>', "utf-8")


def page(path: Path, thread: tuple[Said, ...]) -> None:
    def comment(one: Said) -> str:
        return (
            f'<li class="comment"><div class="comment-author"><b class="fn">{one.speaker}</b> says:</div>'
            f'<time datetime="2026-02-03">yesterday</time><blockquote>{escape(one.quotes)}</blockquote>'
            f"<p>{escape(one.words)}</p><a class=reply>Reply</a></li>"
        )

    first = thread[0]
    path.write_text(
        f"<html><head><title>T</title><meta name=author content='{first.speaker}'></head>"
        "<body><nav>Menu of all</nav>"
        f"<main><h1>On it</h1><p>{escape(first.words)}<pre>{escape(first.code)}</pre></main>"
        "<section id=comments><h2>Comments</h2><ol class=comment-list>"
        + "".join(map(comment, thread[1:]))
        + "</ol></section><footer>Imprint here</footer></body></html>",
        "utf-8",
    )


def essays(ending: str) -> Callable[[Path, tuple[Said, ...]], None]:
    """One text a person, each with the quotations and the code as the format has them."""

    def write(path: Path, thread: tuple[Said, ...]) -> None:
        path.mkdir()
        for n, speaker in enumerate(dict.fromkeys(one.speaker for one in thread)):
            own = [one for one in thread if one.speaker == speaker]
            if ending == ".html":
                text = f"<meta name=author content='{speaker}'>" + "".join(
                    f"<blockquote>{escape(one.quotes)}</blockquote><p>{escape(one.words)}</p><pre>{escape(one.code)}</pre>"
                    for one in own
                )
            elif ending == ".rst":
                parts = [
                    (f"As was said:\n\n  {one.quotes}\n\n" if one.quotes else "")
                    + one.words.replace("<br>", "break")
                    + (f"\n\n.. code-block:: java\n\n   {one.code}" if one.code else "")
                    for one in own
                ]
                text = f"Title: T\nAuthor: {speaker}\nCreated: 05-Jul-2018\nStatus: Draft\n\n" + "\n\n".join(parts)
            else:
                mark = "> " if ending == ".md" else ">"
                parts = [
                    (f"{mark}{one.quotes}\n\n" if one.quotes else "")
                    + one.words
                    + (f"\n\n```\n{one.code}\n```" if one.code and ending == ".md" else "")
                    for one in own
                ]
                head = f"---\nauthor: {speaker}\ndate: 2026-02-0{n + 1}\n---\n\n"
                text = head + "\n\n".join(parts)
            (path / f"{n}{ending}").write_text(text, "utf-8")

    return write


def archive(path: Path, thread: tuple[Said, ...]) -> None:
    posts = [
        {"tweet": {"id_str": str(n), "created_at": "Tue Feb 03 10:00:00 +0000 2026", "full_text": escape(one.words)}}
        for n, one in enumerate(thread)
    ]
    posts.append({"tweet": {"id_str": "r", "full_text": "RT @ben: Another said this.", "created_at": ""}})
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("data/tweets.js", "window.YTD.tweets.part0 = " + json.dumps(posts))


def docx(path: Path, thread: tuple[Said, ...]) -> None:
    library = pytest.importorskip("docx", reason="needs the extra 'dev'")
    document = library.Document()
    document.core_properties.author = ADA
    for one in thread:
        if one.speaker != ADA:
            run = document.paragraphs[0].runs[0]
            document.add_comment(run, text=one.words, author=one.speaker, initials="x")
            continue
        if one.quotes:
            document.add_paragraph(one.quotes, style="Quote")
        document.add_paragraph(one.words)
    document.save(str(path))


def epub(path: Path, thread: tuple[Said, ...]) -> None:
    own = [one for one in thread if one.speaker == ADA]
    items = "".join(f'<item id="c{n}" href="c{n}.xhtml"/>' for n in range(len(own)))
    spine = "".join(f'<itemref idref="c{n}"/>' for n in range(len(own)))
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("META-INF/container.xml", '<container><rootfile full-path="b.opf"/></container>')
        packed.writestr(
            "b.opf", f"<package><title>B</title><creator>{ADA}</creator>{items}<spine>{spine}</spine></package>"
        )
        for n, one in enumerate(own):
            quoted = f"<blockquote>{escape(one.quotes)}</blockquote>" if one.quotes else ""
            packed.writestr(f"c{n}.xhtml", f"<html><body>{quoted}<p>{escape(one.words)}</p></body></html>")


FORMATS: dict[str, tuple[str, Callable[[Path, tuple[Said, ...]], None]]] = {
    "GitHub, by gh": ("i.json", github),
    "GitHub, REST": ("c.json", github_rest),
    "GitHub, discussion": ("d.json", discussion),
    "GitLab": ("g.json", gitlab),
    "Slack": ("export", slack),
    "Discord": ("d.json", discord),
    "Teams": ("t.json", teams),
    "VTT, voices": ("t.vtt", vtt("tags")),
    "VTT, names": ("z.vtt", vtt("names")),
    "minutes": ("m.txt", minutes),
    "minutes in Markdown": ("m.md", bold_minutes),
    "mbox": ("m.mbox", mbox),
    "eml": ("mails", mails),
    "CSV": ("r.csv", rows(True)),
    "JSONL": ("r.jsonl", rows(False)),
    "Atom": ("f.atom", feed),
    "page with comments": ("p.html", page),
    "Markdown": ("md", essays(".md")),
    "reStructuredText": ("rst", essays(".rst")),
    "plain text": ("txt", essays(".txt")),
    "HTML": ("html", essays(".html")),
    "X": ("x.zip", archive),
    "DOCX": ("d.docx", docx),
    "EPUB": ("b.epub", epub),
}


def flat(text: str) -> str:
    return "".join(char for char in text.replace("break", "<br>") if char.isalnum() or char in "<>&?")


def own_words(reading: PlaceReading) -> dict[str, str]:
    """Own words by speaker, letters and signs only."""
    words: dict[str, str] = {}
    for one in reading.utterances:
        own = "".join(char if one.own(at, at + 1) else " " for at, char in enumerate(one.text))
        words[one.speaker or ""] = words.get(one.speaker or "", "") + flat(own)
    return words


@pytest.mark.parametrize("thread", range(len(THREADS)))
@pytest.mark.parametrize("form", FORMATS)
def test_every_character_is_its_speakers_and_is_accounted_for(tmp_path: Path, form: str, thread: int) -> None:
    if form in ("VTT, voices", "VTT, names"):
        pytest.importorskip("webvtt", reason="needs the extra 'import'")
    if form == "reStructuredText":
        pytest.importorskip("docutils", reason="needs the extra 'import'")
    name, write = FORMATS[form]
    said = THREADS[thread]
    write(tmp_path / name, said)

    reading = read_place(tmp_path / name)

    words = own_words(reading)
    told = [one for one in said if form not in ("EPUB",) or one.speaker == ADA]
    right = sum(
        len(flat(one.words)) for one in told if flat(one.words) in words.get("" if form == "X" else one.speaker, "")
    )
    assert right >= 0.99 * sum(len(flat(one.words)) for one in told), words
    quoted = {flat(one.quotes) for one in told if one.quotes and "minutes" not in form and "VTT" not in form}
    mine = {flat(one.words) for one in said}
    rest = "".join(words.values())
    for sentence in mine:
        rest = rest.replace(sentence, "|")
    assert not [sentence for sentence in quoted if sentence in rest]
    assert not [one.code for one in said if one.code and form not in ("plain text",) and flat(one.code) in rest]
    assert "bot" not in rest.lower() and "RT" not in rest and "Sentwithcare" not in rest and "Menu" not in rest
    balance = reading.balance
    assert balance.characters == balance.kept + balance.quoted + balance.code + balance.left_out.total()
    assert min(balance.left_out.values(), default=0) >= 0
    assert balance.left_out["white space and marks"] <= 0.02 * balance.characters + 40, balance.line()


# --- bad input


def thread_file(path: Path, comments: list[dict[str, Any]]) -> Path:
    path.write_text(json.dumps(comments), "utf-8")
    return path


def by(login: str, body: str, **more: Any) -> dict[str, Any]:
    return {"id": f"{login}{len(body)}", "user": {"login": login, "type": "User"}, "body": body, **more}


def test_a_thread_of_one_person_and_one_of_bots_and_deleted_messages(tmp_path: Path) -> None:
    alone = read_place(thread_file(tmp_path / "one.json", [by("ada", "I say so."), by("ada", "I still say so.")]))
    assert alone.speakers == {"ada": 24} and alone.notes == ()
    nobody = [by("ci[bot]", "Build passed."), by("ben", "[deleted]"), by("ben", "")]
    empty = read_place(thread_file(tmp_path / "none.json", nobody))
    assert empty.utterances == () and dict(empty.balance.left_out) == {"a bot": 13, "deleted or hidden": 9}


def test_two_people_of_one_name_are_told_apart_and_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("speaker,speaker_id,text\nAda,u1,Yes it is.\nAda,u2,No it is not.\nBen,u3,Well.\n")
    reading = read_place(tmp_path / "r.csv")
    assert list(reading.speakers) == ["Ada (u2)", "Ada (u1)", "Ben"]
    assert reading.notes == ("2 people are called Ada: Ada (u1), Ada (u2)",)


def test_a_talk_without_names_says_that_nobody_can_be_told(tmp_path: Path) -> None:
    pytest.importorskip("webvtt", reason="needs the extra 'import'")
    cues = "".join(f"\n00:00:0{n}.000 --> 00:00:0{n + 1}.000\nAnd then line {n}.\n" for n in range(4))
    (tmp_path / "t.vtt").write_text(f"WEBVTT\n{cues}", "utf-8")
    reading = read_place(tmp_path / "t.vtt")
    assert "cannot tell who" in reading.notes[0] and list(reading.speakers) == [""]


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("a.json", "{", "is damaged"),
        ("a.json", '{"a": 1}', "holds no list of posts or messages"),
        ("a.vtt", "no transcript", "no readable transcript"),
        ("a.xyz", "words", "no source of texts"),
        ("a.csv", "Name,What do you think?\nAda,It must go.\n", 'call the column of texts "text"'),
        ("a.jsonl", '{"speaker": "Ada", "said": "Go."}\n', "line 1: no JSON object"),
        ("a.json", "[" * 5_000, "is damaged"),
    ],
)
def test_what_is_no_source_is_refused_in_one_line(tmp_path: Path, name: str, text: str, fault: str) -> None:
    pytest.importorskip("webvtt", reason="needs the extra 'import'")
    (tmp_path / name).write_text(text, "utf-8")
    with pytest.raises(CorpusError, match=fault) as caught:
        read_place(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_prose_with_a_colon_is_no_talk(tmp_path: Path) -> None:
    words = "Note: this is an essay.\n\nExample: a bridge.\n\nThe toll: a tax by another name.\n\nIt must go."
    (tmp_path / "essay.md").write_text(words, "utf-8")
    (one,) = read_place(tmp_path / "essay.md").utterances
    assert one.text == words and one.speaker is None


def test_what_answers_what_is_kept(tmp_path: Path) -> None:
    write = FORMATS["Discord"][1]
    write(tmp_path / "d.json", THREADS[0])
    first, second, _ = read_place(tmp_path / "d.json").utterances
    assert second.replies_to == (first.id,) and second.answers == first.text
    assert second.date == "2026-02-03T10:01:00Z"


_MAIL = "From: Ada Quill <ada@x.org>\nDate: Mon, 2 Mar 2026 10:00:00 +0000\nContent-Type: text/{}; charset=utf-8\n\n{}"
_BELOW = "It must go.\n\n{}: Ben Reed <ben@x.org>\n{}: Sunday\n{}: Ada\n\nIt must stay.\n"
_PAGE = "<p>Go.</p><blockquote>Stay.</blockquote>"
_XHTML = f'<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">{_PAGE}</div></content>'
_LIST = 'From b\nFrom: ben at x.org (Ben Reed)\n\nNo.\n\nFrom b\nFrom: "Reed, Ben" <ben@x.org>\n\nHm.\n'
_ABOVE = "On Sunday, March 1, 2026 at 09:00 AM, Ben Reed <ben@x.org> wrote:"
_UNMARKED = f"It must go.\n\n  {_ABOVE}\n\nIt must stay.\n"
_VIA = "From b\nFrom: \"'Ada Quill' via Wall\" <w@l.org>\n\nGo.\n>From here.\n\nFrom b\nFrom: Ada Quill <a@x>\n\nNo.\n"
THREE, GOES = "Ada Go.|Ben No.|Ada So.", "Ada Quill It must go."
_TIMES = ("[12.03.26, 10:02:11]", "3/12/26, 10:02 PM -", "2026-03-12 10:02", ">>")
_APPS = [(f"chat{n}.txt", f"{one} Ada: Go.\n{one} Ben: No.\n{one} Ada: So.\n", THREE) for n, one in enumerate(_TIMES)]
_STAMPS = (
    "\u200e[12.03.26, 10:02:11] {}", "3/12/26, 10:02\u202fp. m. - {}", "12.3.2026 klo 10.02 - {}",
    "[2026. 3. 12. 오후 10:02:11] {}", "١٢/٠٣/٢٠٢٦، ١٠:٠٢ ص - {}", "2026/3/12 上午10:02 - {}",
)  # fmt: skip
_SENT = (
    "\u202a+49 151 23\u202c: Go: now.\nPlan: x", "Ben joined", "~\u202fBo 🚲: No.", "Bo 🚲: \u200eimage omitted",
    "+49 151 23: <Media omitted>", "Bo 🚲: You deleted this message", "+49 151 23: So.",
)  # fmt: skip
_SENDERS = "+49 151 23 Go: now. Plan: x|Bo 🚲 No.|+49 151 23 So."
_CHATS = [(f"sent{n}.txt", "".join(f"{one.format(m)}\n" for m in _SENT), _SENDERS) for n, one in enumerate(_STAMPS)]


@pytest.mark.parametrize(
    ("name", "text", "own"),
    [
        *_APPS,
        *_CHATS,
        ("fr.txt", "Mme Ada : Go.\nBen\xa0: No.\nMme Ada : So.\n", "Mme Ada Go.|Ben No.|Mme Ada So."),
        ("aside.txt", "Ada: Go.\nBen [off mic]: No.\nAda: So.\n", THREE),
        ("quoted.md", "**Ada:** Go.\n\n> Ben: Stay.\nIt must.\n\n**Ben:** No.\n\n**Ada:** So.\n", THREE),
        ("quoted.txt", "Ada: Go.\n> Ben: Stay.\nBen: No.\nAda: So.\n", THREE),
        ("cn.txt", "王伟：删除它。\n李娜：保留它。\n王伟：为什么？\n", "王伟 删除它。|李娜 保留它。|王伟 为什么？"),
        ("ar.txt", "أحمد: تذهب.\nليلى: تبقى.\nأحمد: لماذا؟\n", "أحمد تذهب.|ليلى تبقى.|أحمد لماذا؟"),
        ("hi.txt", "नितिन: नहीं।\nसीता: हाँ।\nनितिन: क्यों?\n", "नितिन नहीं।|सीता हाँ।|नितिन क्यों?"),
        ("rank.txt", "Ada (chair): Go.\nBen: No.\nAda: So.\nBEN: Hm.\n", f"{THREE}|Ben Hm."),
        ("two.txt", "Cy (A): Go.\nCy (B): No.\nCy: So.\nCy (A): Hm.\n", "Cy (A) Go.|Cy (B) No.|Cy So.|Cy (A) Hm."),
        ("behind.md", "<!-- Describe\nit --> Go.\n\n<!-- a --><!-- b -->\n\nSo.\n", "None Go.  So."),
        ("a.xml", f"<feed><entry><author><name>Ada</name></author>{_XHTML}</entry></feed>", "Ada Go."),
        ("e.eml", _MAIL.format("plain", _BELOW.format("From", "Sent", "To")), GOES),
        ("d.eml", _MAIL.format("plain", _BELOW.format("Von", "Gesendet", "An")), GOES),
        ("h.eml", _MAIL.format("html", _BELOW.format("<p><b>From</b>", "<br>Sent", "<br>To: Ada<br>Subject")), GOES),
        ("u.eml", _MAIL.format("plain", _UNMARKED), GOES),
        (
            "i.eml",
            _MAIL.format("plain", f"{_UNMARKED}> So.\nIt must go.\n"),
            f"{GOES}    {_ABOVE}  It must stay.  {GOES[10:]}",
        ),
        ("v.mbox", _VIA, "Ada Quill Go. From here.|Ada Quill No."),
        ("l.mbox", _LIST, "Ben Reed No.|Ben Reed Hm."),
        ("s.csv", "Speaker;Text\nAda;Go, now\nADA;So; yes\n", "Ada Go, now|Ada So"),
    ],
)
def test_nobody_is_given_the_words_of_others_nor_loses_their_own(
    tmp_path: Path, name: str, text: str, own: str
) -> None:
    (tmp_path / name).write_text(text, "utf-8")
    reading = read_place(tmp_path / name)
    assert "|".join(f"{one.speaker} {words_of(one)}" for one in reading.utterances) == own
    assert min([0, *reading.balance.left_out.values()]) == 0


@pytest.mark.parametrize(
    ("stamps", "dates"),
    [
        (("12/03/2026, 10:02 - ", "13/03/2026, 10:02 - "), ("2026-03-12", "2026-03-13")),
        (("3/12/26, 10:02 PM - ", "4/1/26, 10:02 PM - "), ("2026-03-12", "2026-04-01")),
        (("[01.02.26, 10:02:11] ", "[02.02.26, 10:02:11] "), ("2026-02-01", "2026-02-02")),
        (("2026/3/12 上午10:02 - ", "2026/3/12 上午10:02 - "), ("2026-03-12", "2026-03-12")),
        (("1/2/26, 10:02 PM - ", "2/3/26, 10:02 PM - "), ("", "")),
    ],
)
def test_a_day_that_may_be_another_is_none(tmp_path: Path, stamps: tuple[str, str], dates: tuple[str, str]) -> None:
    first, last = stamps
    (tmp_path / "chat.txt").write_text(f"{first}Ada: Go.\n{first}Ben: No.\n{last}Ada: So.\n", "utf-8")
    assert [one.date for one in read_place(tmp_path / "chat.txt").utterances] == [dates[0], *dates]


def words_of(one: Utterance) -> str:
    return "".join(char for at, char in enumerate(one.text) if one.own(at, at + 1)).replace("\n", " ").strip()


def test_three_signs_quote_the_rest_of_a_message_of_a_chat(tmp_path: Path) -> None:
    said = [
        {"text": "No.\n&gt;&gt;&gt; It must stay.\nIt is fast.\n\nIt is cheap.", "user": "U1", "ts": "1772359200.1"}
    ]
    (tmp_path / "c.json").write_text(json.dumps(said))
    (one,) = read_place(tmp_path / "c.json").utterances
    assert words_of(one) == "No." and one.text.endswith("It is cheap.")


@pytest.mark.parametrize("date", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-10:00", "2026-13-45", "2026-02-30"])
def test_a_date_that_is_none_costs_nobody_the_message(tmp_path: Path, date: str) -> None:
    (tmp_path / "r.jsonl").write_text(json.dumps({"speaker": "Ada", "text": "Go.", "date": date}) + "\n")
    (one,) = read_place(tmp_path / "r.jsonl").utterances
    assert one.text == "Go." and one.date in (date[:10], "") and not one.date.startswith("2026")


def test_a_head_of_two_fields_with_many_lines_is_read_at_once(tmp_path: Path) -> None:
    """Lines that end as Windows ends them, and a third field that does not come."""
    text = "Title: The wall\r\n" + "    a line that goes on\r\n" * 60 + "\r\nIt stays.\r\n"
    (tmp_path / "wall.txt").write_bytes(text.encode())
    (one,) = read_place(tmp_path / "wall.txt").utterances
    assert one.text.endswith("It stays.")


def test_a_sender_of_many_signs_is_read_at_once(tmp_path: Path) -> None:
    (tmp_path / "a.eml").write_text(f"From: {'@' * 200_000}\nSubject: The wall\n\nIt stays.\n", "utf-8")
    (one,) = read_place(tmp_path / "a.eml").utterances
    assert one.text == "It stays."


SENTENCE, ANSWER = "The bridge must be mended before the winter.", "The bridge can wait, as it did last year."


def posted(post: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "Listing", "data": {"children": [{"kind": "t1", "data": {"created_utc": 1704196800.0, **post}}]}}


FORUMS: dict[str, Any] = {
    "telegram": {
        "messages": [
            {"id": 1, "type": "service", "from_id": "u1", "date_unixtime": "1704196800", "text": "Ana made the group."},
            {
                "id": 2,
                "type": "message",
                "from": "ana",
                "from_id": "u1",
                "date_unixtime": "1704196800",
                "text": SENTENCE,
            },
            {
                **{"id": 3, "type": "message", "from": "ben", "from_id": "u2", "date_unixtime": "1704196800"},
                "text": [{"type": "blockquote", "text": "before the winter"}, "The bridge ", {"text": ANSWER[11:]}],
            },
            {
                **{"id": 4, "type": "message", "from": "ben", "from_id": "u2", "date_unixtime": "1704196800"},
                **{"forwarded_from": "Zed", "text": "What Zed said."},
            },
        ]
    },
    "discourse": {
        "post_stream": {
            "posts": [
                {
                    "id": n,
                    "username": name,
                    "cooked": f"<p>{text}</p>",
                    "post_number": n,
                    "post_type": kind,
                    "created_at": "2024-01-02T12:00:00Z",
                }
                for n, (name, text, kind) in enumerate(
                    [("ana", SENTENCE, 1), ("ben", ANSWER, 1), ("system", "Closed this.", 3)]
                )
            ]
        }
    },
    "reddit": [
        posted({"name": "t3_a", "author": "ana", "selftext": SENTENCE}),
        posted({"name": "t1_b", "author": "ben", "body": f"> before the winter\n\n{ANSWER}", "parent_id": "t3_a"}),
    ],
    "hacker news": {
        **{"id": 1, "author": "cleo", "text": None, "created_at_i": 1704196800, "title": "T"},
        "children": [
            {"id": 2, "author": "ana", "text": f"<p>{SENTENCE}", "created_at_i": 1704196800, "children": []},
            {"id": 3, "by": "ben", "text": ANSWER, "time": 1704196800},
        ],
    },
}


@pytest.mark.parametrize("source", FORUMS)
def test_an_export_of_a_forum_is_read_with_its_speakers_and_dates(tmp_path: Path, source: str) -> None:
    (tmp_path / "result.json").write_text(json.dumps(FORUMS[source]), "utf-8")
    reading = read_place(tmp_path / "result.json")
    assert own_words(reading) == {"ana": flat(SENTENCE), "ben": flat(ANSWER)}
    assert {(one.source, one.date) for one in reading.utterances} == {(source, "2024-01-02T12:00:00Z")}


@pytest.mark.parametrize("head", ["sep=;\nspeaker;text", '"sep=;"\r\nspeaker;text', "speaker|text"])
def test_a_table_that_says_what_divides_it_and_one_with_bars_are_read(tmp_path: Path, head: str) -> None:
    between = head[-5]
    (tmp_path / "t.csv").write_text(f"{head}\nana{between}{SENTENCE}\nben{between}{ANSWER}\n", "utf-8")
    assert own_words(read_place(tmp_path / "t.csv")) == {"ana": flat(SENTENCE), "ben": flat(ANSWER)}
