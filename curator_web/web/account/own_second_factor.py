"""A person's own second factor: turned on with an app on the phone, and off again."""

import segno
from flask import Blueprint, make_response, redirect, render_template, request, url_for
from flask import session as cookie
from markupsafe import Markup
from werkzeug import Response

from curator_web import users
from curator_web.access.accounts import this_session
from curator_web.access.services import services
from curator_web.db.models.core import User
from curator_web.errors import ErrorText, InputError, NotSignedIn, TooManyAttempts
from curator_web.users import second_factor, web_sessions
from curator_web.web.shell.display_names import error_words

from . import known_browsers
from .own_account import me

blueprint = Blueprint("own_second_factor", __name__, url_prefix="/account/second-factor")
_SECRET = "second-factor-secret"  # in the cookie until the first code proves that the app has it
_WRONG = ErrorText("the password is wrong")


@blueprint.post("/begin")
def begin() -> Response:
    """Make a secret for the app."""
    _user()
    cookie[_SECRET] = second_factor.new_secret()
    return redirect(url_for(".show"), 303)


@blueprint.get("")
def show() -> str | Response:
    """The QR code for the app, and where to type the first code."""
    user = _user()
    return _page(user, cookie[_SECRET]) if _SECRET in cookie else redirect(url_for("own_account.show"), 303)


@blueprint.post("")
def turn_on() -> str | Response:
    """Ask for codes from now on; shows the recovery codes this once."""
    user, secret = _user(), cookie.get(_SECRET, "")
    try:
        _require_password(user)
        codes = services().second_factors.turn_on(user.name, secret, request.form.get("code", "").replace(" ", ""))
    except (NotSignedIn, TooManyAttempts, InputError) as error:
        return make_response(_page(user, secret, error_words(error)), 429 if isinstance(error, TooManyAttempts)
                             else 400)
    del cookie[_SECRET]
    web_sessions.end_others(services().db, user.name, this_session())
    return render_template("account/recovery_codes.html", codes=codes)


@blueprint.post("/off")
def turn_off() -> Response:
    """Ask for codes no more."""
    user = _user()
    try:
        _require_password(user)
    except NotSignedIn as error:
        raise InputError(*error.args) from None
    second_factor.turn_off(services().db, user.name, by=user.name)
    return redirect(url_for("own_account.show"), 303)


def _user() -> User:
    user = me()
    if user.password_hash is None:
        raise InputError(ErrorText("a second factor requires signing in with a password"))
    return user


def _require_password(user: User) -> None:
    """An open browser is not enough to change how somebody signs in; raises NotSignedIn, TooManyAttempts."""
    try:
        users.check_password(services().db, services().tries, user.name, request.form.get("password", ""),
                             request.remote_addr or "", known_browsers.mark_for(user.name))
    except NotSignedIn:
        raise NotSignedIn(_WRONG) from None


def _page(user: User, secret: str, error: str | None = None) -> str:
    code = segno.make(second_factor.address_for(user.name, secret), micro=False)
    return render_template("account/second_factor.html", secret=secret, error=error,
                           picture=Markup(code.svg_inline(scale=5, border=4, dark="#000", light="#fff")))
