"""A worker's log: one line an event on standard error, for people or as JSON, with the run's id in each."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

#: Takes one line of the log: what happened, and its fields.
Say = Callable[..., None]


def log_lines(*, as_json: bool = False) -> Say:
    """Return what writes lines: a moment in UTC, the event, its fields; never a prompt or an answer."""

    def say(event: str, **fields: Any) -> None:
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        if as_json:
            line = json.dumps({"at": at, "event": event, **fields}, ensure_ascii=True)
        else:
            words = " ".join(f"{name}={_word(value)}" for name, value in fields.items())
            line = f"{at} {event} {words}".rstrip()
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()

    return say


def _word(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    clean = "".join(sign if sign.isprintable() else " " for sign in text)
    return json.dumps(clean, ensure_ascii=False) if " " in clean else clean
