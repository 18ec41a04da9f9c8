"""What a status and a body mean as an error of :mod:`llm_runtime.errors`: one table, and how it is looked up."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from llm_runtime import errors
from llm_runtime.errors import CallError, ContextExceeded, ErrorInReply, RequestRefused
from llm_runtime.http.failures import Failure, read_failure
from llm_runtime.http.waits import LONGEST_WAIT, RetryAdvice, in_words
from llm_runtime.toml import own_table


class Meaning(NamedTuple):
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
    command: str = ""
    statuses: frozenset[int] = frozenset()
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


def _statuses(text: str) -> range:
    first = int(text.replace("x", "0"))
    return range(first, first + 10 ** text.count("x"))


_DATA = own_table("llm_runtime.http", "causes.toml")
#: The first row that fits is the meaning; the last ones go by the status alone.
TABLE = tuple(
    Meaning(
        getattr(errors, row["kind"]),
        _DATA["advice"][row["advice"]],
        _DATA["commands"].get(row["advice"], ""),
        frozenset(status for one in row.get("statuses", ()) for status in _statuses(one)),
        "|".join(row.get("names", ())),
        "|".join(row.get("words", ())),
        tuple(row.get("dialects", ())),
    )
    for row in _DATA["rows"]
)
#: What stands for a status within a stream.
STREAMED_STATUS: Mapping[str, int] = _DATA["streamed"]


def error_for_status(
    failure: Failure,
    *,
    provider: str,
    model: str,
    dialect: str = "",
    request_id: str | None = None,
    wait: RetryAdvice | None = None,
) -> CallError:
    """Return the typed error for a status that is not a success.

    Args:
        failure: the status and what the body says, already redacted.
        dialect: whose words they are; see :class:`Meaning`.
        wait: what the headers ask for; the body's own wish counts where they are silent.
    """
    row = next((row for row in TABLE if row.fits(failure, dialect)), TABLE[-1])
    wait = wait or RetryAdvice()
    seconds = failure.wait if wait.seconds is None else wait.seconds
    error = _made(row, failure, provider, model, request_id, seconds)
    if wait.again is False:
        error.retryable = False
    elif wait.again and row.kind is RequestRefused:
        error.retryable = True
    return error


def error_in_reply(
    error: Any,
    *,
    provider: str,
    model: str,
    request_id: str | None,
    begun: bool = False,
    status: int = 200,
    dialect: str = "",
) -> CallError:
    """Return the typed error for an ``error`` object inside a 200; a status among its codes decides.

    Args:
        begun: something of an answer stood beside it. Otherwise nothing was charged, and what it says counts alone:
            words that promise no better luck are not asked again.
    """
    failure = read_failure({"error": error}, status)
    inner = next((int(name) for name in failure.names if re.fullmatch("[45][0-9][0-9]", name)), None)
    if inner is not None:
        failure = failure._replace(status=inner)
    # In the place of an answer its words mean what they mean with a status of their own.
    statuses = (failure,) if begun else (failure, failure._replace(status=400))
    row = next((row for one in statuses for row in TABLE[:-1] if row.fits(one, dialect)), None)
    if row is not None:
        made = _made(row, failure, provider, model, request_id, failure.wait)
    else:
        message = f"the provider sent an error with status {status}: {failure.words or 'without a message'}"
        made = ErrorInReply(message, provider=provider, model=model, status=status, request_id=request_id)
        made.retryable = begun
    made.begun = begun
    return made


def _made(
    row: Meaning, failure: Failure, provider: str, model: str, request_id: str | None, seconds: float | None
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
        advice=row.command,
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
