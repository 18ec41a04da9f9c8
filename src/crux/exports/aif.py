"""AIF, the Argument Interchange Format (Chesñevar et al. 2006), as JSON in the form of AIFdb."""

from __future__ import annotations

import json
from typing import Any

from crux.results import DebateResult

#: A NUANCED side infers nothing and is in conflict with nothing: it is said, with its condition.
_SCHEMES = {"YES": ("RA", "Default Inference"), "NO": ("CA", "Default Conflict")}


def to_aif(result: DebateResult) -> str:
    """Return the graph: I-nodes for what is said, RA and CA nodes between, L-nodes for who said it."""
    graph = Aif()
    for card in result.cards:
        question = graph.node(card.question, "I")
        for name, side in card.personas.items():
            reason = graph.node(side.reasoning or side.position, "I")
            if scheme := _SCHEMES.get(side.position):
                graph.link(reason, scheme, question)
            graph.said(name, reason, f"{name}, spoken by a model: {side.position}")
            if side.condition:
                graph.link(graph.node(side.condition, "I"), ("RA", "Condition"), reason)
            if side.falsifier:
                graph.link(graph.node(side.falsifier, "I"), ("CA", "Falsifier"), reason)
            for quote in side.grounding_quotes or ():
                graph.link(graph.node(quote, "I"), ("RA", "Argument from Position to Know"), reason)
    return graph.text()


class Aif:
    """The nodes and edges of a graph while it is made."""

    def __init__(self) -> None:
        self._nodes: list[dict[str, Any]] = []
        self._edges: list[dict[str, Any]] = []
        self._locutions: list[dict[str, Any]] = []

    def node(self, text: str, kind: str, scheme: str = "") -> str:
        """Add a node; return its key."""
        key = str(len(self._nodes) + 1)
        self._nodes.append({"nodeID": key, "text": text, "type": kind} | ({"scheme": scheme} if scheme else {}))
        return key

    def link(self, start: str, scheme: tuple[str, str], end: str) -> None:
        """Join two nodes by one of a scheme: its type and its name."""
        middle = self.node(scheme[1], scheme[0], scheme[1])
        self._edge(start, middle)
        self._edge(middle, end)

    def said(self, name: str, what: str, text: str, how: str = "Asserting") -> None:
        """Say who said what a node has, in which words, and how."""
        locution = self.node(text, "L")
        asserting = self.node(how, "YA", how)
        self._edge(locution, asserting)
        self._edge(asserting, what)
        self._locutions.append({"nodeID": locution, "personID": name})

    def text(self) -> str:
        """Return the graph as JSON."""
        data = {"nodes": self._nodes, "edges": self._edges, "locutions": self._locutions}
        return json.dumps(data, ensure_ascii=False, indent=2) + "\n"

    def _edge(self, start: str, end: str) -> None:
        self._edges.append({"edgeID": str(len(self._edges) + 1), "fromID": start, "toID": end})
