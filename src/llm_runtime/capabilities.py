"""What a model can do, measured by a few small calls: speed, JSON, the form asked for, reasoning, window, slots."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field, replace
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, Field

from llm_runtime.errors import (
    BadFinish,
    BudgetExceeded,
    CallError,
    ContextExceeded,
    EmptyReply,
    LlmRuntimeError,
    Moderated,
    ReplyFiltered,
    ReplyTruncated,
    StructuredOutputError,
)
from llm_runtime.messages import CallLabel, Delta, Effort, Generate, Message, Reply, Request
from llm_runtime.structs import Struct
from llm_runtime.structured import parse, schema_text
from llm_runtime.toml import own_table

Grade: TypeAlias = Literal["ok", "weak", "no", "unknown"]

#: What :func:`measure` may take at the most; a needle takes one window of tokens more.
MOST_CALLS = 8
MOST_TOKENS = 3_000
#: A needle is looked for in no more than this, however much a model reads.
LONGEST_NEEDLE = 16_000
_ANSWER_TOKENS = 260
#: Characters that certainly fill a token, in plain English: a needle must not overflow the window by itself.
_CHARACTERS_A_TOKEN = 3
_CODE = "heron-4417"


#: A model that failed so has answered all the same.
_ANSWERED = (ReplyTruncated, EmptyReply, ReplyFiltered, BadFinish, ContextExceeded, Moderated)


class _Colour(BaseModel):
    name: Annotated[str, Field(max_length=20)]
    warm: bool


class _Colours(BaseModel):
    colours: Annotated[list[_Colour], Field(min_length=3, max_length=3)]


class _Country(BaseModel):
    capital: str
    island: bool
    rivers: list[str]


class Probe(Struct):
    """One small question whose answer shows one thing.

    Args:
        name: what it shows.
        text: the question.
        max_tokens: bound of its answer.
        schema: the form of the answer, sent with the request and not said in words.
        judge: reads the answer: how good it is, and what was seen.
    """

    name: str
    text: str
    judge: Callable[[str], tuple[Grade, str]]
    max_tokens: int = _ANSWER_TOKENS
    schema: str | None = None

    def request(self, model: str) -> Request:
        """Return the call that asks it."""
        label = CallLabel("check", self.name)
        return Request(model, (Message("user", self.text),), label, max_tokens=self.max_tokens, schema=self.schema)


class Capability(Struct):
    """One thing that was measured: how good it is, in words, and in figures."""

    name: str
    grade: Grade
    detail: str
    figures: Mapping[str, float] = field(default_factory=dict[str, float])


class Capabilities(Struct):
    """What a model can do.

    Args:
        model: as the provider names it.
        provider: the endpoint's name.
        calls: that were sent.
        tokens: in and out, of all of them.
        findings: in the order in which they are shown.
    """

    model: str
    provider: str
    calls: int
    tokens: int
    findings: tuple[Capability, ...]

    def of(self, name: str) -> Capability:
        """Return a finding; one of grade ``"unknown"`` where nothing of that name was measured."""
        return next((one for one in self.findings if one.name == name), Capability(name, "unknown", "not measured"))


class Watch:
    """Sees each answer come, piece by piece: give it to the gateway as ``on_delta``, and to :func:`measure`."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.first: dict[str, float] = {}
        self.last: dict[str, float] = {}
        self.reasoned: set[str] = set()

    def __call__(self, request: Request, delta: Delta) -> None:
        """Note when a piece came, and of what kind."""
        if delta.kind == "progress":
            return
        phase, now = request.label.phase, self.clock()
        self.first.setdefault(phase, now)
        self.last[phase] = now
        if delta.kind == "reasoning":
            self.reasoned.add(phase)


class _Asked(Struct):
    """How a probe went: its reply, whole or cut, or what went wrong."""

    probe: Probe
    began: float
    ended: float
    reply: Reply | None
    fault: LlmRuntimeError | None

    @property
    def tokens(self) -> int:
        return self.reply.usage.output_tokens if self.reply else 0


def _form(answer: str) -> tuple[Grade, str]:
    lines = [line.strip() for line in answer.strip().splitlines() if line.strip()]
    if len(lines) != 3:
        return "weak", f"asked for three lines, it wrote {len(lines)}"
    if not all(line.startswith("- ") for line in lines):
        return "weak", 'asked to begin each line with "- ", it did not'
    return "ok", "three lines, as asked"


def _free(answer: str) -> tuple[Grade, str]:
    try:
        _, repaired = parse(answer, _Country)
    except StructuredOutputError as fault:
        return "no", str(fault)
    return ("weak", "broken, and could be repaired") if repaired else ("ok", "valid")


def _enforced(answer: str) -> tuple[Grade, str]:
    try:
        parse(answer, _Colours, repair=False)
    except StructuredOutputError as fault:
        return "no", f"a schema is not kept: {fault}"
    return "ok", "a schema that comes with the request is kept"


def _decision(answer: str) -> tuple[Grade, str]:
    first = answer.strip().lstrip("*_\"'`# ").split(maxsplit=1)
    if first and first[0].strip(".,:;!*_\"'`").upper() in ("YES", "NO"):
        return "ok", "the word asked for comes first"
    return "weak", "asked for YES or NO first"


def _needle(answer: str) -> tuple[Grade, str]:
    return ("ok", "found") if _CODE in answer.lower() else ("weak", "not found")


def _probe(name: str, judge: Callable[[str], tuple[Grade, str]], schema: str | None = None) -> Probe:
    """Return the probe of a row of ``capabilities.toml``."""
    return Probe(name, judge=judge, schema=schema, **_QUESTIONS[name])


_QUESTIONS = own_table("llm_runtime", "capabilities.toml")
_COUNT = _probe("speed", lambda _: ("ok", ""))
_FORM = _probe("instructions", _form)
_FREE = _probe("free JSON", _free)
_ENFORCED = _probe("enforced JSON", _enforced, schema_text(_Colours))
_DECISION = _probe("decision", _decision)


async def measure(
    generate: Generate, watch: Watch, *, model: str = "openrouter/auto", window: int | None = None,
    slots: int | None = None, long: bool = False,
) -> Capabilities:  # fmt: skip
    """Find out what a model can do, in at most :data:`MOST_CALLS` calls and about :data:`MOST_TOKENS` tokens.

    Args:
        generate: asks the model.
        watch: the same that ``generate`` tells of the pieces of each answer.
        model: the id that is asked for, where no configuration names another.
        window: tokens that the model reads at the most, where that is known.
        slots: calls that the server works on at once, where that is known.
        long: look for a needle in a prompt as long as the window, and of 16,000 tokens at the most.

    Raises:
        CallError: the first call found no model that answers.
    """

    def ask(probe: Probe, effort: Effort | None = None) -> Awaitable[_Asked]:
        return _ask(generate, watch, replace(probe.request(model), effort=effort), probe)

    count = await ask(_COUNT)
    if isinstance(count.fault, CallError) and not isinstance(count.fault, _ANSWERED):
        raise count.fault
    # What a model thinks before a short answer is bounded like the answer; thinking little leaves room for it.
    effort: Effort | None = "low" if _reasoning(count, watch) else None
    form, free = await asyncio.gather(ask(_FORM, effort), ask(_FREE, effort))
    enforced, decision = [await ask(probe, effort) for probe in (_ENFORCED, _DECISION)]
    needle = [await ask(_hidden(window), effort)] if long else []
    asked = [count, form, free, enforced, decision, *needle]
    replies = [one.reply for one in asked if one.reply]
    findings = (
        _speed(count, watch),
        *(_judged(one, watch) for one in (enforced, free, form, decision)),
        _thinking(asked, watch),
        _counting(replies),
        _window(window, needle[0] if needle else None, watch),
        _at_once(form, free, watch, slots),
    )
    tokens = sum(reply.usage.input_tokens + reply.usage.output_tokens for reply in replies)
    calls = sum(reply.attempts for reply in replies) + sum(not one.reply for one in asked)
    first = replies[0] if replies else None
    return Capabilities(first.model if first else "", first.provider if first else "", calls, tokens, findings)


async def _ask(generate: Generate, watch: Watch, request: Request, probe: Probe) -> _Asked:
    began = watch.clock()
    try:
        reply, fault = await generate(request), None
    except (BudgetExceeded, CallError) as error:
        reply, fault = error.partial if isinstance(error, CallError) else None, error
    return _Asked(probe, began, watch.clock(), reply, fault)


def _judged(asked: _Asked, watch: Watch) -> Capability:
    name = asked.probe.name
    if isinstance(asked.fault, ReplyTruncated):
        if _reasoning(asked, watch):
            return Capability(name, "unknown", f"{asked.tokens} tokens went into reasoning before an answer came")
        return Capability(name, "no", f"the answer had not ended after {asked.probe.max_tokens} tokens")
    if isinstance(asked.fault, BudgetExceeded):
        return Capability(name, "unknown", "not measured: the tokens of the check are used up")
    if asked.reply is None or asked.fault:
        return Capability(name, "no", str(asked.fault))
    return Capability(name, *asked.probe.judge(asked.reply.text))


def _reasoning(asked: _Asked, watch: Watch) -> bool:
    return asked.probe.name in watch.reasoned or bool(asked.reply and asked.reply.usage.reasoning_tokens)


def _speed(asked: _Asked, watch: Watch) -> Capability:
    if not asked.tokens:
        return Capability("speed", "no", str(asked.fault or "no text came"))
    first = watch.first.get("speed")
    # Where the answer comes in one piece there is only the whole of it to go by.
    start = asked.began if first is None or first >= asked.ended else first
    pace = asked.tokens / max(asked.ended - start, 0.001)
    figures = {"tokens_per_second": round(pace, 2)}
    words = f"{pace:.1f} tokens a second"
    if first is None:
        return Capability("speed", "ok", f"{words}; the answer comes in one piece", figures)
    wait = first - asked.began
    figures |= {"first": round(wait, 2)}
    return Capability("speed", "ok", f"first token after {wait:.1f} s, then {words}", figures)


def _thinking(asked: list[_Asked], watch: Watch) -> Capability:
    reasoning = [one for one in asked if _reasoning(one, watch)]
    if not reasoning:
        return Capability("reasoning", "ok", "none before its answers", {"tokens": 0})
    spent = sum(one.reply.usage.reasoning_tokens for one in reasoning if one.reply)
    words = f"in {len(reasoning)} of {len(asked)} answers"
    if spent:
        words += f", {spent} of {sum(one.tokens for one in asked)} tokens"
    return Capability("reasoning", "ok", f"{words}; allow long answers", {"tokens": spent})


def _counting(replies: list[Reply]) -> Capability:
    if replies and not any(reply.usage.estimated for reply in replies):
        return Capability("usage", "ok", "reported")
    return Capability("usage", "weak", "not reported, so estimated")


def _hidden(window: int | None) -> Probe:
    """Return a question whose answer stands near the beginning of a prompt as long as the window."""
    tokens = min(window or LONGEST_NEEDLE, LONGEST_NEEDLE) - _ANSWER_TOKENS
    sentence = "In the year {} the harbour town kept its usual hours, and nothing was written down. "
    count = tokens * _CHARACTERS_A_TOKEN // len(sentence.format(1000))
    lines = [sentence.format(1000 + number) for number in range(max(count, 2))]
    lines.insert(max(count // 10, 1), f"The code word of the harbour is {_CODE}. ")
    question = "\nWhat is the code word of the harbour? Answer with the code word alone."
    return Probe("window", "".join(lines) + question, _needle, max_tokens=100)


def _window(window: int | None, asked: _Asked | None, watch: Watch) -> Capability:
    figures: dict[str, float] = {} if window is None else {"tokens": window}
    reads = "not known" if window is None else f"{window:,} tokens"
    if asked is None:
        return Capability("window", "unknown" if window is None else "ok", f"{reads}; measured with --long", figures)
    result = _judged(asked, watch)
    if asked.reply is None:
        return Capability("window", "no", f"{reads}; {asked.fault}", figures)
    read = asked.reply.usage.input_tokens
    if (first := watch.first.get("window")) is not None and first > asked.began:
        figures["prompt_tokens_per_second"] = round(read / (first - asked.began), 1)
    return Capability("window", result.grade, f"{reads}; a needle in {read:,} tokens: {result.detail}", figures)


def _at_once(one: _Asked, other: _Asked, watch: Watch, slots: int | None) -> Capability:
    """Tell by the order of their pieces whether two answers were written at the same time."""
    if slots is not None:
        return Capability("at once", "ok", f"{slots} calls", {"slots": slots})
    names = one.probe.name, other.probe.name
    if any(name not in watch.first for name in names):
        return Capability("at once", "unknown", "not seen: the answers come in one piece")
    overlap = all(watch.first[name] < watch.last[peer] for name, peer in (names, names[::-1]))
    return Capability("at once", "ok", "2 calls or more" if overlap else "1 call", {"slots": 2 if overlap else 1})
