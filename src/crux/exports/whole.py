"""The whole result as JSON, under the wire names, and back."""

from __future__ import annotations

import json

from pydantic import ValidationError

from crux.config import CruxConfigurationError
from crux.results import DebateResult
from llm_runtime.models import first_fault


def to_json(result: DebateResult) -> str:
    """Return everything as JSON, indented by two."""
    return json.dumps(result.model_dump(mode="json"), ensure_ascii=False, indent=2) + "\n"


def from_json(text: str) -> DebateResult:
    """Return the inverse of :func:`to_json`.

    Raises:
        CruxConfigurationError: it is no debate; says where.
    """
    try:
        return DebateResult.model_validate_json(text)
    except ValidationError as fault:
        raise CruxConfigurationError(f"this is no exported debate: {first_fault(fault, 'its start')}") from None
