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
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from string import Template
from typing import Any, NoReturn, TypeAlias
from urllib.parse import urlsplit

from pydantic import TypeAdapter
from pydantic_core import from_json, to_json

from llm_runtime.endpoints import Endpoint
from llm_runtime.errors import CallError, LlmRuntimeError, MalformedReply, RequestRefused, ServerFault
from llm_runtime.http import Http
from llm_runtime.http.causes import STREAMED_STATUS
from llm_runtime.http.reading import Incoming, parse_json
from llm_runtime.http.shape import mapping, one_line, sequence, text
from llm_runtime.silence import HOSTED_PATIENCE, Patience
from llm_runtime.structs import Struct
from llm_runtime.tasks import AnswerAwaited
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
_OWN_UPLOAD = {"Content-Type": "application/jsonl", "X-Goog-Upload-Protocol": "raw"}
#: An upload as a browser's form sends it.
_FORM = (
    b'--%(mark)b\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n--%(mark)b\r\nContent-Disposition: '
    b'form-data; name="file"; filename="batch.jsonl"\r\n\r\n%(lines)b\r\n--%(mark)b--\r\n'
)


class BatchApi(Struct):
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


class SentBatch(Struct):
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


Kept: TypeAlias = Callable[[], Awaitable[Sequence[SentBatch]]]
Keep: TypeAlias = Callable[[SentBatch], Awaitable[None]]


class BatchedHttp(Http):
    """HTTP by which the calls to vendors with a batch interface wait for a batch; all else goes as ever.

    Args:
        kept: returns the batches that were sent, so that whoever goes on finds their answers.
        keep: keeps a new one, or the new state of one.
        whose: names on whose behalf the current task asks: answers are given to nobody else.
        quiet: seconds without another call after which those that gathered are sent off.
    """

    def __init__(self, kept: Kept, keep: Keep, whose: Callable[[], str], quiet: float) -> None:
        super().__init__(max_bytes=_MOST_READ)
        self._whose = whose
        self._line_to = partial(_Line, self, kept, keep, quiet)
        self._lines: dict[tuple[Endpoint, str, str], _Line] = {}
        self._taken = set[str]()

    async def stream(
        self, endpoint: Endpoint, path: str, payload: dict[str, Any], incoming: Incoming, *, model: str,
        patience: Patience = HOSTED_PATIENCE,
    ) -> tuple[Any, str | None]:  # fmt: skip
        """Have ``payload`` answered in a batch, however long that takes; see :meth:`Http.stream`.

        Raises:
            AnswerAwaited: the task was cancelled while the vendor has the call.
        """
        if endpoint.name not in BATCH_APIS:
            return await super().stream(endpoint, path, payload, incoming, model=model, patience=patience)
        body = to_json({name: value for name, value in payload.items() if name not in _OF_STREAMS})
        line = self._lines.setdefault((endpoint, path, model), self._line_to(endpoint, path))
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


class _TooMuch(Exception):
    """The vendor takes no more at once: who waits has to gather anew."""


_Came: TypeAlias = dict[str, _Item]
_Followed: TypeAlias = "asyncio.Task[_Came]"


class _Line:
    """Calls to one model by one way: those that gather, and those that vendors have."""

    def __init__(self, http: Http, kept: Kept, keep: Keep, quiet: float, endpoint: Endpoint, path: str) -> None:
        self._http, self._kept, self._keep, self._quiet = http, kept, keep, quiet
        self._endpoint, self._path = endpoint, path
        self._api = BATCH_APIS[endpoint.name]
        self._most = _MOST_CALLS
        self._at_rest = 0.0
        self._gathered: dict[str, bytes] = {}
        self._gathering: asyncio.Task[dict[str, _Followed]] | None = None
        self._sending = set[asyncio.Task[dict[str, _Followed]]]()
        self._followed: dict[str, _Followed] = {}

    async def ask(self, call: str, body: bytes) -> _Item:
        """Return what comes back for a call, whoever sent it."""
        try:
            came = await self._came_with(call, body)
        except asyncio.CancelledError:
            if self._gathered.pop(call, None) is None:
                raise AnswerAwaited from None
            raise
        except _TooMuch:
            return await self.ask(call, body)
        except LlmRuntimeError as error:
            # One each: what is told of an error on its way up belongs to one call.
            raise copy.copy(error) from None
        if call not in came:
            raise ServerFault("its batch ended without an answer to this call; ask again", provider=self._endpoint.name)
        return came.pop(call)

    async def _came_with(self, call: str, body: bytes) -> _Came:
        self._gathered[call] = body
        self._at_rest = max(self._at_rest, asyncio.get_running_loop().time() + self._quiet)
        if self._gathering is None:
            self._gathering = asyncio.ensure_future(self._send())
            self._sending.add(self._gathering)
            self._gathering.add_done_callback(self._sending.discard)
        return await asyncio.shield((await asyncio.shield(self._gathering))[call])

    async def cancel(self) -> None:
        for batch_id, task in self._followed.items():
            if not task.done():
                with suppress(CallError):
                    await self._http.get_bytes(self._endpoint, self._at(self._api.cancel, id=batch_id), b"")

    async def aclose(self) -> None:
        if self._gathering is not None:
            self._gathering.cancel()
        # What is cut off while it is sent may be paid for, and nobody would find it again.
        await asyncio.gather(*self._sending, return_exceptions=True)
        for task in self._followed.values():
            task.cancel()
        await asyncio.gather(*self._followed.values(), return_exceptions=True)

    async def _send(self) -> dict[str, _Followed]:
        """Send calls off once no other has come for a while; return who follows each."""
        pause = self._quiet
        while pause > 0:
            await asyncio.sleep(pause)
            pause = self._at_rest - asyncio.get_running_loop().time()
        calls, self._gathered, self._gathering = self._gathered, {}, None
        known = [sent for sent in await self._kept() if not calls.keys().isdisjoint(sent.calls)]
        following = {call: self._follow(sent) for sent in known for call in sent.calls}
        new = [(call, body) for call, body in calls.items() if call not in following]
        step = min(self._most, max(1, _MOST_BYTES // max((len(body) for _, body in new), default=1)))
        for at in range(0, len(new), step):
            part = dict(new[at : at + step])
            sent = SentBatch(self._endpoint.name, await self._create(part), tuple(part))
            await self._keep(sent)
            following |= dict.fromkeys(part, self._follow(sent))
        return following

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
        return self._named(mapping(job).get("id"))

    async def _upload(self, calls: Mapping[str, bytes], url: str) -> str:
        line = b'{"custom_id":"%b","method":"POST","url":"%b","body":%b}\n'
        lines = b"".join(line % (call.encode(), url.encode(), body) for call, body in calls.items())
        endpoint, headers = self._files(), _OWN_UPLOAD
        if not self._api.own_files:
            mark = secrets.token_hex(16)
            headers = {"Content-Type": f"multipart/form-data; boundary={mark}"}
            lines = _FORM % {b"mark": mark.encode(), b"lines": lines}
        for name, value in headers.items():
            endpoint = endpoint.with_header(name, value)
        answer = mapping(parse_json(await self._http.get_bytes(endpoint, self._api.upload, lines))[0])
        return self._named(answer.get("id") or mapping(answer.get("file")).get("name"))

    def _named(self, name: object) -> str:
        if text(name):
            return text(name)
        message = "the answer names no batch and no file; is this the right base URL?"
        raise MalformedReply(message, provider=self._endpoint.name)

    def _files(self) -> Endpoint:
        """Return where the vendor's files are."""
        if not self._api.own_files:
            return self._endpoint
        parts, dialect = urlsplit(self._endpoint.base_url), self._endpoint.dialect
        root = f"{parts.scheme}://{parts.netloc}"
        return replace(self._endpoint, base_url=root, dialect=replace(dialect, auth="x-goog-api-key"))

    def _follow(self, sent: SentBatch) -> _Followed:
        if sent.batch_id not in self._followed:
            self._followed[sent.batch_id] = asyncio.ensure_future(self._until_over(sent))
        return self._followed[sent.batch_id]

    async def _until_over(self, sent: SentBatch) -> _Came:
        """Look at a batch until it is over, and return what came back."""
        pause = self._quiet
        while True:
            await asyncio.sleep(min(pause, _LOOK_S))
            pause *= 2
            try:
                job = mapping(await self._http.get_json(self._endpoint, self._at(self._api.look, id=sent.batch_id)))
                if (state := text(job.get(self._api.state))) != sent.state:
                    sent = replace(sent, state=state)
                    await self._keep(sent)
                if state in self._api.ended:
                    return await self._came_back(job, sent)
            except CallError as error:
                if not error.retryable:
                    raise

    async def _came_back(self, job: Mapping[str, Any], sent: SentBatch) -> _Came:
        came: _Came = {}
        # Without files there is one place where all of it is.
        for name in filter(None, map(text, map(job.get, self._api.files))) if self._api.files else ("",):
            path = self._at(self._api.content, id=sent.batch_id, file=name)
            for line in (await self._http.get_bytes(self._files(), path)).splitlines():
                row = mapping(parse_json(line)[0])
                if (item := _item(row)) is not None:
                    came[text(row.get("custom_id"))] = item
        if not came and (faults := _faults(job)):
            await self._refused(sent, faults)
        return came

    async def _refused(self, sent: SentBatch, faults: Sequence[Mapping[str, Any]]) -> NoReturn:
        if len(sent.calls) > 1 and any(text(fault.get("code")) in _TOO_MUCH for fault in faults):
            # Smaller, and after a while; nobody is to wait for this one.
            await self._keep(replace(sent, calls=()))
            self._most = max(1, len(sent.calls) // 2)
            self._at_rest = asyncio.get_running_loop().time() + 30 * self._quiet
            raise _TooMuch
        why = one_line("; ".join(text(fault.get("message")) for fault in faults), 300)
        raise RequestRefused(f"the batch {sent.batch_id} was refused: {why}", provider=self._endpoint.name)

    def _at(self, path: str, **known: str) -> str:
        return path.format(path=self._path, **known)


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
