"""What a status and a body mean as an error of :mod:`llm_runtime.errors`: one table, and how it is looked up."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypedDict, Unpack

from llm_runtime import errors
from llm_runtime.errors import CallError, ContextExceeded, ErrorInReply, RequestRefused
from llm_runtime.http.failures import Failure, read_failure
from llm_runtime.http.waits import LONGEST_WAIT, RetryAdvice, in_words
from llm_runtime.toml import own_table


class Meaning(NamedTuple):
    """One meaning, a row of ``causes.toml``. What is empty asks for nothing; a name or the words are enough where
    both are given.

    Args:
        kind: the error's class.
        advice: which advice says what happened and what to do next.
        statuses: the HTTP statuses that it may come with, an ``x`` for any digit.
        names: patterns of a whole code, type or reason in the body, in lower case.
        words: patterns found in the provider's words, in any case.
        dialects: whose words they are, where others mean something else by them.
    """

    kind: str
    advice: str
    statuses: Sequence[str] = ()
    names: Sequence[str] = ()
    words: Sequence[str] = ()
    dialects: Sequence[str] = ()

    def fits(self, failure: Failure, dialect: str) -> bool:
        """Tell whether this is what the failure means."""
        status = str(failure.status)
        if self.statuses and not any(re.fullmatch(one.replace("x", "[0-9]"), status) for one in self.statuses):
            return False
        if self.dialects and dialect not in self.dialects:
            return False
        named = any(re.fullmatch(one, name) for one in self.names for name in failure.names)
        said = any(re.search(one, failure.words, re.IGNORECASE) for one in self.words)
        return named or said or not (self.names or self.words)


_DATA = own_table("llm_runtime.http", "causes.toml")
#: The first row that fits is the meaning; the last ones go by the status alone.
TABLE = tuple(Meaning(**row) for row in _DATA["rows"])
#: What stands for a status within a stream.
STREAMED_STATUS: Mapping[str, int] = _DATA["streamed"]


class Called(TypedDict, total=False):
    """Which call an error is of."""

    provider: str
    model: str
    request_id: str | None


def error_for_status(
    failure: Failure, *, dialect: str = "", wait: RetryAdvice | None = None, **call: Unpack[Called]
) -> CallError:
    """Return the typed error for a status that is not a success.

    Args:
        failure: the status and what the body says, already redacted.
        dialect: whose words they are; see :class:`Meaning`.
        wait: what the headers ask for; the body's own wish counts where they are silent.
    """
    row = next((row for row in TABLE if row.fits(failure, dialect)), TABLE[-1])
    wait = wait or RetryAdvice()
    error = _made(row, failure, call, failure.wait if wait.seconds is None else wait.seconds)
    if wait.again is False:
        error.retryable = False
    elif wait.again and type(error) is RequestRefused:
        error.retryable = True
    return error


def error_in_reply(error: Any, *, begun: bool = False, dialect: str = "", **call: Unpack[Called]) -> CallError:
    """Return the typed error for an ``error`` object inside a 200; a status among its codes decides.

    Args:
        begun: something of an answer stood beside it. Otherwise nothing was charged, and what it says counts alone:
            words that promise no better luck are not asked again.
    """
    failure = read_failure({"error": error}, 200)
    inner = next((int(name) for name in failure.names if re.fullmatch("[45][0-9][0-9]", name)), None)
    if inner is not None:
        failure = failure._replace(status=inner)
    # In the place of an answer its words mean what they mean with a status of their own.
    statuses = (failure,) if begun else (failure, failure._replace(status=400))
    row = next((row for one in statuses for row in TABLE[:-1] if row.fits(one, dialect)), None)
    if row is not None:
        made = _made(row, failure, call, failure.wait)
    else:
        message = f"the provider sent an error with status 200: {failure.words or 'without a message'}"
        made = ErrorInReply(message, status=200, **call)
        made.retryable = begun
    made.begun = begun
    return made


def _made(row: Meaning, failure: Failure, call: Called, seconds: float | None) -> CallError:
    late = seconds is not None and seconds > LONGEST_WAIT
    advice = _DATA["advice"][row.advice]
    message = f"{advice} (in {in_words(seconds or 0)} at the earliest)" if late else advice
    kind: type[CallError] = getattr(errors, row.kind)
    message = f"{message}: {failure.words}" if failure.words else message
    command = _DATA["commands"].get(row.advice, "")
    error = kind(message, status=failure.status, retry_after=seconds, advice=command, **call)
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
