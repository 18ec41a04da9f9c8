"""What came of one attempt so far, in pieces or at once; and the reply, or the error, that it makes."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from typing import Any

from pydantic_core import from_json

from llm_runtime.errors import (
    BadFinish,
    BadReply,
    CallError,
    ConnectionCut,
    EmptyReply,
    MalformedReply,
    ReplyFiltered,
    ReplyRepeats,
    ReplyTruncated,
)
from llm_runtime.http.causes import Called, error_in_reply
from llm_runtime.http.failures import read_failure
from llm_runtime.http.reading import REPEATS
from llm_runtime.http.secrets import Redactor
from llm_runtime.http.shape import mapping, one_line, sequence
from llm_runtime.loops import Loops
from llm_runtime.messages import Delta, OnDelta, Reply, Request, Usage, unwatched
from llm_runtime.providers._thinking import Kind, ThinkingSplit, opened_by_the_prompt
from llm_runtime.tokens import estimate_input, estimate_tokens

_WHOLE = frozenset({"stop", "end_turn", "stop_sequence", "eos", "eos_token"})
_TRUNCATED = frozenset({"length", "max_tokens", "model_context_window_exceeded"})
_FILTERED = frozenset({"content_filter", "refusal"})
_ID_CHARACTERS = 120
_NO_SECRETS = Redactor(())


class Answer:
    """What a provider has sent for one request; each dialect fills it in its own way.

    Args:
        request: what was asked.
        provider: the endpoint's name.
        redactor: takes the endpoint's key out of everything that leaves here.
        on_delta: told of each piece.

    Attributes:
        model: the one that answers, as the provider names it.
        identity: the id that stands in the answer itself, where no header names one.
        finish: why the answer ended, in the provider's word; empty while it has not.
        error: the error object that came in place of the answer, or within it.
        refused: the model refused in the provider's own terms.
        malformed: why what came is no answer of this dialect; empty where it is one.
        usage: what the provider counted; ``None`` where it did not.
        cost: micro-dollars, where the provider names them.
        size: characters so far, reasoning included.
        done: nothing that comes belongs to the answer.
    """

    #: The dialect streams one JSON value a line, not server-sent events.
    lines = False

    def __init__(
        self, request: Request, provider: str, redactor: Redactor = _NO_SECRETS, on_delta: OnDelta = unwatched
    ) -> None:
        self.request = request
        self.provider = provider
        self.model = ""
        self.identity = ""
        self.finish = ""
        self.error: Any = None
        self.refused = False
        self.malformed = ""
        self.usage: Usage | None = None
        self.cost: int | None = None
        self.size = 0
        self.done = False
        self._redactor = redactor
        self._watch = None if on_delta is unwatched else _Watch(request, redactor, on_delta)
        self._text = StringIO()
        self._reasoning = StringIO()
        self._split: ThinkingSplit | None = ThinkingSplit()
        self._loops = Loops()

    def add(self, name: bytes, data: Any) -> None:
        """Take in one event of a stream: the name that the server gave it, and its parsed data."""
        raise NotImplementedError

    def read(self, body: Any) -> None:
        """Take in a whole answer."""
        raise NotImplementedError

    def take(self, name: bytes, data: Any) -> None:
        """Take in one event of a stream, or the error in its place, whatever its key."""
        self.add(name, data)
        nothing = not (self.size or self.model or self.identity or self.finish or self.usage or self.done)
        if nothing and read_failure(data, 200).words:
            self.error, self.done = data, True

    def whole(self, body: Any) -> None:
        """Take in a whole answer, or the error in its place, whatever its key."""
        self.read(body)
        self.end()
        if self.malformed and read_failure(body, 200).words:
            self.error = body

    def sent(self) -> None:
        """Note that the request is on its way: whoever watches hears of progress without tokens."""
        self.progress(0)

    def progress(self, tokens: int) -> None:
        """Note how much of the prompt the model has read."""
        if self._watch is not None:
            self._watch.progress(tokens)

    def say(self, piece: str) -> None:
        """Take in a piece of the text; a leading ``<think>`` in it is reasoning."""
        split = self._split
        if split is None:
            self._take("text", piece)
            return
        for kind, part in split.feed(piece):
            self._take(kind, part)
        if split.state == "text":
            self._split = None

    def think(self, piece: str) -> None:
        """Take in a piece of the reasoning."""
        self._take("reasoning", piece)

    def _take(self, kind: Kind, piece: str) -> None:
        self.size += len(piece)
        self._loops.read(piece)
        (self._text if kind == "text" else self._reasoning).write(piece)
        if self._watch is not None:
            self._watch.hear(kind, piece, self.size)

    @property
    def loops(self) -> bool:
        """The answer ends in one passage, said again and again."""
        return self._loops.found

    def end(self) -> None:
        """Note that nothing follows: what waited for more is passed on."""
        if self._split is not None:
            for kind, part in self._split.close():
                self._take(kind, part)
        if self._watch is not None:
            self._watch.flush()

    def reply(self, request_id: str | None, *, status: int = 200) -> Reply:
        """Return the reply.

        Raises:
            BadReply: any of its kinds; what came is its ``partial``.
            ConnectionCut: a stream ended without saying why.
            CallError: an error object came whose code means one.
        """
        request_id = request_id or self._own_id()
        if self.error is not None and not (self.finish in _WHOLE and self._text.tell()):
            # A clean copy, since a traceback may show this frame.
            found, begun = self._redactor.data(self.error), bool(self.size or self.usage or self.identity)
            raise self.cut(error_in_reply(found, begun=begun, **self.called(request_id)))
        reply = self._reply(request_id)
        problem = self._problem(reply)
        if problem is None:
            return reply
        kind, words = problem
        raise self.cut(kind(words, status=status, **self.called(request_id)))

    def called(self, request_id: str | None = None) -> Called:
        """Return which call an error of it is of."""
        return {"provider": self.provider, "model": self.request.model, "request_id": request_id}

    def cut(self, error: CallError) -> CallError:
        """Return ``error`` with what came before it as its ``partial``, where anything came."""
        if error.partial is None and (self.size or self.usage is not None):
            # By its own id the provider can be asked about it.
            error.partial = self._reply(self._own_id() or error.request_id)
        return error

    def _own_id(self) -> str | None:
        return one_line(self._redactor.text(self.identity), _ID_CHARACTERS) or None

    def _reply(self, request_id: str | None) -> Reply:
        text, reasoning = self._clean(self._text), self._clean(self._reasoning)
        repairs: tuple[str, ...] = ()
        if not reasoning:
            reasoning, text = opened_by_the_prompt(text)
        if not text.strip() and self.finish in _WHOLE and _is_the_answer(reasoning, self.request.schema):
            text, repairs = reasoning.strip(), ("the answer stood in the reasoning",)
        if self.error is not None:
            words = read_failure(self._redactor.data(self.error), 200).words
            repairs = (*repairs, f"an error stood beside the answer: {words or 'without a message'}")
        usage = self.usage
        if usage is None or not self.finish:
            # What a cut stream has counted so far may be what it began with.
            tokens = estimate_tokens(text) + (0 if repairs else estimate_tokens(reasoning))
            counted = usage or Usage(estimate_input(self.request), 0)
            usage = replace(counted, output_tokens=max(tokens, counted.output_tokens), estimated=True)
        finish = one_line(self._redactor.text(self.finish))
        return Reply(
            text=text,
            model=one_line(self._redactor.text(self.model)) or self.request.model,
            provider=self.provider,
            usage=usage,
            finish_reason="stop" if finish in _WHOLE else finish or "cut",
            cost=self.cost,
            cost_source="unknown" if self.cost is None else "provider",
            request_id=request_id,
            repairs=repairs,
        )

    def _clean(self, sink: StringIO) -> str:
        text = self._redactor.text(sink.getvalue())
        if self.finish not in _WHOLE:
            text = self._redactor.cut(text)
        return text if text.isascii() else _paired(text)

    def _problem(self, reply: Reply) -> tuple[type[BadReply | ConnectionCut], str] | None:
        if self.malformed:
            return MalformedReply, self.malformed
        if not self.finish:
            return ConnectionCut, "the stream ended before the answer did; try again"
        if self.finish in _TRUNCATED and self.loops:
            return ReplyRepeats, REPEATS
        if self.finish in _TRUNCATED:
            return ReplyTruncated, f"the answer was cut by its token limit{self._thought(reply)}"
        if self.refused or self.finish in _FILTERED:
            return ReplyFiltered, "the provider filtered the answer; rephrase or choose another model"
        if self.finish not in _WHOLE:
            return BadFinish, f"the provider ended the answer with {reply.finish_reason!r}; try again"
        if not reply.text.strip():
            return EmptyReply, f"the answer holds no text{self._thought(reply)}"
        return None

    def _thought(self, reply: Reply) -> str:
        """Return how much of an answer without text was reasoning, and what to do about it."""
        whole = reply.usage.output_tokens
        # Without a count of its own, all that came was reasoning, since no text did.
        thought = reply.usage.reasoning_tokens or (whole if self._reasoning.tell() else 0)
        if reply.text.strip() or not thought:
            return "; allow more tokens or ask for less"
        return f": {thought} of {whole} tokens were reasoning; allow more tokens or less effort"


def _is_the_answer(reasoning: str, schema: str | None) -> bool:
    """Tell whether a server has put the object that was asked for where the reasoning stands, and nothing else.

    Whoever asked validates it in full.
    """
    if schema is None or not reasoning.lstrip().startswith("{"):
        return False
    try:
        data = from_json(reasoning)
    except ValueError:
        return False
    form = mapping(from_json(schema))
    properties = mapping(form.get("properties"))
    whole = all(name in data for name in sequence(form.get("required")))
    return whole and (not properties or data.keys() <= properties.keys())


def _paired(text: str) -> str:
    """Join the halves of a character that a stream brought in two events; a half alone becomes U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


class _Watch:
    """Passes the pieces of an answer on, but nothing that may be the beginning of a key."""

    __slots__ = ("_held", "_kind", "_on_delta", "_redactor", "_request", "_size")

    def __init__(self, request: Request, redactor: Redactor, on_delta: OnDelta) -> None:
        self._request = request
        self._redactor = redactor
        self._on_delta = on_delta
        self._held = ""
        self._kind: Kind = "text"
        self._size = 0

    def progress(self, tokens: int) -> None:
        self._on_delta(self._request, Delta("progress", tokens=tokens))

    def hear(self, kind: Kind, piece: str, size: int) -> None:
        if kind != self._kind:
            self.flush()
            self._kind = kind
        self._size = size
        piece = self._redactor.text(self._held + piece)
        safe = len(piece) - self._redactor.held(piece)
        self._held = piece[safe:]
        self._tell(piece[:safe])

    def flush(self) -> None:
        held, self._held = self._held, ""
        self._tell(self._redactor.cut(held))

    def _tell(self, piece: str) -> None:
        if piece:
            self._on_delta(self._request, Delta(self._kind, piece, (self._size + 3) // 4))
