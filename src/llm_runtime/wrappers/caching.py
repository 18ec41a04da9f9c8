"""Equal calls of one process, made once."""

from __future__ import annotations

import dataclasses
from collections import OrderedDict
from weakref import WeakKeyDictionary

from llm_runtime.messages import Generate, Reply, Request, Usage, request_digest

_MOST = 4_096
_REPLIES: WeakKeyDictionary[Generate, OrderedDict[str, Reply]] = WeakKeyDictionary()


def cached(generate: Generate) -> Generate:
    """Wrap a model function: what it was asked before it is not asked again, and costs nothing."""
    replies = _REPLIES.setdefault(generate, OrderedDict())

    async def call(request: Request) -> Reply:
        digest = request_digest(request.to_dict())
        if (known := replies.get(digest)) is not None:
            replies.move_to_end(digest)
            return dataclasses.replace(known, usage=Usage(0, 0), cost=0)
        reply = replies[digest] = await generate(request)
        if len(replies) > _MOST:
            replies.popitem(last=False)
        return reply

    return call
