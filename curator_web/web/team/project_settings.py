"""The page of a project's settings, for its leads: one form per section."""

import json
from collections.abc import Callable
from typing import Any

from flask import Blueprint, redirect, render_template, request, url_for
from flask_babel import lazy_gettext as _l
from werkzeug import Response

from curator_web.access.accounts import lead
from curator_web.access.services import services
from curator_web.errors import ErrorText, InputError
from curator_web.jobs import recounts
from curator_web.users import project_settings
from pipeline import plugins
from pipeline.checks import all_kinds
from pipeline.export.splits import SPLIT_FACTORS
from schemas import BROWSER_INTENTS, limits
from schemas.text import storable

blueprint = Blueprint("project_settings", __name__, url_prefix="/projects")
STEPS = {
    1: (_l("One person"), _l("Submitted demonstrations are approved.")),
    2: (_l("Two people"), _l("The annotator submits; another reviewer approves, or validates first.")),
    3: (_l("Three people"), _l("One submits, another validates, and a third one approves.")),
}
CONSENT = {
    project_settings.SESSION: (_l("Each session"), _l("Several people may use one account of a computer.")),
    project_settings.PERSON: (_l("Each person, once"), _l("The answers are stored on the computer, for the person's "
                                                          "name.")),
}
_NUMBERS = {"valid": 0.1, "test_iid": 0.1, "near_duplicates": 0.75}  # of a split rule, with what is usual


@blueprint.get("/<project>/settings")
def show(project: str) -> str:
    """What is set; asked by htmx, only how far counting is."""
    lead()
    jobs = services().jobs.latest(recounts.KIND, project)[:1]
    jobs_url = url_for(".show", project=project)
    if request.headers.get("HX-Request"):
        return render_template("shell/_jobs.html", jobs=jobs, here=jobs_url)
    return render_template(
        "team/project_settings.html", jobs=jobs, here=jobs_url, settings=project_settings.read(services().db, project),
        rule=project_settings.split_rule(services().db, project), intents=BROWSER_INTENTS, kinds=_kinds(project),
        installed=all_kinds(), steps=STEPS, consent=CONSENT, held_out=SPLIT_FACTORS, usual=_NUMBERS,
        plugged=plugins.names(plugins.SPLITS, ()))


@blueprint.post("/<project>/settings")
def change(project: str) -> Response:
    """Set the part that the form is of."""
    caller, part = lead(), request.form.get("part", "")
    if part not in _PARTS:
        raise InputError(ErrorText("field part: unknown part %(part)r; choose from %(which)s",
                                   part=part[:40], which=", ".join(_PARTS)))
    recounts.change_settings(services().db, services().jobs, caller, _PARTS[part](project))
    return redirect(url_for(".show", project=project, _anchor=part), 303)


def _kinds(project: str) -> list[str]:
    """The kinds of checks, and those that are not in use though no check is there now that finds them."""
    return [*dict.fromkeys([*all_kinds(), *project_settings.settings_fields(services().db, project)["unused_checks"]])]


def _intents(_project: str) -> dict[str, Any]:
    ticked = request.form.getlist("intent")
    return {"unused_intents": [intent for intent in BROWSER_INTENTS if intent not in ticked]}


def _checks(project: str) -> dict[str, Any]:
    ticked = request.form.getlist("check")
    return {"unused_checks": [kind for kind in _kinds(project) if kind not in ticked]}


def _review(_project: str) -> dict[str, Any]:
    return {"review_steps": request.form.get("steps", 0, type=int)}


def _training(_project: str) -> dict[str, Any]:
    return {"training_first": bool(request.form.get("first")), "pass_mark": _number("pass_mark")}


def _consent(_project: str) -> dict[str, Any]:
    return {"consent_prompt": request.form.get("ask", "")}


def _splits(project: str) -> dict[str, Any]:
    """The rule in the file, if one was chosen; else what there is with the form's numbers; raises InputError."""
    if request.form.get("none"):
        return {"splits": None}
    if (file := request.files.get("file")) and file.filename:
        return {"splits": read_rule(file.stream.read(limits.JSON), "file")}
    current_rule = project_settings.split_rule(services().db, project) or {}
    rule: dict[str, Any] = {name: current_rule[name] for name in ("websites", "demonstrations") if name in current_rule}
    rule |= {name: _number(name) for name in _NUMBERS} | {name: _share(name) for name in SPLIT_FACTORS}
    return {"splits": rule | {"seed": _number("seed", int), "by": request.form.get("by", "")}}


def read_rule(content: bytes, field: str) -> Any:
    """What a file of a split rule holds, not looked at by its schema yet; raises InputError for what is no JSON."""
    try:
        return storable(json.loads(content))
    except (ValueError, RecursionError):
        raise InputError(ErrorText("the form: field %(field)s: the split rule is not JSON", field=field)) from None


def _number(name: str, kind: Callable[[str], float] = float) -> float:
    text = request.form.get(name, "").strip()
    try:
        return kind(text[:40] or "0")
    except ValueError:
        raise InputError(
            ErrorText("field %(name)s: %(text)r is not a whole number", name=name, text=text[:40]) if kind is int
            else ErrorText("field %(name)s: %(text)r is not a number", name=name, text=text[:40])) from None


def _share(name: str) -> float | list[str]:
    """A share, or names with commas between them."""
    text = request.form.get(name, "").strip()
    try:
        return float(text or "0")
    except ValueError:
        return [part.strip() for part in text.split(",") if part.strip()]


_PARTS: dict[str, Callable[[str], dict[str, Any]]] = {
    "intents": _intents, "checks": _checks, "review": _review, "training": _training,
    "consent": _consent, "splits": _splits}
