"""Signing in and out."""

from urllib.parse import urlsplit

from flask import Blueprint, make_response, redirect, render_template, request, url_for
from werkzeug import Response

from curator_web import users
from curator_web.db.models import User
from curator_web.errors import NotSignedIn, TooManyTries

from . import known_browsers
from .accounts import begin_session, end_session
from .context import services

blueprint = Blueprint("signing_in", __name__)


@blueprint.route("/sign-in", methods=["GET", "POST"])
def sign_in() -> str | Response:
    """The page to sign in on."""
    wanted = own_address(request.values.get("next", ""))
    if request.method == "GET":
        return render_template("sign_in.html", next=wanted)
    name = request.form.get("name", "").strip()
    try:
        user = users.check_password(services().db, services().tries, name, request.form.get("password", ""),
                                    request.remote_addr or "", known_browsers.mark_for(name))
        return signed_in(user, wanted)
    except (NotSignedIn, TooManyTries) as error:
        code = 429 if isinstance(error, TooManyTries) else 401
        return make_response(render_template("sign_in.html", next=wanted, name=name, error=str(error)), code)


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


def own_address(address: str) -> str:
    """An address inside this app, or nothing: where to go after signing in must not lead elsewhere."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    inside = address.startswith("/") and not address.startswith(("//", "/\\")) and not parts.scheme
    return address if inside and not parts.netloc and address.isprintable() else ""
