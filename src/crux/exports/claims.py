"""A comparison's claim books in other people's forms: GraphML, Argdown, AIF, CSV."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from xml.etree import ElementTree

from crux.book import ClaimBook, SignedClaim
from crux.comparison import Comparison
from crux.exports.tables import safe

_RESERVED = re.compile(r"[\[\]<>{}#@*_:/\\|()\"`]")
_FOR = frozenset({"supports", "narrower"})


def _opposed(comparison: Comparison) -> list[tuple[str, str]]:
    return [(match.first.claim, match.second.claim) for match in comparison.opposed]


def _shared(comparison: Comparison) -> list[tuple[str, str]]:
    return [(match.first.claim, match.second.claim) for match in comparison.shared]


def _sides(comparison: Comparison) -> Iterator[tuple[str, ClaimBook]]:
    return ((read.name, book) for read, book in zip(comparison.authors, comparison.books, strict=True))


def _signed(comparison: Comparison) -> Iterator[SignedClaim]:
    """Yield what each author holds, denies or grants: every relation is one between these, words and all."""
    for author, book in _sides(comparison):
        yield from book.signed_by(author)


def _edges(comparison: Comparison) -> Iterator[tuple[str, str, str, str]]:
    """Yield (from, to, kind, origin): relations within each book, then what joins the two."""
    for _, book in _sides(comparison):
        yield from ((one.from_, one.to, one.kind, one.origin) for one in book.standing_relations)
    yield from ((a, b, "contradicts", "judged") for a, b in _opposed(comparison))
    yield from ((a, b, "same", "judged") for a, b in _shared(comparison))


def to_json(comparison: Comparison) -> str:
    """Return the whole of a comparison."""
    return comparison.model_dump_json(indent=1) + "\n"


def to_graphml(comparison: Comparison) -> str:
    """Return the graph for Gephi, yEd or networkx: signed claims with their quotations, and relations."""
    root = ElementTree.Element("graphml", xmlns="http://graphml.graphdrawing.org/xmlns")
    keys = [(name, "node") for name in ("author", "text", "kind", "stance", "before", "quotes")]
    keys += [("kind", "edge"), ("origin", "edge")]
    for name, what in keys:
        key = {"id": f"{what}-{name}", "for": what, "attr.name": name, "attr.type": "string"}
        ElementTree.SubElement(root, "key", key)
    graph = ElementTree.SubElement(root, "graph", id="claims", edgedefault="directed")
    for one in _signed(comparison):
        node = ElementTree.SubElement(graph, "node", id=one.claim.id)
        quotes = "\n".join(place.quote for place in one.places)
        values = (one.author, one.words(), one.claim.kind, one.stance, one.history, quotes)
        for (name, _), value in zip(keys, values, strict=False):
            ElementTree.SubElement(node, "data", key=f"node-{name}").text = value
    known = {one.claim.id for one in _signed(comparison)}
    for source, target, kind, origin in _edges(comparison):
        if not {source, target} <= known:
            continue
        edge = ElementTree.SubElement(graph, "edge", source=source, target=target)
        ElementTree.SubElement(edge, "data", key="edge-kind").text = kind
        ElementTree.SubElement(edge, "data", key="edge-origin").text = origin
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def claims_argdown(comparison: Comparison) -> str:
    """Return every signed claim as a statement with its quotations, and every relation under its target."""
    title = comparison.topic or " and ".join(author.name for author in comparison.authors)
    lines = ["===", f"title: {_flat(title)}", "===", ""]
    names = {one.claim.id: f"{_flat(one.words())[:80]} {one.claim.id}" for one in _signed(comparison)}
    into: dict[str, list[tuple[str, str]]] = {}
    for source, target, kind, _ in _edges(comparison):
        if source in names and target in names and kind != "same":
            into.setdefault(target, []).append((source, kind))
    for one in _signed(comparison):
        key = one.claim.id
        lines.append(f"[{names[key]}]: {_flat(one.words())} #{_flat(one.author).replace(' ', '-')}")
        for source, kind in into.get(key, ()):
            lines.append(f"  {'+' if kind in _FOR else '><' if kind == 'contradicts' else '-'} [{names[source]}]")
        for number, place in enumerate(one.places[:3], start=1):
            lines.append(f"  + <Source {number} of {key}>: {_flat(place.quote)}")
        lines.append("")
    return "\n".join(lines)


def claims_aif(comparison: Comparison) -> str:
    """Return the graph of AIF: an I-node a signed claim, RA and CA nodes between, an L-node for its author."""
    nodes: list[dict[str, str]] = []
    edges: list[dict[str, str]] = []
    locutions: list[dict[str, str]] = []

    def node(text: str, kind: str) -> str:
        nodes.append({"nodeID": str(len(nodes) + 1), "text": text, "type": kind})
        return nodes[-1]["nodeID"]

    def edge(start: str, end: str) -> None:
        edges.append({"edgeID": str(len(edges) + 1), "fromID": start, "toID": end})

    home: dict[str, str] = {}
    for one in _signed(comparison):
        home[one.claim.id] = node(one.words(), "I")
        statement, asserting = node(f"{one.author}: {one.words()}", "L"), node("Asserting", "YA")
        edge(statement, asserting)
        edge(asserting, home[one.claim.id])
        locutions.append({"nodeID": statement, "personID": one.author})
    for source, target, kind, _ in _edges(comparison):
        if kind != "same" and source in home and target in home:
            scheme = ("Default Inference", "RA") if kind in _FOR else ("Default Conflict", "CA")
            middle = node(*scheme)
            edge(home[source], middle)
            edge(middle, home[target])
    return json.dumps({"nodes": nodes, "edges": edges, "locutions": locutions}, ensure_ascii=False, indent=2) + "\n"


def claims_csv(comparison: Comparison) -> str:
    """Return one row a mention: author, claim, kind, stance, quotation, and where it stands."""
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(("author", "claim_id", "claim", "kind", "stance", "quote", "title", "date", "url"))
    for author, book in _sides(comparison):
        for mention in book.mentions:
            claim, place = book.by_id[mention.claim], mention.place
            values = (author, claim.id, claim.text, claim.kind, mention.stance, place.quote)
            rows.writerow([safe(value) for value in (*values, place.title or place.item, place.date, place.url)])
    return out.getvalue()


def _flat(text: str) -> str:
    """Return one line without the characters that these forms read."""
    return " ".join(_RESERVED.sub(" ", text).split())
