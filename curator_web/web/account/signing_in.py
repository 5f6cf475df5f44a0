"""Signing in and out."""

from urllib.parse import urlsplit

from flask import Blueprint, make_response, redirect, render_template, request, url_for
from werkzeug import Response

from curator_web import users
from curator_web.access.accounts import begin_session, end_session
from curator_web.access.services import services
from curator_web.db.models.core import User
from curator_web.errors import NotSignedIn, TooManyAttempts
from curator_web.web.shell.display_names import error_words

from . import known_browsers, proved_password

blueprint = Blueprint("signing_in", __name__)


@blueprint.route("/sign-in", methods=["GET", "POST"])
def sign_in() -> str | Response:
    """The page to sign in on."""
    wanted = own_address(request.values.get("next", ""))
    if request.method == "GET":
        return sign_in_page(wanted)
    name = request.form.get("name", "").strip()
    try:
        user = users.check_password(services().db, services().tries, name, request.form.get("password", ""),
                                    request.remote_addr or "", known_browsers.mark_for(name))
        if services().second_factors.is_on(user.name):
            proved_password.note(user)
            return redirect(url_for(".code", next=wanted or None), 303)
        return signed_in(user, wanted)
    except (NotSignedIn, TooManyAttempts) as error:
        return make_response(sign_in_page(wanted, name, error), _status(error))


@blueprint.route("/sign-in/code", methods=["GET", "POST"])
def code() -> str | Response:
    """The page that asks for a code of the second factor, of somebody whose password was right just now."""
    wanted = own_address(request.values.get("next", ""))
    user = proved_password.user()
    if user is None:
        return redirect(url_for(".sign_in", next=wanted or None), 303)
    if request.method == "GET":
        return render_template("account/sign_in_code.html", next=wanted)
    try:
        users.check_code(services().second_factors, services().tries, user.name, request.form.get("code", ""),
                         request.remote_addr or "")
        return signed_in(user, wanted)
    except (NotSignedIn, TooManyAttempts) as error:
        page = render_template("account/sign_in_code.html", next=wanted, error=error_words(error))
        return make_response(page, _status(error))


@blueprint.post("/sign-out")
def sign_out() -> Response:
    """End the session."""
    end_session()
    return redirect(url_for(".sign_in"), 303)


def signed_in(user: User, wanted: str) -> Response:
    """Begin the session of somebody who has proved who it is, and go to the page that was wanted."""
    begin_session(user)
    response = redirect(wanted or url_for("pages.index"), 303)
    known_browsers.remember(response, user.name)
    return response


def sign_in_page(wanted: str, name: str = "", error: Exception | None = None) -> str:
    """The page to sign in on, with what went wrong."""
    openid = services().openid
    return render_template("account/sign_in.html", next=wanted, name=name, error=error and error_words(error),
                           provider=openid and openid.host)


def _status(error: NotSignedIn | TooManyAttempts) -> int:
    return 429 if isinstance(error, TooManyAttempts) else 401


def own_address(address: str) -> str:
    """An address inside this app, or nothing: where to go after signing in must not lead elsewhere."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    inside = address.startswith("/") and not address.startswith(("//", "/\\")) and not parts.scheme
    return address if inside and not parts.netloc and address.isprintable() else ""
