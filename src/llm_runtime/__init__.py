"""The ground floor: what executes, records, replays, meters and limits model calls. It knows no protocol.

A model is a function from a :class:`Request` to a :class:`Reply`. Read ``messages.py`` first, then any file of
``providers/`` (they make such functions) and of ``wrappers/`` (they take one and return one), then
``gateway.py``, where they are stacked.
"""

from llm_runtime.messages import CallLabel, Delta, Generate, Message, OnDelta, Reply, Request, Usage

__all__ = ["CallLabel", "Delta", "Generate", "Message", "OnDelta", "Reply", "Request", "Usage"]
