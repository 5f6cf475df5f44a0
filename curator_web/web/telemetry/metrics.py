"""Prometheus metrics at /metrics: requests of all processes, jobs, and the state of services.

Nothing of what was captured or typed is a label: endpoints, kinds and states only, which are few.
"""

import hmac
import os
import shutil
import time
from collections.abc import Iterator

from flask import Blueprint, Flask, Response, abort, current_app, g, request
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from curator_web.access.services import Services, services
from curator_web.errors import DatabaseUnavailable
from curator_web.web.shell import health

blueprint = Blueprint("metrics", __name__)
SHARED = "PROMETHEUS_MULTIPROC_DIR"  # where the processes of one server put their numbers (`demotape.environment`)
SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
TOKEN = "METRICS_TOKEN"
_ALL = CollectorRegistry()
_REQUESTS = Counter("demotape_requests", "Requests that were answered", ("method", "endpoint", "status"),
                    registry=_ALL)
_TIMES = Histogram("demotape_request_seconds", "How long answers took", ("endpoint",), buckets=SECONDS, registry=_ALL)
_METHODS = ("GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH")


def register(app: Flask, token: str) -> None:
    """Count requests, and answer who has the token."""
    app.config[TOKEN] = token
    app.before_request(_begin)
    app.after_request(_count)
    app.register_blueprint(blueprint)


@blueprint.get("/metrics")
def show() -> Response:
    """The numbers, for who has the token."""
    token = request.headers.get("Authorization", "").partition(" ")[2].strip()
    if not hmac.compare_digest(token.encode(), current_app.config[TOKEN].encode()):
        abort(401)
    registry = _ALL
    if SHARED in os.environ:
        registry = CollectorRegistry()
        MultiProcessCollector(registry)
    now = CollectorRegistry()
    now.register(_Now(services()))
    return Response(generate_latest(registry) + generate_latest(now), content_type=CONTENT_TYPE_LATEST)


def _begin() -> None:
    g.began = time.perf_counter()


def _count(response: Response) -> Response:
    endpoint = request.endpoint or "none"
    method = request.method if request.method in _METHODS else "other"
    _REQUESTS.labels(method, endpoint, str(response.status_code)).inc()
    if "began" in g:
        _TIMES.labels(endpoint).observe(time.perf_counter() - g.began)
    return response


class _Now(Collector):
    """What is asked when it is read."""

    def __init__(self, services_: Services):
        self._of = services_

    def collect(self) -> Iterator[GaugeMetricFamily]:
        is_up = GaugeMetricFamily("demotape_up", "Whether what is needed does what it is asked", labels=("part",))
        for part, state in health.parts(self._of).items():
            is_up.add_metric((part,), float(state == health.OK))
        yield is_up
        free = shutil.disk_usage(self._of.store.data_dir).free
        yield GaugeMetricFamily("demotape_disk_free_bytes", "What is free on the data folder's disk", value=free)
        jobs = GaugeMetricFamily("demotape_jobs", "Jobs that are not done; of those that failed, of the last day",
                                 labels=("kind", "state"))
        try:
            counts = self._of.jobs.counts()
        except DatabaseUnavailable:
            return
        for (kind, state), count in counts.items():
            jobs.add_metric((kind, state), count)
        yield jobs
