"""What a status and a body mean as an error of :mod:`llm_runtime.errors`."""

from __future__ import annotations

import math
import re
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any

from llm_runtime.errors import (
    AuthenticationFailed,
    CallError,
    ErrorInReply,
    ModelNotFound,
    PaymentRequired,
    RateLimited,
    RequestRefused,
    ServerFault,
)
from llm_runtime.providers._shape import mapping, one_line, text

_UNKNOWN_MODEL = re.compile(
    r"model[^.]{0,120}(not found|not exist|unknown|not a valid|no such|not available)"
    r"|(unknown|invalid|no such|not a valid) model|no endpoints found|model_not_found",
    re.IGNORECASE,
)


def error_for_status(
    status: int,
    detail: str,
    *,
    provider: str,
    model: str,
    request_id: str | None = None,
    retry_after: float | None = None,
) -> CallError:
    """Return the typed error for a status that is not a success.

    Args:
        status: the HTTP status, or the code that an error object inside a 200 carries.
        detail: the provider's own words, already redacted and on one line.
        retry_after: seconds to wait, where the provider said so.
    """
    kind, advice = _kind(status, detail)
    message = f"{advice}: {detail}" if detail else advice
    return kind(
        message,
        provider=provider,
        model=model,
        status=status,
        request_id=request_id,
        retry_after=retry_after,
    )


def _kind(status: int, detail: str) -> tuple[type[CallError], str]:
    if status == 401:
        return AuthenticationFailed, "the provider does not accept the key; check it"
    if status == 403:
        return AuthenticationFailed, "the provider forbids this; check the key and what it may do"
    if status == 402:
        return PaymentRequired, "the account has no credit; top it up or choose another model"
    if status == 404 or (status == 400 and _UNKNOWN_MODEL.search(detail)):
        return ModelNotFound, "the provider does not know this model, or the base URL is wrong"
    if status == 429:
        return RateLimited, "too many requests; wait, or lower the limits"
    if status == 408 or status >= 500:
        return ServerFault, "the provider failed; try again later"
    if 300 <= status < 400:
        return RequestRefused, "the provider redirects elsewhere, which is not followed; correct the base URL"
    return RequestRefused, "the provider refuses the request"


def error_in_reply(
    error: Any, *, provider: str, model: str, request_id: str | None, status: int = 200
) -> CallError:
    """Return the typed error for an ``error`` object inside a 200; a code in it that is an HTTP status decides."""
    detail = error_detail({"error": error}) or "without a message"
    code = mapping(error).get("code")
    inner = int(code) if isinstance(code, (int, str)) and re.fullmatch("[45][0-9][0-9]", str(code)) else None
    if inner is not None:
        return error_for_status(inner, detail, provider=provider, model=model, request_id=request_id)
    message = f"the provider sent an error with status {status}: {detail}"
    return ErrorInReply(message, provider=provider, model=model, status=status, request_id=request_id)


def error_detail(body: Any) -> str:
    """Return the provider's words in an error body of a usual shape, on one line; empty where there are none.

    ``{"error": {"message": ...}}`` (OpenAI, Anthropic), ``{"error": "..."}`` (Ollama), ``{"message": ...}``,
    ``{"detail": ...}`` (vLLM), and OpenRouter's ``error.metadata.raw``, the words of the provider behind it.
    """
    whole = mapping(body)
    error = whole.get("error")
    inner = mapping(error)
    words = text(error) or text(inner.get("message")) or text(whole.get("message")) or text(whole.get("detail"))
    raw = text(mapping(inner.get("metadata")).get("raw"))
    return one_line(f"{words} ({raw})" if raw else words)


def retry_after_seconds(value: str | None, now: float) -> float | None:
    """Return a Retry-After header, seconds or an HTTP date (RFC 9110, 10.2.3), as seconds from ``now``.

    Args:
        value: the header as it came.
        now: seconds since the epoch.
    """
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        return _seconds_until(value, now)
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _seconds_until(date: str, now: float) -> float | None:
    try:
        moment = parsedate_to_datetime(date)
    except (ValueError, IndexError, OverflowError):
        return None
    # RFC 5322 reads a date with the zone -0000 as one without: it is UTC all the same.
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, moment.timestamp() - now)
