"""The lead's pages of who may sign in: what is open of each, and ending it."""

from collections.abc import Callable

from flask import Blueprint, redirect, render_template, request, url_for
from werkzeug import Response

from curator_web import users
from curator_web.access.accounts import account, manager
from curator_web.access.services import services
from curator_web.db.models.core import User
from curator_web.errors import ErrorText, InputError, NotFound
from curator_web.users import overview, second_factor, tokens
from curator_web.web.account import own_account

blueprint = Blueprint("people", __name__, url_prefix="/people")
STEPS: dict[str, Callable[..., None]] = {
    "end-sessions": users.end_sessions, "disable": users.disable, "enable": users.enable, "remove": users.remove}


@blueprint.get("")
def show() -> str:
    """Everybody, those who were removed last."""
    manager()
    return render_template("team/people.html", people=overview.people(services().db))


@blueprint.get("/<name>")
def person(name: str) -> str:
    """One person's sessions and tokens."""
    manager()
    return own_account.render(_named(name))


@blueprint.post("/<name>/tokens/revoke")
def revoke_token(name: str) -> Response:
    """Take a token of somebody's away."""
    tokens.revoke(services().db, _named(name).name, request.form.get("name", ""), by=manager().name)
    return redirect(url_for(".person", name=name), 303)


@blueprint.post("/<name>/second-factor-off")
def second_factor_off(name: str) -> Response:
    """Let somebody who has lost phone and recovery codes in with the password alone."""
    second_factor.turn_off(services().db, _named(name).name, by=manager().name)
    return redirect(url_for(".person", name=name), 303)


@blueprint.post("/<name>/<any('end-sessions', 'disable', 'enable', 'remove'):step>")
def change(name: str, step: str) -> Response:
    """End somebody's sessions; let somebody in no more, or again; remove somebody."""
    by = manager().name
    if name == account().name and step != "end-sessions":
        raise InputError(ErrorText("you cannot do this to your own account; ask another lead, or use demotape user"))
    STEPS[step](services().db, _named(name).name, by=by)
    return redirect(url_for(".person", name=name), 303)


def _named(name: str) -> User:
    user = users.user_named(services().db, name)
    if user is None:
        raise NotFound(ErrorText("unknown user"))
    return user
