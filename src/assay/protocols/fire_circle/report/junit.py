"""A verdict as JUnit XML: a test case for each gate, so that a build server shows what stopped it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from xml.etree import ElementTree

from assay.report.clean import clean, one_line
from fire_circle import ReciprocityMetrics
from fire_circle.hidden import Hidden, visible

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(
    metrics: ReciprocityMetrics,
    run_id: str,
    gates: Sequence[str],
    fired: Mapping[str, str],
    milliseconds: int,
    hidden: Sequence[Hidden] = (),
) -> str:
    """Return the file's text.

    Args:
        metrics: the verdict.
        run_id: of the run in the store.
        gates: every condition that was asked about; without any, the verdict is the one test case and passes.
        fired: those that stop the build, each with what happened.
        milliseconds: what the run took.
        hidden: what nobody sees in the prompt.
    """
    summary = _summary(metrics, hidden)
    root, cases = _suite(run_id, gates, f"{milliseconds / 1000:.3f}", failures=len(fired))
    for gate, case in cases.items():
        if gate in fired:
            message = _xml(f"{gate} {fired[gate]}")
            failure = ElementTree.SubElement(case, "failure", {"message": message, "type": "gate"})
            failure.text = summary
    ElementTree.SubElement(root[0], "system-out").text = summary
    return _text(root)


def junit_error(message: str, code: int, run_id: str, gates: Sequence[str]) -> str:
    """Return the text of the file for a run without a verdict: every case ends in the error."""
    root, cases = _suite(run_id, gates, "0.000", errors=max(len(gates), 1))
    for case in cases.values():
        ElementTree.SubElement(case, "error", {"message": _xml(message), "type": f"exit {code}"})
    return _text(root)


def _suite(
    run_id: str, gates: Sequence[str], seconds: str, *, failures: int = 0, errors: int = 0
) -> tuple[ElementTree.Element, dict[str, ElementTree.Element]]:
    names = list(dict.fromkeys(gates)) or ["verdict"]
    counts = {"tests": str(len(names)), "failures": str(failures), "errors": str(errors), "time": seconds}
    root = ElementTree.Element("testsuites", counts)
    suite = ElementTree.SubElement(root, "testsuite", {"name": "fire-circle", "id": run_id, **counts})
    attributes = {"classname": "fire-circle", "time": seconds}
    return root, {name: ElementTree.SubElement(suite, "testcase", {**attributes, "name": name}) for name in names}


def _text(root: ElementTree.Element) -> str:
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _xml(text: str) -> str:
    return _NOT_XML.sub("", clean(text))


def _summary(metrics: ReciprocityMetrics, hidden: Sequence[Hidden]) -> str:
    lines = [f"F {metrics.falsehood:.2f}, T {metrics.truth:.2f}, I {metrics.indeterminacy:.2f}"]
    lines += [
        f"{pattern.pattern_type} ({pattern.model_agreement:.0%}): {one_line(pattern.description)}\n"
        + "\n".join(f"    > {one_line(visible(quote).text)}" for quote in pattern.examples)
        for pattern in metrics.patterns
    ]
    lines += [f"{failure.model} gave no score: {failure.kind}" for failure in metrics.failures]
    lines += [f"hidden, {found.kind}: {one_line(found.shown)}" for found in hidden]
    return _xml("\n".join(lines))
