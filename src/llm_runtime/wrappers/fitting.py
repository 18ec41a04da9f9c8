"""Prompts that fit: what is too long is refused before it is sent, and what a server cut silently is noticed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import TYPE_CHECKING

from llm_runtime.errors import ContextExceeded, PromptTruncated
from llm_runtime.messages import Generate, Reply, Request
from llm_runtime.tokens import characters_of, estimate_input, estimate_tokens, least_input, least_tokens
from llm_runtime.vision import picture_tokens
from llm_runtime.wrappers.amending import amending

if TYPE_CHECKING:
    from llm_runtime.windows import Capacity

#: Models that read less than this many tokens keep a tenth of them for the answer.
SMALL_WINDOW = 16_384
#: Room for an answer that larger ones must have at least, in tokens.
LEAST_ANSWER = 1_024
#: A hosted model is asked for its window only where a prompt is longer than this, in tokens: all read as much.
LOOK_UP_FROM = 8_000
#: A server that counts fewer tokens than this share of what was expected has not read the whole prompt.
CUT_SHARE = 0.7

#: Characters of a token: so few at the least, and as usual, before a model has shown its own measure.
_DENSE, _USUAL = 2.0, 4.0
#: Of an estimate, what is sure enough to refuse a prompt for.
_SURE = 0.85
#: So many tokens beside the words may be reasoning, or what a server put before a prompt; more are counted wrong.
_UNSEEN = 500_000
_ENOUGH_CHARACTERS = 2_000
_BLOCK = 1_024
_MOST_BLOCKS = 50_000


@dataclass(eq=False, repr=False)
class Reading:
    """How one model reads: its window, and how many characters it takes for a token.

    Args:
        provider: the endpoint's name.
        local: the model runs on this machine, where windows are small.
        capacity: asks what is known of it; called once.
        count: lets its own tokenizer count a prompt, where it has one.
    """

    provider: str
    _: KW_ONLY
    local: bool
    capacity: Callable[[], Awaitable[Capacity]]
    count: Callable[[Request], Awaitable[int | None]]
    _characters: int = field(default=0, init=False)
    _tokens: int = field(default=0, init=False)
    _sent: set[int] = field(default_factory=set[int], init=False)

    async def fitted(self, request: Request) -> Request:
        """Return the request with a bound on its answer that fits beside the prompt.

        Raises:
            ContextExceeded: there is no room for prompt and answer; nothing was sent.
        """
        characters = characters_of(request)
        if not self.local and characters < LOOK_UP_FROM * _USUAL:
            return request
        window = (await self.capacity()).window
        if window is None:
            return request
        # What follows counts texts.
        window -= picture_tokens(request.model, request.pictures)
        small = window < SMALL_WINDOW
        share = min(window // 10 if small else LEAST_ANSWER, request.max_tokens or window)
        prompt = self._estimate(request, characters)
        if max(_most(request, characters), prompt) + max(share, request.max_tokens or 0) > window:
            counted = await self.count(request)
            sure = max(int(prompt * _SURE), least_input(request)) if counted is None else counted
            prompt = prompt if counted is None else counted
            if sure + share > window:
                raise self._too_long(request, sure, window, share, exact=counted is not None)
        room = max(window - prompt, share)
        if request.max_tokens is None:
            return replace(request, max_tokens=min(room, max(window // 2, share))) if small else request
        return replace(request, max_tokens=room) if request.max_tokens > room else request

    async def read(self, request: Request, reply: Reply) -> Reply:
        """Learn from what the server counted, and return the answer, with a note where that was too little.

        Raises:
            PromptTruncated: its window is known, and smaller than the prompt.
        """
        new = self._new_characters(request) if self.local else None
        usage = reply.usage
        if usage.estimated or not usage.input_tokens:
            return reply
        if cut_short(request, usage.input_tokens + usage.cached_tokens, new):
            seen = f"the server read {usage.input_tokens} tokens of a prompt of about {estimate_input(request)}"
            window = (await self.capacity()).window
            if window is None or window > estimate_input(request):
                return _noted(reply, f"{seen}, or counted them wrong")
            advice = "load the model with a larger context, or shorten the prompt"
            why, whose = f"{seen}, and it reads {window} at the most; {advice}", reply.request_id
            error = PromptTruncated(why, provider=self.provider, model=request.model, request_id=whose)
            error.partial = reply
            raise error
        characters = characters_of(request)
        if characters >= _ENOUGH_CHARACTERS and not request.pictures:
            self._characters, self._tokens = self._characters + characters, self._tokens + usage.input_tokens
        return reply

    def _estimate(self, request: Request, characters: int) -> int:
        """Return the tokens of a prompt's texts by the characters that this model has taken for one so far."""
        return int(characters * self._tokens / self._characters) if self._characters else (characters + 3) // 4

    def _too_long(self, request: Request, asked: int, window: int, share: int, *, exact: bool) -> ContextExceeded:
        tokens = f"{asked}" if exact else f"at least {asked}"
        error = ContextExceeded(
            f"the prompt has {tokens} tokens and the model reads {window}, {share} of them kept for the answer; "
            "shorten it, or choose a model with a larger window",
            provider=self.provider,
            model=request.model,
        )
        error.asked, error.window = asked, window
        return error

    def _new_characters(self, request: Request) -> int:
        """Return the characters that follow what this model was sent before: some servers count only those."""
        whole = "\n".join(message.content for message in request.messages)
        key, known = 0, 0
        for start in range(0, len(whole) - _BLOCK, _BLOCK):
            key = hash((key, whole[start : start + _BLOCK]))
            if key in self._sent and known == start:
                known = start + _BLOCK
            self._sent.add(key)
        if len(self._sent) > _MOST_BLOCKS:
            self._sent.clear()
        # What stands in the last block may have been sent too.
        return max(0, len(whole) - known - _BLOCK) if known else len(whole)


def fitting(generate: Generate, reading: Reading) -> Generate:
    """Send only prompts that ``reading`` has room for, and take only answers to whole ones."""

    async def call(request: Request) -> Reply:
        request = await reading.fitted(request)
        return await reading.read(request, await generate(request))

    return call


def counted(generate: Generate) -> Generate:
    """Take a count of tokens that the words of prompt or answer do not allow for none: the estimate stands in, marked.

    So no cap believes it. Local servers may count only what their cache lacked, see :class:`Reading`.
    """

    def plausible(request: Request, reply: Reply) -> Reply:
        usage, expected = reply.usage, estimate_tokens(reply.text)
        if usage.estimated:
            return reply
        asked, beyond = usage.input_tokens, usage.input_tokens > 4 * estimate_input(request) + _UNSEEN
        if usage.cached_tokens > asked or beyond or cut_short(request, asked):
            reply = _booked(reply, "a prompt", input_tokens=estimate_input(request))
        least = min(CUT_SHARE * expected, 0.95 * least_tokens(reply.text))
        if not least <= usage.output_tokens <= 4 * expected + _UNSEEN:
            reply = _booked(reply, "an answer", output_tokens=expected)
        return reply

    return amending(generate, plausible)


def _booked(reply: Reply, what: str, **counts: int) -> Reply:
    [(name, expected)] = counts.items()
    seen = f"the provider counted {getattr(reply.usage, name)} tokens of {what} of about {expected}; that is booked"
    usage = replace(reply.usage, **counts, estimated=True)
    cached, thought = min(usage.cached_tokens, usage.input_tokens), min(usage.reasoning_tokens, usage.output_tokens)
    return replace(_noted(reply, seen), usage=replace(usage, cached_tokens=cached, reasoning_tokens=thought))


def _noted(reply: Reply, note: str) -> Reply:
    return replace(reply, repairs=(*reply.repairs, note))


def cut_short(request: Request, input_tokens: int, new_characters: int | None = None) -> bool:
    """Tell whether a server that counted so many tokens cannot have read the whole prompt.

    A token is four characters of prose; but of numbers in columns or of long words it is more. So it must also be
    fewer tokens than there are words, which no tokenizer joins.

    Args:
        request: what was sent.
        input_tokens: what the server counted, those from a cache included.
        new_characters: of the prompt, those that the server had not been sent before.
    """
    expected = estimate_input(request)
    # Words are counted only where characters leave a doubt.
    if input_tokens >= CUT_SHARE * expected or input_tokens >= 0.95 * (least := least_input(request)):
        return False
    part = 1.0 if new_characters is None else new_characters / max(1, characters_of(request))
    return input_tokens < CUT_SHARE * expected * part and input_tokens < 0.95 * least * part


def _most(request: Request, characters: int) -> int:
    """Return how many tokens a prompt may take at the most, as texts go."""
    beyond = sum(len(message.content.encode("utf-8", "replace")) for message in request.messages) - characters
    return int(characters / _DENSE) + beyond // 2 + 16 * len(request.messages) + 32
