"""AI Crucible in the application: sealed trials of a model, on Inspect AI."""

from assay.protocol import read_protocol

PROTOCOL = read_protocol(__name__)
