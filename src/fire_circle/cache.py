"""Equal calls of one process, made once (``cache_enabled``)."""

from __future__ import annotations

import dataclasses
import hashlib
import secrets
from collections import OrderedDict
from weakref import WeakKeyDictionary

from fire_circle.config import FireCircleConfig
from fire_circle.layers import MultiNeutrosophicPrompt
from fire_circle.session import SessionMemory
from llm_runtime.canonical import canonical_json
from llm_runtime.messages import Generate, Reply, Request, Usage, request_digest

_MOST = 4_096
#: The author of a prompt must not be able to compute the nonces of its fences, also where they are the same again.
_SECRET = secrets.token_hex(16)
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


def seed_for(prompt: MultiNeutrosophicPrompt, config: FireCircleConfig, session: SessionMemory | None) -> int:
    """Return a seed: the same for the same circle over the same prompt, and not to be foreseen by others."""
    data = [prompt.model_dump(), config.model_dump(mode="json"), session.to_dict() if session else None, _SECRET]
    return int.from_bytes(hashlib.sha256(canonical_json(data)).digest()[:8], "big") >> 11
