"""What a status and a body mean as an error of :mod:`llm_runtime.errors`: one table, and how it is looked up."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from llm_runtime.errors import (
    AuthenticationFailed,
    CallError,
    ContextExceeded,
    ErrorInReply,
    ModelNotFound,
    ModelRetired,
    Moderated,
    Overloaded,
    PaymentRequired,
    QuotaExhausted,
    RateLimited,
    RequestRefused,
    ServerFault,
    WrongEndpoint,
)
from llm_runtime.http.failures import Failure, read_failure
from llm_runtime.http.waits import LONGEST_WAIT, Wait, in_words

_KEY = "the provider does not accept the key; check it with: assay keys"
_FORBIDDEN = "the provider forbids this; check the key and what it may do"
_QUOTA = "a limit of the account is used up; raise it there, or choose another model"
_CREDIT = "the account has no credit for this; top it up, or choose another model"
_CONTEXT = "the prompt is longer than the model can read; shorten it, or choose a model with a larger window"
_FLAGGED = "the provider flagged the prompt; rephrase it, or choose another provider"
_ENDPOINT = "another API answers there; wrong base URL?"
_NO_CHAT = "the model does not answer chat completions; choose another model"
_RETIRED = "the provider has retired the model; choose another model"
_UNKNOWN = "the provider does not know the model; see: assay models"
_BUSY = "the provider is too busy; try again later"
_RATE = "too many requests; wait, or lower the limits"
_FAULT = "the provider failed; try again later"
_REDIRECT = "the provider redirects elsewhere, which is not followed; correct the base URL"
_REFUSED = "the provider refuses the request; correct what it names"

_REFUSALS = (400, 403, 404, 409, 422)


class Row(NamedTuple):
    """One meaning. What is empty asks for nothing; a name or the words are enough where both are given.

    Args:
        kind: the error.
        advice: what happened and what to do next.
        statuses: the HTTP statuses that it may come with.
        names: a pattern of a whole code, type or reason in the body, in lower case.
        words: a pattern found in the provider's words, in any case.
        dialects: whose words they are, where others mean something else by them.
    """

    kind: type[CallError]
    advice: str
    statuses: tuple[int, ...] | range = ()
    names: str = ""
    words: str = ""
    dialects: tuple[str, ...] = ()

    def fits(self, failure: Failure, dialect: str) -> bool:
        """Tell whether this is what the failure means."""
        if (self.statuses and failure.status not in self.statuses) or (
            self.dialects and dialect not in self.dialects
        ):
            return False
        if not self.names and not self.words:
            return True
        named = self.names and any(re.fullmatch(self.names, name) for name in failure.names)
        return bool(named or (self.words and re.search(self.words, failure.words, re.IGNORECASE)))


#: The first row that fits is the meaning; the last ones go by the status alone.
TABLE = (
    Row(
        AuthenticationFailed,
        _KEY,
        (400, 401, 403),
        "api_?key_invalid|invalid_api_key|authentication_error|unauthenticated",
        r"(incorrect|invalid|no valid|missing) api.?key|api key (is )?(not valid|invalid|expired|missing)",
    ),
    Row(
        QuotaExhausted,
        _QUOTA,
        names=r"insufficient_quota|quota_exceeded|billing_\w+|\w*spend(ing)?_limit\w*|.*perday.*",
        words=r"credit balance is too low|(run|ran) out of credits|used all available credits|spending limit"
        r"|specified api usage limits|key limit exceeded|per-day\b|extra usage is required|\blimit: 0,",
    ),
    Row(PaymentRequired, _CREDIT, (402,)),
    Row(PaymentRequired, _CREDIT, (400, 403, 429), words=r"insufficient (balance|credits?|funds)"),
    Row(
        ContextExceeded,
        _CONTEXT,
        names="context_length_exceeded|exceed_context_size_error|request_too_large|context_window_exceeded",
        words=r"(maximum|max|available|model'?s) (context|prompt|input) (length|size|window)|prompt is too long"
        r"|input token count|tokens to keep|n_keep|inputs?`? tokens.{0,30}must be|exceeds? (the )?context"
        r"|(request|prompt|input|message)s? (is )?too (large|long) for|max_tokens must be at least 1, got -"
        r"|longer than the (model'?s )?context",
    ),
    Row(ContextExceeded, _CONTEXT, (413,)),
    Row(
        Moderated,
        _FLAGGED,
        _REFUSALS,
        "responsibleaipolicyviolation|content_filter|content_policy_violation|moderation|flagged_input",
        r"requires moderation|\bflagged\b|content management policy|content filtering policy|content exists risk"
        r"|violates? (our |the )?(usage|content) (guidelines|policy|policies)",
    ),
    Row(
        WrongEndpoint,
        _NO_CHAT,
        (400, 404),
        words=r"v1/(responses|completions|embeddings)\b|not a chat model",
    ),
    Row(
        RequestRefused,
        _REFUSED,
        (404,),
        words=r"no endpoints found that (support|can handle)",
        dialects=("openrouter",),
    ),
    Row(
        ModelRetired,
        _RETIRED,
        names="model_(decommissioned|retired|deprecated)|deprecated_model",
        words=r"model.{0,160}(been (decommissioned|retired|shut down|removed)|no longer (supported|available))",
    ),
    Row(
        ModelNotFound,
        _UNKNOWN,
        _REFUSALS,
        "model_not_found|invalid_model|unknown_model|model_not_available|dedicated_endpoint_not_running"
        "|deploymentnotfound",
        r"model.{0,160}(not found|not exist|unknown|not a valid|no such|not available|does(n't| not) exist)"
        r"|(unknown|invalid|no such|not a valid|don't have access to this) model|no endpoints (found|available)",
    ),
    Row(ModelNotFound, _UNKNOWN, (404,), words=r"\bmodels?\b|deployment|try pulling"),
    Row(ModelRetired, _RETIRED, (410,)),
    Row(WrongEndpoint, _ENDPOINT, (404, 405, 501)),
    Row(AuthenticationFailed, _KEY, (401,)),
    Row(AuthenticationFailed, _FORBIDDEN, (403,)),
    Row(RateLimited, _RATE, (429,)),
    Row(Overloaded, _BUSY, (503, 529)),
    Row(Overloaded, _BUSY, (200, *range(500, 600)), "overloaded(_error)?|unavailable(_error)?|engine_overloaded"),
    Row(RateLimited, _RATE, (200,), "rate_limit(_error|_exceeded|ed)?|resource_exhausted"),
    Row(ServerFault, _FAULT, (408, *range(500, 600))),
    Row(RequestRefused, _REDIRECT, range(300, 400)),
    Row(RequestRefused, _REFUSED, range(400, 500)),
)


def error_for_status(
    failure: Failure,
    *,
    provider: str,
    model: str,
    dialect: str = "",
    request_id: str | None = None,
    wait: Wait | None = None,
) -> CallError:
    """Return the typed error for a status that is not a success.

    Args:
        failure: the status and what the body says, already redacted.
        dialect: whose words they are; see :class:`Row`.
        wait: what the headers ask for; the body's own wish counts where they are silent.
    """
    row = next((row for row in TABLE if row.fits(failure, dialect)), TABLE[-1])
    wait = wait or Wait()
    seconds = failure.wait if wait.seconds is None else wait.seconds
    error = _made(row, failure, provider, model, request_id, seconds)
    if wait.again is False:
        error.retryable = False
    elif wait.again and row.kind is RequestRefused:
        error.retryable = True
    return error


def error_in_reply(
    error: Any, *, provider: str, model: str, request_id: str | None, status: int = 200, dialect: str = ""
) -> CallError:
    """Return the typed error for an ``error`` object inside a 200; a status among its codes decides."""
    failure = read_failure({"error": error}, status)
    inner = next((int(name) for name in failure.names if re.fullmatch("[45][0-9][0-9]", name)), None)
    if inner is not None:
        failure = failure._replace(status=inner)
    row = next((row for row in TABLE if row.fits(failure, dialect)), None)
    if row is not None:
        return _made(row, failure, provider, model, request_id, failure.wait)
    message = f"the provider sent an error with status {status}: {failure.words or 'without a message'}"
    return ErrorInReply(message, provider=provider, model=model, status=status, request_id=request_id)


def _made(
    row: Row, failure: Failure, provider: str, model: str, request_id: str | None, seconds: float | None
) -> CallError:
    late = seconds is not None and seconds > LONGEST_WAIT
    message = f"{row.advice} (in {in_words(seconds or 0)} at the earliest)" if late else row.advice
    error = row.kind(
        f"{message}: {failure.words}" if failure.words else message,
        provider=provider,
        model=model,
        status=failure.status,
        request_id=request_id,
        retry_after=seconds,
    )
    if isinstance(error, ContextExceeded):
        error.asked, error.window = failure.asked, failure.window
    return error


def not_an_answer(start: bytes) -> str | None:
    """Return what a body at 200 that is not JSON turns out to be, and what to do; ``None`` where it may be JSON."""
    head = start.lstrip(b"\xef\xbb\xbf \t\r\n")[:200].lower()
    if head.startswith(b"<"):
        return "a web page answers there, not an API; wrong base URL?"
    if head.startswith(_EVENTS):
        return "a stream of events answers there, which nobody asked for; wrong base URL?"
    return None


_EVENTS: tuple[bytes, ...] = tuple(f"{field}:".encode() for field in ("data", "event", "id", "retry"))
