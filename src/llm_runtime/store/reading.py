"""From a record back to the event it holds."""

from __future__ import annotations

from typing import Any, cast

from pydantic_core import from_json

from llm_runtime.errors import StoreDamaged
from llm_runtime.events import Event, Record, parse_event


def read_event(record: Record) -> Event:
    """Return the event in a record. JSON nested deeper than 200 levels is refused by the parser.

    Raises:
        StoreDamaged: the body is not an event.
    """
    try:
        payload = from_json(record.body, allow_inf_nan=False)
    except ValueError as fault:
        raise StoreDamaged(f"record {record.seq} is not JSON: {fault}") from None
    if not isinstance(payload, dict):
        raise StoreDamaged(f"record {record.seq} is not an event")
    try:
        return parse_event(cast(dict[str, Any], payload))
    except StoreDamaged as fault:
        # The reason may quote the record; ascii() keeps it one line without terminal escapes.
        raise StoreDamaged(f"record {record.seq}: {ascii(str(fault))[1:-1][:200]}") from None
