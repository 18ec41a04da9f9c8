"""Traces and metrics of runs by OpenTelemetry's conventions for generative AI: off unless asked for, and without a
word of what was asked or answered.

The names are those of November 2026; the constants in OpenTelemetry's own package for Python are older.
"""

from __future__ import annotations

import logging
import os
from functools import cache
from time import time_ns
from typing import TYPE_CHECKING, Any

from llm_runtime.events import CallFailed, CallFinished, CallStarted, Emit, Event, RunFinished, RunStarted
from llm_runtime.extras import needing
from llm_runtime.store.tally import Tally
from llm_runtime.structs import Struct
from llm_runtime.toml import own_table

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import Span, TracerProvider

#: Set to anything but nothing or 0, it turns telemetry on; where it goes, OpenTelemetry's own variables say.
SWITCH = "ASSAY_OTEL"
_FLUSH_MS = 2_000
_ASKED: dict[str, str] = own_table("assay.launch", "telemetry.toml")


class Instruments(Struct):
    """What measures: a tracer, and the counters and histograms of the conventions."""

    traces: TracerProvider
    metrics: MeterProvider

    def run(self, started: RunStarted) -> Emit:
        """Return what hears the events of one run from now on."""
        return _RunTelemetry(self, started)


@cache
def instruments() -> Instruments | None:
    """Return what measures in this process; ``None`` where nobody asked for it.

    Raises:
        MissingExtraError: somebody did, and the packages are not installed.
    """
    if os.environ.get(SWITCH, "0") in ("", "0"):
        return None
    with needing(f"telemetry ({SWITCH})", "otel"):
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    # A collector that is away changes nothing, and is nobody's error.
    logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)
    resource = Resource.create({"service.name": os.environ.get("OTEL_SERVICE_NAME", "assay")})
    traces = TracerProvider(resource=resource, shutdown_on_exit=False)
    traces.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(timeout=_FLUSH_MS / 1000)))
    reader = PeriodicExportingMetricReader(OTLPMetricExporter(timeout=_FLUSH_MS / 1000))
    return Instruments(traces, MeterProvider([reader], resource=resource, shutdown_on_exit=False))


def flush() -> None:
    """Send what was measured before the process ends; wait for a collector no longer than two seconds."""
    if instruments.cache_info().currsize and (measuring := instruments()) is not None:
        both: tuple[Any, Any] = (measuring.traces, measuring.metrics)
        for provider in both:
            provider.force_flush(_FLUSH_MS)


class _RunTelemetry:
    """Folds the events of one run into a span, spans of its calls, and sums that equal those of the store."""

    def __init__(self, measuring: Instruments, started: RunStarted) -> None:
        self._tracer = measuring.traces.get_tracer("assay")
        meter = measuring.metrics.get_meter("assay")
        self._tokens = {
            "input_tokens": meter.create_counter("gen_ai.client.inference.usage.input_tokens", "{token}"),
            "output_tokens": meter.create_counter("gen_ai.client.inference.usage.output_tokens", "{token}"),
        }
        self._cost = meter.create_counter("assay.cost", "{USD}/1000000", "What providers charged, in micro-dollars")
        self._call_seconds = meter.create_histogram("gen_ai.client.operation.duration", "s")
        self._run_seconds = meter.create_histogram("gen_ai.invoke_workflow.duration", "s")
        self._kind = {"gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.name": started.protocol}
        self._begun = time_ns()
        self._tally = Tally()
        self._calls: dict[tuple[str, int], tuple[Span, int, dict[str, Any]]] = {}
        told = {**self._kind, "gen_ai.conversation.id": started.run_id, "assay.run.id": started.run_id}
        self._span = self._tracer.start_span(f"invoke_workflow {started.protocol}", attributes=told)

    def __call__(self, event: Event) -> None:
        if isinstance(event, CallStarted) and not event.replayed:
            self._started(event)
        elif isinstance(event, CallFinished | CallFailed) and not event.replayed:
            self._ended(event)
        elif isinstance(event, RunFinished):
            self._over(event)

    def _started(self, call: CallStarted) -> None:
        from opentelemetry.trace import SpanKind, set_span_in_context

        request, label = call.request, call.request.get("label", {})
        asked = {name: request[key] for key, name in _ASKED.items() if request.get(key) is not None}
        where = {f"assay.{part}": label[part] for part in ("phase", "seat", "round") if label.get(part)}
        told, within = {"gen_ai.operation.name": "chat", **asked, **where}, set_span_in_context(self._span)
        name = f"chat {request.get('model', '')}"
        span = self._tracer.start_span(name, context=within, kind=SpanKind.CLIENT, attributes=told)
        self._calls[call.digest, call.occurrence] = (span, time_ns(), asked)

    def _ended(self, call: CallFinished | CallFailed) -> None:
        from opentelemetry.trace import Status, StatusCode

        under_way = self._calls.pop((call.digest, call.occurrence), None)
        if under_way is None:
            return
        span, begun, asked = under_way
        reply: dict[str, Any] = call.reply if isinstance(call, CallFinished) else call.partial or {}
        usage: dict[str, Any] = reply.get("usage") or {}
        known = {"gen_ai.operation.name": "chat", "gen_ai.provider.name": reply.get("provider") or "unknown"}
        if "gen_ai.request.model" in asked:
            known["gen_ai.request.model"] = asked["gen_ai.request.model"]
        if isinstance(call, CallFailed):
            known["gen_ai.provider.name"] = call.provider or known["gen_ai.provider.name"]
            known["error.type"] = call.error
            span.set_status(Status(StatusCode.ERROR))
        span.set_attributes(known)
        for name in ("input_tokens", "output_tokens"):
            if name in usage:
                span.set_attribute(f"gen_ai.usage.{name}", usage[name])
        if reply:
            span.set_attribute("gen_ai.response.model", reply.get("model", ""))
            span.set_attribute("gen_ai.response.finish_reasons", [reply.get("finish_reason", "")])
            span.set_attribute("assay.attempts", reply.get("attempts", 1))
        before, self._tally = self._tally, self._tally.after(call)
        for name, counter in self._tokens.items():
            counter.add(getattr(self._tally, name) - getattr(before, name), known)
        cost = self._tally.cost - before.cost
        self._cost.add(cost, known)
        span.set_attribute("assay.cost.usd", cost / 1_000_000)
        self._call_seconds.record((time_ns() - begun) / 1e9, known)
        span.end()

    def _over(self, run: RunFinished) -> None:
        from opentelemetry.trace import Status, StatusCode

        error = {"error.type": run.error} if run.error else {}
        for span, _, _ in self._calls.values():
            span.end()
        self._span.set_attributes({"assay.run.state": run.state, **error})
        if run.state == "failed":
            self._span.set_status(Status(StatusCode.ERROR))
        self._run_seconds.record((time_ns() - self._begun) / 1e9, {**self._kind, **error})
        self._span.end()
