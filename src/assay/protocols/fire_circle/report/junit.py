"""A verdict as JUnit XML: a test case for each gate, so that a build server shows what stopped it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

from assay.report.clean import clean, one_line
from assay.report.places import write_whole
from fire_circle import ReciprocityMetrics

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_junit(
    path: Path,
    metrics: ReciprocityMetrics,
    run_id: str,
    gates: Sequence[str],
    fired: Sequence[str],
    milliseconds: int,
) -> None:
    """Write :func:`junit_xml` to a file.

    Raises:
        ConfigurationError: it cannot be written.
    """
    write_whole(path, junit_xml(metrics, run_id, gates, fired, milliseconds))


def junit_xml(
    metrics: ReciprocityMetrics, run_id: str, gates: Sequence[str], fired: Sequence[str], milliseconds: int
) -> str:
    """Return the file's text.

    Args:
        metrics: the verdict.
        run_id: of the run in the store.
        gates: every condition that was asked about; without any, the verdict is the one test case and passes.
        fired: those that hold.
        milliseconds: what the run took.
    """
    cases = list(gates) or ["verdict"]
    seconds = f"{milliseconds / 1000:.3f}"
    counts = {"tests": str(len(cases)), "failures": str(len(fired)), "errors": "0", "time": seconds}
    root = ElementTree.Element("testsuites", counts)
    suite = ElementTree.SubElement(root, "testsuite", {"name": "fire-circle", "id": run_id, **counts})
    summary = _summary(metrics)
    for gate in cases:
        attributes = {"classname": "fire-circle", "name": gate, "time": seconds}
        case = ElementTree.SubElement(suite, "testcase", attributes)
        if gate in fired:
            message = f"{gate} holds: F is {metrics.falsehood:.2f}"
            failure = ElementTree.SubElement(case, "failure", {"message": message, "type": "gate"})
            failure.text = summary
    ElementTree.SubElement(suite, "system-out").text = summary
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _summary(metrics: ReciprocityMetrics) -> str:
    lines = [f"F {metrics.falsehood:.2f}, T {metrics.truth:.2f}, I {metrics.indeterminacy:.2f}"]
    lines += [
        f"{pattern.pattern_type} ({pattern.model_agreement:.0%}): {one_line(pattern.description)}\n"
        + "\n".join(f"    > {one_line(quote)}" for quote in pattern.examples)
        for pattern in metrics.patterns
    ]
    lines += [f"{failure.model} gave no score: {failure.kind}" for failure in metrics.failures]
    return _NOT_XML.sub("", clean("\n".join(lines)))
