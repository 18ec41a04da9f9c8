"""The addresses of debates in the web application: the persona library, and a debate as an event stream."""

from __future__ import annotations

from assay.web.endpoints import addresses

ADDRESSES = addresses(__name__)
