"""A model function that counts what passes through it."""

from __future__ import annotations

import asyncio
from collections import Counter

from llm_runtime.errors import CallError, LlmRuntimeError
from llm_runtime.messages import Generate, Reply, Request
from llm_runtime.wrappers.accounts import Bill


class Meter:
    """Counts the answers of one model function; call it in place of that function.

    What a recording answers is counted as well, and so is what failed calls are known to have cost.
    """

    def __init__(self, generate: Generate) -> None:
        self._generate = generate
        self.calls = 0
        self.input_tokens = 0
        self.output_tokens = 0
        #: Of the input, those read from a cache.
        self.cached_tokens = 0
        #: That the answers took, of all calls together.
        self.milliseconds = 0
        #: Micro-dollars, without the unpriced calls.
        self.known_cost = 0
        self.unpriced_calls = 0
        #: Calls by the model that answered.
        self.models: Counter[str] = Counter()

    async def __call__(self, request: Request) -> Reply:
        """Pass a request on, and count its answer."""
        with Bill() as bill:
            try:
                reply = await self._generate(request)
            except LlmRuntimeError as fault:
                bill.sign(fault)
                partial = fault.partial if isinstance(fault, CallError) else None
                if partial is not None:
                    self._count(partial, partial.cost if fault.cost is None else fault.cost)
                else:
                    self.known_cost += fault.cost or 0
                raise
            except asyncio.CancelledError:
                self.known_cost += bill.cost
                raise
        self._count(reply, reply.cost)
        return reply

    @property
    def tokens(self) -> int:
        """Input and output together."""
        return self.input_tokens + self.output_tokens

    @property
    def cost(self) -> int | None:
        """Micro-dollars; ``None`` where the price of a call is not known."""
        return None if self.unpriced_calls else self.known_cost

    def _count(self, reply: Reply, cost: int | None) -> None:
        self.calls += 1
        self.models[reply.model] += 1
        self.input_tokens += reply.usage.input_tokens
        self.output_tokens += reply.usage.output_tokens
        self.cached_tokens += reply.usage.cached_tokens
        self.milliseconds += reply.latency_ms
        if cost is None:
            self.unpriced_calls += 1
        else:
            self.known_cost += cost
