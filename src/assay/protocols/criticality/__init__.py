"""Criticality in the application: an interview becomes verified code."""

from assay.protocol import read_protocol

PROTOCOL = read_protocol(__name__)
