"""What a debate uses, counted where its calls pass."""

from __future__ import annotations

from crux.results import Spend
from llm_runtime.messages import Generate, Reply, Request


class Meter:
    """Counts the calls of one model function; the counts of a resumed run include what a recording answered."""

    def __init__(self, generate: Generate) -> None:
        self._generate = generate
        self._calls = 0
        self._input = 0
        self._output = 0
        self._cost: int | None = 0

    async def generate(self, request: Request) -> Reply:
        """The call, counted when it was answered."""
        reply = await self._generate(request)
        self._calls += 1
        self._input += reply.usage.input_tokens
        self._output += reply.usage.output_tokens
        self._cost = None if self._cost is None or reply.cost is None else self._cost + reply.cost
        return reply

    @property
    def spend(self) -> Spend:
        """So far."""
        return Spend(calls=self._calls, input_tokens=self._input, output_tokens=self._output, cost=self._cost)
