"""Calls that can wait: gathered, sent off together through a vendor's batch interface at half the price, and answered
when the vendor has got round to them, within a day.

It is a way over HTTP like any other: what makes a request and reads its answer does not know of it. A call whose batch
was sent off by an earlier process is not sent again: it takes the answer that comes there.
"""

from __future__ import annotations

import asyncio
import copy
import hashlib
import secrets
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from string import Template
from typing import Any, Protocol, TypeAlias
from urllib.parse import urlsplit

from pydantic import TypeAdapter
from pydantic_core import from_json, to_json

from llm_runtime.endpoints import Endpoint
from llm_runtime.errors import AnswerAwaited, CallError, LlmRuntimeError, MalformedReply, RequestRefused, ServerFault
from llm_runtime.http import Http
from llm_runtime.http.causes import STREAMED_STATUS
from llm_runtime.http.reading import Incoming, parse_json
from llm_runtime.http.shape import mapping, one_line, sequence, text
from llm_runtime.silence import HOSTED_PATIENCE, Patience
from llm_runtime.toml import own_table

#: What a call costs in a batch, beside one that is answered at once: of all four vendors.
BATCH_PRICE = 0.5
#: Most calls and bytes of one batch; vendors take 50,000 and 200 MB, but what comes back is read at once.
_MOST_CALLS = 10_000
_MOST_BYTES = 32 * 2**20
_MOST_READ = 256 * 2**20
#: Longest pause between two looks at a batch, in seconds.
_LOOK_S = 60.0
_Item: TypeAlias = tuple[int, Any]
"""What came back for a call: a status and a body of HTTP."""
#: What a vendor calls it that its batches hold too much together.
_TOO_MUCH = ("token_limit_exceeded", "batch_limit_exceeded")
_OF_STREAMS = ("stream", "stream_options")
#: An upload as a browser's form sends it.
_FORM = (
    b'--%(mark)b\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n--%(mark)b\r\nContent-Disposition: '
    b'form-data; name="file"; filename="batch.jsonl"\r\n\r\n%(lines)b\r\n--%(mark)b--\r\n'
)


@dataclass(frozen=True, slots=True)
class BatchApi:
    """A vendor's batch interface: a table of ``batches.toml``.

    Args:
        create: path that begins a batch.
        look: path that tells of one; ``cancel`` ends it.
        state: field of what ``look`` tells; the batch is over when it is one of ``ended``.
        content: path of what came back.
        body: what ``create`` is sent, as JSON; where empty, the requests themselves.
        upload: path that takes the requests as a file; empty where ``create`` takes them.
        files: fields that name the files of what came back.
        own_files: the vendor's files have another root than its models, and another header for the key.
    """

    create: str
    look: str
    cancel: str
    state: str
    ended: frozenset[str]
    content: str
    body: str = ""
    upload: str = ""
    files: tuple[str, ...] = ()
    own_files: bool = False


BATCH_APIS: Mapping[str, BatchApi] = TypeAdapter(dict[str, BatchApi]).validate_python(
    own_table("llm_runtime.providers", "batches.toml")
)


@dataclass(frozen=True, slots=True)
class SentBatch:
    """A batch that a vendor has.

    Args:
        provider: the endpoint's name.
        batch_id: the vendor's.
        calls: the calls in it, by ids of ours.
        state: the vendor's word.
    """

    provider: str
    batch_id: str
    calls: tuple[str, ...]
    state: str = ""


class SentBatches(Protocol):
    """Where batches under way are kept, so that whoever goes on finds their answers."""

    async def all(self) -> Sequence[SentBatch]:
        """Return those that were sent."""
        ...

    async def keep(self, sent: SentBatch) -> None:
        """Keep a new one, or the new state of one."""
        ...


class BatchedHttp(Http):
    """HTTP by which the calls to vendors with a batch interface wait for a batch; all else goes as ever.

    Args:
        kept: remembers what was sent.
        whose: names on whose behalf the current task asks: answers are given to nobody else.
        quiet: seconds without another call after which those that gathered are sent off.
    """

    def __init__(self, kept: SentBatches, whose: Callable[[], str], quiet: float) -> None:
        super().__init__(max_bytes=_MOST_READ)
        self._kept = kept
        self._whose = whose
        self._quiet = quiet
        self._lines: dict[tuple[Endpoint, str, str], _Line] = {}
        self._taken = set[str]()

    async def stream(
        self,
        endpoint: Endpoint,
        path: str,
        payload: dict[str, Any],
        incoming: Incoming,
        *,
        model: str,
        patience: Patience = HOSTED_PATIENCE,
    ) -> tuple[Any, str | None]:
        """Have ``payload`` answered in a batch, however long that takes; see :meth:`Http.stream`.

        Raises:
            AnswerAwaited: the task was cancelled while the vendor has the call.
        """
        if endpoint.name not in BATCH_APIS:
            return await super().stream(endpoint, path, payload, incoming, model=model, patience=patience)
        body = to_json({name: value for name, value in payload.items() if name not in _OF_STREAMS})
        line = self._lines.setdefault((endpoint, path, model), _Line(self, self._kept, endpoint, path, self._quiet))
        digest = hashlib.sha256(b"\0".join((self._whose().encode(), path.encode(), body))).hexdigest()[:48]
        number = 0
        while (call := f"{digest}-{number}") in self._taken:
            number += 1
        self._taken.add(call)
        try:
            status, answer = await line.ask(call, body)
        except asyncio.CancelledError:
            self._taken.discard(call)
            raise
        return self.read_answer(endpoint, model, status, answer)

    async def cancel(self) -> None:
        """Have vendors end the batches that are waited for."""
        for line in self._lines.values():
            await line.cancel()

    async def aclose(self) -> None:
        """Wait for no batch any more, but for those that are being sent, and close the connections."""
        for line in self._lines.values():
            await line.aclose()
        await super().aclose()


class _Line:
    """Calls to one model by one way: those that gather, and those that vendors have."""

    def __init__(self, http: Http, kept: SentBatches, endpoint: Endpoint, path: str, quiet: float) -> None:
        self._http, self._kept, self._endpoint, self._path, self._quiet = http, kept, endpoint, path, quiet
        self._api = BATCH_APIS[endpoint.name]
        self._gathered: dict[str, bytes] = {}
        self._size = 0
        self._timer: asyncio.TimerHandle | None = None
        self._most = _MOST_CALLS
        self._not_before = 0.0
        self._came: dict[str, _Item] = {}
        self._followed: dict[str, SentBatch] = {}
        self._answers: dict[str, asyncio.Future[_Item]] = {}
        self._sending = set[asyncio.Task[None]]()
        self._following = set[asyncio.Task[None]]()

    async def ask(self, call: str, body: bytes) -> _Item:
        """Return what comes back for a call, whoever sent it."""
        if call in self._came:
            return self._came.pop(call)
        answer = self._answers[call] = asyncio.get_running_loop().create_future()
        self._gather({call: body})
        try:
            return await answer
        except asyncio.CancelledError:
            if self._gathered.pop(call, None) is None:
                raise AnswerAwaited from None
            self._size -= len(body)
            raise
        finally:
            del self._answers[call]

    async def cancel(self) -> None:
        for sent in self._followed.values():
            with suppress(CallError):
                await self._http.get_bytes(self._endpoint, self._at(self._api.cancel, id=sent.batch_id), b"")

    async def aclose(self) -> None:
        # What is cut off while it is sent may be paid for, and nobody would find it again.
        await asyncio.gather(*self._sending, return_exceptions=True)
        for task in self._following:
            task.cancel()
        await asyncio.gather(*self._following, return_exceptions=True)

    def _gather(self, calls: Mapping[str, bytes]) -> None:
        """Have calls sent off once no other has come for a while, or there are enough of them."""
        self._gathered |= calls
        self._size += sum(map(len, calls.values()))
        if self._timer is not None:
            self._timer.cancel()
        loop = asyncio.get_running_loop()
        full = len(self._gathered) >= self._most or self._size >= _MOST_BYTES
        at = max(self._not_before, loop.time() + (0 if full else self._quiet))
        self._timer = loop.call_at(at, self._send_off)

    def _send_off(self) -> None:
        calls, size = dict[str, bytes](), 0
        while self._gathered and len(calls) < self._most and size < _MOST_BYTES:
            call = next(iter(self._gathered))
            calls[call] = self._gathered.pop(call)
            size += len(calls[call])
        self._size -= size
        if calls:
            _begin(self._send(calls), self._sending)
        if self._gathered:
            self._gather({})

    async def _send(self, calls: dict[str, bytes]) -> None:
        try:
            earlier = {call: sent for sent in await self._kept.all() for call in sent.calls if call in calls}
            for sent in earlier.values():
                self._begin_to_follow(sent, {})
            if new := {call: body for call, body in calls.items() if call not in earlier}:
                sent = SentBatch(self._endpoint.name, await self._create(new), tuple(new))
                await self._kept.keep(sent)
                self._begin_to_follow(sent, new)
        except LlmRuntimeError as error:
            self._fail(calls, error)

    def _begin_to_follow(self, sent: SentBatch, bodies: Mapping[str, bytes]) -> None:
        if sent.batch_id not in self._followed:
            self._followed[sent.batch_id] = sent
            _begin(self._follow(sent, bodies), self._following)

    async def _create(self, calls: Mapping[str, bytes]) -> str:
        """Begin a batch, and return the vendor's id of it."""
        known = {"url": f"/v1{self._path}", "model": str(mapping(from_json(next(iter(calls.values())))).get("model"))}
        if self._api.upload:
            known["file"] = await self._upload(calls, known["url"])
            written = {name: to_json(value).decode()[1:-1] for name, value in known.items()}
            body = from_json(Template(self._api.body).substitute(written))
        else:
            body = {"requests": [{"custom_id": call, "params": from_json(data)} for call, data in calls.items()]}
        job, _ = await self._http.post_json(self._endpoint, self._at(self._api.create), body, model=known["model"])
        if not (batch_id := text(mapping(job).get("id"))):
            raise self._malformed("a batch without an id")
        return batch_id

    async def _upload(self, calls: Mapping[str, bytes], url: str) -> str:
        lines = b"".join(
            b'{"custom_id":"%b","method":"POST","url":"%b","body":%b}\n' % (call.encode(), url.encode(), body)
            for call, body in calls.items()
        )
        if self._api.own_files:
            endpoint, data = self._files().with_header("Content-Type", "application/jsonl"), lines
            endpoint = endpoint.with_header("X-Goog-Upload-Protocol", "raw")
        else:
            mark = secrets.token_hex(16)
            endpoint = self._endpoint.with_header("Content-Type", f"multipart/form-data; boundary={mark}")
            data = _FORM % {b"mark": mark.encode(), b"lines": lines}
        answer = mapping(parse_json(await self._http.get_bytes(endpoint, self._api.upload, data))[0])
        if not (name := text(answer.get("id")) or text(mapping(answer.get("file")).get("name"))):
            raise self._malformed("a file without a name")
        return name

    def _files(self) -> Endpoint:
        """Return where the vendor's files are."""
        if not self._api.own_files:
            return self._endpoint
        parts, dialect = urlsplit(self._endpoint.base_url), self._endpoint.dialect
        root = f"{parts.scheme}://{parts.netloc}"
        return replace(self._endpoint, base_url=root, dialect=replace(dialect, auth="x-goog-api-key"))

    async def _follow(self, sent: SentBatch, bodies: Mapping[str, bytes]) -> None:
        """Look at a batch until it is over, and hand out what came back."""
        pause = self._quiet
        try:
            while True:
                await asyncio.sleep(min(pause, _LOOK_S))
                pause *= 2
                try:
                    sent, over = await self._look(sent, bodies)
                except LlmRuntimeError as error:
                    over = not (isinstance(error, CallError) and error.retryable)
                    self._fail(sent.calls if over else (), error)
                if over:
                    return
        finally:
            del self._followed[sent.batch_id]

    async def _look(self, sent: SentBatch, bodies: Mapping[str, bytes]) -> tuple[SentBatch, bool]:
        """Look once, and return how the batch stands and whether it is over."""
        job = mapping(await self._http.get_json(self._endpoint, self._at(self._api.look, id=sent.batch_id)))
        state = text(job.get(self._api.state))
        over = state in self._api.ended
        came = await self._came_back(job, sent) if over else {}
        if state != sent.state:
            sent = replace(sent, state=state)
            await self._kept.keep(sent)
        faults = _faults(job) if over and not came else []
        if over and not faults:
            self._hand_out(sent, came)
        elif over:
            await self._refused(sent, faults, bodies)
        return sent, over

    async def _refused(self, sent: SentBatch, faults: Sequence[Mapping[str, Any]], bodies: Mapping[str, bytes]) -> None:
        if len(bodies) > 1 and any(text(fault.get("code")) in _TOO_MUCH for fault in faults):
            # The vendor takes no more at once: smaller, and after a while; nobody is to wait for this one.
            await self._kept.keep(replace(sent, calls=()))
            self._most = max(1, len(bodies) // 2)
            self._not_before = asyncio.get_running_loop().time() + 30 * self._quiet
            self._gather({call: bodies[call] for call in sent.calls if call in self._answers})
            return
        why = one_line("; ".join(text(fault.get("message")) for fault in faults), 300)
        self._fail(
            sent.calls, RequestRefused(f"the batch {sent.batch_id} was refused: {why}", provider=self._endpoint.name)
        )

    async def _came_back(self, job: Mapping[str, Any], sent: SentBatch) -> dict[str, _Item]:
        came: dict[str, _Item] = {}
        # Without files there is one place where all of it is.
        for name in filter(None, map(text, map(job.get, self._api.files))) if self._api.files else ("",):
            path = self._at(self._api.content, id=sent.batch_id, file=name)
            for line in (await self._http.get_bytes(self._files(), path)).splitlines():
                row = mapping(parse_json(line)[0])
                if (item := _item(row)) is not None:
                    came[text(row.get("custom_id"))] = item
        return came

    def _hand_out(self, sent: SentBatch, came: Mapping[str, _Item]) -> None:
        words = f"its batch ended ({sent.state}) without an answer to this call; ask again"
        for call in sent.calls:
            answer = self._answers.get(call)
            if answer is None or answer.done():
                self._came |= {call: came[call]} if call in came else {}
            elif call in came:
                answer.set_result(came[call])
            else:
                answer.set_exception(ServerFault(words, provider=self._endpoint.name))

    def _fail(self, calls: Iterable[str], error: LlmRuntimeError) -> None:
        for call in calls:
            if (answer := self._answers.get(call)) is not None and not answer.done():
                # One each: what is told of an error on its way up belongs to one call.
                answer.set_exception(copy.copy(error))

    def _at(self, path: str, **known: str) -> str:
        return path.format(path=self._path, **known)

    def _malformed(self, what: str) -> MalformedReply:
        return MalformedReply(f"the answer is {what}; is this the right base URL?", provider=self._endpoint.name)


def _begin(work: Coroutine[Any, Any, None], among: set[asyncio.Task[None]]) -> None:
    task = asyncio.ensure_future(work)
    among.add(task)
    task.add_done_callback(among.discard)


def _item(row: Mapping[str, Any]) -> _Item | None:
    """Return what a line of a result says; ``None`` where the vendor never got round to the call."""
    result, response = mapping(row.get("result")), mapping(row.get("response"))
    if result.get("type") == "succeeded":
        return (200, result.get("message"))
    if result.get("type") == "errored":
        error = mapping(result.get("error"))
        kind = text(mapping(error.get("error")).get("type")) or text(error.get("type"))
        return (STREAMED_STATUS.get(kind, 500), error)
    status = response.get("status_code")
    return (status, response.get("body")) if isinstance(status, int) and status else None


def _faults(job: Mapping[str, Any]) -> list[dict[str, Any]]:
    errors = job.get("errors")
    return [mapping(error) for error in sequence(mapping(errors).get("data") or errors)]
