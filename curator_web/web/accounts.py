"""Signing in and out, and who asks: a session in the browser, a bearer token elsewhere, or the only one there is.

While the database holds no account, whoever sits at this machine may do everything. From the first account on
everybody signs in.
"""

from urllib.parse import urlsplit

from flask import Blueprint, Flask, current_app, g, make_response, redirect, render_template, request, session, url_for
from flask_login import LoginManager, UserMixin, current_user, login_user, logout_user
from werkzeug import Response

from curator_web import users
from curator_web.db.models import LEAD, User
from curator_web.errors import NotAllowed, NotSignedIn, TooManyTries
from curator_web.users import Account

from . import known_browsers
from .context import services
from .security import LOOPBACK, is_open_to_others

blueprint = Blueprint("accounts", __name__)
PUBLIC = ("static", "accounts.sign_in", "api-docs.openapi_json")
BY_TOKEN = "uploads"  # this blueprint asks for the token itself
NO_TOKEN = "the token is not known here; ask your lead for one"


class Person(UserMixin):
    """A user as flask-login knows one: its id changes with the password, so that old sessions end."""

    def __init__(self, user: User):
        self.id = f"{users.session_mark(user)}:{user.name}"
        self.account = Account(user.name, user.role)


def register(app: Flask) -> None:
    """Serve the pages and have every other one ask who is there."""
    login = LoginManager(app)
    login.user_loader(_of_session)
    login.request_loader(_of_token)
    app.register_blueprint(blueprint)
    app.before_request(_guard)
    app.context_processor(lambda: {"account": g.get("account")})


def account() -> Account:
    """Who asks; raises NotSignedIn."""
    if g.get("account") is None:
        raise NotSignedIn("sign in first")
    return g.account


def lead() -> Account:
    """Who asks, if it is a lead; raises NotAllowed."""
    if not account().leads:
        raise NotAllowed("only a lead may do this")
    return account()


def bearer() -> str | None:
    """The token that a request was sent with."""
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() or None if kind.lower() == "bearer" else None


@blueprint.route("/sign-in", methods=["GET", "POST"])
def sign_in() -> str | Response:
    """The page to sign in on."""
    wanted = _own_address(request.values.get("next", ""))
    if request.method == "GET":
        return render_template("sign_in.html", next=wanted)
    name = request.form.get("name", "").strip()
    try:
        user = users.sign_in(services().db, services().tries, name, request.form.get("password", ""),
                             request.remote_addr or "", known_browsers.mark_for(name))
    except (NotSignedIn, TooManyTries) as error:
        code = 429 if isinstance(error, TooManyTries) else 401
        return make_response(render_template("sign_in.html", next=wanted, name=name, error=str(error)), code)
    session.clear()  # nothing of before counts for who is signed in now
    session.permanent = True
    login_user(Person(user))
    response = redirect(wanted or url_for("pages.index"), 303)
    known_browsers.remember(response, user.name)
    return response


@blueprint.post("/sign-out")
def sign_out() -> Response:
    """End the session."""
    logout_user()
    session.clear()
    return redirect(url_for(".sign_in"), 303)


def _of_session(person_id: str) -> Person | None:
    _, _, name = person_id.partition(":")
    user = users.user_named(services().db, name)
    person = Person(user) if user else None
    return person if person and person.id == person_id else None


def _of_token(_request) -> Person | None:
    user = users.user_of(services().db, token) if (token := bearer()) else None
    return Person(user) if user else None


def _guard() -> Response | None:
    """Before every view: nobody gets further who is not known, and no page of another site makes changes."""
    if request.endpoint is None:
        return None
    if request.endpoint in PUBLIC:
        _check_csrf()
        return None
    if request.blueprint == BY_TOKEN:
        return None
    g.account = _asking()
    if g.account is None:
        return _ask_to_sign_in()
    view = current_app.view_functions[request.endpoint]
    if hasattr(view, "takes_up_to"):
        request.max_content_length = view.takes_up_to
    if not bearer():
        _check_csrf()
    return None


def _check_csrf() -> None:
    current_app.extensions["csrf"].protect()


def _asking() -> Account | None:
    if bearer():
        person = _of_token(request)
        if person is None:
            raise NotSignedIn(NO_TOKEN)
        return person.account
    if current_user.is_authenticated:
        return current_user.account
    if users.has_accounts(services().db):
        return None
    if is_open_to_others() or request.remote_addr not in LOOPBACK:
        raise NotAllowed("there are no accounts yet, so only this machine is served; "
                         "make one with: demotape user add NAME --role lead")
    return Account(services().who, LEAD, alone=True)


def _ask_to_sign_in() -> Response:
    if request.path.startswith("/api/"):
        raise NotSignedIn("sign in first, or send a token: Authorization: Bearer TOKEN")
    wanted = request.full_path.removesuffix("?") if request.method == "GET" else None
    address = url_for("accounts.sign_in", next=wanted)
    if request.headers.get("HX-Request"):
        response = make_response("", 401)
        response.headers["HX-Redirect"] = url_for("accounts.sign_in")
        return response
    return redirect(address, 303)


def _own_address(address: str) -> str:
    """An address inside this app, or nothing: where to go after signing in must not lead elsewhere."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return ""
    inside = address.startswith("/") and not address.startswith(("//", "/\\")) and not parts.scheme
    return address if inside and not parts.netloc and address.isprintable() else ""
