"""The app factory: configuration, one blueprint a concern, and the answers to failures."""

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

from flask import Flask

from . import (
    accounts, api, api_jobs, api_team, blobs, dashboard, exports, failures, history, imports, inbox,
    moments, pages, security, team, tree, uploads,
)
from .context import Services
from .database import Database, open_database
from .secret import shared_secret
from .jobs import Jobs
from .presentation import clock, time_of_day, told, when
from .storage import RecordingStore


def build_app(db_url: str, store: RecordingStore, who: str,
              take: Callable[[Database, RecordingStore, Path, str], str] | None) -> Flask:
    """The review app; see `curator_web.create_app`."""
    app = Flask("curator_web")
    app.jinja_options = {"trim_blocks": True, "lstrip_blocks": True}
    db = open_database(db_url)
    kinds = {exports.KIND: partial(exports.run, db, store)}
    if take:
        kinds[inbox.KIND] = partial(inbox.run, partial(take, db, store), store.files)
    jobs = Jobs(db, kinds)
    app.extensions["demotape"] = Services(db, store, who, inbox.Inbox(db, store.files, jobs) if take else None, jobs)
    security.protect(app, store.secret() or shared_secret(db))
    app.jinja_env.filters.update(dom_id=dom_id, when=when, time_of_day=time_of_day, status_name=status_name,
                                 clock=clock, told=told)
    accounts.register(app)
    for concern in (pages, history, moments, tree, team, dashboard, exports, imports, blobs):
        app.register_blueprint(concern.blueprint)
    described = api.register(app)
    described.register_blueprint(api_team.blueprint)
    described.register_blueprint(api_jobs.blueprint)
    described.register_blueprint(dashboard.api)
    uploads.register(described)
    failures.register(app)
    return app


def status_name(status: str) -> str:
    """A status in words."""
    return {"returned": "Sent back"}.get(status, status.capitalize())


def dom_id(text: str) -> str:
    """A turn's id as part of an element's id: what selectors cannot take becomes its code point."""
    return re.sub(r"[^A-Za-z0-9-]", lambda match: f"_{ord(match[0]):x}_", text)
