"""Answers stored as they come, so that a study killed in the middle of an item does not pay for a call twice."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from llm_runtime.errors import StoreDamaged, StoreUnwritable
from llm_runtime.messages import Generate, Reply, Request, request_digest


def append_from_whole_line(path: Path) -> IO[str]:
    """Open the file for appending; cut off a last line that a kill left incomplete.

    Raises:
        StoreUnwritable: it cannot be opened or written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+b") as raw:
            size = raw.seek(0, os.SEEK_END)
            raw.truncate(_end_of_last_line(raw, size))
        return path.open("a", encoding="utf-8", newline="\n")
    except OSError as fault:
        raise StoreUnwritable(f"{path} cannot be written: {fault.strerror}") from None


def _end_of_last_line(raw: IO[bytes], size: int) -> int:
    step = 1 << 16
    end = size
    while end > 0:
        start = max(0, end - step)
        raw.seek(start)
        at = raw.read(end - start).rfind(b"\n")
        if at >= 0:
            return start + at + 1
        end = start
    return 0


def write_line(stream: IO[str], data: dict[str, Any], *, sync: bool) -> None:
    """Write one line of JSON and hand it to the operating system; with ``sync`` to the disk.

    Raises:
        StoreUnwritable: the disk is full, or fails.
    """
    try:
        stream.write(json.dumps(data, ensure_ascii=False, separators=(",", ":")) + "\n")
        stream.flush()
        if sync:
            os.fsync(stream.fileno())
    except OSError as fault:
        raise StoreUnwritable(f"{stream.name} cannot be written: {fault.strerror}") from None


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
        append_from_whole_line(path).close()
        with path.open(encoding="utf-8", newline="\n") as lines:
            for number, line in enumerate(lines, start=1):
                self._load(line, f"{path.name}, line {number}", finished)
        self._stream = append_from_whole_line(path)

    def _load(self, line: str, where: str, finished: Callable[[str], bool]) -> None:
        try:
            entry = json.loads(line)
            item = str(entry["item"])
            if entry.get("dropped") is True:
                self._replies.pop(item, None)
            elif not finished(item):
                self._replies.setdefault(item, {})[str(entry["call"])] = Reply.from_dict(entry["reply"])
        except (ValueError, KeyError, TypeError, AttributeError):
            raise StoreDamaged(
                f"{where} is not an answer that was kept; move the file away to begin anew"
            ) from None

    def over(self, generate: Generate, item: str) -> Generate:
        """Wrap ``generate`` for one item: what was answered before is answered from the file."""

        async def call(request: Request) -> Reply:
            digest = request_digest(request.to_dict())
            known = self._replies.get(item, {}).get(digest)
            if known is not None:
                return known
            reply = await generate(request)
            write_line(self._stream, {"item": item, "call": digest, "reply": reply.to_dict()}, sync=False)
            return reply

        return call

    def forget(self, item: str) -> None:
        """Let go of an item that has its result; its answers are not needed any more."""
        self._replies.pop(item, None)

    def drop(self, item: str) -> None:
        """Mark an item as to be asked anew; nothing that was answered for it counts any more."""
        self._replies.pop(item, None)
        write_line(self._stream, {"item": item, "dropped": True}, sync=True)

    def close(self) -> None:
        """Close the file."""
        self._stream.close()
