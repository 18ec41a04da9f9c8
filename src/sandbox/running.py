"""One command in a box of its own, from its start to a certain end."""

from __future__ import annotations

import asyncio
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from contextlib import ExitStack

from sandbox.backends import Order, Start, backend
from sandbox.channel import Completed, Ended
from sandbox.errors import NoIsolation
from sandbox.limits import BoxLimits
from sandbox.serving import end
from sandbox.tree import held

_LOOK_S = 0.05


async def run(order: Order, *, by: str = "") -> Completed:
    """Run a command; what it started has ended with it. Its two outputs come as one.

    Args:
        order: what it is run in; its limits count for all its processes together.
        by: the backend; the one for this machine where left out.

    Raises:
        NoIsolation: there is none.
    """
    chosen, limits = backend(by, bare=True), order.limits
    with ExitStack() as stack:
        start = chosen.start(order, stack)
        try:
            process = await asyncio.create_subprocess_exec(
                *start.argv, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT, start_new_session=True, **start.options
            )
        except OSError as fault:
            raise NoIsolation(f"{chosen.name} cannot be started here: {fault}") from None
        assert process.stdout is not None
        group = chosen.enclose(process.pid, limits)
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
            stack.close()
            await process.wait()
            await asyncio.gather(watching, return_exceptions=True)
            output = await reading
            if group is not None:
                await group.gone()
    return Completed(process.returncode or 0, output, b"", ended)


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
