"""The executor: short circuit, loops, convergence, synthesis, in this order."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from crucible.config import ComplexityDomain, DeltaStrategy, EngineConfig, LoopGrammar
from crucible.events import LoopEnded, LoopStarted, ShortCircuited, Synthesised
from crucible.executor.council import LoopOutcome, SeatedCouncil
from crucible.executor.delta import LLMJudgeDeltaStrategy
from crucible.executor.grammars.debate import debate_loop
from crucible.executor.grammars.parallel import parallel_loop
from crucible.executor.grammars.sequential import sequential_loop
from crucible.executor.synthesis import synthesize
from crucible.openrouter.client import OpenRouterClient
from crucible.red_team.prompts import system_prompt
from crucible.schemas import ExecutorResult, LoopRecord, TriageOutput
from llm_runtime.errors import CallError, LlmRuntimeError
from llm_runtime.events import Emit
from llm_runtime.messages import CallLabel, Message

Grammar: TypeAlias = Callable[[SeatedCouncil, int, LoopOutcome | None], Awaitable[LoopOutcome]]
"""One loop: the council, the loop's 1-based number, and what the loop before left (``None`` in the first)."""

GRAMMARS: Mapping[LoopGrammar, Grammar] = {
    LoopGrammar.PARALLEL: parallel_loop,
    LoopGrammar.SEQUENTIAL: sequential_loop,
    LoopGrammar.DEBATE: debate_loop,
}

EARLIEST_EXIT = 2
"""No council ends before its second loop."""


@dataclass(frozen=True, slots=True)
class _Judgment:
    changed: bool
    judged: bool
    note: str = ""


class Executor:
    """Runs one triaged query; configuration is executed as it stands.

    Args:
        config: models, observability and delta strategy.
        client: makes the calls.
        emit: hears the story of the run.
        seed: the run's.
    """

    def __init__(self, config: EngineConfig, client: OpenRouterClient, emit: Emit, seed: int) -> None:
        self._config = config
        self._client = client
        self._emit = emit
        self._seed = seed

    async def execute(self, triage: TriageOutput, user_query: str) -> ExecutorResult:
        """Answer ``user_query``.

        Raises:
            CouncilFailed: too few seats answer, or the red team does not.
            CallError: the short circuit or the synthesis failed.
        """
        if triage.short_circuit_allowed and triage.complexity is ComplexityDomain.SIMPLE:
            return await self._short_circuit(triage)
        trace: list[LoopRecord] | None = [] if self._config.observability else None
        outcomes = await self._deliberate(triage, trace)
        response = await synthesize(
            self._client, self._config.default_model, triage, user_query, outcomes, self._seed
        )
        return self._finish(response, len(outcomes), len(outcomes) < triage.loop_count, trace)

    async def _short_circuit(self, triage: TriageOutput) -> ExecutorResult:
        self._emit(ShortCircuited())
        response = await self._client.call_openrouter(
            self._config.default_model,
            [Message("system", triage.synthesis_instruction), Message("user", triage.reconstructed_query)],
            label=CallLabel("crucible", "answer"),
        )
        return self._finish(response, 0, True, [] if self._config.observability else None)

    async def _deliberate(self, triage: TriageOutput, trace: list[LoopRecord] | None) -> list[LoopOutcome]:
        council = SeatedCouncil(
            triage,
            red_team_prompt=system_prompt(triage.red_team_flavor),
            default_model=self._config.default_model,
            client=self._client,
            emit=self._emit,
            seed=self._seed,
            models=self._config.models,
        )
        run_loop = GRAMMARS[triage.loop_grammar]
        outcomes: list[LoopOutcome] = []
        for loop in range(1, triage.loop_count + 1):
            self._emit(LoopStarted(loop=loop, of=triage.loop_count, grammar=triage.loop_grammar.value))
            prior = outcomes[-1] if outcomes else None
            outcome = await run_loop(council, loop, prior)
            outcomes.append(outcome)
            judgment = await self._compare(triage, loop, prior, outcome)
            self._emit(
                LoopEnded(loop=loop, delta_detected=judgment.changed, judged=judgment.judged, note=judgment.note)
            )
            if trace is not None:
                trace.append(
                    LoopRecord(
                        loop_number=loop,
                        council_responses=outcome.by_role(),
                        red_team_critique="\n\n".join(outcome.critiques),
                        delta_detected=judgment.changed,
                    )
                )
            if not judgment.changed:
                break
        return outcomes

    async def _compare(
        self, triage: TriageOutput, loop: int, prior: LoopOutcome | None, current: LoopOutcome
    ) -> _Judgment:
        """Tell whether the loop changed anything, asked only where the answer can end the deliberation."""
        if prior is None or not triage.allow_early_exit or not EARLIEST_EXIT <= loop < triage.loop_count:
            return _Judgment(changed=True, judged=False)
        try:
            changed = await self._strategy(loop).detect(prior.by_role(), current.by_role())
        except Exception as fault:
            if isinstance(fault, LlmRuntimeError) and not isinstance(fault, CallError):
                raise
            return _Judgment(changed=True, judged=False, note=f"{type(fault).__name__}: {fault}")
        return _Judgment(changed=bool(changed), judged=True)

    def _strategy(self, loop: int) -> DeltaStrategy:
        return self._config.delta_strategy or LLMJudgeDeltaStrategy(
            self._client, CallLabel("crucible", "delta", round=loop), self._seed
        )

    def _finish(
        self, response: str, loops: int, early_exit: bool, trace: list[LoopRecord] | None
    ) -> ExecutorResult:
        self._emit(Synthesised(text=response, loops_executed=loops, early_exit=early_exit))
        return ExecutorResult(
            final_response=response, loops_executed=loops, early_exit=early_exit, reasoning_trace=trace
        )
