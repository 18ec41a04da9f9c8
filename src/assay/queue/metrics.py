"""A store as Prometheus reads it: sums of its runs, its queue, its purses, and what providers let through."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING

from assay.batch.batches import batches_beside
from assay.batch.buckets import Buckets
from assay.batch.database import Database
from assay.batch.purses import Purses
from llm_runtime.extras import needing
from llm_runtime.store import RunStore

if TYPE_CHECKING:
    from prometheus_client.core import Metric

_RUNS = (
    ("assay_runs", "Runs in the store."),
    ("assay_calls", "Calls that models answered."),
    ("assay_input_tokens", "Tokens that models read."),
    ("assay_output_tokens", "Tokens that models wrote."),
    ("assay_cost_microdollars", "What providers charged, where the price is known."),
    ("assay_unknown_microdollars", "What attempts may have taken besides, of which nobody knows the end."),
)


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
    from prometheus_client.core import GaugeMetricFamily

    totals = store.totals()
    for place, (name, about) in enumerate(_RUNS):
        # A store may be pruned: what falls is no counter.
        family = GaugeMetricFamily(name, about, labels=("protocol", "ending"))
        for protocol, ending, sums in totals:
            family.add_metric((protocol, ending), sums[place])
        yield family


def _of_rows(database: Database) -> Iterator[Metric]:
    from prometheus_client.core import GaugeMetricFamily

    from assay.queue.tables import counted, is_there

    if is_there(database):
        entries = GaugeMetricFamily("assay_queue_entries", "Entries of the queue.", labels=("state",))
        for state, count in counted(database).items():
            entries.add_metric((state,), count)
        yield entries
    purses = GaugeMetricFamily(
        "assay_purse_microdollars",
        "What a batch or purse has spent, holds, may have spent.",
        labels=("purse", "what"),
    )
    for name, purse in Purses(database).all().items():
        for what in ("spent", "held", "unknown"):
            purses.add_metric((name, what), getattr(purse, what).cost)
    yield purses
    closed = GaugeMetricFamily(
        "assay_provider_closed_seconds",
        "Until a provider that lets nobody through is tried again.",
        labels=("bucket",),
    )
    for each in Buckets(database).closed():
        closed.add_metric((each.bucket,), each.wait_us / 1e6)
    yield closed
