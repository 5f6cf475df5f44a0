"""The lead's page of labels: what people are asked to say of demonstrations and turns."""

from typing import Any

from flask import Blueprint, redirect, render_template, request, url_for
from werkzeug import Response

from curator_web.access.accounts import account, lead
from curator_web.access.services import services
from curator_web.demonstrations.library import labels
from curator_web.errors import ErrorText, InputError, NotFound

blueprint = Blueprint("labels", __name__, url_prefix="/labels")


@blueprint.get("")
def show() -> str:
    """All labels, each with its form, and one for a new one."""
    lead()
    return render_template("work/labels.html", labels=labels.definitions(services().db, account().project),
                           scopes=labels.SCOPES, kinds=labels.KINDS)


@blueprint.post("")
def save() -> Response:
    """Add a label, or change the one whose place the form names."""
    caller, definitions = lead(), labels.definitions(services().db, account().project)
    index = _index(definitions)
    label: dict[str, Any] = {name: request.form.get(name, "").strip() for name in ("name", "scope", "kind", "hint")}
    label["options"] = [line.strip() for line in request.form.get("options", "").splitlines() if line.strip()]
    changed = [*definitions, label] if index is None else [*definitions[:index], label, *definitions[index + 1:]]
    labels.define(services().db, changed, caller)
    return redirect(url_for(".show"), 303)


@blueprint.post("/remove")
def remove() -> Response:
    """Ask for a label no more; what was said by it stays said."""
    caller, definitions = lead(), labels.definitions(services().db, account().project)
    index = _index(definitions)
    if index is None:
        raise InputError(ErrorText("field label: enter the label to delete"))
    labels.define(services().db, [*definitions[:index], *definitions[index + 1:]], caller)
    return redirect(url_for(".show"), 303)


def _index(definitions: list[dict[str, Any]]) -> int | None:
    """Where the label stands that the form is about; None for a new one. Raises NotFound."""
    name = request.form.get("label", "")
    if not name:
        return None
    index = next((index for index, definition in enumerate(definitions) if definition["name"] == name), None)
    if index is None:
        raise NotFound(ErrorText("unknown label %(name)r; it may have been deleted",
                                 name=name[:labels.NAME_LENGTH]))
    return index
