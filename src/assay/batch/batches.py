"""From a job file to a batch whose jobs are entered: everything is checked before anything is spent."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

from assay.batch.configurations import Configuration, combinations
from assay.batch.database import Database, batches_path, open_database
from assay.batch.jobfile import JobFile, Work
from assay.batch.jobs import Contents, complete, jobs
from assay.batch.ledger import Batch, Ledger
from assay.batch.loading import load_job_file
from assay.batch.metering import Meter, MeteredGateway, SharedRows
from assay.batch.purses import Purses
from assay.batch.schema import migrate
from assay.launch import price_of
from assay.launch.execution import needs_of
from assay.launch.naming import asked_of
from assay.protocol import RunType
from assay.terms import Terms
from llm_runtime.errors import BudgetExceeded, ConfigurationError
from llm_runtime.messages import CallLabel, Request
from llm_runtime.settings import Settings, load_settings
from llm_runtime.store import RunStore, SqliteStore
from llm_runtime.undoing import undone
from llm_runtime.wrappers.budgeted import worst_case

_LETTERS = "abcdefghijkmnpqrstuvwxyz23456789"


def open_batches(store_url: str) -> Database:
    """Open the database of a store's batches, its tables brought to the newest form.

    Raises:
        StoreError: it cannot be opened, or a newer version wrote it.
    """
    database = open_database(store_url)
    with undone(database.close):
        migrate(database)
    return database


def store_url(store: RunStore) -> str:
    """Return the address by which the batches and purses of an open run store are found."""
    return str(store.path) if isinstance(store, SqliteStore) else str(getattr(store, "url", ""))


def batches_beside(store: RunStore) -> Database | None:
    """Open the batches that belong to an open run store; ``None`` where there never were any.

    Raises:
        StoreError: they cannot be opened.
    """
    if isinstance(store, SqliteStore):
        return open_batches(str(store.path)) if batches_path(store.path).exists() else None
    from llm_runtime.store.postgres import PostgresStore

    return open_batches(store.url) if isinstance(store, PostgresStore) else None


def enter(database: Database, job_file: JobFile, configurations: Sequence[Configuration]) -> Batch:
    """Make the batch of a job file, or find it again, enter what jobs are missing, and open it.

    The input is read twice: once for the digest that names its contents, once to enter it.

    Args:
        configurations: complete.

    Raises:
        ConfigurationError: the input cannot be used, changed meanwhile, or the id is another's.
        StoreError: it cannot be written.
    """
    contents = Contents(jobs(job_file, configurations)).digest()
    ledger = Ledger(database)
    batch = ledger.create(
        Batch(
            batch_id=job_file.id or f"batch-{contents[:12]}",
            tag="".join(secrets.choice(_LETTERS) for _ in range(6)),
            title=job_file.title or job_file.input.path.name,
            protocol=job_file.protocol if job_file.older else job_file.kind.name,
            contents=contents,
            configurations=[configuration.data for configuration in configurations],
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


async def check_models(
    database: Database, job_file: JobFile, configurations: Iterable[Configuration], settings: Settings
) -> None:
    """Refuse a batch whose models cannot be reached, or whose budget is below one call.

    Raises:
        NoModelError: a model cannot be reached.
        UnknownPrice: there is a budget in USD, and a model without a price.
        BudgetExceeded: not even one call would fit.
    """
    caps = job_file.budget.caps
    if caps.calls == 0 or caps.tokens == 0 or caps.cost == 0:
        raise BudgetExceeded("the budget is below one call; nothing was started")
    rows = SharedRows(database)
    meter = Meter(rows, "", caps)
    try:
        for terms, asked in _asked_of(job_file.kind, configurations):
            needs = needs_of(job_file.kind.name, terms)
            request = Request(terms.model or asked, (), CallLabel("batch", "check"), max_tokens=terms.max_tokens)
            worst_case(request, price_of(settings, request.model), terms.caps)
            async with MeteredGateway(terms.settings(settings), meter, needs=needs) as gateway:
                least = await gateway.least_cost(asked)
            if caps.cost is not None and least > caps.cost:
                raise BudgetExceeded(
                    f"the budget of ${caps.cost / 1e6:.6f} is below one call to {request.model}, which may take "
                    f"${least / 1e6:.6f}; raise it, or set max_tokens"
                )
    finally:
        await rows.queue.aclose()


def _asked_of(kind: RunType, configurations: Iterable[Configuration]) -> Iterator[tuple[Terms, str]]:
    """Yield each model that some configuration asks, once under the same terms."""
    seen: set[tuple[str, str]] = set()
    for configuration in configurations:
        for asked in asked_of(kind, configuration.options):
            key = (configuration.terms.model_dump_json(), asked)
            if key not in seen:
                seen.add(key)
                yield configuration.terms, asked


async def prepare(path: Path, store_url: str, *, provider_batch: bool = False) -> tuple[JobFile, Batch]:
    """Check a job file, its models and its input, and enter its jobs.

    Args:
        provider_batch: calls are to wait for the batches of vendors, whatever the file says.

    Raises:
        LlmRuntimeError: something is not as it must be; nothing was spent.
    """
    job_file = load_job_file(path)
    if provider_batch:
        work = {**job_file.work.model_dump(exclude_unset=True), "provider_batch": True}
        job_file = job_file.model_copy(update={"work": Work.model_validate(work)})
    return job_file, await entered(job_file, store_url, load_settings())


async def entered(job_file: JobFile, store_url: str, settings: Settings) -> Batch:
    """Do the same for a job file that is read already."""
    configurations = complete(job_file, list(combinations(job_file, settings)))
    with closing(open_batches(store_url)) as database:
        await check_models(database, job_file, configurations, settings)
        return enter(database, job_file, configurations)
