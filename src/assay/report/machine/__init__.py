"""A verdict for machines: SARIF for code scanning, JUnit for builds. Standard library only."""

from assay.protocols.fire_circle.report.junit import junit_xml, write_junit
from assay.protocols.fire_circle.report.sarif import sarif_log, write_sarif
from assay.report.places import check_place, write_whole

__all__ = ["check_place", "junit_xml", "sarif_log", "write_junit", "write_sarif", "write_whole"]
