"""A hostile body costs the client its cap in memory, and not more."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import pytest

from llm_runtime.testing import Fault, LoopbackServer

_CLIENT = """
import asyncio, re, sys
from llm_runtime.errors import CallError
from llm_runtime.messages import CallLabel, Message, Request
from llm_runtime.endpoints import Endpoint
from llm_runtime.http import Http
from llm_runtime.providers.openai_compatible import openai_compatible

def peak():
    # Not ru_maxrss, which begins with the peak of whoever started this process.
    with open("/proc/self/status") as status:
        return int(re.search(r"VmHWM:\\s+(\\d+)", status.read())[1])

async def main():
    http = Http()
    generate = openai_compatible(Endpoint("hostile", sys.argv[1]), http)
    request = Request("m", (Message("user", "?"),), CallLabel("test", "ask"))
    await generate(request)
    before = peak()
    try:
        await generate(request)
    except CallError as error:
        print(type(error).__name__, peak() - before)
    await http.aclose()

asyncio.run(main())
"""


async def _growth(server: LoopbackServer) -> tuple[str, int]:
    """The error's name, and by how many KiB the client's peak of memory grew."""
    command = (sys.executable, "-c", _CLIENT, f"{server.url}/v1")
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    output, _ = await process.communicate()
    name, kibibytes = output.decode().split()
    return name, int(kibibytes)


@pytest.mark.skipif(sys.platform != "linux", reason="peaks are read from /proc")
@pytest.mark.parametrize(
    "fault",
    [
        *(Fault.GZIP_BOMB, Fault.DEEP_JSON),
        *(pytest.param(fault, marks=pytest.mark.long) for fault in (Fault.GIANT_BODY, Fault.ENDLESS_BODY)),
    ],
)
async def test_a_giant_answer_stays_within_32_mebibytes(fault: Fault) -> None:
    async with LoopbackServer(faults={2: fault}) as server:
        name, kibibytes = await _growth(server)
    assert name == ("MalformedReply" if fault is Fault.DEEP_JSON else "ReplyTooLarge")
    assert kibibytes < 32 * 1024


@pytest.mark.skipif(sys.platform != "linux", reason="peaks are read from /proc")
async def test_a_body_that_would_parse_to_many_times_its_size_is_not_parsed() -> None:
    body: dict[str, Any] = {"choices": [{"message": {"content": "ok"}}]}
    bomb: dict[str, Any] = body | {"more": [()] * 3_000_000}
    async with LoopbackServer(lambda received: bomb if received.number == 2 else body) as server:
        name, kibibytes = await _growth(server)
    assert name == "MalformedReply"
    assert kibibytes < 32 * 1024
