"""How long a provider asks to wait, in each of the forms in which providers say it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import NamedTuple

#: Longest wait, in seconds, that is waited for; what asks for more fails, and says so.
LONGEST_WAIT = 120.0

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = r"(?:\d+(?:\.\d+)?(?:ms|[smhd]))+"
_PIECE = re.compile(r"(?<!\d)(\d+(?:\.\d+)?)(ms|[smhd])")
_IN_WORDS = re.compile(rf"(?:try again|retry|wait)[^.;\d]{{0,20}}?\b({_DURATION})", re.IGNORECASE)


class RetryAdvice(NamedTuple):
    """What the headers of a refusal ask for.

    Args:
        seconds: before the next attempt; ``None`` where they do not say.
        again: ``x-should-retry``, where it is there.
    """

    seconds: float | None = None
    again: bool | None = None


def about_waiting(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers that :func:`read_wait` reads, with their names in lower case."""
    named = ((name.lower(), value) for name, value in headers.items())
    return {name: value for name, value in named if "retry" in name or "ratelimit" in name}


def read_wait(headers: Mapping[str, str], now: float) -> RetryAdvice:
    """Read ``retry-after-ms``, ``Retry-After`` (RFC 9110, 10.2.3), ``*ratelimit*reset*`` and ``x-should-retry``.

    Args:
        headers: with lower-case names.
        now: seconds since the epoch.
    """
    again = {"true": True, "false": False}.get(headers.get("x-should-retry", "").strip().lower())
    seconds = _number(headers.get("retry-after-ms", ""))
    if seconds is not None:
        return RetryAdvice(seconds / 1000, again)
    if "retry-after" in headers and (seconds := retry_after_seconds(headers["retry-after"], now)) is not None:
        return RetryAdvice(seconds, again)
    return RetryAdvice(_reset(headers, now), again)


def retry_after_seconds(value: str, now: float) -> float | None:
    """Return a Retry-After header, seconds or a date, as seconds from ``now``."""
    return _moment(value, now)  # also "30s", and a moment in seconds since the epoch, as a few gateways write it


def seconds_in(duration: str) -> float | None:
    """Return a duration in seconds: ``"6m0s"``, ``"7.66s"``, ``"399ms"``; ``None`` for anything else."""
    if not re.fullmatch(_DURATION, duration.strip()):
        return None
    seconds = sum(float(number) * _UNITS[unit] for number, unit in _PIECE.findall(duration))
    return seconds if seconds < 1e13 else None


def wait_in_words(words: str) -> float | None:
    """Return the wait in a sentence such as "Please try again in 9m38.016s"."""
    match = _IN_WORDS.search(words)
    return seconds_in(match[1]) if match else None


def in_words(seconds: float) -> str:
    """Return a wait as a person says it: ``"9 min"``, ``"3 h 20 min"``."""
    minutes = math.ceil(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    if minutes < 48 * 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{math.ceil(minutes / 1440)} days"


def _reset(headers: Mapping[str, str], now: float) -> float | None:
    """Return when the limit that is used up is free again; the first of all where none is said to be used up."""
    used_up: list[float] = []
    others: list[float] = []
    for name, value in headers.items():
        if "reset" not in name or (seconds := _moment(value, now)) is None:
            continue
        if name.endswith("-ms") and seconds == _number(value):
            seconds /= 1000
        (others if _number(headers.get(name.replace("reset", "remaining"), "0")) else used_up).append(seconds)
    return max(used_up) if used_up else min(others, default=None)


def _moment(value: str, now: float) -> float | None:
    """Read a duration, seconds, or a moment: an RFC 3339 date, or seconds or milliseconds since the epoch."""
    if (seconds := seconds_in(value)) is not None:
        return seconds
    if (number := _number(value)) is not None:
        if number > 1e11:
            number /= 1000
        return max(0.0, number - now) if number > 1e9 else number
    return _until(value, now)


def _number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    # Neither a wait nor a moment in milliseconds is as much; what is, says nothing.
    return max(0.0, number) if number < 1e13 else None


def _until(date: str, now: float) -> float | None:
    try:
        moment = parsedate_to_datetime(date)
    except (ValueError, IndexError, OverflowError):
        try:
            moment = datetime.fromisoformat(date.strip())
        except ValueError:
            return None
    # RFC 5322 reads a date with the zone -0000 as one without: it is UTC all the same.
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, moment.timestamp() - now)
