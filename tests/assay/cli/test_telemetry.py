"""What is seen of runs from outside: traces and metrics that a collector gets, over HTTP on this machine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web
from tests.assay.cli.conftest import Assay

from llm_runtime.testing import LoopbackServer

pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="the extra otel is not installed")
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class Collector:
    """Takes what is exported, as a collector does."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        self.spans: list[Any] = []
        self.metrics: dict[str, Any] = {}

    async def traces(self, request: web.Request) -> web.Response:
        self.bodies.append(body := await request.read())
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            self.spans += [span for scope in resource.scope_spans for span in scope.spans]
        return web.Response()

    async def measures(self, request: web.Request) -> web.Response:
        self.bodies.append(body := await request.read())
        for resource in ExportMetricsServiceRequest.FromString(body).resource_metrics:
            self.metrics |= {metric.name: metric for scope in resource.scope_metrics for metric in scope.metrics}
        return web.Response()

    def sum(self, name: str) -> int:
        return sum(point.as_int for point in self.metrics[name].sum.data_points)


@pytest.fixture
async def collector() -> AsyncIterator[tuple[Collector, str]]:
    collector = Collector()
    app = web.Application(client_max_size=1 << 24)
    app.router.add_post("/v1/traces", collector.traces)
    app.router.add_post("/v1/metrics", collector.measures)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield collector, f"http://127.0.0.1:{runner.addresses[0][1]}"
    await runner.cleanup()


async def test_a_collector_gets_what_the_store_has_and_no_word_of_it(
    assay: Assay, server: LoopbackServer, collector: tuple[Collector, str]
) -> None:
    heard, url = collector
    telemetry = {"ASSAY_OTEL": "1", "OTEL_EXPORTER_OTLP_ENDPOINT": url}
    done = await assay("ask", "Which of PEPPERMINT and SAFFRON?", "--json", server=server, **telemetry)
    run = done.json
    [whole] = [span for span in heard.spans if span.name == "invoke_workflow crucible.council"]
    calls = [span for span in heard.spans if span.name.startswith("chat ")]
    assert len(calls) == run["calls"] and all(span.parent_span_id == whole.span_id for span in calls)
    assert {"gen_ai.provider.name", "gen_ai.request.model", "gen_ai.usage.input_tokens", "assay.phase"} <= {
        attribute.key for attribute in calls[0].attributes
    }
    for side in ("input", "output"):
        assert heard.sum(f"gen_ai.client.inference.usage.{side}_tokens") == run["tokens"][side]
    assert heard.sum("assay.cost") == round((run["cost_usd"] or 0) * 1e6)
    assert not any(word in body for body in heard.bodies for word in (b"PEPPERMINT", b"sk-or"))


async def test_it_is_off_unless_asked_for_and_a_collector_that_is_away_changes_nothing(
    assay: Assay, server: LoopbackServer, collector: tuple[Collector, str]
) -> None:
    heard, url = collector
    ask = ("ask", "Why?", "--json", "--seed", "7")
    quiet = await assay(*ask, server=server, OTEL_EXPORTER_OTLP_ENDPOINT=url)
    assert not heard.bodies
    away = await assay(*ask, server=server, ASSAY_OTEL="1", OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:1")
    assert away.json["result"] == quiet.json["result"]
    assert "Traceback" not in away.err and "export" not in away.err
