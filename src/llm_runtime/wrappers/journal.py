"""Answers stored as they come, so that a study killed in the middle of an item does not pay for a call twice."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import IO, Any, TypeVar

from llm_runtime.errors import StoreDamaged, StoreUnwritable
from llm_runtime.files import saying
from llm_runtime.messages import Generate, Reply, Request, request_digest
from llm_runtime.wrappers.recording import StoppedAfter

T = TypeVar("T")


def append_from_whole_line(path: Path) -> IO[str]:
    """Open the file for appending; cut off a last line that a kill left incomplete.

    Raises:
        StoreUnwritable: it cannot be opened or written.
    """
    with saying(f"{path} cannot be written", StoreUnwritable):
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+b") as raw:
            # An empty file cannot be mapped.
            if raw.tell():
                with mmap(raw.fileno(), 0, access=ACCESS_READ) as text:
                    whole = text.rfind(b"\n") + 1
                raw.truncate(whole)
        return path.open("a", encoding="utf-8", newline="\n")


def write_line(stream: IO[str], data: dict[str, Any], *, sync: bool) -> None:
    """Write one line of JSON and hand it to the operating system; with ``sync`` to the disk.

    Raises:
        StoreUnwritable: the disk is full, or fails.
    """
    with saying(f"{stream.name} cannot be written", StoreUnwritable):
        stream.write(json.dumps(data, ensure_ascii=False, separators=(",", ":")) + "\n")
        stream.flush()
        if sync:
            os.fsync(stream.fileno())


def whole_lines(path: Path, kind: str, read: Callable[[Any], T]) -> Iterator[T]:
    """Yield the whole lines of a file of JSON as ``read`` makes them; one that was cut off is not there yet.

    Args:
        path: the file; one that does not exist has no lines.
        kind: what a line is, for whoever reads of one that is not.
        read: makes something of a line; what it raises over a line that is something else is told.

    Raises:
        StoreDamaged: a line is something else.
    """
    if not path.exists():
        return
    with path.open(encoding="utf-8", newline="\n") as stream:
        for number, text in enumerate(stream, start=1):
            if not text.endswith("\n"):
                return
            try:
                line = read(json.loads(text))
            except (ValueError, KeyError, TypeError, AttributeError):
                raise StoreDamaged(f"{path.name}, line {number} is not {kind}") from None
            yield line


class CallJournal:
    """Replies by item and request, in a JSONL file.

    Only replies of items that are not finished are held in memory; a finished item's are let go. A reply survives
    the kill of the process; the last few may be lost with the power.

    Args:
        path: the file.
        finished: whether an item has its result already.

    Raises:
        StoreUnwritable, StoreDamaged: the file cannot be used.
    """

    def __init__(self, path: Path, finished: Callable[[str], bool]) -> None:
        self._replies: dict[str, dict[str, Reply]] = {}
        self.dropped: set[str] = set()
        """What was ever marked as to be asked anew."""
        append_from_whole_line(path).close()

        def load(entry: Any) -> None:
            item = str(entry["item"])
            if entry.get("dropped") is True:
                self._dropped(item)
            elif not finished(item):
                self._replies.setdefault(item, {})[str(entry["call"])] = Reply.from_dict(entry["reply"])

        for _ in whole_lines(path, "an answer that was kept; move the file away to begin anew", load):
            pass
        self._stream = append_from_whole_line(path)

    def over(self, generate: Generate, item: str) -> Generate:
        """Wrap ``generate`` for one item: what was answered before is answered from the file."""

        async def call(request: Request) -> Reply:
            digest = request_digest(request.to_dict())
            known = self._replies.get(item, {}).get(digest)
            if known is not None:
                return known
            try:
                reply = await generate(request)
            except StoppedAfter as stopped:
                self._keep(item, digest, stopped.reply)
                raise
            self._keep(item, digest, reply)
            return reply

        return call

    def _keep(self, item: str, digest: str, reply: Reply) -> None:
        write_line(self._stream, {"item": item, "call": digest, "reply": reply.to_dict()}, sync=False)

    def forget(self, item: str) -> None:
        """Let go of an item that has its result; its answers are not needed any more."""
        self._replies.pop(item, None)

    def drop(self, item: str) -> None:
        """Mark an item as to be asked anew; nothing that was answered for it counts any more."""
        self._dropped(item)
        write_line(self._stream, {"item": item, "dropped": True}, sync=True)

    def _dropped(self, item: str) -> None:
        self._replies.pop(item, None)
        self.dropped.add(item)

    def close(self) -> None:
        """Close the file."""
        self._stream.close()
