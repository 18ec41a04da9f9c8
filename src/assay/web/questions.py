"""Questions of runs to a person, until a page brings the answer; and letters of folders: ``docs/mailbox.md``."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from assay.launch.naming import models_of
from assay.registry import opened
from assay.terms import in_force
from assay.web.people import WHO
from llm_runtime.errors import ConfigurationError
from llm_runtime.events import RunStarted
from llm_runtime.files import write_atomic
from llm_runtime.http.shape import mapping
from llm_runtime.messages import Generate, Reply, Request
from llm_runtime.providers.mailbox import MAX_BYTES
from llm_runtime.structs import Struct
from llm_runtime.tokens import estimated_usage

_NAME = re.compile(r"([0-9]{4,9}-[a-z0-9-]{1,60})\.request\.json")
_MOST = 200
"""Letters that are looked at; a folder of many more is somebody's archive."""
_ANSWERS = (".reply.json", ".reply.md", ".reply.txt")


class MailboxQuestion(Struct):
    """A request in a mailbox folder that has no answer yet; as the run's log has it."""

    name: str
    folder: Path
    request: Request


def folders(started: RunStarted) -> list[Path]:
    """Return the mailbox folders that a run asks."""
    try:
        models = models_of(opened(started), in_force([started]))
    except ConfigurationError:  # a kind of run that is not installed
        models = list(in_force([started]).routes.values())
    paths = [name.removeprefix("mailbox:") for name in models if name.startswith("mailbox:")]
    return [Path(path).expanduser() for path in paths if path]


def letters(places: Iterable[Path], waiting: Iterable[dict[str, Any]]) -> list[MailboxQuestion]:
    """Return the letters of the calls in ``waiting``, which are requests as the run's log has them."""
    asked = {_key(request): request for request in waiting}
    open_ = ((folder, letter) for folder in places if asked for letter in _open(folder))
    known = ((folder, name, asked[key]) for folder, (name, key) in open_ if key in asked)
    return [MailboxQuestion(name, folder, Request.from_dict(request)) for folder, name, request in known]


def answer_letter(letter: MailboxQuestion, text: str) -> None:
    """Write the answer into the folder, all of it or nothing, and never over another.

    Raises:
        ConfigurationError: it is blank, the letter is answered already, or the folder cannot be written.
    """
    if not text.strip():
        raise ConfigurationError("the answer is blank; write one")
    try:
        write_atomic(letter.folder / f"{letter.name}.reply.md", text, replace=False)
    except FileExistsError:
        raise ConfigurationError(f"{letter.name} was answered already") from None
    except OSError as fault:
        raise ConfigurationError(f"the mailbox folder cannot be written: {fault.strerror}") from None


def _open(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the name of each letter without an answer, and what it asks."""
    try:
        names = sorted(path.name for path in folder.iterdir())
    except OSError:
        return
    there = set(names)
    matches = [match for name in names if (match := _NAME.fullmatch(name))]
    for match in matches[-_MOST:]:
        stem = match[1]
        if any(f"{stem}{ending}" in there for ending in _ANSWERS):
            continue
        if request := _read(folder / match[0]):
            yield stem, _key(request)


def _read(path: Path) -> dict[str, Any]:
    """Read the request in a letter; empty where it is not one."""
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > MAX_BYTES:
            return {}
        return mapping(mapping(json.loads(path.read_text(encoding="utf-8"))).get("request"))
    except (OSError, ValueError, RecursionError):
        return {}


def _key(request: dict[str, Any]) -> str:
    return json.dumps([request.get("label"), request.get("messages")], sort_keys=True)


class WaitingRequest(Struct):
    """A request that waits for a person.

    Args:
        name: unique in its run: ``"q1"``.
        request: what is asked.
        reply: where the answer goes, with the name of who gives it.
    """

    name: str
    request: Request
    reply: asyncio.Future[tuple[str, str]]


class Questions:
    """The open questions of every run of this process.

    Args:
        changed: takes the id of a run whose questions changed.
    """

    def __init__(self, changed: Callable[[str], None]) -> None:
        self._changed = changed
        self._open: dict[str, dict[str, WaitingRequest]] = {}
        self._count = 0

    def person(self, run_id: str) -> Generate:
        """Return the model function that asks on the run's page. An answer costs nothing; tokens are estimated."""

        async def generate(request: Request) -> Reply:
            self._count += 1
            question = WaitingRequest(f"q{self._count}", request, asyncio.get_running_loop().create_future())
            questions = self._open.setdefault(run_id, {})
            questions[question.name] = question
            self._changed(run_id)
            try:
                text, name = await question.reply
            finally:
                del questions[question.name]
                self._changed(run_id)
            usage = estimated_usage(request, text)
            return Reply(text, name or request.model, "terminal", usage, cost=0, cost_source="free")

        return generate

    def of_run(self, run_id: str) -> list[WaitingRequest]:
        """Return the open questions of the run, in the order it asked; one that has its answer is none."""
        return [question for question in self._open.get(run_id, {}).values() if not question.reply.done()]

    def answer(self, run_id: str, name: str, text: str) -> None:
        """Give the run its answer, by whoever asks for this.

        Raises:
            ConfigurationError: the answer is blank, or the question is not open (any more).
        """
        question = self._open.get(run_id, {}).get(name)
        if question is None or question.reply.done():
            raise ConfigurationError("this question is not open any more: it was answered, or its run ended")
        if not text.strip():
            raise ConfigurationError("the answer is blank; write one")
        who = WHO.get()
        question.reply.set_result((text, who.name if who else ""))
