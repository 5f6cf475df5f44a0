"""In which project a request is, and so what who asks may do: that of what the address names, or that of the parameter
`project`, or the only one that they are in."""

from dataclasses import replace
from typing import Any

from flask import Flask, current_app, g, redirect, request, url_for
from sqlalchemy import select
from werkzeug import Response

from curator_web.db.database import Database
from curator_web.db.models.core import COPIES, LEAD, Comment, Demonstration
from curator_web.db.models.deletion_models import Deletion
from curator_web.db.models.filter_models import SavedFilter
from curator_web.db.models.job_models import Job
from curator_web.db.models.notification_models import Notification
from curator_web.db.models.project_settings_models import ExportPreset
from curator_web.db.models.room_models import Room
from curator_web.db.models.task_models import Task
from curator_web.db.models.webhook_models import Webhook, WebhookDelivery
from curator_web.demonstrations.leases import visibility
from curator_web.errors import ErrorText, InputError, NotAllowed, NotFound
from curator_web.jobs.queue import LAST_ID
from curator_web.users import Account, projects
from schemas.text import storable

from .services import services

# What is of no project; the rest of the address of `projects` names one.
WITHOUT = ("people", "own_account", "own_second_factor", "signing_in", "openid", "api-docs", "notifications",
           "notifications_api", "own_keys", "own_keys_api", "tour")
WITHOUT_VIEWS = ("projects.index", "projects.add", "projects_api.Projects", "api.token", "uploads.account",
                 "uploads.state", "uploads.chunk", "uploads.finish")
PAGES = ("pages", "team", "dashboard", "exports", "labels", "imports", "tasks", "task_proposals", "filters",
         "deletions", "webhooks", "pairs", "training", "judging", "jobs", "proofs", "outcomes", "rooms")
# What an address may name, how its project is found, and what is said where there is none.
_NAMED: dict[str, tuple[Any, ErrorText]] = {
    "demonstration_id": (lambda name: select(Demonstration.project).where(Demonstration.id == name),
                         ErrorText("unknown demonstration %(demonstration_id)r")),
    "recording_id": (lambda name: select(Demonstration.project).where(Demonstration.recording == name),
                     ErrorText("unknown recording %(recording_id)r")),
    "comment_id": (lambda number: select(Demonstration.project).join(
        Comment, Comment.demonstration_id == Demonstration.id).where(Comment.id == number),
        ErrorText("unknown comment %(comment_id)r")),
    "task_id": (lambda name: select(Task.project).where(Task.id == name), ErrorText("unknown task %(task_id)r")),
    "filter_id": (lambda number: select(SavedFilter.project).where(SavedFilter.id == number),
                  ErrorText("unknown filter %(filter_id)r")),
    "batch": (lambda name: select(Deletion.project).where(Deletion.batch == name),
              ErrorText("unknown deletion %(batch)r")),
    "notification_id": (lambda number: select(Notification.project).where(Notification.id == number),
                        ErrorText("unknown notification %(notification_id)r")),
    "webhook_id": (lambda number: select(Webhook.project).where(Webhook.id == number),
                   ErrorText("unknown webhook %(webhook_id)r")),
    "delivery_id": (lambda number: select(Webhook.project).join(
        WebhookDelivery, WebhookDelivery.webhook_id == Webhook.id).where(WebhookDelivery.id == number),
        ErrorText("unknown delivery %(delivery_id)r")),
    "preset_id": (lambda number: select(ExportPreset.project).where(ExportPreset.id == number),
                  ErrorText("unknown preset %(preset_id)r")),
    "job_id": (lambda number: select(Job.project).where(Job.id == number), ErrorText("unknown job %(job_id)r")),
    "room_id": (lambda name: select(Room.project).where(Room.id == name), ErrorText("unknown room")),
    "project": (None, ErrorText("unknown project %(project)r")),
}


def register(app: Flask) -> None:
    """Have addresses of a project's pages name it, for who is in several."""
    app.url_defaults(_name_project)
    app.context_processor(lambda: {"place": g.get("membership"), "places": g.get("memberships", []),
                                   "led_elsewhere": _led_elsewhere()})


def choose(account: Account) -> tuple[Account, Response | None]:
    """Who asks, with their role in the project that the request is in; or where the page is that asks which.

    Raises NotFound for what is of a project that they are not in, as for what does not exist; NotAllowed for who is in
    none; InputError where they are in several and a program names none.
    """
    with services().db.in_one_session() as db:
        g.memberships = projects.memberships(db, account)
        named = _named(db)
        g.membership = _membership(g.memberships, named)
        if g.membership:
            account = replace(account, role=g.membership.role, project=g.membership.id)
            for demonstration_id in _demonstrations(db):
                visibility.require_visible(db, demonstration_id, account)
            return account, None
    if _needs_no_project():
        return account, None
    if request.blueprint in PAGES and request.method == "GET":
        return account, redirect(url_for("projects.index"), 303)
    if not g.memberships:
        raise NotAllowed(ErrorText("you are not a member of a project; ask a lead to add you"))
    raise InputError(ErrorText("field project: choose one of your projects: %(which)s",
                               which=", ".join(membership.id for membership in g.memberships)))


def _membership(memberships: list[projects.Membership], named: tuple[set[str], ErrorText] | None
                ) -> projects.Membership | None:
    """The membership in the project that the request is in; None when it names no project and there is not only one.
    Raises NotFound when it names projects (`named`, see `_named`) of which none is among them."""
    if named is not None:
        ids, missing = named
        membership = next((membership for membership in memberships if membership.id in ids), None)
        if membership is None:
            raise NotFound(missing)
        return membership
    # Of several, a recorder that names none sends to the one that was joined first.
    is_certain = len(memberships) == 1 or request.endpoint == "uploads.plan"
    return memberships[0] if memberships and is_certain else None


def _needs_no_project() -> bool:
    """Whether the request is for a page or a part of the API that belongs to no project."""
    return request.blueprint in WITHOUT or request.endpoint in WITHOUT_VIEWS


def _demonstrations(db: Database) -> list[str]:
    """The demonstration that the address names, or that of the comment that it names."""
    url_values = request.view_args or {}
    if "comment_id" in url_values:
        with db.reading() as session:
            return list(session.scalars(select(Comment.demonstration_id).where(Comment.id == url_values["comment_id"])))
    return [url_values["demonstration_id"]] if "demonstration_id" in url_values else []


def _led_elsewhere() -> list[projects.Membership]:
    """The other projects that they lead."""
    return [membership for membership in g.get("memberships", []) if membership.role == LEAD
            and membership != g.get("membership")]


def _named(db: Database) -> tuple[set[str], ErrorText] | None:
    """The project of what the address names, none for what does not exist, several for a recording whose demonstration
    was split, and what is said to who is not in it; None where it names nothing."""
    url_values = request.view_args or {}
    for name, (query, missing) in _NAMED.items():
        value = url_values.get(name) or (request.args.get(name) if name == "project" else None)
        if value in (None, ""):
            continue
        said = ErrorText(missing.template, **{name: value[:100] if isinstance(value, str) else value})
        if query is None:
            return {value}, said
        if isinstance(value, int) and value > LAST_ID:
            return set(), said
        with db.reading() as session:
            return {project.removeprefix(COPIES) for project in session.scalars(query(storable(value)))}, said
    return None


def _name_project(endpoint: str, values: dict[str, Any]) -> None:
    membership = g.get("membership")
    if membership is None or len(g.memberships) < 2 or endpoint.partition(".")[0] not in PAGES:
        return
    if endpoint in _without_arguments():
        values.setdefault("project", membership.id)


def _without_arguments() -> set[str]:
    """The endpoints whose addresses name nothing."""
    if "without_arguments" not in current_app.extensions:
        rules = list(current_app.url_map.iter_rules())
        naming = {rule.endpoint for rule in rules if rule.arguments}
        current_app.extensions["without_arguments"] = {rule.endpoint for rule in rules} - naming
    return current_app.extensions["without_arguments"]
