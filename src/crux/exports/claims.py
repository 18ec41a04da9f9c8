"""Claim books set side by side in other people's forms: GraphML, Argdown, AIF, CSV.

The unit is a statement: a claim as it is held, or its denial. A claim that one holds and another denies is two, in
conflict with each other; so no form gives a denial as what it denies.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from typing import NamedTuple
from xml.etree import ElementTree

from crux.book import SignedClaim
from crux.comparison import Comparison, Match, SideView
from crux.exports.aif import Aif
from crux.exports.argdown import flat, titled
from crux.exports.tables import safe
from crux.results import Place
from llm_runtime.documents.markup import clean

_FOR = frozenset({"supports", "narrower"})


class Arc(NamedTuple):
    """What joins two statements, by their keys; ``origin`` is ``stated`` by an author, or ``judged``."""

    source: str
    target: str
    kind: str
    origin: str


class _Statement(NamedTuple):
    """A claim or its denial, as everybody takes it who says so."""

    text: str
    kind: str
    said: list[SignedClaim]

    @property
    def places(self) -> list[Place]:
        return [place for one in self.said for place in one.places]


def _key(one: SignedClaim | SideView) -> str:
    claim = one.claim if isinstance(one, SideView) else one.claim.id
    return f"{claim}-not" if one.stance == "denies" else claim


def _statements(comparison: Comparison) -> dict[str, _Statement]:
    statements: dict[str, _Statement] = {}
    for name in comparison.names:
        for one in comparison.book_of(name).signed_by(name):
            statements.setdefault(_key(one), _Statement(one.words(), one.claim.kind, [])).said.append(one)
    return statements


def _ties(comparison: Comparison, among: Mapping[str, _Statement]) -> list[Arc]:
    """Return relations within each author's claims, then what joins authors, between statements that are there."""
    keys = {(one.author, one.claim.id): key for key, statement in among.items() for one in statement.said}
    within = (relation for book in comparison.books for relation in book.standing_relations)
    ties = [
        *(Arc(key, f"{key}-not", "contradicts", "stated") for key in among),
        *(Arc(keys.get((r.author, r.from_), ""), keys.get((r.author, r.to), ""), r.kind, r.origin) for r in within),
        *_across(comparison.opposed, "contradicts"),
        *_across(comparison.shared, "same"),
    ]
    return list({tie[:3]: tie for tie in ties if tie.source != tie.target and {*tie[:2]} <= among.keys()}.values())


def _across(matches: Iterable[Match], kind: str) -> Iterator[Arc]:
    for first, second in (pair for match in matches for pair in combinations(match.sides, 2)):
        # Of a crux of many, those on one side do not contradict each other.
        if kind == "same" or not first.answer or {first.answer, second.answer} == {"YES", "NO"}:
            yield Arc(_key(first), _key(second), kind, "judged")


def to_graphml(comparison: Comparison) -> str:
    """Return the graph for Gephi, yEd or networkx: statements with their stances and quotations, and relations."""
    root = ElementTree.Element("graphml", xmlns="http://graphml.graphdrawing.org/xmlns")
    keys = [(name, "node") for name in ("author", "text", "kind", "stances", "before", "quotes")]
    keys += [("kind", "edge"), ("origin", "edge")]
    for name, what in keys:
        key = {"id": f"{what}-{name}", "for": what, "attr.name": name, "attr.type": "string"}
        ElementTree.SubElement(root, "key", key)
    graph = ElementTree.SubElement(root, "graph", id="claims", edgedefault="directed")
    statements = _statements(comparison)
    for key, one in statements.items():
        node = ElementTree.SubElement(graph, "node", id=key)
        for (name, _), value in zip(keys, _values(one), strict=False):
            ElementTree.SubElement(node, "data", key=f"node-{name}").text = clean(value)
    for tie in _ties(comparison, statements):
        edge = ElementTree.SubElement(graph, "edge", source=tie.source, target=tie.target)
        ElementTree.SubElement(edge, "data", key="edge-kind").text = tie.kind
        ElementTree.SubElement(edge, "data", key="edge-origin").text = tie.origin
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _values(one: _Statement) -> tuple[str, ...]:
    names = ", ".join(who.author for who in one.said)
    stances = " ".join(sorted({who.stance for who in one.said}))
    before = "; ".join(f"{who.author}: {who.history}" for who in one.said if who.history)
    return names, one.text, one.kind, stances, before, "\n".join(place.quote for place in one.places)


def claims_argdown(comparison: Comparison) -> str:
    """Return every statement with its quotations, and every relation under its target."""
    statements, into = _statements(comparison), dict[str, list[str]]()
    names = {key: f"{flat(one.text)[:80]} {key}" for key, one in statements.items()}
    for source, target, kind, _ in _ties(comparison, statements):
        mark = "+" if kind in _FOR else "><" if kind == "contradicts" else "-"
        into.setdefault(target, []).extend([f"  {mark} [{names[source]}]"] if kind != "same" else [])
    lines = titled(comparison.topic or " and ".join(comparison.names))
    for key, one in statements.items():
        lines.append(f"[{names[key]}]: {flat(one.text)} #{flat(one.said[0].author).replace(' ', '-')}")
        quotes = enumerate(one.places[:3], start=1)
        lines += [*into.get(key, ()), *(f"  + <Source {n} of {key}>: {flat(place.quote)}" for n, place in quotes), ""]
    return "\n".join(lines)


def claims_aif(comparison: Comparison) -> str:
    """Return the graph of AIF: an I-node a statement, RA and CA nodes between, an L-node for each who says it."""
    graph, statements = Aif(), _statements(comparison)
    home = {key: graph.node(one.text, "I") for key, one in statements.items()}
    for key, one in statements.items():
        for who in one.said:
            how = "Conceding" if who.stance == "grants" else "Asserting"
            graph.said(who.author, home[key], f"{who.author}: {one.text}", how)
    for source, target, kind, _ in _ties(comparison, statements):
        if kind != "same":
            scheme = ("RA", "Default Inference") if kind in _FOR else ("CA", "Default Conflict")
            graph.link(home[source], scheme, home[target])
    return graph.text()


def claims_csv(comparison: Comparison) -> str:
    """Return one row a mention: author, claim, kind, stance, quotation, and where it stands."""
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(("author", "claim_id", "claim", "kind", "stance", "quote", "title", "date", "url"))
    mentions = [(book.by_id[mention.claim], mention) for book in comparison.books for mention in book.mentions]
    for claim, mention in mentions:
        place = mention.place
        values = (mention.author, claim.id, claim.text, claim.kind, mention.stance, place.quote)
        rows.writerow([safe(value) for value in (*values, place.title or place.item, place.date, place.url)])
    return out.getvalue()
