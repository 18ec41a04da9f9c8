"""The Ray engine: the same workers as actors, on this machine or on a cluster.

Ray only keeps the actors alive. Jobs, leases, results and money are in PostgreSQL, so an actor takes no more than
it has places for, writes its own results, and a driver that dies is simply started again.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from assay.batch.database import open_database
from assay.batch.performing import MakeRunner, recorded_runs
from assay.batch.worker import work
from llm_runtime.errors import ConfigurationError, LlmRuntimeError, StoreError
from llm_runtime.extras import needing
from llm_runtime.garbage import collect_rarely

#: Seconds that the actors have to put back what they hold.
_FAREWELL_S = 10.0


class _Station:
    """An actor: one worker. Ray makes it anew where its process or machine dies, as a worker of a new name."""

    async def ready(self, store_url: str) -> None:
        """Return when the actor is there and reaches the store."""
        await asyncio.to_thread(lambda: open_database(store_url).close())

    async def work(self, store_url: str, batch_id: str, make_runner: MakeRunner) -> int:
        """Work a batch off; return how many jobs were done here."""
        collect_rarely()
        return (await work(store_url, batch_id, make_runner)).done


async def run_ray(
    store_url: str, batch_id: str, workers: int = 1, *, address: str | None = None,
    make_runner: MakeRunner = recorded_runs,
) -> None:  # fmt: skip
    """Work off a batch with Ray actors.

    Args:
        store_url: ``postgresql://...``, reachable from every machine of the cluster.
        batch_id: a batch whose jobs are entered.
        workers: actors.
        address: of a cluster; where left out, that of ``RAY_ADDRESS``, else Ray is started on this machine.
        make_runner: does the jobs; a function of a module that the actors can import.

    Raises:
        MissingExtraError: Ray is not installed.
        ConfigurationError: the store is a file, or there is no cluster at the address.
        StoreError: the store cannot be reached.
    """
    if not store_url.startswith(("postgresql://", "postgres://")):
        raise ConfigurationError(
            "the Ray engine needs a store that many machines reach; give --store postgresql://HOST/DATABASE"
        )
    with connected(address) as ray, stationed(ray, workers, store_url) as stations:
        working = [station.work.remote(store_url, batch_id, make_runner) for station in stations]
        try:
            with _own_errors(ray):
                await asyncio.gather(*working)
        finally:
            # Told so, a worker puts back at once what it holds; killed, only its leases would end.
            for task in working:
                ray.cancel(task)
            ray.wait(working, num_returns=len(working), timeout=_FAREWELL_S)


@contextmanager
def _own_errors(ray: Any) -> Generator[None]:
    """Raise what an actor raised on purpose as it raised it, and in one line that Ray itself is gone."""
    try:
        yield
    except (ray.exceptions.RayActorError, ray.exceptions.RaySystemError, ray.exceptions.NodeDiedError) as error:
        raise StoreError(
            f"the Ray cluster was lost ({type(error).__name__}); what is done is kept: start it, then resume"
        ) from None
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, LlmRuntimeError):
            raise error.cause from None
        raise


@contextmanager
def connected(address: str | None = None) -> Generator[Any]:
    """Connect to a cluster or start Ray here; for the block, where it was not before.

    Raises:
        MissingExtraError: Ray is not installed.
        ConfigurationError: there is no cluster at the address.
    """
    # Before the import: a batch is nobody's business but its owner's.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    with needing("the Ray engine", "scale"):
        import ray
    api: Any = ray
    if api.is_initialized():
        yield api
        return
    address = address or os.environ.get("RAY_ADDRESS")
    try:
        api.init(address=address, include_dashboard=None if address else False, logging_level="warning")
    except (ConnectionError, RuntimeError, ValueError) as fault:
        reason = (str(fault).splitlines() or [type(fault).__name__])[0][:200]
        raise ConfigurationError(f"Ray cannot be reached at {address or 'this machine'}: {reason}") from None
    try:
        yield api
    finally:
        api.shutdown()


@contextmanager
def stationed(ray: Any, count: int, store_url: str) -> Generator[list[Any]]:
    """Start so many actors, each of which reaches the store; for the block.

    Raises:
        StoreError: one does not reach it.
    """
    # A task of an actor that dies is lost by default; places wait for models and need next to no processor.
    station = ray.remote(max_restarts=-1, max_task_retries=-1, num_cpus=0, scheduling_strategy="SPREAD")(_Station)
    stations = [station.remote() for _ in range(count)]
    try:
        with _own_errors(ray):
            ray.get([each.ready.remote(store_url) for each in stations])
        yield stations
    finally:
        for each in stations:
            ray.kill(each)
