"""Traces for OpenTelemetry: what a request or a job waited for, sent to a collector by OTLP over HTTP.

The standard's own variables say where to (OTEL_EXPORTER_OTLP_ENDPOINT and its neighbours). A request is told by its
route, not by its address: what people search for stands in addresses. So only what is listed here leaves the process;
nothing that was captured or typed, no message of an error, and of a statement its text without its values.
"""

import os
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from flask import Flask, g
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.instrumentation.flask import FlaskInstrumentor
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import SpanKind, Status, StatusCode, Tracer
from sqlalchemy import Engine, event
from sqlalchemy.engine import ExceptionContext

from curator_web.db.database import Database

REQUEST, JOB = "demotape.request", "demotape.job"
_METHOD, _ROUTE = "http.method", "http.route"
# Requests by the names of either version of the semantic conventions (OTEL_SEMCONV_STABILITY_OPT_IN).
_EXPORTED_ATTRIBUTES = {_METHOD, "http.request.method", _ROUTE, "http.status_code", "http.response.status_code",
                        "db.system.name",
                        "db.query.text", REQUEST, JOB}


class _Bare(SpanExporter):
    """Hands spans on without what may not be told; and no statement that belongs to neither a request nor a job."""

    def __init__(self, exporter: SpanExporter):
        self._exporter = exporter

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        bare_spans = [_bare(span) for span in spans if span.parent or span.kind is not SpanKind.CLIENT]
        return self._exporter.export(bare_spans) if bare_spans else SpanExportResult.SUCCESS

    def shutdown(self) -> None:
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._exporter.force_flush(timeout_millis)


class Traces:
    """Traces of one app's requests, jobs and statements."""

    def __init__(self) -> None:
        named = Resource.create({SERVICE_NAME: os.environ.get("OTEL_SERVICE_NAME") or "demotape"})
        self.provider = TracerProvider(resource=named)
        self.provider.add_span_processor(BatchSpanProcessor(_Bare(OTLPSpanExporter())))
        self._tracer = self.provider.get_tracer("demotape")

    def follow(self, app: Flask, db: Database) -> None:
        """Tell of the app's requests and of the database's statements."""
        FlaskInstrumentor.instrument_app(app, tracer_provider=self.provider, excluded_urls="/healthz,/readyz,/static/")
        app.after_request(_name_request)
        _follow_statements(db.engine, self._tracer)

    def of_job(self, kind: str, work: Callable[..., Any]) -> Callable[..., Any]:
        """The same work, told as a trace of its own."""
        @wraps(work)
        def run(*arguments: Any, **named: Any) -> Any:
            with self._tracer.start_as_current_span(f"job {kind}", attributes={JOB: kind}):
                return work(*arguments, **named)
        return run


def _follow_statements(engine: Engine, tracer: Tracer) -> None:
    """Each statement, while it runs. (OpenTelemetry's own instrumentation takes no SQLAlchemy from 2.1 on.)"""
    @event.listens_for(engine, "before_cursor_execute")
    def begin(connection: Any, cursor: Any, statement: str, values: Any, context: Any, many: bool) -> None:
        context.demotape_span = tracer.start_span(
            statement.split(None, 1)[0].upper(), kind=SpanKind.CLIENT,
            attributes={"db.system.name": engine.dialect.name, "db.query.text": statement})

    @event.listens_for(engine, "after_cursor_execute")
    def end(connection: Any, cursor: Any, statement: str, values: Any, context: Any, many: bool) -> None:
        context.demotape_span.end()

    @event.listens_for(engine, "handle_error")
    def fail(context: ExceptionContext) -> None:
        span = getattr(context.execution_context, "demotape_span", None)
        if span is not None:
            span.set_status(StatusCode.ERROR)
            span.end()


def _name_request(response: Any) -> Any:
    if "request_id" in g:  # the same as in the log
        trace.get_current_span().set_attribute(REQUEST, g.request_id)
    return response


def _bare(span: ReadableSpan) -> ReadableSpan:
    attributes = {name: value for name, value in (span.attributes or {}).items() if name in _EXPORTED_ATTRIBUTES}
    name = span.name
    if span.kind is SpanKind.SERVER:  # a page that is not there would be named by its address
        method = attributes.get(_METHOD, attributes.get("http.request.method", "HTTP"))
        name = f"{method} {attributes.get(_ROUTE, '')}".rstrip()
    return ReadableSpan(name, span.context, span.parent, span.resource, attributes, kind=span.kind,
                        instrumentation_scope=span.instrumentation_scope, status=Status(span.status.status_code),
                        start_time=span.start_time, end_time=span.end_time)
