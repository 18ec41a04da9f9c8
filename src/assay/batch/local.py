"""The local engine: one process, or several where the work needs more than one core."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Callable
from multiprocessing.context import SpawnProcess

from assay.batch.performing import MakeRunner, recorded_runs
from assay.batch.worker import work
from llm_runtime.errors import LlmRuntimeError, StoreError
from llm_runtime.garbage import collect_rarely

#: Times that the workers of one batch are started again, in all, before something is taken to be wrong with it.
_MOST_RESTARTS = 20
_LOOK_S = 0.1
#: How a worker process says that it cannot work, and has said why.
_GAVE_UP = 5
#: Seconds that a worker process has to put back what it holds.
_FAREWELL_S = 10.0


async def run_local(store_url: str, batch_id: str, workers: int = 1, make_runner: MakeRunner = recorded_runs) -> None:
    """Work off a batch on this machine.

    Args:
        store_url: of the run store.
        batch_id: a batch whose jobs are entered.
        workers: processes; with one, the work is done in this one.
        make_runner: does the jobs; a function of a module, where there are several processes.

    Raises:
        StoreError: the store cannot be reached; or the workers keep dying.
    """
    if workers == 1:
        await work(store_url, batch_id, make_runner)
        return
    processes = [_start(store_url, batch_id, make_runner) for _ in range(workers)]
    restarts = 0
    try:
        while any(process.exitcode is None for process in processes):
            await asyncio.sleep(_LOOK_S)
            for place, process in enumerate(processes):
                if process.exitcode == _GAVE_UP:
                    raise StoreError(f"a worker cannot go on, see above; then: assay batch resume {batch_id}")
                if process.exitcode:
                    restarts += 1
                    if restarts > _MOST_RESTARTS:
                        raise StoreError(f"workers were lost {restarts} times; see what ends them, then resume")
                    processes[place] = _start(store_url, batch_id, make_runner)
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.join(_FAREWELL_S)
            process.kill()


def _start(store_url: str, batch_id: str, make_runner: MakeRunner) -> SpawnProcess:
    process = multiprocessing.get_context("spawn").Process(
        target=_main, args=(store_url, batch_id, make_runner), daemon=True
    )
    process.start()
    return process


def _main(store_url: str, batch_id: str, make_runner: MakeRunner) -> None:
    import sys

    collect_rarely()
    try:
        asyncio.run(_until_told(store_url, batch_id, make_runner))
    except LlmRuntimeError as error:
        sys.stderr.write(f"assay: {error}\n")
        sys.exit(_GAVE_UP)


async def _until_told(store_url: str, batch_id: str, make_runner: MakeRunner) -> None:
    """Work until all is done, or the driver says so or is gone: nobody else would stop this process."""
    import signal

    loop = asyncio.get_running_loop()
    working = asyncio.ensure_future(work(store_url, batch_id, make_runner))
    stop: Callable[[], object] = working.cancel
    loop.add_signal_handler(signal.SIGTERM, stop)
    # Ctrl-C goes to the whole group; the driver tells its workers itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if (driver := multiprocessing.parent_process()) is not None:

        def orphaned() -> None:
            loop.remove_reader(driver.sentinel)
            stop()

        loop.add_reader(driver.sentinel, orphaned)
    await asyncio.wait([working])
    if not working.cancelled():
        working.result()
