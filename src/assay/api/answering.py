"""What a run answers a chat program: progress on the way, and at the end its answer or why there is none."""

from __future__ import annotations

import builtins
from typing import TypeAlias, TypedDict

from assay.api.asked import ChatRequest
from assay.api.calling import called
from assay.api.catalogue import ChatModel
from assay.api.form import held
from assay.api.refused import Refused
from assay.api.wire import RunAnswer
from assay.hooks import hooks_of
from assay.report.clean import clean, one_line
from assay.report.markdown import story_markdown
from assay.report.units import count_noun
from assay.web.live_runs import LiveRun
from llm_runtime import errors
from llm_runtime.errors import LlmRuntimeError

_Errors: TypeAlias = type[LlmRuntimeError] | tuple[type[LlmRuntimeError], ...]
#: Of the first that an error is of: the status, a word for programs, whether to ask again.
_REFUSALS: tuple[tuple[_Errors, int, str, bool | None], ...] = (
    ((errors.BudgetExceeded, errors.DeadlineExceeded, errors.PaymentRequired), 402, "budget_exceeded", False),
    (errors.NoModelError, 400, "no_model", False),
    (errors.ConfigurationError, 400, "invalid_request", None),
    ((errors.StructuredOutputError, errors.ReplyTruncated), 502, "no_useful_answer", False),
    (errors.CallError, 502, "provider_failed", True),
    (errors.StoreBusy, 409, "store_busy", True),
)


class RunAccount(TypedDict):
    """What programs are told of a run's cost in dollars, calls, failed calls, and standing."""

    cost_usd: float | None
    calls: int
    partial: bool
    standing: dict[str, object]


def progress_of(run: LiveRun, after: int) -> str:
    """Return what a run completed behind event number ``after``, a line each."""
    return "".join(f"{clean(line.step)}\n" for line in run.lines[after:] if line.step)


def answer_of(run: LiveRun, model: ChatModel, page: str, asked: ChatRequest | None = None) -> RunAnswer:
    """Return how a finished run answered; what is missing stands in the answer's first line.

    Args:
        run: the run, finished.
        model: which model it is.
        page: its address in the web application.
        asked: the request; where it wants a form, nothing else is said.

    Raises:
        StructuredOutputError: it has not that form, or calls no function as it should.
    """
    text, call = hooks_of(model.run).chat_answer(run.head.result) or story_markdown(run.story()), None
    if asked and asked.functions:
        text, call = called(text, asked.functions, asked.must, run.run_id)
    if asked and asked.form and call is None:
        text = held(text, asked.form)
    elif missing := _missing(run):
        text = f"*{missing}*\n\n{text}"
    return RunAnswer(clean(text), progress_of(run, 0).rstrip(), _usage(run), about(run, model, page), call)


def about(run: LiveRun, model: ChatModel, page: str) -> dict[str, object]:
    """Return what a program is told of a run beside its answer."""
    return {"run_id": run.run_id, "model": model.id, "url": page, **account(run)}


def account(run: LiveRun) -> RunAccount:
    """Return what a run took by now, and how it stands."""
    total, standing = run.head.tally.total, run.standing.data()
    cost = None if total.live.unpriced else total.live.cost / 1_000_000
    return {"cost_usd": cost, "calls": total.live.calls, "partial": total.failed > 0, "standing": standing}


def _missing(run: LiveRun) -> str:
    failed = [call for call in run.head.tally.calls.values() if call.state == "failed"]
    if not failed:
        return ""
    places = ", ".join(dict.fromkeys(call.label.words for call in failed))
    return one_line(f"{count_noun(len(failed), 'call')} of this run failed, so the answer lacks: {places}.", 300)


def _usage(run: LiveRun) -> dict[str, int]:
    spent = run.head.tally.total.live
    return {"prompt_tokens": spent.input_tokens, "completion_tokens": spent.output_tokens, "total_tokens": spent.tokens}


def why_none(run: LiveRun) -> Refused:
    """Return why a run that is not under way any more gave no answer."""
    head = run.head
    if run.fault is not None:
        return refusal(run.fault)
    if run.state == "interrupted":
        return Refused(503, "the run was interrupted; ask again, and it goes on", "run_interrupted", again=True)
    known = getattr(errors, head.error, None)
    kind = known if isinstance(known, type) and issubclass(known, LlmRuntimeError) else None
    if head.state == "stopped" and kind is None and head.error == "Interrupted":
        message = "the run was stopped; ask again later, and it goes on with what it has"
        return Refused(400, message, "run_stopped", again=False)
    return _refused(kind, head.error, one_line(head.message, 600))


def refusal(fault: Exception) -> Refused:
    """Return an error as a program is told of it."""
    return _refused(type(fault), type(fault).__name__, one_line(str(fault), 600))


def _refused(kind: type[Exception] | None, name: str, message: str) -> Refused:
    if kind is None:
        # The budget of a shared purse has a class of its own.
        kind = errors.BudgetExceeded if name.endswith("BudgetExceeded") else Exception
    for kinds, status, code, again in _REFUSALS:
        if issubclass(kind, kinds):
            said = f"a model's answer was of no use: {message}" if code == "no_useful_answer" else message
            return Refused(status, said, code, again=again)
    # An engine's own words that too much failed are no fault of Assay's; an error of Python's is.
    return Refused(500 if hasattr(builtins, name) else 502, f"{name}: {message}", "run_failed", again=False)
