"""A council as an Inspect model: ``--model assay/crucible/MODEL``, in any Inspect evaluation.

The conversation is put to a council as one question. Tools are offered by the text protocol, so a council can work
in an agent's loop too. Nothing is opened, read or checked until the first question: Inspect makes this object more
often than it uses it.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from inspect_ai._util.working import report_sample_waiting_time
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageTool,
    GenerateConfig,
    ModelAPI,
    ModelOutput,
    ModelUsage,
)
from inspect_ai.tool import ToolChoice, ToolInfo
from typing_extensions import override

from ai_crucible.inspect_bridge import to_calls
from ai_crucible.purse import PURSE
from ai_crucible.text_protocol import describe_tools
from assay.protocol import load
from llm_runtime.errors import ConfigurationError
from llm_runtime.messages import CallLabel, Generate, Reply, Request
from llm_runtime.prompts import Fence, load_prompt
from llm_runtime.tool_calls import ToolSpec, parse_call
from llm_runtime.wrappers.metered import Meter

if TYPE_CHECKING:
    from llm_runtime.settings import Settings

_ANY = "openrouter/auto"


class CouncilAPI(ModelAPI):
    """Answers with Crucible. Under a cap its gateway holds, for each call of each seat, what that may take.

    Args:
        model_name: ``crucible/MODEL``, a council with MODEL (``PROVIDER:MODEL``, a base URL, an id) in every seat,
            or ``single/MODEL``, one call under the same roof, to compare with. Without MODEL, what is configured.
        seed: 0 to 2^53-1, so that the same conversation makes the same requests; drawn where left out.
        model_function: any model function in place of the gateway, as in tests.
    """

    #: It asks the trial's purse by itself.
    keeps_to_purse = True

    def __init__(
        self, model_name: str, base_url: str | None = None, api_key: str | None = None,
        config: GenerateConfig | None = None, seed: int | None = None, model_function: Generate | None = None,
        **model_args: Any,
    ) -> None:  # fmt: skip
        super().__init__(model_name, base_url, api_key, [], config or GenerateConfig())
        kind, _, model = model_name.removeprefix("assay/").partition("/")
        self.kind, self.model = kind, model
        self.seed = secrets.randbelow(2**53) if seed is None else seed
        self._function = model_function
        self._gateways: dict[int, Any] = {}
        self._turn: dict[int, asyncio.Lock] = {}

    @override
    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        """One answer of the council; its usage is the sum over all its calls."""
        if self.kind not in ("crucible", "single"):
            raise ConfigurationError(
                f"there is no model assay/{self.kind}; there are assay/crucible/MODEL and assay/single/MODEL"
            )
        meter = Meter(_out_of_purse(await self._generate()))
        question = as_question(input, tools, self.seed)
        text = await (self._council(meter, question) if self.kind == "crucible" else self._single(meter, question))
        return self._output(text, bool(tools), len(input), meter)

    async def _council(self, meter: Meter, question: str) -> str:
        models = {"triage_model": self.model, "default_model": self.model} if self.model else {}
        return await load("assay.protocols.crucible.council:hold")(question, meter, self.seed, **models)

    async def _single(self, meter: Meter, question: str) -> str:
        from llm_runtime.messages import Message

        label = CallLabel("ai_crucible", "single")
        model = self.model or _ANY
        began = time.monotonic()
        reply = await meter(Request(model, (Message("user", question),), label, seed=self.seed))
        # Back-off, the limit on calls at one time and the purse are no time of the solver's.
        if (waited := time.monotonic() - began - reply.latency_ms / 1000) > 0:
            report_sample_waiting_time(waited)
        return reply.text

    async def _generate(self) -> Generate:
        if self._function is not None:
            return self._function
        loop = id(asyncio.get_running_loop())
        async with self._turn.setdefault(loop, asyncio.Lock()):
            if loop not in self._gateways:
                from llm_runtime.gateway import Gateway

                purse = PURSE.get()
                gateway = Gateway(self._settings(), budget=purse.budget if purse else None)
                await gateway.ready(self.model or _ANY)
                self._gateways[loop] = gateway
        return cast(Generate, self._gateways[loop].generate)

    def _settings(self) -> Settings:
        from llm_runtime.settings import load_settings

        settings = load_settings()
        if not self.model:
            return settings
        # The model of the name is the one that answers, whatever is configured for other runs: logs speak of it.
        return replace(settings, config=settings.config.model_copy(update={"model": self.model, "seats": {}}))

    @override
    async def aclose(self) -> None:
        """Close the connections."""
        for gateway in self._gateways.values():
            await gateway.aclose()
        self._gateways.clear()

    def _output(self, text: str, with_tools: bool, number: int, meter: Meter) -> ModelOutput:
        model = f"assay/{self.model_name.removeprefix('assay/')}"
        output = ModelOutput.from_content(model=model, content=text)
        calls = parse_call(text, number) if with_tools else ()
        if calls:
            message = ChatMessageAssistant(content=text, source="generate", model=model, tool_calls=to_calls(calls))
            output.choices[0].message = message
            output.choices[0].stop_reason = "tool_calls"
        output.usage = ModelUsage(
            input_tokens=meter.input_tokens,
            output_tokens=meter.output_tokens,
            total_tokens=meter.input_tokens + meter.output_tokens,
            total_cost=None if meter.cost is None else meter.cost / 1_000_000,
        )
        output.metadata = {"calls": meter.calls, "models": dict(sorted(meter.models.items()))}
        return output


def _out_of_purse(generate: Generate) -> Generate:
    """Make each call out of the trial's purse, where there is one."""

    async def call(request: Request) -> Reply:
        purse = PURSE.get()
        return await (purse.patiently(lambda: generate(request)) if purse else generate(request))

    return call


def as_question(messages: list[ChatMessage], tools: list[ToolInfo], seed: int) -> str:
    """Write a conversation as one question, each turn behind a fence of its own."""
    fenced: list[str] = []
    for number, message in enumerate(messages):
        fence = Fence(seed, CallLabel("ai_crucible", "council", message.role, round=number))
        text = message.text
        if isinstance(message, ChatMessageTool) and message.error is not None:
            text = f"{text}\nerror: {message.error.message}".strip()
        if isinstance(message, ChatMessageAssistant) and message.tool_calls and "```tool" not in text:
            text += "".join(f"\n[called {call.function} {call.arguments}]" for call in message.tool_calls)
        fenced.append(fence(message.role.upper(), text))
    specs = [
        ToolSpec(tool.name, tool.description, tool.parameters.model_dump(mode="json", exclude_none=True))
        for tool in tools
    ]
    prompt = partial(load_prompt, "assay.protocols.ai_crucible.inspect")
    offered = describe_tools(specs) if specs else prompt("no_tools").render()
    return prompt("council").render(conversation="\n\n".join(fenced), tools=offered)
