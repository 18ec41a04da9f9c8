"""An attempt by somebody's own agent: it works in the box by itself, and asks its model over the pipe.

Inspect's agent bridge reads and writes the wires; each question is one turn under the governor and out of the purse.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from importlib import resources
from typing import Any

import anyio
from inspect_ai._util.error import PrerequisiteError
from inspect_ai._util.exception import TerminateSampleError
from inspect_ai.agent import AgentState, SandboxAgentBridge
from inspect_ai.agent._bridge._errors import PROVIDER_ERROR_KEY, provider_error_payload
from inspect_ai.agent._bridge.sandbox import service
from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelOutput
from inspect_ai.tool import ToolChoice, ToolInfo
from inspect_ai.util import LimitExceededError
from typing_extensions import override

from ai_crucible.agents import PIPES, PROMPT, PROXY, SERVICES, SOCKET, AgentCommand
from ai_crucible.budget_governor import Governor, Halt
from ai_crucible.inspect_bridge import as_turn, paid, writable
from ai_crucible.roles import Recorder, Solver, sound_andon
from ai_crucible.types import AttemptState, Line
from llm_runtime.errors import BudgetExceeded, LlmRuntimeError
from sandbox import Box, Completed
from sandbox.boxes import HOME

#: Questions of one agent that are read or answered at one time, and bytes of one.
_AT_ONCE, _MOST = 8, 64 << 20
#: How long a box may take to end an agent; and its own limit, since waiting for a provider is no time of a solver's.
_GRACE_S, _LONGEST_S = 5.0, 86_400.0
_LAST_WORDS = 2000
#: What is no answer of a provider's; a wire may need a package that is not here.
_ENDS = (Halt, BudgetExceeded, LimitExceededError, TerminateSampleError, PrerequisiteError, ImportError)


class AgentFailed(LlmRuntimeError):
    """The agent's program ended before it had asked its model anything, so nothing was attempted."""


class AgentSolver(Solver):
    """Starts the agent, answers what it asks of its model, and ends it.

    Args:
        command: of the agent.
        box: one of an :class:`ai_crucible.agents.AgentOrder`.
        governor: the budget; an agent's own tools are not counted, its turns and its time are.
    """

    def __init__(self, command: AgentCommand, box: Box, governor: Governor) -> None:
        self._command, self._box, self._governor, self._name = command, box, governor, "agent"
        self._fault: Exception | None = None

    @override
    async def _work(self, state: AttemptState, record: Recorder) -> None:
        done = await self._carried_out(state, record)
        output = (done.stdout + done.stderr).decode("utf-8", "replace").strip()
        record("agent", code=done.code, ended=done.ended, output=output)
        if done.ended == "time":
            raise Halt("wall_clock", "its box has ended it")
        if self._fault is not None:
            raise self._fault
        why = f"limit of {done.ended}" if done.ended else f"exit status {done.code}"
        words = f"{why}: {' '.join(output[-300:].split())}"
        if not any(line.role == "assistant" for line in state.messages):
            raise AgentFailed(f"the agent ended before it asked its model anything ({words})")
        if done.code or done.ended:
            raise Halt("agent_died", words)
        state.submission, state.terminated_by = output[-_LAST_WORDS:], "submitted"

    async def _carried_out(self, state: AttemptState, record: Recorder) -> Completed:
        """Run the agent to its end, or to that of its budget.

        Raises:
            Halt: the time or the turns are up.
            BudgetExceeded, LimitExceededError: the purse or Inspect ends it.
            BoxDied: it did not let itself be ended.
        """
        prompt, governor = "\n\n".join(line.content for line in state.messages), self._governor
        program = resources.files("ai_crucible").joinpath("agent_box.py").read_text(encoding="utf-8")
        wanted = {"argv": self._command.words(prompt), "proxy": f"{PROXY}/inspect-sandbox-tools", "services": SERVICES}
        for name, text in {PROMPT: prompt, **self._command.files}.items():
            await self._box.write(f"{HOME}/{name}", text.encode())
        async with self._answering(state, record) as failed:
            running = asyncio.ensure_future(
                self._box.run(
                    ["python3", "-I", "-S", "-c", program, json.dumps(wanted)], stdin=prompt.encode(),
                    env=self._command.environment(), seconds=_LONGEST_S,
                )
            )  # fmt: skip
            try:
                while not running.done():
                    left = max(0.05, governor.budget.seconds - governor.seconds)
                    await asyncio.wait((running, failed), timeout=left, return_when=asyncio.FIRST_COMPLETED)
                    if failed.done():
                        failed.result()
                    governor.check_clock()
                return running.result()
            finally:
                if not failed.cancel():
                    failed.exception()
                with anyio.CancelScope(shield=True):
                    await asyncio.wait((running,), timeout=_GRACE_S)
                    # A box that does not come to its end is closed.
                    if not running.done():
                        await self._box.close()
                    await asyncio.gather(running, return_exceptions=True)

    @asynccontextmanager
    async def _answering(self, state: AttemptState, record: Recorder) -> AsyncGenerator[asyncio.Future[None]]:
        """Serve the pipe; what it gives fails with whatever has to end the attempt, and the agent ends with it."""
        failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        methods, turn, tasks = self._methods(state, record), asyncio.Semaphore(_AT_ONCE), set[asyncio.Task[Any]]()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if (task := asyncio.current_task()) is not None:
                tasks.add(task)
            try:
                async with turn:
                    data = bytearray()
                    while len(data) < _MOST and (part := await reader.read(1 << 16)):
                        data += part
                    asked = json.loads(data)
                    if asked["method"] == "wait":
                        await failed
                    answer = await _answer(methods[asked["method"]], asked["params"])
                    writer.write(json.dumps({"id": asked.get("id"), "result": answer}).encode())
                    await writer.drain()
            except _ENDS as fault:
                if not failed.done():
                    failed.set_exception(fault)
            except (asyncio.CancelledError, ValueError, TypeError, LookupError, OSError, RecursionError):
                pass  # whatever an agent writes there, it gets no answer
            finally:
                writer.close()

        place = PIPES[self._box] / SOCKET
        server = await asyncio.start_unix_server(serve, place)
        place.chmod(0o666)
        try:
            yield failed
        finally:
            server.close()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _methods(self, state: AttemptState, record: Recorder) -> dict[str, Callable[..., Awaitable[Any]]]:
        async def generate(
            model: Model, input: list[ChatMessage], tools: list[ToolInfo], choice: ToolChoice | None,
            config: GenerateConfig,
        ) -> ModelOutput:  # fmt: skip
            self._governor.begin_turn()
            try:
                output = await paid(model, [writable(message) for message in input], tools, self._name, config, choice)
            except Exception as fault:
                self._fault = fault
                raise
            self._fault = None
            said = as_turn(output)
            told = {"model": said.model, "input_tokens": said.input_tokens, "output_tokens": said.output_tokens}
            record("model_call", **told, calls=len(said.calls))
            state.messages.append(Line("assistant", said.text, said.calls))
            sound_andon(state, record, "after a turn")
            return output

        bridge = SandboxAgentBridge(AgentState(messages=[]), generate, None, None, 0, None)
        return {
            "generate_completions": service.generate_completions(bridge),
            "generate_responses": service.generate_responses(None, None, bridge),
            "generate_anthropic": service.generate_anthropic(None, None, bridge),
            "generate_google": service.generate_google(None, None, bridge),
        }


async def _answer(method: Callable[..., Awaitable[Any]], params: Mapping[str, Any]) -> Any:
    """Ask the model; what its provider refuses goes to the agent, which may do better."""
    try:
        return await method(**params)
    except _ENDS:
        raise
    except Exception as fault:
        return {PROVIDER_ERROR_KEY: provider_error_payload(fault)}
