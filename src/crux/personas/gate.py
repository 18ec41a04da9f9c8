"""Whether a belief graph is one: the gate that a build must pass (CX16)."""

from __future__ import annotations

from crux.config import CruxConfigurationError
from crux.personas.beliefs import BeliefGraph
from crux.results import Wire

LEAST_NODES, MOST_NODES = 20, 50
LEAST_CONNECTED = 0.5
LEAST_GROUNDED_TWICE = 0.3


class GateReport(Wire):
    """The three figures and what is wrong with them.

    Args:
        nodes: how many; 20 to 50 pass.
        largest_component: share of nodes in the largest component, 0 to 1; at least half passes.
        grounded_twice: share of nodes that stand in more than one document, 0 to 1; at least 30% passes.
        reasons: one line for each figure that does not pass.
    """

    nodes: int
    largest_component: float
    grounded_twice: float
    reasons: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong."""
        return not self.reasons


class BeliefGraphRefused(CruxConfigurationError):
    """The texts gave no graph worth the name; :attr:`report` has the figures. Exit code 2."""

    def __init__(self, name: str, report: GateReport) -> None:
        super().__init__(f"the belief graph of {name} is refused: {'; '.join(report.reasons)}")
        self.report = report


def gate(graph: BeliefGraph) -> GateReport:
    """Return the figures of a graph, and every reason why it does not pass."""
    count = len(graph.nodes)
    connected = len(graph.largest_component()) / count if count else 0.0
    twice = sum(len(node.documents) > 1 for node in graph.nodes) / count if count else 0.0
    reasons: list[str] = []
    if count < LEAST_NODES:
        reasons.append(f"{count} beliefs, at least {LEAST_NODES} are needed (add texts)")
    if count > MOST_NODES:
        reasons.append(f"{count} beliefs, at most {MOST_NODES} are allowed (merge harder)")
    if connected < LEAST_CONNECTED:
        reasons.append(
            f"the largest component holds {connected:.0%} of them, at least {LEAST_CONNECTED:.0%} are needed"
        )
    if twice < LEAST_GROUNDED_TWICE:
        reasons.append(f"{twice:.0%} stand in more than one text, at least {LEAST_GROUNDED_TWICE:.0%} are needed")
    return GateReport(nodes=count, largest_component=connected, grounded_twice=twice, reasons=tuple(reasons))
