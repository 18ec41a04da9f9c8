"""Crucible in the application: a council with a red team."""

from assay.protocol import read_protocol

PROTOCOL = read_protocol(__name__)
