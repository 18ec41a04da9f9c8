"""A store as Prometheus reads it: sums of its runs, its queue, its purses, and what providers let through."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import TYPE_CHECKING

from assay.batch.batches import batches_beside
from assay.batch.buckets import Buckets
from assay.batch.database import Database
from assay.batch.purses import Purses
from llm_runtime.extras import needing
from llm_runtime.store import RunStore
from llm_runtime.toml import own_table

if TYPE_CHECKING:
    from prometheus_client.core import Metric

_METRICS = own_table("assay.queue", "metrics.toml")


def prometheus(store: RunStore) -> bytes:
    """Return the metrics of a store in Prometheus' text format; their sums are those of the store.

    Raises:
        MissingExtraError: prometheus_client is not installed.
        StoreError: the store cannot be read.
    """
    with needing("/metrics", "otel"):
        from prometheus_client import CollectorRegistry, generate_latest

    class Collected:
        def collect(self) -> Iterator[Metric]:
            yield from _of_runs(store)
            database = batches_beside(store)
            if database is not None:
                with closing(database):
                    yield from _of_rows(database)

    registry = CollectorRegistry()
    registry.register(Collected())
    return generate_latest(registry)


def _of_runs(store: RunStore) -> Iterator[Metric]:
    totals = store.totals()
    for place, name in enumerate(_METRICS["runs"]):
        # A store may be pruned: what falls is no counter.
        samples = (((protocol, ending), sums[place]) for protocol, ending, sums in totals)
        yield _family("runs", name, samples, "protocol", "ending")


def _of_rows(database: Database) -> Iterator[Metric]:
    from assay.queue.tables import counted, is_there

    if is_there(database):
        entries = (((state,), count) for state, count in counted(database).items())
        yield _family("rows", "assay_queue_entries", entries, "state")
    purses = Purses(database).all().items()
    held = (((n, what), getattr(purse, what).cost) for n, purse in purses for what in ("spent", "held", "unknown"))
    yield _family("rows", "assay_purse_microdollars", held, "purse", "what")
    closed = (((each.bucket,), each.wait_us / 1e6) for each in Buckets(database).closed())
    yield _family("rows", "assay_provider_closed_seconds", closed, "bucket")


def _family(of: str, name: str, samples: Iterable[tuple[tuple[str, ...], float]], *labels: str) -> Metric:
    from prometheus_client.core import GaugeMetricFamily

    family = GaugeMetricFamily(name, _METRICS[of][name], labels=labels)
    for values, amount in samples:
        family.add_metric(values, amount)
    return family
