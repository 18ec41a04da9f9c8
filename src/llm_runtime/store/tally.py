"""The fold from a log to its line in a list: how the run stands and what it has spent."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias, cast

from llm_runtime.errors import StoreDamaged
from llm_runtime.events import BudgetMoved, CallFailed, CallFinished, CallStarted, Event, RunFinished, RunResumed

Ending: TypeAlias = Literal["open", "finished", "stopped", "failed"]


class Tally(NamedTuple):
    """What the events so far add up to. Field meanings and units as in ``RunSummary``; the order is that of the
    columns in the store."""

    ending: Ending = "open"
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: int = 0
    cost_unknown: bool = False
    unknown: int = 0

    def after(self, event: Event) -> Tally:
        """Return the sums with one event more; the same object where it changes nothing.

        Raises:
            StoreDamaged: an answer does not say what it used.
        """
        # By exact type: isinstance() of a pydantic class takes longer than the rest of this.
        kind = type(event)
        if kind is CallStarted or kind is CallFinished or kind is CallFailed:
            call = cast("CallStarted | CallFinished | CallFailed", event)
            account = call.account
            told = self if account is None else self._with_unknown(account.get("unknown", (0, 0, 0))[0])
            return told if call.replayed else told._after_call(call)
        if kind is BudgetMoved:
            return self._with_unknown(cast(BudgetMoved, event).unknown_cost)
        if kind is RunFinished:
            return self._replace(ending=cast(RunFinished, event).state)
        return self._replace(ending="open") if kind is RunResumed else self

    def _with_unknown(self, unknown: int) -> Tally:
        return self if unknown == self.unknown else self._replace(unknown=unknown)

    def _after_call(self, call: CallStarted | CallFinished | CallFailed) -> Tally:
        if type(call) is CallFinished:
            return self._after_reply(call.reply)
        if type(call) is not CallFailed:
            return self
        if call.partial is not None:
            return self._after_reply(call.partial, call.cost)
        return self._replace(cost=self.cost + call.cost) if call.cost else self

    def _after_reply(self, reply: dict[str, Any], known: int | None = None) -> Tally:
        try:
            usage = reply["usage"]
            input_tokens, output_tokens = _count(usage["input_tokens"]), _count(usage["output_tokens"])
            cost = reply["cost"] if known is None else known
            cost = None if cost is None else _count(cost)
        except (KeyError, TypeError):
            raise StoreDamaged("an answer does not say what it used: usage and cost are not counts") from None
        return Tally(
            self.ending,
            self.calls + 1,
            self.input_tokens + input_tokens,
            self.output_tokens + output_tokens,
            self.cost + (cost or 0),
            self.cost_unknown or cost is None,
            self.unknown,
        )


def counts(body: bytes) -> bool:
    """Tell from its canonical JSON, without parsing, whether an event can matter to a :class:`Tally`.

    Canonical JSON has one spelling, so an event spelled in another way counts nowhere.
    """
    kinds = (b'"type":"call.f', b'"type":"run.', b'"type":"budget.')
    return body.startswith(b'{"account":') or any(kind in body for kind in kinds)


def _count(value: object) -> int:
    if type(value) is not int or not 0 <= value < 2**53:
        raise TypeError
    return value
