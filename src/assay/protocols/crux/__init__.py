"""Crux in the application: authors debate from their own texts, down to what divides them."""

from assay.protocol import read_protocol

PROTOCOL = read_protocol(__name__)
