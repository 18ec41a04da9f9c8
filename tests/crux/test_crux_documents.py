"""Texts as people have them: documents, exports of blogs, transcripts; what is another's stays another's."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pytest

from crux.personas.corpus import MAX_ITEM_CHARS
from crux.personas.importing import import_corpus
from crux.sources.file import CorpusError

OWN, THEIRS = "A toll is a fair price for the planks.", "Every toll is theft from the poor."


def others(item: Any) -> list[str]:
    """What of a text is somebody else's words."""
    return [item.text[start:end] for start, end in item.quoted or ()]


@pytest.mark.parametrize(
    "text",
    [
        f"<p>He writes:</p><blockquote><p>{THEIRS}</p></blockquote><p>{OWN}</p>",
        f"<div>He writes:<blockquote>{THEIRS}</blockquote>{OWN}</div>",
        f"He writes:\n\n> {THEIRS}\n\n{OWN}",
    ],
)
def test_block_quotations_stay_somebody_elses_words(tmp_path: Path, text: str) -> None:
    path = tmp_path / ("a.html" if text.startswith("<") else "a.md")
    path.write_text(text, "utf-8")
    (item,) = import_corpus(path).corpus.items
    assert [one.removeprefix("He writes:").strip().removeprefix("> ") for one in others(item)] == [THEIRS]
    assert OWN in item.text and "\n\n\n" not in item.text
    assert item.own(item.text.index(OWN), len(item.text)) and not item.own(0, len(item.text))


def test_a_substack_export_gives_dates_and_leaves_drafts_out(tmp_path: Path) -> None:
    (tmp_path / "posts.csv").write_text(
        "post_id,post_date,is_published,title\n"
        "11.tolls,2024-03-05T10:00:00.000Z,true,On tolls\n12.later,,false,Not yet\n",
        "utf-8",
    )
    pages = tmp_path / "posts"
    pages.mkdir()
    (pages / "11.tolls.html").write_text(f"<p>{OWN}</p><blockquote><p>{THEIRS}</p></blockquote>", "utf-8")
    (pages / "12.later.html").write_text("<p>A draft of a thought.</p>", "utf-8")
    found = import_corpus(tmp_path)
    (post,) = found.corpus.items
    assert (post.title, post.date, others(post)) == ("On tolls", "2024-03-05", [THEIRS])
    assert found.skipped == ("12.later.html: not published; --drafts takes it too",)
    assert len(import_corpus(tmp_path, drafts=True).corpus.items) == 2


def test_a_wordpress_export_gives_one_authors_published_posts(tmp_path: Path) -> None:
    def entry(title: str, creator: str, status: str = "publish", kind: str = "post") -> str:
        return (
            f"<item><title>{title}</title><dc:creator>{creator}</dc:creator><guid>{title}</guid>"
            f"<content:encoded><![CDATA[<p>{title}: {OWN}</p>]]></content:encoded>"
            f"<wp:post_date>2021-02-03 10:00:00</wp:post_date><wp:status>{status}</wp:status>"
            f"<wp:post_type>{kind}</wp:post_type></item>"
        )

    entries = [
        entry("One", "ann"),
        entry("Two", "ann"),
        entry("Guest", "bob"),
        entry("Draft", "ann", "draft"),
        entry("Picture", "ann", "inherit", "attachment"),
    ]
    path = tmp_path / "blog.xml"
    path.write_text(
        '<rss xmlns:dc="d" xmlns:content="c" xmlns:wp="w"><channel>' + "".join(entries) + "</channel></rss>", "utf-8"
    )
    found = import_corpus(path)
    assert [(item.title, item.date) for item in found.corpus.items] == [("One", "2021-02-03"), ("Two", "2021-02-03")]
    assert [line.partition(":")[0] for line in found.skipped] == [
        "blog.xml, Draft",
        "blog.xml, Picture",
        "1 text, Guest",
    ]
    assert [item.title for item in import_corpus(path, speaker="bob").corpus.items] == ["Guest"]


def test_a_medium_export_leaves_drafts_out(tmp_path: Path) -> None:
    (tmp_path / "2019-05-01_Tolls-abc.html").write_text(f"<p>{OWN}</p>", "utf-8")
    (tmp_path / "draft_Later-def.html").write_text("<p>Not yet.</p>", "utf-8")
    found = import_corpus(tmp_path)
    assert [item.date for item in found.corpus.items] == ["2019-05-01"] and len(found.skipped) == 1


def test_a_word_document_keeps_its_quotations_apart(tmp_path: Path) -> None:
    docx = pytest.importorskip("docx", reason="needs the extra 'dev'")
    document = docx.Document()
    document.add_paragraph(OWN)
    document.add_paragraph(THEIRS, style="Intense Quote")
    document.save(str(tmp_path / "essay.docx"))
    (item,) = import_corpus(tmp_path / "essay.docx").corpus.items
    assert item.text == f"{OWN}\n\n{THEIRS}" and others(item) == [THEIRS]


def epub(path: Path, chapters: dict[str, str]) -> None:
    spine = "".join(f'<itemref idref="{name}"/>' for name in chapters)
    items = "".join(f'<item id="{name}" href="{name}.xhtml"/>' for name in chapters)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("META-INF/container.xml", '<container><rootfile full-path="OPS/b.opf"/></container>')
        archive.writestr("OPS/b.opf", f"<package><title>The Bridge</title>{items}<spine>{spine}</spine></package>")
        for name, body in chapters.items():
            archive.writestr(f"OPS/{name}.xhtml", f"<html><body>{body}</body></html>")


def test_a_book_is_read_in_the_order_of_its_spine(tmp_path: Path) -> None:
    path = tmp_path / "book.epub"
    epub(path, {"b": f"<p>{OWN}</p>", "a": f"<blockquote>{THEIRS}</blockquote><p>So it ends.</p>"})
    first, second = import_corpus(path).corpus.items
    assert (first.text, second.text) == (OWN, f"{THEIRS}\n\nSo it ends.")
    assert second.title == "The Bridge" and others(second) == [THEIRS]


def test_a_transcript_with_several_voices_needs_the_speaker_named(tmp_path: Path) -> None:
    pytest.importorskip("webvtt", reason="needs the extra 'import'")
    path = tmp_path / "talk.vtt"
    cues = [("Ann", OWN), ("Ann", "I said so before."), ("Bob", THEIRS)]
    path.write_text(
        "WEBVTT\n\n"
        + "\n\n".join(
            f"00:00:0{number}.000 --> 00:00:0{number + 1}.000\n<v {voice}>{words}</v>"
            for number, (voice, words) in enumerate(cues)
        )
        + "\n",
        "utf-8",
    )
    with pytest.raises(CorpusError, match=r"several voices: name one with --speaker: Ann, Bob"):
        import_corpus(path)
    (item,) = import_corpus(path, speaker="ann").corpus.items
    assert item.text == f"{OWN} I said so before." and others(item) == []


def pdf(path: Path, pages: list[list[str]]) -> None:
    """A PDF of lines of text, written by hand."""
    objects: list[str] = ["<< /Type /Catalog /Pages 2 0 R >>", ""]
    kids: list[int] = []
    for lines in pages:
        text = " ".join(f"({line}) Tj 0 -14 Td" for line in lines)
        stream = f"BT /F1 12 Tf 72 720 Td {text} ET"
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {len(objects)} 0 R "
            "/Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>"
        )
        kids.append(len(objects))
    objects[1] = f"<< /Type /Pages /Count {len(kids)} /Kids [{' '.join(f'{kid} 0 R' for kid in kids)}] >>"
    body, offsets = "%PDF-1.4\n", list[int]()
    for number, one in enumerate(objects, start=1):
        offsets.append(len(body))
        body += f"{number} 0 obj\n{one}\nendobj\n"
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    body += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}trailer\n"
    body += f"<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{body.index('xref')}\n%%EOF\n"
    path.write_bytes(body.encode("latin-1"))


def test_a_pdf_loses_its_running_heads_and_one_without_text_is_named(tmp_path: Path) -> None:
    pytest.importorskip("pypdfium2", reason="needs the extra 'import'")
    sentences = ("first", "second", "third", "fourth")
    pdf(
        tmp_path / "essay.pdf",
        [
            [
                "The Bridge Review",
                f"A {word} sentence that goes on",
                f"over the two {word} lines.",
                "It ends.",
                f"So the {word}.",
            ]
            for word in sentences
        ],
    )
    (item,) = import_corpus(tmp_path / "essay.pdf").corpus.items
    assert "The Bridge Review" not in item.text
    assert item.text.startswith("A first sentence that goes on over the two first lines.")
    pdf(tmp_path / "scan.pdf", [[]])
    with pytest.raises(CorpusError, match=r"scan.pdf: scanned, or empty: .* OCR"):
        import_corpus(tmp_path / "scan.pdf")
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.4 nothing")
    with pytest.raises(CorpusError, match="damaged"):
        import_corpus(tmp_path / "broken.pdf")
    found = import_corpus(tmp_path)
    assert [item.id for item in found.corpus.items] == ["essay"] and len(found.skipped) == 2


def test_bombs_and_locked_books_are_refused_in_one_line(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "bomb.epub", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", b"0" * 30_000_000)
    with pytest.raises(CorpusError, match=r"bomb.epub would unpack to 29 MiB"):
        import_corpus(tmp_path / "bomb.epub")
    epub(tmp_path / "locked.epub", {"a": "x"})
    with zipfile.ZipFile(tmp_path / "locked.epub", "a") as archive:
        archive.writestr("META-INF/rights.xml", "<rights/>")
    with pytest.raises(CorpusError, match="encrypted for one reader"):
        import_corpus(tmp_path / "locked.epub")


def test_a_text_of_any_length_is_kept_whole_and_said_to_be_cut(tmp_path: Path) -> None:
    paragraph = "A toll is a fair price for the planks, as I said. " * 20
    whole = "\n\n".join(f"{number}. {paragraph.strip()}" for number in range(2 * MAX_ITEM_CHARS // 1_000 + 200))
    (tmp_path / "big.md").write_text(whole, "utf-8")
    found = import_corpus(tmp_path / "big.md")
    assert sum(len(item.text) for item in found.corpus.items) == len(whole)
    assert all(len(item.text) <= MAX_ITEM_CHARS for item in found.corpus.items)
    assert "in 3 parts" in found.skipped[0]
