"""A person's own account: the browsers in which they are signed in, and their tokens."""

from flask import Blueprint, redirect, render_template, request, url_for
from flask_babel import lazy_gettext as _l
from werkzeug import Response

from curator_web import users
from curator_web.access.accounts import account, this_session
from curator_web.access.services import services
from curator_web.db.models.core import User
from curator_web.errors import ErrorText, InputError, NotFound
from curator_web.users import tokens, web_sessions

blueprint = Blueprint("own_account", __name__, url_prefix="/account")
LIFETIMES = ((30, _l("30 days")), (90, _l("90 days")), (365, _l("A year")), (0, _l("Never")))


@blueprint.get("")
def show() -> str:
    """What is open, and how to end it."""
    return render(me())


@blueprint.post("/sessions/end")
def end_session() -> Response:
    """End one session, or all but this one."""
    user = me()
    if wanted := request.form.get("session"):
        web_sessions.end(services().db, user.name, wanted)
    else:
        web_sessions.end_others(services().db, user.name, this_session())
    return redirect(url_for(".show"), 303)


@blueprint.post("/tokens")
def add_token() -> str:
    """Make a token, and show it this once."""
    user = me()
    days = request.form.get("days", "")
    if not days.isdecimal() or len(days) > 5:
        raise InputError(ErrorText("field days: %(days)r is not a number", days=days[:20]))
    token = tokens.add_token(services().db, user.name, request.form.get("name", "").strip(),
                             request.form.getlist("scope"), int(days) or None, by=user.name)
    return render(user, token=token)


@blueprint.post("/tokens/revoke")
def revoke_token() -> Response:
    """Take a token away."""
    user = me()
    tokens.revoke(services().db, user.name, request.form.get("name", ""), by=user.name)
    return redirect(url_for(".show"), 303)


def render(user: User, token: str | None = None) -> str:
    """The page of an account: one's own, or as a lead sees another's."""
    db = services().db
    return render_template("account/account.html", user=user, mine=user.name == account().name, token=token,
                           sessions=web_sessions.sessions_of(db, user.name), tokens=tokens.tokens_of(db, user.name),
                           this=this_session(), scopes=tokens.SCOPES, lifetimes=LIFETIMES,
                           name_length=tokens.NAME_LENGTH, second_factor=services().second_factors.since(user.name))


def me() -> User:
    """Who asks, as the database has them; raises NotFound while there are no accounts."""
    user = users.user_named(services().db, account().name)
    if user is None:
        raise NotFound(ErrorText("no accounts yet"))
    return user
