"""Fire Circle in the application: models in dialogue judge a prompt."""

from assay.protocol import read_protocol

PROTOCOL = read_protocol(__name__)
