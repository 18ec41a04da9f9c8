"""The methods of a comparison as solvers of Inspect: any task, any model, at equal spend where that is wanted."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping
from typing import Any

from inspect_ai.log import read_eval_log_async
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.solver import Generate, Solver, TaskState

from ai_crucible.inspect_bridge import inspect_model_function
from assay.protocol import load
from assay.protocols.compare.methods import METHODS, Bench
from assay.protocols.compare.spending import USUALLY, Outlay
from assay.protocols.compare.tasks import Question, final_answer
from llm_runtime.errors import ConfigurationError
from llm_runtime.events import silent
from llm_runtime.wrappers.metered import Meter

#: Under which a sample's log holds what its answer took.
PLACE = "assay"


class _Sample(Question):
    """A sample as it is: its task says what form an answer has, and whoever solves it whether there is a vote."""

    vote: bool = True

    @property
    def marked(self) -> bool:
        """Whether answers are counted, and not read and summed up."""
        return self.vote

    @property
    def asked(self) -> str:
        """The question."""
        return self.question

    def said(self, text: str) -> str:
        """Return the answer where the task may have any form for it: an ``ANSWER:`` line, else the last line."""
        return final_answer(text) if self.vote else text


class _Spends:
    """What another method spent on each sample, from its log, which is read when the first sample is solved."""

    def __init__(self, log: str) -> None:
        self._log, self._reading = log, asyncio.Lock()
        self._by_sample: Mapping[tuple[str, int], Outlay] | None = None

    async def _read(self) -> Mapping[tuple[str, int], Outlay]:
        try:
            samples = (await read_eval_log_async(self._log)).samples or []
        except Exception as fault:
            raise ConfigurationError(f"{self._log} cannot be read as an Inspect log: {type(fault).__name__}") from None
        noted = {(str(sample.id), sample.epoch): sample.store.get(PLACE) for sample in samples}
        return {place: Outlay.model_validate(one["taken"]) for place, one in noted.items() if one and "taken" in one}

    async def of(self, state: TaskState) -> Outlay:
        """Return what was spent on a sample.

        Raises:
            ConfigurationError: the log does not say.
        """
        async with self._reading:
            known = self._by_sample = await self._read() if self._by_sample is None else self._by_sample
        if (spent := known.get((str(state.sample_id), state.epoch))) is None:
            raise ConfigurationError(
                f"{self._log} does not say what sample {state.sample_id}, epoch {state.epoch}, took; it must be "
                "a log of the same task with one of Assay's solvers"
            )
        return spent


def solving(method: str, *, samples: int = 1, like: str = "", vote: bool = True, seed: int | None = None) -> Solver:
    """Return a solver.

    Args:
        method: one of those that :data:`METHODS` names.
        samples: of methods that draw some, where ``like`` is empty.
        like: an Inspect log of the same task: each sample may take what it took there.
        vote: whether answers of samples are counted by their last line; else they are read and summed up.
        seed: 0 to 2^53-1; drawn where left out.
    """
    drawn = secrets.randbelow(2**53) if seed is None else seed
    spends = _Spends(like) if like else None

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        if state.tools:
            raise ConfigurationError(
                f"assay/{method} answers in text alone; for a task with tools take the model assay/crucible/MODEL"
            )
        usual = get_model()
        meter = Meter(inspect_model_function(usual))
        bench = Bench(drawn, samples, silent, against=await spends.of(state) if spends else None, exchange=USUALLY)
        question = _Sample(id=f"{state.sample_id}-{state.epoch}", question=_text_of(state, drawn), vote=vote)
        answered = await METHODS[method](question, meter, bench)
        state.output = ModelOutput.from_content(str(usual), answered.text)
        state.output.usage = ModelUsage(
            input_tokens=meter.input_tokens, output_tokens=meter.output_tokens, total_tokens=meter.tokens
        )
        state.messages.append(state.output.message)
        noted: dict[str, Any] = {
            "method": method,
            "calls": meter.calls,
            "tokens": meter.tokens,
            "cost": meter.cost,
            "taken": Outlay.of(meter).model_dump(),
            "samples": answered.samples,
            "seed": drawn,
        }
        state.store.set(PLACE, noted)
        return state

    return solve


def _text_of(state: TaskState, seed: int) -> str:
    """Return a conversation as a question; one message is its own."""
    if len(state.messages) == 1:
        return state.messages[0].text
    return load("assay.protocols.ai_crucible.inspect.council:as_question")(state.messages, [], seed)
