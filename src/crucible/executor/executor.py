"""The executor: short circuit, loops, convergence, synthesis, in this order."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TypeAlias

from crucible.config import DeltaStrategy, LoopGrammar
from crucible.events import LoopEnded, LoopStarted, ShortCircuited, Synthesised
from crucible.executor.council import CouncilRun, SeatedCouncil
from crucible.executor.delta import LLMJudgeDeltaStrategy
from crucible.executor.grammars.debate import debate_loop
from crucible.executor.grammars.parallel import parallel_loop
from crucible.executor.grammars.sequential import sequential_loop
from crucible.executor.synthesis import synthesize
from crucible.schemas import ExecutorResult, TriageOutput
from crucible.transcript import Loop, by_role
from llm_runtime.errors import CallError, LlmRuntimeError
from llm_runtime.messages import CallLabel, Message

Grammar: TypeAlias = Callable[[SeatedCouncil, Loop, Loop | None], Awaitable[None]]
"""One loop: the council, the loop, and the one before (``None`` in the first)."""

GRAMMARS: Mapping[LoopGrammar, Grammar] = {
    LoopGrammar.PARALLEL: parallel_loop,
    LoopGrammar.SEQUENTIAL: sequential_loop,
    LoopGrammar.DEBATE: debate_loop,
}

EARLIEST_EXIT = 2
"""No council ends before its second loop."""


class Executor:
    """Runs one triaged query; configuration is executed as it stands.

    Args:
        run: what its parts share.
    """

    def __init__(self, run: CouncilRun) -> None:
        self._run = run

    async def execute(self, triage: TriageOutput, user_query: str) -> ExecutorResult:
        """Answer ``user_query``.

        Raises:
            CouncilFailed: too few seats answer, or the red team does not.
            CallError: the short circuit or the synthesis failed.
        """
        if triage.is_simple:
            return await self._short_circuit(triage)
        await self._deliberate(triage)
        response = await synthesize(self._run, triage, user_query)
        return self._finish(response, early_exit=len(self._run.transcript.loops) < triage.loop_count)

    async def _short_circuit(self, triage: TriageOutput) -> ExecutorResult:
        self._run.emit(ShortCircuited())
        asked = [Message("system", triage.synthesis_instruction), Message("user", triage.reconstructed_query)]
        label, model = CallLabel("crucible", "answer"), self._run.config.default_model
        return self._finish(await self._run.client.call_openrouter(model, asked, label=label), early_exit=True)

    async def _deliberate(self, triage: TriageOutput) -> None:
        council = SeatedCouncil(triage, self._run)
        run_loop = GRAMMARS[triage.loop_grammar]
        prior: Loop | None = None
        for loop in range(1, triage.loop_count + 1):
            self._run.emit(LoopStarted(loop=loop, of=triage.loop_count, grammar=triage.loop_grammar.value))
            current = self._run.transcript.loops[loop]
            await run_loop(council, current, prior)
            changed, judged, note = await self._compare(triage, prior, current)
            self._run.emit(LoopEnded(loop=loop, delta_detected=changed, judged=judged, note=note))
            if not changed:
                break
            prior = current

    async def _compare(self, triage: TriageOutput, prior: Loop | None, current: Loop) -> tuple[bool, bool, str]:
        """Tell whether the loop changed anything, whether that was judged, and why not.

        It is asked only where the answer can end the deliberation.
        """
        loop = current.number
        if prior is None or not triage.allow_early_exit or not EARLIEST_EXIT <= loop < triage.loop_count:
            return True, False, ""
        try:
            changed = await self._strategy(loop).detect(by_role(prior.positions), by_role(current.positions))
        except Exception as fault:
            if isinstance(fault, LlmRuntimeError) and not isinstance(fault, CallError):
                raise
            return True, False, f"{type(fault).__name__}: {fault}"
        return bool(changed), True, ""

    def _strategy(self, loop: int) -> DeltaStrategy:
        return self._run.config.delta_strategy or LLMJudgeDeltaStrategy(
            self._run.client, CallLabel("crucible", "delta", round=loop), self._run.seed
        )

    def _finish(self, response: str, *, early_exit: bool) -> ExecutorResult:
        loops = len(self._run.transcript.loops)
        trace = self._run.transcript.trace(kept=False) if self._run.config.observability else None
        self._run.emit(Synthesised(text=response, loops_executed=loops, early_exit=early_exit))
        return ExecutorResult(
            final_response=response, loops_executed=loops, early_exit=early_exit, reasoning_trace=trace
        )
