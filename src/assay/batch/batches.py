"""From a job file to a batch whose jobs are entered: everything is checked before anything is spent."""

from __future__ import annotations

import secrets
from pathlib import Path

from assay.batch.buckets import Buckets
from assay.batch.database import Database, batches_path, open_database
from assay.batch.desk import Desk
from assay.batch.jobfile import JobFile, load_job_file
from assay.batch.jobs import Contents, jobs
from assay.batch.ledger import Batch, Ledger
from assay.batch.metering import Meter, MeteredGateway
from assay.batch.performing import settings_for
from assay.batch.protocols import shape_of
from assay.batch.purses import Purses
from assay.batch.schema import migrate
from llm_runtime.errors import BudgetExceeded, ConfigurationError
from llm_runtime.settings import Settings, load_settings
from llm_runtime.store import RunStore, SqliteStore

_LETTERS = "abcdefghijkmnpqrstuvwxyz23456789"


def open_batches(store_url: str) -> Database:
    """The database of a store's batches, its tables brought to the newest form.

    Raises:
        StoreError: it cannot be opened, or a newer version wrote it.
    """
    database = open_database(store_url)
    try:
        migrate(database)
    except BaseException:
        database.close()
        raise
    return database


def batches_beside(store: RunStore) -> Database | None:
    """The batches that belong to an open run store; ``None`` where there never were any.

    Raises:
        StoreError: they cannot be opened.
    """
    if isinstance(store, SqliteStore):
        there = batches_path(store.path)
        return open_batches(str(store.path)) if there.exists() else None
    from llm_runtime.store.postgres import PostgresStore

    return open_batches(store.url) if isinstance(store, PostgresStore) else None


def enter(database: Database, job_file: JobFile, settings: Settings) -> Batch:
    """Make the batch of a job file, or find it again, enter what jobs are missing, and open it.

    The input is read twice: once for the digest that names its contents, once to enter it.

    Raises:
        ConfigurationError: the input cannot be used, has no rows, changed meanwhile, or the id is another's.
        StoreError: it cannot be written.
    """
    config = settings.config
    furnish = shape_of(job_file.protocol).furnish
    configurations = [
        {**configuration, **furnish(configuration["engine"])}
        for configuration in job_file.configurations(config.model, config.max_tokens)
    ]
    first = Contents(jobs(job_file, configurations))
    contents = first.digest()
    if first.count == 0:
        raise ConfigurationError(f"the input {job_file.input.path} has no rows")
    ledger = Ledger(database)
    batch = ledger.create(
        Batch(
            batch_id=job_file.id or f"batch-{contents[:12]}",
            tag="".join(secrets.choice(_LETTERS) for _ in range(6)),
            title=job_file.title or job_file.input.path.name,
            protocol=job_file.protocol,
            contents=contents,
            configurations=configurations,
            work=job_file.work.model_dump(),
            state="loading",
            tenant=job_file.tenant,
        )
    )
    Purses(database).open(batch.batch_id, job_file.budget.caps)
    if batch.state == "loading":
        second = Contents(jobs(job_file, configurations))
        ledger.load(batch, second)
        if second.digest() != contents:
            ledger.discard(batch.batch_id)
            raise ConfigurationError(
                f"the input {job_file.input.path} changed while it was read; nothing was entered, run it again"
            )
        ledger.take_over(batch.batch_id)
    ledger.set_state(batch.batch_id, "open")
    return ledger.batch(batch.batch_id)


async def check_means(database: Database, job_file: JobFile, settings: Settings) -> None:
    """Refuse a batch for which something is missing here, whose models cannot be reached, or whose budget is below
    one call.

    Raises:
        LlmRuntimeError: the protocol needs what this machine lacks.
        NoModelError: a model cannot be reached.
        UnknownPrice: there is a budget in USD, and a model without a price.
        BudgetExceeded: not even one call would fit.
    """
    await shape_of(job_file.protocol).means()
    caps = job_file.budget.caps
    if caps.calls == 0 or caps.tokens == 0 or caps.cost == 0:
        raise BudgetExceeded("the budget is below one call; nothing was started")
    desk = Desk(database)
    meter = Meter(desk, "", caps, Purses(database), Buckets(database))
    try:
        for model, max_tokens, asked in _asked_of(job_file, settings):
            at = {"model": model, "max_tokens": max_tokens}
            async with MeteredGateway(settings_for(settings, at), meter) as gateway:
                least = await gateway.least_cost(asked)
            if caps.cost is not None and least > caps.cost:
                raise BudgetExceeded(
                    f"the budget of ${caps.cost / 1e6:.6f} is below one call to {model or asked}, which may take "
                    f"${least / 1e6:.6f}; raise it, or set max_tokens"
                )
    finally:
        await desk.aclose()


def _asked_of(job_file: JobFile, settings: Settings) -> dict[tuple[str | None, int | None, str], None]:
    """Each model that some configuration asks, once: what stands for all, the bound, and what is asked for."""
    return {
        (configuration["model"], configuration["max_tokens"], asked): None
        for configuration in job_file.configurations(settings.config.model, settings.config.max_tokens)
        for asked in configuration["engine"].get("models") or ("openrouter/auto",)
    }


async def prepare(path: Path, store_url: str) -> tuple[JobFile, Batch]:
    """Check a job file, its models and its input, and enter its jobs.

    Raises:
        LlmRuntimeError: something is not as it must be; nothing was spent.
    """
    job_file, settings = load_job_file(path), load_settings()
    database = open_batches(store_url)
    try:
        await check_means(database, job_file, settings)
        return job_file, enter(database, job_file, settings)
    finally:
        database.close()
