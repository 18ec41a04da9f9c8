"""The application under test, called for its answers: an HTTP endpoint or a command, bounded in time and size."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
from collections.abc import Mapping, Sequence
from contextlib import aclosing, suppress
from typing import Any, Literal, cast

from pydantic import Field, model_validator

from assay.protocols.fire_circle.gating.cases import Case
from fire_circle.gates.verdicts import CaseVerdict
from fire_circle.layers import MultiNeutrosophicPrompt
from llm_runtime.endpoints import Endpoint
from llm_runtime.errors import ConfigurationError, LlmRuntimeError
from llm_runtime.http import Http
from llm_runtime.models import Model
from llm_runtime.rewording import instead
from llm_runtime.tasks import gather

_PLACE = re.compile(r"\{\{ *(system|application|user|history) *\}\}")
_VARIABLE = re.compile(r"\$\{?([A-Z][A-Z0-9_]*)\}?")
_MOST = 400_000
_BODY = {"prompt": "{{ user }}"}


class Target(Model):
    """What is called for the answer to a prompt; nothing, or one of three.

    Args:
        model: a model of ours; the run itself asks it.
        url: an address that JSON is posted to.
        headers: of the request; ``$NAME`` is taken from the environment.
        body: the JSON that is posted; ``{{ user }}``, ``{{ system }}``, ``{{ application }}`` and
            ``{{ history }}`` are filled in.
        answer: where the answer stands in the JSON that comes back, e.g. ``choices.0.message.content``.
        command: a program and its arguments, likewise filled in; the prompt is its standard input.
        version: what the application is now, e.g. its commit: another one has every case asked anew.
        timeout: seconds that one answer may take.
    """

    model: str = ""
    url: str = ""
    headers: dict[str, str] = {}
    body: dict[str, Any] = _BODY
    answer: str = "answer"
    command: tuple[str, ...] = ()
    version: str = ""
    timeout: float = Field(default=60.0, gt=0, le=3_600)

    @model_validator(mode="after")
    def _one_of_three(self) -> Target:
        if sum(map(bool, (self.model, self.url, self.command))) > 1:
            raise ValueError("choose one of model, url and command")
        return self

    @property
    def kind(self) -> Literal["", "url", "command"]:
        """What is called before the run; empty where nothing is."""
        return "url" if self.url else "command" if self.command else ""


async def answered(cases: Sequence[Case], target: Target, concurrency: int) -> tuple[list[Case], list[CaseVerdict]]:
    """Return the cases with the target's answers, and a verdict without a score for each that got none.

    Raises:
        ConfigurationError: the address is none, or a variable of the environment is missing.
    """
    turn, http = asyncio.Semaphore(concurrency), Http(max_bytes=4 * _MOST)
    endpoint = _endpoint(target) if target.kind == "url" else None

    async def one(case: Case) -> Case | CaseVerdict:
        if case.answer:
            return case
        try:
            async with turn, asyncio.timeout(target.timeout):
                text = await (_posted(case, target, endpoint, http) if endpoint else _run(case, target))
            MultiNeutrosophicPrompt(user="?", answer=text[:_MOST]).check(_MOST)
        except TimeoutError:
            fault = f"no answer within {target.timeout:g} s"
        except (LlmRuntimeError, OSError, ValueError) as error:
            fault = str(error)
        else:
            if text.strip() and len(text) <= _MOST:
                return case.model_copy(update={"answer": text, "called": True})
            fault = f"it answered more than {_MOST:,} characters" if text.strip() else "it answered nothing"
        return CaseVerdict(id=case.id, error=f"the target failed: {fault}"[:500], code=1)

    async with aclosing(http):
        results = await asyncio.gather(*map(one, cases))
    failed = [result for result in results if isinstance(result, CaseVerdict)]
    return [r if isinstance(r, Case) else case for case, r in zip(cases, results, strict=True)], failed


def _endpoint(target: Target) -> Endpoint:
    def variable(match: re.Match[str]) -> str:
        if (value := os.environ.get(match[1])) is None:
            raise ConfigurationError(f"[target] headers: the environment has no {match[1]}")
        return value

    headers = tuple((name, _VARIABLE.sub(variable, value)) for name, value in target.headers.items())
    address, _, query = target.url.partition("?")
    pairs = tuple((name, value) for name, _, value in (pair.partition("=") for pair in query.split("&") if pair))
    return Endpoint("target", address, headers=headers, query=pairs)


async def _posted(case: Case, target: Target, endpoint: Endpoint, http: Http) -> str:
    answer: Any = (await http.post_json(endpoint, "", _filled(target.body, case), model=""))[0]
    for step in target.answer.split("."):
        with instead(ValueError(f"its JSON has no {target.answer}"), KeyError, IndexError, TypeError, ValueError):
            answer = answer[int(step) if isinstance(answer, list) else step]
    return answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)


async def _run(case: Case, target: Target) -> str:
    pipe = asyncio.subprocess.PIPE
    words = [cast("str", _filled(word, case)) for word in target.command]
    process = await asyncio.create_subprocess_exec(*words, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True)
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None
    try:
        work = _fed(process.stdin, case.user), _read(process.stdout, 4 * _MOST), _last(process.stderr)
        _, out, err = await gather(work)
        await process.wait()
    finally:
        if process.returncode is None:
            # What it started goes with it.
            os.killpg(process.pid, signal.SIGKILL)
            await process.communicate()
    if process.returncode:
        last = (err or b"").decode(errors="replace").strip().splitlines()[-1:] or [""]
        raise ValueError(f"it ended with {process.returncode}: {last[0][:200]}")
    return (out or b"").decode(errors="replace")


async def _fed(pipe: asyncio.StreamWriter, text: str) -> None:
    # A program need not read its input.
    with suppress(BrokenPipeError, ConnectionResetError):
        pipe.write(text.encode())
        await pipe.drain()
    pipe.close()


async def _read(pipe: asyncio.StreamReader, most: int) -> bytes:
    whole = bytearray()
    while part := await pipe.read(65_536):
        whole += part
        if len(whole) > most:
            raise ValueError(f"it answered more than {_MOST:,} characters")
    return bytes(whole)


async def _last(pipe: asyncio.StreamReader) -> bytes:
    end = b""
    while part := await pipe.read(65_536):
        end = (end + part)[-4_096:]
    return end


def _filled(value: Any, case: Case) -> Any:
    """Return JSON with a case in the places for it; what is filled in is never read as a template again."""
    if isinstance(value, str):
        history = json.dumps([record.row for record in case.history or ()], ensure_ascii=False)
        return _PLACE.sub(lambda match: history if match[1] == "history" else getattr(case, match[1]), value)
    if isinstance(value, Mapping):
        return {name: _filled(one, case) for name, one in cast("Mapping[str, Any]", value).items()}
    return [_filled(one, case) for one in cast("list[Any]", value)] if isinstance(value, list) else value
