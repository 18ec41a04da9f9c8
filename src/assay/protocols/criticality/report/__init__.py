"""A build as a report: the state machine, the functions, and the trace from claim to result."""

from assay.protocols.criticality.report.fold import BuildFold

__all__ = ["BuildFold"]
