"""The words of a Word document by its own XML: what a reader sees once all its changes are accepted."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from xml.etree.ElementTree import Element

_SIGNS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_FORMULA = {"den": "/", "sup": "^", "sub": "_"}
_LAYOUT = {"pPr", "rPr", "sectPr", "tblPr", "trPr", "tcPr"}
#: Deleted, no words, or words that stand there in another form too.
_GONE = {*_LAYOUT, "del", "moveFrom", "Fallback", "instrText", "rt", "txbxContent"}
_OFF = {"0", "false", "off"}
_MOST_COLUMNS = 63


def local_name(element: Element) -> str:
    """Return the name of an element without its namespace."""
    return element.tag.rpartition("}")[2]


def value(element: Element, name: str = "val") -> str:
    """Return an attribute by its name without its namespace; empty where there is none."""
    return next((text for key, text in element.items() if key.rpartition("}")[2] == name), "")


def blocks(
    element: Iterable[Element], quoted: Collection[str], notes: Mapping[str, Element]
) -> Iterator[tuple[str, bool]]:
    """Return paragraphs and tables in their order, each with whether it is a quotation.

    Text boxes, footnotes and endnotes follow the paragraph that has them.

    Args:
        quoted: the styles of quotations.
        notes: by kind and number, ``"footnote 2"``.
    """
    for block in _found(element, "p", "tbl"):
        if local_name(block) == "tbl":
            rows = ([_cell(cell, quoted, notes) for cell in _found(row, "tc")] for row in _found(block, "tr"))
            yield "\n".join(map(" | ".join, rows)), False
            continue
        yield _words(block), any(value(style) in quoted for style in block.iterfind("{*}pPr/{*}pStyle"))
        for box in _found(block, "txbxContent"):
            yield from blocks(box, quoted, notes)
        for mark in _found(block, "footnoteReference", "endnoteReference"):
            kind = local_name(mark).removesuffix("Reference")
            yield from blocks(notes.get(f"{kind} {value(mark, 'id')}", ()), quoted, {})


def _cell(cell: Element, quoted: Collection[str], notes: Mapping[str, Element]) -> str:
    words = " ".join(" ".join(text for text, _ in blocks(cell, quoted, notes)).split())
    span = max((int(value(one) or 1) for one in cell.iterfind("{*}tcPr/{*}gridSpan")), default=1)
    return words + " |" * (min(span, _MOST_COLUMNS) - 1)


def _found(element: Iterable[Element], *tags: str) -> Iterator[Element]:
    """Return the outermost elements of these names, without those in what is gone."""
    for child in element:
        if local_name(child) in tags:
            yield child
        elif local_name(child) not in _GONE:
            yield from _found(child, *tags)


def _words(element: Element) -> str:
    tag = local_name(element)
    if tag == "t":
        return element.text or ""
    if tag in _GONE or any(value(hidden) not in _OFF for hidden in element.iterfind("{*}rPr/{*}vanish")):
        return ""
    words = _SIGNS.get(tag, "") + "".join(map(_words, element))
    return _FORMULA.get(tag, "") + (f"({words})" if tag in {"num", *_FORMULA} and len(words) > 1 else words)
