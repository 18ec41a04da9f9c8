"""Every model call of the engine passes here: which models may answer, and what a failure is called.

Retries, backoff, rate limits and the ``models`` array are the runtime's (:mod:`llm_runtime.gateway`); this layer
reasons about neither roles nor queries.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from llm_runtime.errors import CallError, EmptyReply, LlmRuntimeError, ModelNotFound
from llm_runtime.events import Emit, ModelSubstituted
from llm_runtime.messages import CallLabel, Generate, Message, Reply, Request, changed

if TYPE_CHECKING:
    from llm_runtime.gateway import Gateway


class OpenRouterClient:
    """The model calls of one run.

    Args:
        generate: answers requests.
        emit: hears which model stood in for another.
        session_id: groups the calls of the run at the provider, unless a call names its own.
    """

    def __init__(self, generate: Generate, emit: Emit, session_id: str | None = None) -> None:
        self._generate = generate
        self._emit = emit
        self._session_id = session_id

    async def call_openrouter(
        self, model: str, messages: Sequence[Message], session_id: str | None = None, *, label: CallLabel,
        fallbacks: Sequence[str] = (), schema: str | None = None, grammar: str | None = None,
    ) -> str:  # fmt: skip
        """Ask once and return the text; below this call the runtime keeps the whole record of it.

        Args:
            model: the model to ask.
            messages: the conversation, oldest first.
            session_id: overrides the run's.
            label: where the call stands in the deliberation.
            fallbacks: who is asked, in order, where ``model`` is not known.
            schema: the JSON schema of the answer, as text.
            grammar: a stricter one, for engines that decode by grammar.

        Raises:
            CallError: no model answered, or the answer has no text.
            BudgetExceeded, DeadlineExceeded, ReplayMismatch: as the runtime raises them.
        """
        named, texts, others = session_id or self._session_id, tuple(messages), tuple(fallbacks)
        request = Request(model, texts, label, others, schema=schema, session_id=named, grammar=grammar)
        return (await self.generate(request)).text

    async def generate(self, request: Request) -> Reply:
        """Answer a request as :meth:`call_openrouter` does; a model function of its own."""
        request = request if request.session_id else changed(request, session_id=self._session_id)
        try:
            return await self._answer(request)
        except ModelNotFound as fault:
            # A gateway that follows fallbacks, or asks what the user chose instead, has done all that can be done.
            asked, others = request.model, request.fallbacks
            if not others or fault.model not in ("", asked):
                raise
            self._emit(ModelSubstituted(label=str(request.label), asked=asked, used=others[0], reason="unknown model"))
            return await self.generate(replace(request, model=others[0], fallbacks=others[1:]))

    async def _answer(self, request: Request) -> Reply:
        try:
            reply = await self._generate(request)
        except (LlmRuntimeError, AssertionError):  # an assertion speaks of a bug, not of a model
            raise
        except Exception as fault:
            # An injected function fails in its own library's words; the executor knows only call errors.
            reason = " ".join(str(fault).split())[:300]
            raise CallError(f"{type(fault).__name__}: {reason}", model=request.model, label=request.label) from fault
        if not reply.text.strip():
            raise EmptyReply("the answer is empty", model=request.model, label=request.label)
        return reply


@dataclass(slots=True)
class _Shared:
    gateway: Gateway
    users: int = 0


class GatewayPool:
    """OpenRouter gateways, one for each event loop, each closed when its last user leaves.

    An engine may serve several ``asyncio.run`` in a row, and a connection must not outlive its loop.
    """

    def __init__(self, api_key: str, base_url: str | None, emit: Emit) -> None:
        self._api_key = api_key
        self._base_url = base_url
        self._emit = emit
        self._open: dict[asyncio.AbstractEventLoop, _Shared] = {}

    @asynccontextmanager
    async def lease(self) -> AsyncGenerator[Generate]:
        """Lend a model function that works until the block is left."""
        loop = asyncio.get_running_loop()
        shared = self._open.get(loop)
        if shared is None:
            shared = self._open[loop] = _Shared(self._connect())
        shared.users += 1
        try:
            yield shared.gateway.generate
        finally:
            shared.users -= 1
            if not shared.users and self._open.get(loop) is shared:
                await self.aclose()

    async def aclose(self) -> None:
        """Close the running loop's gateway now, whoever uses it."""
        shared = self._open.pop(asyncio.get_running_loop(), None)
        if shared is not None:
            await shared.gateway.aclose()

    def _connect(self) -> Gateway:
        # aiohttp costs more to import than all of this package.
        from pydantic import SecretStr

        from llm_runtime.gateway import openrouter

        return openrouter(SecretStr(self._api_key), self._base_url, self._emit)
