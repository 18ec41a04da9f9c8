"""A model that is a folder: questions go in as files and answers come back as files, from anyone.

The format is described in ``docs/mailbox.md``.
"""

from __future__ import annotations

import asyncio
import errno
import json
import os
import re
import stat
from base64 import b64decode
from contextlib import suppress
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from llm_runtime.errors import CallError, ConnectionFailed, EmptyReply, MalformedReply, ReplyTooLarge, RequestRefused
from llm_runtime.files import write_atomic
from llm_runtime.http.shape import harmless, mapping, one_line
from llm_runtime.messages import Generate, Picture, Reply, Request, Usage, request_digest
from llm_runtime.models import first_fault
from llm_runtime.rewording import instead
from llm_runtime.tokens import estimated_usage

FORMAT = "llm-mailbox/1"
MAX_BYTES = 16 * 2**20

_SUFFIXES = (".reply.json", ".reply.md", ".reply.txt")
_NUMBER = re.compile(r"\.?([0-9]{4,9})-")


class ReplyFile(BaseModel):
    """A ``.reply.json`` file."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    format: str = FORMAT
    text: str
    digest: str | None = None
    model: str | None = None
    input_tokens: int | None = Field(default=None, ge=0)
    output_tokens: int | None = Field(default=None, ge=0)


def mailbox(directory: Path, *, poll: float = 0.2) -> Generate:
    """Return a model function that writes each request into a folder and waits for the answer to appear beside it.

    A request that was written before and is the same in all but its session is not written again: the answer it
    has, or is still to get, is taken. Cancelling withdraws a request that has no answer yet.

    Args:
        directory: the folder; made, for this user alone, when the first request comes.
        poll: seconds between two looks at the folder. An answer counts once it has the same size and time at
            two looks in a row.

    Returns:
        A function that raises :class:`RequestRefused` when somebody deletes the request,
        :class:`MalformedReply`, :class:`EmptyReply` or :class:`ReplyTooLarge` for an answer that is none, with the
        file's name, and :class:`ConnectionFailed` where the folder cannot be used.
    """
    folder = _Folder(directory)

    async def generate(request: Request) -> Reply:
        # Of the folder its last name alone: who answers is shown, and forwarded.
        model = directory.name if Path(request.model) == directory else request.model
        try:
            stem = folder.claim(request)
            name = await _answer_file(folder, stem, poll)
            return _reply(request, model, stem, _answer_in(name, folder.read(name), folder.digests[stem]), name)
        except CallError as error:
            error.provider, error.model = "mailbox", model
            raise

    return generate


async def _answer_file(folder: _Folder, stem: str, poll: float) -> str:
    """Wait for the answer, and return its file's name."""
    seen: tuple[str, int, int] | None = None
    while True:
        look = folder.look(stem)
        if look is not None and look == seen:
            return look[0]
        seen = look
        try:
            await asyncio.sleep(poll)
        except asyncio.CancelledError:
            folder.release(stem)
            raise


def _answer_in(name: str, text: str, digest: str) -> ReplyFile:
    if not name.endswith(".json"):
        return ReplyFile(text=text)
    try:
        answer = ReplyFile.model_validate_json(text)
    except ValidationError as error:
        raise _malformed(name, first_fault(error)) from None
    if answer.format != FORMAT:
        raise _malformed(name, f"its format is not {FORMAT}")
    if answer.digest not in (None, digest):
        raise _malformed(name, "it answers another request, by its digest")
    return answer


def _reply(request: Request, model: str, stem: str, answer: ReplyFile, name: str) -> Reply:
    if not answer.text.strip():
        raise EmptyReply(f"the answer in {name} is blank; write one")
    usage = estimated_usage(request, answer.text)
    if answer.input_tokens is not None and answer.output_tokens is not None:
        usage = Usage(answer.input_tokens, answer.output_tokens)
    return Reply(answer.text, answer.model or model, "mailbox", usage, cost=0, cost_source="free", request_id=stem)


def _malformed(name: str, problem: str) -> MalformedReply:
    said = one_line(problem, 200)
    return MalformedReply(f"the answer in {name} cannot be used ({said}); correct or delete it, then run again")


class _Folder:
    """The files. Names are made here or read from the folder's own listing, so none leads out of it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._scanned = False
        self._waiting: dict[str, list[str]] = {}
        self.digests: dict[str, str] = {}

    def claim(self, request: Request) -> str:
        """Return the stem of this request's file: the first of its digest that no call has yet, or a new one."""
        digest = request_digest(request.to_dict())
        try:
            if not self._scanned:
                self._path.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._waiting = self._earlier_requests()
                self._scanned = True
            earlier = self._waiting.get(digest)
            stem = earlier.pop(0) if earlier else self._publish(request, digest)
            files = {_file(one): b64decode(one.base64) for one in request.pictures}
            files[f"{stem}.request.md"] = _for_people(request, stem).encode()
            for name, content in files.items():
                with suppress(FileExistsError):
                    write_atomic(self._path / name, content, replace=False)
        except OSError as error:
            raise self._unusable(error) from None
        self.digests[stem] = digest
        return stem

    def release(self, stem: str) -> None:
        """Take an unanswered request back; one that is answered stays, for the next call that asks it."""
        if any((self._path / f"{stem}{suffix}").exists() for suffix in _SUFFIXES):
            self._waiting.setdefault(self.digests[stem], []).append(stem)
            return
        for suffix in (".request.json", ".request.md"):
            (self._path / f"{stem}{suffix}").unlink(missing_ok=True)

    def look(self, stem: str) -> tuple[str, int, int] | None:
        """Name, size and time of the answer's file; ``None`` while there is none, or an empty one."""
        for suffix in _SUFFIXES:
            name = f"{stem}{suffix}"
            try:
                status = (self._path / name).lstat()
            except FileNotFoundError:
                continue
            except OSError as error:
                raise self._unusable(error) from None
            if not stat.S_ISREG(status.st_mode):
                raise _malformed(name, "it is a link, a folder or a device, not a file")
            return (name, status.st_size, status.st_mtime_ns) if status.st_size else None
        if not (self._path / f"{stem}.request.json").exists():
            raise RequestRefused(f"{stem}.request.json was deleted without an answer; run again to ask again")
        return None

    def read(self, name: str) -> str:
        try:
            raw = self._read(name)
        except OSError as error:
            problem = "it is a link" if error.errno == errno.ELOOP else error.strerror or "it cannot be read"
            raise _malformed(name, problem) from None
        if len(raw) > MAX_BYTES:
            raise ReplyTooLarge(f"the answer in {name} is larger than {MAX_BYTES} bytes; shorten it")
        with instead(_malformed(name, "it is not UTF-8"), UnicodeDecodeError):
            return raw.decode("utf-8-sig")

    def _earlier_requests(self) -> dict[str, list[str]]:
        """Return the stems of the requests in the folder, oldest first, by digest."""
        stems: dict[str, list[str]] = {}
        for name in self._names():
            stem = name.removesuffix(".request.json")
            if stem != name and _NUMBER.match(name):
                try:
                    digest = request_digest(mapping(mapping(json.loads(self._read(name))).get("request")))
                except (OSError, ValueError, RecursionError):
                    # Not one of ours, or damaged: it answers nothing, and its number is not used again.
                    continue
                stems.setdefault(digest, []).append(stem)
        return stems

    def _names(self) -> list[str]:
        return sorted(path.name for path in self._path.iterdir())

    def _publish(self, request: Request, digest: str) -> str:
        slug = re.sub("[^a-z0-9]+", "-", str(request.label).lower()).strip("-")[:60].strip("-") or "request"
        number = 1 + max((int(m[1]) for name in self._names() if (m := _NUMBER.match(name))), default=0)
        while True:
            stem = f"{number:04d}-{slug}"
            try:
                write_atomic(self._path / f"{stem}.request.json", _for_programs(request, digest, stem), replace=False)
            except FileExistsError:
                number += 1
            else:
                return stem

    def _read(self, name: str) -> bytes:
        descriptor = os.open(self._path / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise OSError(errno.EINVAL, "it is not a file")
            return file.read(MAX_BYTES + 1)

    def _unusable(self, error: OSError) -> ConnectionFailed:
        what = f"the mailbox folder {self._path.name} cannot be used ({error.strerror})"
        return ConnectionFailed(f"{what}; free it or choose another")


def _for_programs(request: Request, digest: str, stem: str) -> str:
    names = [f"{stem}{suffix}" for suffix in _SUFFIXES]
    data = {"format": FORMAT, "digest": digest, "answer_with": names, "request": request.to_dict()}
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"


def _file(picture: Picture) -> str:
    """Return the name of a picture in the folder: its digest, which the request has, and its kind."""
    return f"{picture.digest}.{picture.kind.removeprefix('image/')}"


def _for_people(request: Request, stem: str) -> str:
    how = f"Answer in a file named `{stem}.reply.md` in this folder. To decline, delete `{stem}.request.json`."
    parts = [f"# {request.label}", f"Asked of: {one_line(request.model)}", how]
    if request.schema is not None:
        parts.append(f"The answer must be JSON that fits this schema:\n\n    {request.schema}")
    for message in request.messages:
        shown = "".join(f"![picture]({_file(one)})\n\n" for one in message.pictures)
        parts.append(f"## {message.role}\n\n{shown}{message.content}")
    return harmless("\n\n".join(parts)) + "\n"
