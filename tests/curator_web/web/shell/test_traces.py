"""Requests and jobs told to a collector of OpenTelemetry, which is a server here: what comes, and what must not."""

import re
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue

import pytest
import requests
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from curator_web import create_app
from curator_web.demonstrations.library.library import import_recording
from demotape.environment import traces
from schemas import InputError
from tests.support.curator.curator_fixtures import make_recording
from tests.support.services.gunicorns import Gunicorn

CANARY = "Canary7314"


class Collector:
    """Takes what is sent to it. `address`: for OTEL_EXPORTER_OTLP_ENDPOINT."""

    def __init__(self) -> None:
        bodies: Queue[bytes] = Queue()

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                bodies.put(self.rfile.read(int(self.headers["Content-Length"])))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._bodies, self._server = bodies, ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        self.sent: list[bytes] = []
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def spans_until(self, name: str) -> list[Span]:
        """All that came, once one of this name has."""
        spans: list[Span] = []
        while name not in {span.name for span in spans}:
            self.sent.append(self._bodies.get(timeout=60))
            request = ExportTraceServiceRequest.FromString(self.sent[-1])
            spans += [span for each in request.resource_spans for scope in each.scope_spans for span in scope.spans]
        return spans

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def collector(monkeypatch) -> Iterator[Collector]:
    collector = Collector()
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.address)
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "100")  # ms
    yield collector
    collector.close()


def attributes(span: Span) -> dict[str, object]:
    return {each.key: each.value.string_value or each.value.int_value for each in span.attributes}


def test_requests_and_jobs_are_told_by_what_they_are_alone(tmp_path, collector, monkeypatch):
    monkeypatch.setenv("DEMOTAPE_LOG", "json")
    url = f"sqlite:///{tmp_path / 'some.db'}"
    app = create_app(url, tmp_path / "data")
    services = app.extensions["demotape"]
    import_recording(services.db, services.store, make_recording(tmp_path, task=f"Find {CANARY}"))
    services.db.close()
    with Gunicorn(url, tmp_path / "data", workers=1) as server, requests.Session() as person:
        for path in (f"/?search={CANARY}", f"/{CANARY}", f"/demonstrations/{CANARY}", "/healthz",
                     "/demonstrations/rec-1"):
            page = person.get(f"http://127.0.0.1:{server.port}{path}", headers={"User-Agent": CANARY}).text
        token = re.search('name="csrf_token" value="([^"]+)"', page)[1]
        person.post(f"http://127.0.0.1:{server.port}/api/exports", json={"format": "chat"},
                    headers={"X-CSRFToken": token}).raise_for_status()
        spans = collector.spans_until("job export")
    asked = [span for span in spans if span.kind == Span.SPAN_KIND_SERVER]
    assert {span.name for span in asked} == {
        "GET /", "GET", "GET /demonstrations/<demonstration_id>", "POST /api/exports"}
    assert {attributes(span)["http.status_code"] for span in asked} == {200, 202, 404}
    assert all(len(str(attributes(span)["demotape.request"])) == 16 for span in asked)
    statements = [span for span in spans if span.kind == Span.SPAN_KIND_CLIENT]
    assert {span.name for span in statements} >= {"SELECT"} and all(" " not in span.name for span in statements)
    job, = (span for span in spans if span.name == "job export")
    assert {span.span_id for span in (*asked, job)} >= {span.parent_span_id for span in statements}
    assert job.span_id in {span.parent_span_id for span in statements}
    assert not any(span.events or span.status.message for span in spans)
    everything = b"".join(collector.sent)
    assert not any(secret.encode() in everything for secret in (CANARY, "127.0.0.1", str(tmp_path)))


def test_it_is_off_where_nobody_listens(tmp_path, monkeypatch):
    assert not traces()
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    assert traces()
    monkeypatch.setitem(sys.modules, "opentelemetry.instrumentation.flask", None)
    with pytest.raises(InputError, match=r"OTEL_EXPORTER_OTLP_ENDPOINT needs .*pip install 'demotape\[traces\]'"):
        traces()
