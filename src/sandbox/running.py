"""One command in a box of its own, from its start to a certain end."""

from __future__ import annotations

import asyncio
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from concurrent.futures import ThreadPoolExecutor

from sandbox.backends import Order, Start, started
from sandbox.channel import Completed, Ended
from sandbox.limits import BoxLimits
from sandbox.serving import end
from sandbox.tree import held

_LOOK_S = 0.05


async def run(order: Order, *, stdin: bytes = b"", apart: bool = False, by: str = "") -> Completed:
    """Run a command; what it started has ended with it. Its two outputs come as one.

    Args:
        order: what it is run in; its limits count for all its processes together.
        stdin: what it reads.
        apart: what it says beside its output is left out.
        by: the backend; the one for this machine where left out.

    Raises:
        NoIsolation: there is none.
    """
    limits = order.limits
    with started(order, by) as (chosen, start, stack):
        process = await asyncio.create_subprocess_exec(
            *start.argv, stdin=PIPE, stdout=PIPE, stderr=DEVNULL if apart else STDOUT, start_new_session=True,
            **start.options,
        )  # fmt: skip
        chosen.enclose(process.pid, limits, stack)
        held_by_it = stack.pop_all()
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(stdin)
    process.stdin.close()
    reading = asyncio.ensure_future(_read(process.stdout, limits.output))
    watching = asyncio.ensure_future(_watch(start, process.pid, limits))
    ended: Ended = "time"
    try:
        async with asyncio.timeout(limits.seconds):
            await asyncio.wait((reading, watching), return_when=asyncio.FIRST_COMPLETED)
            ended = "" if reading.done() else watching.result()
            if not ended:
                await process.wait()
    except TimeoutError:
        pass
    finally:
        watching.cancel()
        end(process.pid)
        # What still holds the pipe ends with its box.
        await asyncio.to_thread(held_by_it.close)
        await process.wait()
        await asyncio.gather(watching, return_exceptions=True)
        output = await reading
    return Completed(process.returncode or 0, output, b"", ended)


def run_now(order: Order, *, stdin: bytes = b"", apart: bool = False, by: str = "") -> Completed:
    """Run a command as :func:`run` does, for whoever waits for it, in a loop of its own or in none."""
    with ThreadPoolExecutor(1) as one:
        return one.submit(asyncio.run, run(order, stdin=stdin, apart=apart, by=by)).result()


async def _read(stream: asyncio.StreamReader, most: int) -> bytes:
    """Read to the end; what is beyond the limit is dropped, so that nobody waits for a reader."""
    kept = bytearray()
    while part := await stream.read(1 << 16):
        kept += part[: most - len(kept)]
    return bytes(kept)


async def _watch(start: Start, pid: int, limits: BoxLimits) -> Ended:
    """Look at what it holds, every now and then; come back when it is too much."""
    while True:
        memory, tasks = held(await asyncio.to_thread(start.first, pid))
        if memory > limits.memory:
            return "memory"
        if tasks > limits.processes:
            return "processes"
        await asyncio.sleep(_LOOK_S)
