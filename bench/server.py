"""A loopback chat-completions server in a process of its own; answers are made beforehand, so it is no limit."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

TRIAGE = {
    "reconstructed_query": "Should a small team split its monolith?",
    "complexity": "complex",
    "short_circuit_allowed": False,
    "council": [
        {"role": "domain_expert", "system_prompt": "Argue from architecture.", "model_hint": None},
        {"role": "pragmatist", "system_prompt": "Argue from what a team can do.", "model_hint": None},
        {"role": "creative", "system_prompt": "Look for a third way.", "model_hint": None},
        {"role": "red_team", "system_prompt": "Attack.", "model_hint": None},
    ],
    "loop_grammar": "parallel",
    "loop_count": 4,
    "red_team_flavor": "logical",
    "allow_early_exit": False,
    "synthesis_instruction": "Decide, in 200 words.",
}
POSITION = "The cost of a split is paid at once and its gains arrive late; what decides is who is on call. " * 6
#: The names of the models that answer as triage: for four seats in four loops, and for three in two.
TRIAGE_MODEL = "openrouter/auto-triage"
SHORT_TRIAGE_MODEL = "openrouter/auto-short-triage"
#: The name of the model that judges as a circle's seats do.
JUDGE_MODEL = "openrouter/auto-judge"
_SHORT = {**TRIAGE, "council": [TRIAGE["council"][0], TRIAGE["council"][1], TRIAGE["council"][3]], "loop_count": 2}
#: A circle's seat repeats the mark of its request, which stands in the first chunk of its answer.
_MARK = "00000000"
_ASKED = re.compile(rb'\\"request\\": ?\\"([0-9a-f]{8})\\"')
_SCORES = {
    "request": _MARK,
    "truth": 0.9,
    "indeterminacy": 0.1,
    "falsehood": 0.1,
    "reasoning": POSITION[:300],
    "patterns_observed": [],
}
#: What the clerk of a council is told first, and answers: it finds two objections.
_CLERK = "You are the clerk of a council."
_ENTRY = {"quote": POSITION[:93], "attacks": POSITION[:93], "outcome": "answered", "reply": POSITION[95:180]}
#: Tokens of the prompt are filled in by its length, in as many characters.
_PROMPT = 9_999_999
USAGE = {"prompt_tokens": _PROMPT, "completion_tokens": 150, "cost": 0.0004}

#: Characters of a chunk, about a token, and how many pieces of so many chunks a stream comes in.
_TOKEN = 4
_PIECES = 10
_STREAM_HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n"
)
#: What the endpoint lists, in OpenRouter's form.
_PRICING = {"prompt": "0.000003", "completion": "0.000015"}
_MODELS = [
    {"id": name, "pricing": _PRICING, "context_length": 200_000}
    for name in (TRIAGE_MODEL, SHORT_TRIAGE_MODEL, JUDGE_MODEL, "openrouter/auto")
]
_JSON_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"


@contextmanager
def server(latency: float, chunk: int = _TOKEN) -> Generator[str]:
    """Run the server with ``latency`` seconds an answer, streamed ``chunk`` characters at a time; yield its URL."""
    command = [sys.executable, "-m", "bench.server", str(latency), str(chunk)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}/v1"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def whole(text: str, model: str) -> bytes:
    """Return the response that is one JSON body."""
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    return as_json({"id": "gen-1", "model": model, "choices": [choice], "usage": USAGE})


def as_json(data: Any) -> bytes:
    """Return a response with this body."""
    body = json.dumps(data).encode()
    return _JSON_HEAD % len(body) + body


def streamed(text: str, model: str, chunk: int = _TOKEN) -> list[bytes]:
    """Return the response as server-sent events of ``chunk`` characters, in the pieces that it is written in."""

    def event(delta: dict[str, str], finish: str | None = None, **more: Any) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        data = {"id": "gen-1", "object": "chat.completion.chunk", "model": model, "choices": [choice], **more}
        line = b"data: " + json.dumps(data).encode() + b"\n\n"
        return b"%x\r\n%b\r\n" % (len(line), line)

    tokens = [text[at : at + chunk] for at in range(0, len(text), chunk)]
    events = [event({"role": "assistant", "content": ""}), *(event({"content": token}) for token in tokens)]
    size = -(-len(events) // _PIECES)
    pieces = [b"".join(events[at : at + size]) for at in range(0, len(events), size)]
    pieces[0] = _STREAM_HEAD + pieces[0]
    pieces[-1] += event({}, "stop", usage=USAGE) + b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"
    return pieces


_LIST = as_json({"data": _MODELS})
#: By what of a request says which answer it gets.
_TEXTS = {
    _CLERK: json.dumps({"objections": [{**_ENTRY, "changed": ""}] * 2}),
    TRIAGE_MODEL: json.dumps(TRIAGE),
    SHORT_TRIAGE_MODEL: json.dumps(_SHORT),
    JUDGE_MODEL: json.dumps(_SCORES),
    "openrouter/auto": POSITION,
}
_NAMES = {key: "openrouter/auto" if key == _CLERK else key for key in _TEXTS}
_WHOLE = {key: whole(text, _NAMES[key]) for key, text in _TEXTS.items()}


def _counted(answer: bytes, body: bytes) -> bytes:
    return answer.replace(b"%d" % _PROMPT, b"%7d" % (len(body) // 4))


class Answering(asyncio.Protocol):
    """One connection: a request is answered ``latency`` seconds after it has come, a stream over that time."""

    def __init__(self, latency: float, streams: dict[str, list[bytes]]) -> None:
        self._latency = latency
        self._streams = streams
        self._came = bytearray()
        self._loop = asyncio.get_running_loop()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._came += data
        head, ended, body = self._came.partition(b"\r\n\r\n")
        if not ended:
            return
        _, named, rest = head.lower().partition(b"content-length:")
        size = int(rest.partition(b"\r\n")[0]) if named else 0
        if len(body) >= size:
            self._came.clear()
            if head.startswith(b"GET"):
                self._transport.write(_LIST)
            else:
                self._answer(bytes(body))

    def _answer(self, body: bytes) -> None:
        # Prompts quote such words with a backslash before the marks, so these are fields.
        key = next(key for key in _TEXTS if key.encode() in body)
        marks = _ASKED.findall(body) if key == JUDGE_MODEL else []
        if b'"stream":true' in body or b'"stream": true' in body:
            pieces = self._streams[key]
            pieces = [*pieces[:-1], _counted(pieces[-1], body)]
        else:
            pieces = [_counted(_WHOLE[key], body)]
        if marks:
            pieces = [piece.replace(_MARK.encode(), marks[-1]) for piece in pieces]
        for number, piece in enumerate(pieces, start=1):
            self._loop.call_later(self._latency * number / len(pieces), self._transport.write, piece)


async def serve(latency: float, chunk: int) -> None:
    """Serve for ever, once the port is printed."""
    streams, loop = (
        {key: streamed(text, _NAMES[key], chunk) for key, text in _TEXTS.items()},
        asyncio.get_running_loop(),
    )
    made = await loop.create_server(lambda: Answering(latency, streams), "127.0.0.1", 0, backlog=1024)
    print(made.sockets[0].getsockname()[1], flush=True)
    await made.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(float(sys.argv[1]), int(sys.argv[2])))
