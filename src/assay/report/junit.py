"""Verdicts as JUnit XML: a test case for each gate, or for each case of a suite, for a build server to show."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal, NamedTuple
from xml.etree import ElementTree

from assay.report.clean import clean

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


#: What the tests are called together.
_SUITE = "fire-circle"


class Fault(NamedTuple):
    """Why a test did not pass: a gate's failure, or an error of this type."""

    tag: Literal["failure", "error"]
    type: str
    message: str
    text: str = ""


def junit_xml(tests: Mapping[str, Fault | None], run_id: str, milliseconds: int = 0, summary: str = "") -> str:
    """Return the file's text.

    Args:
        tests: by name; ``None`` for those that pass.
        run_id: of the run in the store.
        milliseconds: what the run took.
        summary: what was found, for a person.
    """
    seconds, tags = f"{milliseconds / 1000:.3f}", [fault.tag for fault in tests.values() if fault]
    counts = {"tests": str(len(tests)), "failures": str(tags.count("failure")), "errors": str(tags.count("error"))}
    root = ElementTree.Element("testsuites", {**counts, "time": seconds})
    shown = ElementTree.SubElement(root, "testsuite", {"name": _SUITE, "id": run_id, **counts, "time": seconds})
    for name, fault in tests.items():
        case = ElementTree.SubElement(shown, "testcase", {"classname": _SUITE, "time": seconds, "name": _xml(name)})
        if fault:
            attributes = {"message": _xml(fault.message), "type": fault.type}
            ElementTree.SubElement(case, fault.tag, attributes).text = _xml(fault.text) or None
    if summary:
        ElementTree.SubElement(shown, "system-out").text = _xml(summary)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _xml(text: str) -> str:
    return _NOT_XML.sub("", clean(text))
