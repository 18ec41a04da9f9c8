"""What the top floor needs of Inspect for trials: logs read back, prices, an attempt's use, a scripted model."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ai_crucible.trace_writer import SOURCE, attempts_of, sample_digest
from ai_crucible.types import AttemptRecord, TraceEvent
from llm_runtime.errors import ConfigurationError
from llm_runtime.pricing import PriceTable
from llm_runtime.routing import parse_model
from llm_runtime.structs import Struct

if TYPE_CHECKING:
    from inspect_ai.log import EvalSample
    from inspect_ai.model import ChatMessage, Model, ModelOutput
    from inspect_ai.tool import ToolInfo

Step: TypeAlias = "tuple[str, dict[str, Any]] | str"
"""What a scripted solver does in one turn: a tool call, or a text without one."""


_OURS = re.compile(r"assay/(?:crucible|single)(?:/(.+))?")
_NO_PRICE = (
    "no price is known for {name}, so --max-cost cannot hold; add it to prices.toml (see: assay models --prices), "
    "or leave --max-cost out"
)
_MARKUP = re.compile(r"\[/?[a-z][a-z0-9 #_=.-]*\]|\[/\]")


class Said(Struct):
    """One message of an attempt as the log has it."""

    role: str
    text: str


class LoggedAttempt(Struct):
    """An attempt with everything that its log tells.

    Args:
        trial: the trial's id.
        record: the attempt in figures.
        prompt: the messages that it began with.
        words: what the solver said in each of its turns; empty where it only called a tool.
        events: what the kernel saw, in order.
        digest: SHA-256 of the sample as it is read now, made as the ledger's was, in hex.
        began: when, as ISO 8601.
        puzzle_digest: SHA-256 of the puzzle's files as they were given, in hex.
    """

    trial: str
    record: AttemptRecord
    prompt: tuple[Said, ...]
    words: tuple[str, ...]
    events: tuple[TraceEvent, ...]
    digest: str
    began: str
    puzzle_digest: str = ""


def read_log(path: Path, trial: str) -> list[LoggedAttempt]:
    """Return the attempts of a log, in its order.

    Raises:
        ConfigurationError: the file is no log of Inspect's.
    """
    from inspect_ai.log import read_eval_log

    try:
        log = read_eval_log(str(path))
        whole = read_eval_log(str(path), resolve_attachments="full")
    except Exception as fault:
        raise ConfigurationError(f"{path.name} cannot be read as an Inspect log: {type(fault).__name__}") from None
    samples = zip(attempts_of(log), log.samples or [], whole.samples or [], strict=True)
    return [_attempt(trial, record, sample, whole) for record, sample, whole in samples]


def _attempt(trial: str, record: AttemptRecord, sample: EvalSample, whole: EvalSample) -> LoggedAttempt:
    ours = [event for event in whole.events if event.event == "info" and event.source == SOURCE]
    first = [message for message in whole.messages if message.role in ("system", "user")][:2]
    return LoggedAttempt(
        trial,
        record,
        tuple(Said(message.role, message.text) for message in first),
        tuple(message.text for message in whole.messages if message.role == "assistant"),
        tuple(TraceEvent.model_validate(event.data) for event in ours),
        sample_digest(sample),
        str(sample.started_at or ""),
        str((sample.metadata or {}).get("puzzle_digest", "")),
    )


def tell_price(model: str, prices: PriceTable) -> None:
    """Let Inspect know a model's price where our table has one, so that a cap in USD can hold.

    What answers through our gateway is priced there; here it is only refused early where nobody knows its price.

    Args:
        model: as Inspect names it.
        prices: our table.

    Raises:
        ConfigurationError: nobody knows a price.
    """
    if (ours := _OURS.fullmatch(model)) is None:
        _tell_inspect(model, prices)
        return
    target = parse_model(ours[1] or "")
    # OpenRouter lists its prices itself; the gateway reads them, and refuses what is not there.
    if target and target.provider != "openrouter" and prices.find(target.provider, target.model) is None:
        raise ConfigurationError(_NO_PRICE.format(name=ours[1]))


def _tell_inspect(model: str, prices: PriceTable) -> None:
    from inspect_ai.model import ModelCost, ModelInfo, get_model_info, set_model_info

    provider, _, bare = model.partition("/")
    price = prices.find(provider, model) or prices.find(provider, bare)
    known = get_model_info(model)
    if price is not None:
        # Cached input is billed at most as fresh input is, so the cap errs on the safe side.
        cost = ModelCost(
            input=price.input, output=price.output, input_cache_write=price.input, input_cache_read=price.input
        )
        set_model_info(model, known.model_copy(update={"cost": cost}) if known else ModelInfo(cost=cost))
    elif known is None or known.cost is None:
        raise ConfigurationError(_NO_PRICE.format(name=model))


@contextmanager
def inspect_faults() -> Generator[None]:
    """Turn what Inspect says of a setup that cannot work into one line of ours.

    Raises:
        ConfigurationError: a model or a price is missing, or a provider's package or key.
    """
    from inspect_ai._util.error import PrerequisiteError

    try:
        yield
    except PrerequisiteError as fault:
        reason = " ".join(_MARKUP.sub("", str(fault.message)).split())
        raise ConfigurationError(reason or "Inspect cannot run this") from None
    except (ValueError, ModuleNotFoundError) as fault:
        if isinstance(fault, ModuleNotFoundError) and (fault.name or "").split(".")[0] == "inspect_ai":
            raise
        raise ConfigurationError(f"Inspect cannot run this: {' '.join(str(fault).split())[:400]}") from None


def used_by_this_attempt() -> tuple[int, float]:
    """Tokens and US dollars of the attempt that is being graded; asked from within it."""
    from inspect_ai.model._model import sample_total_cost
    from inspect_ai.util import sample_limits

    # Its limit on cost counts only what Inspect priced itself, and not what a provider reports of its own calls.
    return int(sample_limits().token.usage), sample_total_cost()


def scripted_model(name: str, script: Callable[[str, int], Step], seconds: float = 0.0) -> Model:
    """Make a model that plays a script, in Inspect's own mock provider.

    Args:
        name: how reports call it.
        script: the attempt's first message from the user and the 0-based turn in, the step out.
        seconds: how long each answer takes.
    """
    import asyncio

    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.tool import ToolChoice

    async def answer(input: list[ChatMessage], tools: list[ToolInfo], choice: ToolChoice, config: Any) -> ModelOutput:
        turn = sum(message.role == "assistant" for message in input)
        step = script(next(message.text for message in input if message.role == "user"), turn)
        if seconds:
            await asyncio.sleep(seconds)
        if isinstance(step, str):
            output = ModelOutput.from_content(name, step)
        else:
            output = ModelOutput.for_tool_call(name, *step)
        # Without usage Inspect would count tokens itself, with tables that it downloads.
        asked = sum(len(message.text) for message in input) // 4
        written = len(str(step)) // 4
        output.usage = ModelUsage(input_tokens=asked, output_tokens=written, total_tokens=asked + written)
        return output

    return get_model(f"mockllm/{name}", custom_outputs=answer, memoize=False)
