"""A verdict for machines: SARIF for code scanning, JUnit for builds. Standard library only."""

from assay.report.machine.junit import junit_xml, write_junit
from assay.report.machine.places import check_place, write_whole
from assay.report.machine.sarif import sarif_log, write_sarif

__all__ = ["check_place", "junit_xml", "sarif_log", "write_junit", "write_sarif", "write_whole"]
