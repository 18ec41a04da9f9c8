"""What a run says about itself: typed events, and the hash chain that makes their log tamper-evident."""

from llm_runtime.events.calls import (
    BudgetMoved,
    CallFailed,
    CallFinished,
    CallRetried,
    CallsQueued,
    CallStarted,
    EndpointPaused,
    ModelSubstituted,
    Standing,
)
from llm_runtime.events.chain import GENESIS, Record, chain_digest, link
from llm_runtime.events.event import Emit, Event, UnknownEvent, parse_event, silent, tee
from llm_runtime.events.runs import RunFinished, RunRecovered, RunResumed, RunStarted

__all__ = [
    "GENESIS", "BudgetMoved", "CallFailed", "CallFinished", "CallRetried", "CallStarted", "CallsQueued", "Emit",
    "EndpointPaused", "Event", "ModelSubstituted", "Record", "RunFinished", "RunRecovered", "RunResumed",
    "RunStarted", "Standing", "UnknownEvent", "chain_digest", "link", "parse_event", "silent", "tee",
]  # fmt: skip
