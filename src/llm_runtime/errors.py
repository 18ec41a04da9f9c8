"""Every way a run can fail, as one tree; whoever catches chooses how much of it to catch.

::

    LlmRuntimeError
    ├── ConfigurationError          what the user set does not fit together
    │   ├── NoModelError            no key, no local server, no --model
    │   └── MissingExtraError       an optional dependency is not installed
    ├── CallError                   one model call failed; knows provider, model, status, request id
    │   ├── ConnectionFailed        nothing was reached; nothing can have been charged      (retried)
    │   ├── ConnectionCut           the answer broke off on its way                         (retried)
    │   ├── CallTimeout             no whole answer in time                                 (retried)
    │   ├── RateLimited             429; retry_after says how long, where the provider did  (retried)
    │   ├── ServerFault             5xx                                                     (retried)
    │   │   └── Overloaded          503, 529: too busy                                      (retried)
    │   ├── AuthenticationFailed    401, 403
    │   │   └── NotSignedIn         nobody is signed in with a program that would answer
    │   ├── PaymentRequired         402: the account has no credit                          (fallback)
    │   │   └── QuotaExhausted      a limit on spending or on use is reached, and no wait ends it
    │   ├── ModelNotFound           the provider does not know the model                    (fallback)
    │   │   └── ModelRetired        it knew it once                                         (fallback)
    │   ├── WrongEndpoint           what answers there is another API, or none
    │   ├── RequestRefused          another 4xx: the request itself is at fault
    │   │   ├── ContextExceeded     the prompt is longer than the model's window (fallback: a larger one)
    │   │   └── Moderated           the provider flagged the input
    │   └── BadReply                a 200 that is not a success
    │       ├── ErrorInReply        the body carries an error object                        (retried)
    │       ├── EmptyReply          no choices, or a choice without text                    (retried)
    │       ├── MalformedReply      not UTF-8, not JSON, nested too deep, wrong shape       (retried)
    │       ├── ReplyTooLarge       more bytes than the cap, after decompression
    │       ├── BadFinish           the provider says that the answer broke off             (retried)
    │       ├── PromptTruncated     the server cut the prompt without a word
    │       ├── ReplyRepeats        one passage again and again, stopped                (retried)
    │       ├── ReplyTruncated      finish_reason "length": .partial holds what came
    │       └── ReplyFiltered       finish_reason "content_filter", or a refusal
    ├── BudgetExceeded              the next call does not fit what may be spent
    │   └── UnknownPrice            a cap in USD, and a model without a price
    ├── DeadlineExceeded            the run's time is up
    ├── RunPaused                   only a person can go on; .result says how it stands
    ├── StructuredOutputError       the answer does not fit the schema; .raw holds it
    ├── ReplayMismatch              a recording has no answer to this request; says what differs
    └── StoreError                  the run store
        ├── StoreDamaged            the file is not a store, or its contents do not fit together
        ├── RecordsLost             the end of a log is gone, and what is left is as it was written
        ├── StoreUnwritable         read-only, full, or an I/O error
        ├── StoreBusy               another process holds the run
        └── RunNotFound             no run by that id

A message is one line: what happened, where, and what to do next. Each class carries the exit code that a
command line ends with: 2 usage, 3 budget, 4 provider, 5 store, 6 a model's answer was of no use, 78 nothing
configured.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from llm_runtime.messages import CallLabel, Reply


class LlmRuntimeError(Exception):
    """The root: catch this to catch everything the runtime raises on purpose.

    A class of it says behind its base what it ends with (``exit_code``), and of a call whether it may be asked again
    (``retryable``) and may have been paid for (``begun``).

    Args:
        message: what happened, in one line.
        advice: what somebody at a command line can do about it; other doors have words of their own.

    Attributes:
        cost: micro-dollars that the attempts of the call are known to have taken; ``None`` where nobody kept
            account.
    """

    exit_code = 1
    cost: int | None = None

    def __init_subclass__(cls, **marks: bool | int) -> None:
        for name, mark in marks.items():
            setattr(cls, name, mark)

    def __init__(self, message: str = "", *, advice: str = "") -> None:
        super().__init__(message)
        self.advice = advice

    @property
    def told(self) -> str:
        """What happened and what to do, for a command line."""
        return f"{self}; {self.advice}" if self.advice else str(self)


class ConfigurationError(LlmRuntimeError, exit_code=2):
    """What the user set does not fit together."""


class NoModelError(ConfigurationError, exit_code=78):
    """There is no model to ask."""


class MissingExtraError(ConfigurationError):
    """An optional dependency is needed and not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        from llm_runtime.installing import how_to_install

        super().__init__(f"{feature} needs an optional part; {how_to_install(extra)}")


class CallError(LlmRuntimeError, exit_code=4):
    """One model call failed.

    Args:
        message: what happened, in one line, without secrets.
        provider: the endpoint's name; empty where no provider was reached.
        model: the model that was asked.
        status: the HTTP status, where there was one.
        request_id: the provider's id of the call.
        retry_after: seconds the provider asks us to wait.
        label: where the call stands in its protocol; filled in by the recording wrapper.
        advice: as above.

    Attributes:
        begun: an answer had begun, so that it may have been paid for.
        partial: what came before a cut, its usage known or estimated; it may have been paid for, and is never
            an answer.
    """

    retryable = False
    begun = False

    def __init__(
        self, message: str, *, provider: str = "", model: str = "", status: int | None = None,
        request_id: str | None = None, retry_after: float | None = None, label: CallLabel | None = None,
        advice: str = "",
    ) -> None:  # fmt: skip
        super().__init__(message, advice=advice)
        self.provider = provider
        self.model = model
        self.status = status
        self.request_id = request_id
        self.retry_after = retry_after
        self.label = label
        self.partial: Reply | None = None

    @property
    def maybe_charged(self) -> bool:
        """Whether the provider may have charged although it reported nothing: an answer had begun, or what stands
        before the model gave up waiting for it (408, 504, 524)."""
        return self.begun or self.status in (408, 504, 524)

    def __str__(self) -> str:
        where = [part for part in (self.provider, self.model) if part]
        if self.status is not None:
            where.append(f"HTTP {self.status}")
        if self.request_id:
            where.append(f"request {self.request_id}")
        message = super().__str__()
        return f"{message} [{', '.join(where)}]" if where else message


class ConnectionFailed(CallError, retryable=True):
    """No connection could be made."""


class ConnectionCut(CallError, retryable=True, begun=True):
    """The connection ended before the answer did."""


class CallTimeout(CallError, retryable=True, begun=True):
    """No whole answer within the call's time."""


class RateLimited(CallError, retryable=True):
    """HTTP 429."""


class ServerFault(CallError, retryable=True):
    """HTTP 5xx, or 408."""


class Overloaded(ServerFault):
    """HTTP 503 or 529: the provider is too busy."""


class AuthenticationFailed(CallError):
    """HTTP 401 or 403."""


class NotSignedIn(AuthenticationFailed):
    """Nobody is signed in with the program that would answer: a key would not help."""


class PaymentRequired(CallError):
    """HTTP 402."""


class QuotaExhausted(PaymentRequired):
    """A limit on spending or on use is reached; asking again does not help before it is raised."""


class ModelNotFound(CallError):
    """The provider does not know the model."""


class ModelRetired(ModelNotFound):
    """The provider does not serve the model any more."""


class WrongEndpoint(CallError):
    """What answers there is another API than the one that was spoken, or none."""


class RequestRefused(CallError):
    """The provider refuses the request as it stands."""


class ContextExceeded(RequestRefused):
    """The prompt, with room for its answer, is longer than the model's window.

    Attributes:
        asked: tokens of the prompt, where they are known.
        window: tokens that the model reads at the most, where that is known.
    """

    asked: int | None = None
    window: int | None = None


class Moderated(RequestRefused):
    """The provider flagged the input."""


class BadReply(CallError, begun=True):
    """A 200 that is not a success."""


class ErrorInReply(BadReply, retryable=True):
    """The body of a 200 carries an error object."""


class EmptyReply(BadReply, retryable=True):
    """No choices, or a choice without text."""


class MalformedReply(BadReply, retryable=True):
    """The body is not UTF-8, not JSON, nested too deep, or of another shape."""


class ReplyTooLarge(BadReply):
    """The body is larger than the cap, after decompression."""


class BadFinish(BadReply, retryable=True):
    """The provider ended the answer for a reason other than its end: a fault of its own, a tool call, a pause."""


class PromptTruncated(BadReply):
    """The server read less of the prompt than was sent."""


class ReplyTruncated(BadReply):
    """The model was cut off by its token limit; ``partial`` is what came, already paid for."""


class ReplyRepeats(BadReply, retryable=True):
    """The model says one passage again and again; it was stopped, and ``partial`` holds what came."""


class ReplyFiltered(BadReply):
    """The provider filtered the answer, or the model refused in the provider's own terms."""


class BudgetExceeded(LlmRuntimeError, exit_code=3):
    """The next call does not fit what may still be spent. Nothing was sent.

    Attributes:
        cap: the bound that it does not fit: ``"cost"``, ``"tokens"`` or ``"calls"``.
    """

    cap = "cost"


class UnknownPrice(BudgetExceeded):
    """There is a cap in USD, and no price for the model."""


class DeadlineExceeded(LlmRuntimeError, exit_code=3):
    """The run's time is up."""


class RunPaused(LlmRuntimeError):
    """Only a person can go on; the run can be resumed.

    Args:
        message: what is awaited.
        result: how the run stands, as data.
        exit_code: 0 where it is simply their turn.
    """

    def __init__(self, message: str, result: Mapping[str, Any] | None = None, *, exit_code: int = 0) -> None:
        super().__init__(message)
        self.result = dict(result or {})
        self.exit_code = exit_code


class StructuredOutputError(LlmRuntimeError, exit_code=6):
    """The answer does not fit the schema.

    Args:
        message: what is wrong with it.
        raw: the answer.

    Attributes:
        asked: who was asked for what, in words; empty where nobody has said.
    """

    def __init__(self, message: str, raw: str = "") -> None:
        super().__init__(message)
        self.raw = raw
        self.asked = ""

    def __str__(self) -> str:
        message = super().__str__()
        return f"{self.asked}, and no answer can be used: {message}" if self.asked else message


class ReplayMismatch(LlmRuntimeError, exit_code=5):
    """The recording has no answer to this request."""


class StoreError(LlmRuntimeError, exit_code=5):
    """The run store failed."""


class StoreDamaged(StoreError):
    """The file is not a store, or its contents do not fit together."""


class RecordsLost(StoreError):
    """The end of a run's log is gone, and what is left is as it was written: a power cut, or a restored copy."""


class StoreUnwritable(StoreError):
    """The store cannot be written: read-only, full, or an I/O error."""


class StoreBusy(StoreError):
    """Another process holds this run."""


class RunNotFound(StoreError, exit_code=2):
    """There is no run by that id."""
