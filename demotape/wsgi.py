"""The review app for a WSGI server such as gunicorn: `gunicorn 'demotape.wsgi:make_app()'`. Configured by environment.

DEMOTAPE_DB (database URL), DEMOTAPE_DATA (data folder), DEMOTAPE_BLOBS (s3://bucket/prefix of the recordings, if they
are not in the data folder), DEMOTAPE_ENDPOINT_URL (of an S3 service other than Amazon's), DEMOTAPE_HOSTS (the names
that the app is reached by, with commas between; without it, only this machine's own), DEMOTAPE_HTTPS=1 (behind a proxy
that speaks HTTPS and sets X-Forwarded-For and X-Forwarded-Proto), DEMOTAPE_UPLOAD_DAYS (after how many days without a
chunk an upload is given up; 7), DEMOTAPE_JOB_DAYS (after how many days of waiting for a database or bucket a job
fails; 7), DEMOTAPE_OPENID_ISSUER, _CLIENT, _SECRET and _ROLE, DEMOTAPE_WEBHOOK_NETWORKS, DEMOTAPE_METRICS_TOKEN
(environment.py), DEMOTAPE_DOWNLOADS=store (exports are downloaded from S3 itself, by a signed address),
DEMOTAPE_LOG=json (requests and messages as lines of JSON), OTEL_EXPORTER_OTLP_ENDPOINT (environment.py),
DEMOTAPE_ROOMS (environment.py),
DEMOTAPE_REPLAY=1 (demonstrations are run again on this machine, which has a Chromium), DEMOTAPE_MODEL_URL,
DEMOTAPE_MODEL and DEMOTAPE_MODEL_KEY (environment.py).
"""

import gc
import os
from pathlib import Path

from flask import Flask
from werkzeug.middleware.proxy_fix import ProxyFix

from curator_web import create_app
from curator_web.db.request_lock import OneAtATime
from curator_web.jobs.queue import PATIENCE
from curator_web.jobs.upload_service import UNFINISHED_DAYS
from curator_web.web.work.exports import FROM_STORE
from schemas import InputError
from schemas.files import restrict_umask

from .environment import metrics_token, model, openid, room_connections, share_metrics, traces, webhook_networks
from .importing import import_package
from .rerun import run_again


def make_app() -> Flask:
    """The app as the environment describes it; raises InputError when the database or the folder cannot be opened, or a
    setting is none."""
    restrict_umask()
    data = Path(os.environ.get("DEMOTAPE_DATA", "demotape-data"))
    token = metrics_token()
    if token:
        share_metrics(data)
    app = create_app(os.environ.get("DEMOTAPE_DB"), data,
                     blobs=os.environ.get("DEMOTAPE_BLOBS"), endpoint_url=os.environ.get("DEMOTAPE_ENDPOINT_URL"),
                     upload_days=_days("DEMOTAPE_UPLOAD_DAYS", UNFINISHED_DAYS),
                     job_days=_days("DEMOTAPE_JOB_DAYS", PATIENCE.days), openid=openid(),
                     import_package=import_package, webhook_networks=webhook_networks(),
                     run_again=run_again if os.environ.get("DEMOTAPE_REPLAY") == "1" else None,
                     metrics_token=token, logs=os.environ.get("DEMOTAPE_LOG") == "json",
                     traces=traces(), model=model(), room_connections=room_connections())
    if hosts := os.environ.get("DEMOTAPE_HOSTS"):
        app.config["HOSTS"] = tuple(name.strip().lower() for name in hosts.split(","))
    app.config[FROM_STORE] = os.environ.get("DEMOTAPE_DOWNLOADS") == "store"
    if os.environ.get("DEMOTAPE_HTTPS") == "1":
        app.config["SESSION_COOKIE_SECURE"] = True
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=1, x_proto=1)  # type: ignore[method-assign]  # as Flask says
    app.wsgi_app = OneAtATime(app.wsgi_app)  # type: ignore[method-assign]  # as Flask says
    app.extensions["demotape"].jobs.start()
    gc.freeze()  # what is loaded stays: looking through it again and again makes single answers 80 ms slower
    return app


def _days(name: str, otherwise: float) -> float:
    value = os.environ.get(name, str(otherwise))
    try:
        return float(value)
    except ValueError:
        raise InputError(f"{name}: {value[:20]!r} is not a number of days") from None
