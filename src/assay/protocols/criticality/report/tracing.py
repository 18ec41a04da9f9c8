"""The trace claim -> contract -> test -> result, read off the events alone: no toolchain is needed to look back."""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal, cast

from assay.protocols.criticality.report.state import BuildState
from criticality.trace import trace
from llm_runtime.structs import Struct

Result = Literal["holds", "violated", "not run yet", "not shown"]


class Traced(Struct):
    """A claim with everything that stands for it.

    Args:
        contracts: functions whose contract refers to it.
        tests: names of the tests made for it.
        reason: why nothing shows it, where nothing does.
        times: how often its cluster ran.
    """

    name: str
    text: str
    kind: str
    contracts: tuple[str, ...]
    tests: tuple[str, ...]
    result: Result
    reason: str = ""
    times: int = 0


def traced(state: BuildState) -> list[Traced]:
    """Every claim of the approved specification, in its order."""
    artifacts = state.artifacts
    ran = [artifacts.clusters[one.cluster] for one in artifacts.executions if one.cluster in artifacts.clusters]
    times = Counter(name for cluster in ran for name in cluster.claims)
    # The finished project's own trace has the names of the tests as they stand in its files.
    finished = cast("dict[str, Any]", state.run.result.get("trace") or {})
    own = cast("dict[str, dict[str, Any]]", finished.get("claims") or {})
    claims: list[Traced] = []
    for name, claim in trace(artifacts)["claims"].items():
        result, _, reason = claim["result"].removesuffix(" in every test").partition(": ")
        shown = tuple(claim["contracts"]), tuple(own.get(name, {}).get("tests") or claim["tests"])
        claims.append(Traced(name, claim["text"], claim["type"], *shown, result, reason, times[name]))
    return claims
