"""The public adapter: one query in, one result out."""

from __future__ import annotations

import asyncio
import hashlib
import secrets
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Self

from crucible.config import EngineConfig
from crucible.events import Triaged
from crucible.executor.council import CouncilRun
from crucible.executor.executor import Executor
from crucible.openrouter.client import GatewayPool, OpenRouterClient
from crucible.schemas import ExecutorResult
from crucible.transcript import CouncilTranscript
from crucible.triage.agent import Inquiry, TriageAgent
from llm_runtime.errors import ConfigurationError
from llm_runtime.events import Emit, silent, tee
from llm_runtime.messages import Generate

_SEED_LIMIT = 2**53


class CouncilEngine:
    """What both forms of the engine share: a configuration, connections, and who hears the story.

    A run outside ``async with`` opens and closes its own connections; inside, they are kept until the end.

    Args:
        config: key, models and options; copied, so that later changes to it do not reach the engine.
        emit: hears every event of every run.
        seed: 0 to 2^53-1, for a run that must build the same requests again; ``None`` draws one for each run.
    """

    def __init__(self, config: EngineConfig, *, emit: Emit = silent, seed: int | None = None) -> None:
        self._config = config.model_copy()
        self._emit = emit
        self._fixed_seed = seed
        self._pool = GatewayPool(config.openrouter_api_key, config.base_url, emit)
        self._kept = AsyncExitStack()

    async def aclose(self) -> None:
        """Close what this event loop holds open. A later run opens it again."""
        await self._kept.aclose()
        await self._pool.aclose()

    async def __aenter__(self) -> Self:
        await self._kept.enter_async_context(self._model())
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.aclose()

    @asynccontextmanager
    async def _model(self) -> AsyncGenerator[Generate]:
        if self._config.generate is not None:
            yield self._config.generate
            return
        async with self._pool.lease() as generate:
            yield generate

    def _seed(self) -> int:
        return secrets.randbelow(_SEED_LIMIT) if self._fixed_seed is None else self._fixed_seed


class Crucible(CouncilEngine):
    """The engine of the brief. Each run is independent; one engine may serve many at once, in any event loop."""

    async def run(self, query: str, context: dict[str, Any] | None = None) -> ExecutorResult:
        """Put ``query`` to a council.

        Args:
            query: anything, up to 1 MiB of UTF-8.
            context: data for triage only, as JSON up to 1 MiB; the council does not see it.

        Raises:
            InputError: query or context cannot be used; nothing was asked. Exit code 2.
            TriageError: triage gave no usable configuration; ``raw`` holds its answer. Exit code 6.
            CouncilFailed: the red team or too many seats gave no answer. Exit code 4.
            CallError: triage, short circuit or synthesis failed. Exit code 4.
            BudgetExceeded, DeadlineExceeded: as the model function raises them; the run ends at once.
        """
        inquiry = Inquiry.read(query, context)
        seed, transcript = self._seed(), CouncilTranscript()
        emit = tee(self._emit, transcript.apply)
        async with self._model() as generate:
            client = OpenRouterClient(generate, emit, session_id(seed))
            triage = await TriageAgent(client, self._config, seed, emit).configure(inquiry)
            emit(Triaged(triage=triage))
            return await Executor(CouncilRun(self._config, client, transcript, emit, seed)).execute(triage, query)

    def run_sync(self, query: str, context: dict[str, Any] | None = None) -> ExecutorResult:
        """Do what :meth:`run` does, for code without an event loop.

        Raises:
            ConfigurationError: there is a running event loop; also all that :meth:`run` raises.
        """
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            pass
        else:
            raise ConfigurationError("run_sync was called in a running event loop; use: await engine.run(query)")
        return asyncio.run(self.run(query, context))


def session_id(seed: int) -> str:
    """Return one id for the calls of a run, the same in a replay; the seed cannot be read from it."""
    return "crucible-" + hashlib.sha256(f"session|{seed}".encode()).hexdigest()[:16]
