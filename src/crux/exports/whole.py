"""The whole result as JSON, under the wire names."""

from __future__ import annotations

import json

from crux.results import CamelModel


def to_json(result: CamelModel) -> str:
    """Return everything as JSON, indented by two."""
    return json.dumps(result.model_dump(mode="json"), ensure_ascii=False, indent=2) + "\n"
