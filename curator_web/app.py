"""The app factory: configuration, one blueprint a concern, and the answers to failures."""

import re
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from flask import Flask

from .access import accounts, current_project, security
from .access.openid_settings import OpenIDSettings
from .access.services import Services
from .api.account import notifications as api_notifications
from .api.account import own_keys as api_own_keys
from .api.review import answers as api_answers
from .api.review import demonstrations as api_demonstrations
from .api.review import network as api_network
from .api.review import outcomes as api_outcomes
from .api.review import proofs as api_proofs
from .api.team import labels as api_labels
from .api.team import members as api_team
from .api.team import projects as api_projects
from .api.team import schemes as api_schemes
from .api.team import webhooks as api_webhooks
from .api.work import dashboard as api_dashboard
from .api.work import export_presets as api_export_presets
from .api.work import filters as api_filters
from .api.work import jobs as api_jobs
from .api.work import pairs as api_pairs
from .api.work import rooms as api_rooms
from .api.work import tasks as api_tasks
from .api.work import training as api_training
from .api.work import uploads as api_uploads
from .db import timeouts
from .db.database import open_database
from .demonstrations.library import actors
from .demonstrations.library.library import Imported
from .jobs import bulk_changes, exporting, outcome_trials, proposing_tasks, queue, recounts, replays, upload_service
from .jobs.queue import Jobs, Work
from .jobs.replays import RunAgain
from .notifications import reading
from .rooms.live import LiveRooms
from .settings import DEFAULT_DATA_DIR, default_db_url
from .storage.opening import open_store
from .storage.session_key import session_key
from .users import LOCAL, SecondFactors, SignInAttemptLimits, web_sessions
from .web.account import own_account, own_keys, own_second_factor, signing_in
from .web.review import (
    alternative_frames,
    history,
    list_view,
    network,
    outcomes,
    pages,
    printing,
    proofs,
    timeline,
    tree,
    turn_list,
)
from .web.review import blobs as blob_views
from .web.review.presentation import addresses, browser_name, clock, edit_summary, time_of_day, when
from .web.shell import display_names, failures, health, languages, request_log, tour
from .web.team import notifications, people, project_settings, projects, schemes, team, webhooks
from .web.work import (
    dashboard,
    deletions,
    exports,
    filters,
    imports,
    labels,
    pairs,
    room_links,
    rooms,
    task_proposals,
    tasks,
    training,
)
from .web.work import jobs as jobs_pages
from .webhooks.addresses import Network
from .webhooks.hooks import Webhooks
from .webhooks.sending import Sender

if TYPE_CHECKING:
    from pipeline.judging.model_endpoint import ModelSettings

ROOM_CONNECTIONS = 40


def create_app(db_url: str | None = None, data_dir: Path = DEFAULT_DATA_DIR, *, blobs: str | None = None,
               endpoint_url: str | None = None, who: str = LOCAL,
               upload_days: float = upload_service.UNFINISHED_DAYS, openid: OpenIDSettings | None = None,
               job_days: float = queue.PATIENCE.days,
               import_package: Callable[..., Imported] | None = None, run_again: RunAgain | None = None,
               webhook_networks: Sequence[Network] = (), metrics_token: str = "", logs: bool = False,
               traces: bool = False, model: "ModelSettings | None" = None,
               room_connections: int = ROOM_CONNECTIONS) -> Flask:
    """The review app over a database and a data folder; both are made when they do not exist.

    `blobs`: `s3://bucket/prefix` where the recordings lie instead, at `endpoint_url` if that is not Amazon's.
    `who` is the name under which edits are noted, until there are accounts. `import_package` makes a package of the
    extension, sent by the user who recorded it, a demonstration of a project (`demotape.importing`);
    without it no uploads are taken. `run_again` runs a demonstration again (`demotape.rerun`); without it none is.
    An upload that is not finished is given up when nothing came for `upload_days`.
    `job_days`: how long a job waits for a database or bucket that is away. `openid`: where people may sign in besides.
    `webhook_networks`: those that webhooks may lead to though they are not public.
    `metrics_token`: with which Prometheus reads /metrics; without it nobody does. `logs`: requests and messages are
    written to stderr as lines of JSON. `traces`: they and jobs are told to OpenTelemetry. `model`: which
    proposes tasks when a lead asks for it. `room_connections`: connections to live rooms at a time, each of which keeps
    a thread of the server busy; 0 switches rooms off.
    Raises InputError when the database, the folder or the bucket cannot be opened.
    """
    store = open_store(data_dir, blobs, endpoint_url)
    app = Flask("curator_web.web")
    app.jinja_options = {"trim_blocks": True, "lstrip_blocks": True}
    db = open_database(db_url or default_db_url(data_dir))
    kinds: dict[str, Work] = {exporting.KIND: partial(exporting.run, db, store),
                              bulk_changes.KIND: partial(bulk_changes.run, db),
                              recounts.KIND: partial(recounts.run, db),
                              outcome_trials.KIND: partial(outcome_trials.run, db, store),
                              proposing_tasks.KIND: partial(proposing_tasks.run, db, model)}
    if import_package:
        kinds[upload_service.KIND] = partial(upload_service.run, db, partial(import_package, db, store), store)
    if run_again:
        kinds[replays.KIND] = partial(replays.run, run_again, db, store)
    if traces:
        from .web.telemetry.traces import Traces

        tracing = Traces()
        tracing.follow(app, db)
        kinds = {kind: tracing.of_job(kind, work) for kind, work in kinds.items()}
    secret = session_key(db, store)
    sign_in_attempts, hooks = SignInAttemptLimits(db, secret), Webhooks(db, secret)
    chores: list[Callable[[], object]] = [
        store.temporary.remove_left_over, sign_in_attempts.forget_old, partial(web_sessions.forget_old, db),
        partial(reading.forget_old, db), hooks.forget_old, partial(actors.read_missing, db, store)]
    jobs = Jobs(db, kinds, chores=chores, describe=store.without_paths, dispatcher=Sender(db, hooks, webhook_networks),
                patience=timedelta(days=job_days), require_room=lambda: store.files.require_room(0))
    uploads = upload_service.UploadService(db, store.files, jobs, upload_days) if import_package else None
    if uploads:
        chores.append(uploads.give_up_old)
    app.extensions["demotape"] = Services(db, store, who, uploads, jobs, sign_in_attempts,
                                               SecondFactors(db, secret), openid, hooks, model,
                                               LiveRooms(room_connections))
    app.before_request(timeouts.limit_statements)
    app.teardown_request(lambda _error: timeouts.unlimit_statements())
    if logs:
        request_log.register(app)
    if metrics_token:
        from .web.telemetry import metrics

        metrics.register(app, metrics_token)
    security.protect(app, secret)
    app.jinja_env.filters.update(dom_id=dom_id, when=when, time_of_day=time_of_day, clock=clock,
                                 edit_summary=edit_summary, browser_name=browser_name)
    app.jinja_env.globals.update(addresses=addresses)
    languages.register(app)
    tour.register(app)
    display_names.register(app)
    accounts.register(app)
    current_project.register(app)
    notifications.register(app)
    own_keys.register(app)
    if openid:
        from .web.openid import provider

        provider.register(app, openid)
    from .judging import api as judging_api
    from .judging import pages as judging_pages

    for concern in (signing_in, own_account, own_keys, own_second_factor, people, projects, project_settings,
                    schemes, notifications, pages, list_view, turn_list, history, printing, proofs, outcomes, timeline,
                    alternative_frames, network, tree, team, deletions, filters, pairs, rooms, room_links, training,
                    judging_pages, task_proposals, tasks, labels, dashboard, exports, imports, jobs_pages, webhooks,
                    blob_views, health):
        app.register_blueprint(concern.blueprint)
    described = api_demonstrations.register(app)
    for concern in (api_projects, api_schemes, api_answers, api_team, api_filters, api_tasks, api_labels, api_pairs,
                    api_jobs, api_dashboard,
                    api_notifications, api_webhooks, api_export_presets, api_proofs, api_outcomes, api_network,
                    api_own_keys, api_training, api_rooms, judging_api):
        described.register_blueprint(concern.blueprint)
    api_uploads.register(described)
    failures.register(app)
    return app


def dom_id(text: str) -> str:
    """A turn's id as part of an element's id: what selectors cannot take becomes its code point."""
    return re.sub(r"[^A-Za-z0-9-]", lambda match: f"_{ord(match[0]):x}_", text)
