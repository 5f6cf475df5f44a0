"""The account of a request: a browser session, a bearer token, or the only local user.

While the database holds no account, whoever sits at this machine may do everything. From the first account on
everybody signs in.
"""

from flask import Flask, current_app, g, make_response, redirect, request, url_for
from flask import session as cookie
from flask_login import LoginManager, UserMixin, current_user, login_user, logout_user
from werkzeug import Response

from curator_web import users
from curator_web.db.models.core import LEAD, User
from curator_web.errors import ErrorText, NotAllowed, NotSignedIn
from curator_web.users import Account, tokens, web_sessions

from . import current_project
from .security import LOOPBACK, is_open_to_others
from .services import services

PUBLIC = ("static", "signing_in.sign_in", "signing_in.code", "openid.begin", "openid.answer",
          "api-docs.openapi_json", "health.alive", "health.ready", "metrics.show", "languages.choose",
          "room_links.show", "room_links.follow", "room_links.room", "room_links.live")
BY_TOKEN = "uploads"  # what only a token opens: no cookies, and no protection of cookies
# Where no token makes changes: it could make another that may do more.
BY_HAND = ("people", "own_account", "own_second_factor")
UPLOADING = ("imports.receive", "uploads.plan", "uploads.state", "uploads.chunk", "uploads.finish",
             "tasks_api.following", "tasks_api.give_back", "rooms_api.open_room", "rooms_api.room",
             "rooms.record")
CONVERSING = ("rooms.live",)  # a WebSocket, whose handshake is a GET
FOR_EVERY_TOKEN = ("uploads.account",)
SAFE = ("GET", "HEAD", "OPTIONS")
NO_TOKEN = ErrorText("unknown token; ask your lead for one")


class Person(UserMixin):
    """A user as flask-login knows one: by the id of a session."""

    def __init__(self, secret: str, user: User):
        self.id = secret
        self.account = _account(user)


def register(app: Flask) -> None:
    """Have every view but the public ones ask who is there."""
    # Without its context processor: the page that tells that the database is away would ask it who is there.
    LoginManager(app, add_context_processor=False).user_loader(_of_session)
    app.before_request(_guard)
    app.context_processor(lambda: {"account": g.get("account")})


def _account(user: User) -> Account:
    """Somebody before it is known in which project they ask."""
    return Account(user.name, user.role, manages=user.role == LEAD)


def account() -> Account:
    """Who asks; raises NotSignedIn."""
    if g.get("account") is None:
        raise NotSignedIn(ErrorText("sign in first"))
    return g.account


def lead() -> Account:
    """Who asks, if it is a lead of the project; raises NotAllowed."""
    if not account().leads:
        raise NotAllowed(ErrorText("only a lead can do this"))
    return account()


def manager() -> Account:
    """Who asks, if they manage accounts and projects; raises NotAllowed."""
    if not account().manages:
        raise NotAllowed(ErrorText("only a lead of this server can do this"))
    return account()


def begin_session(user: User) -> None:
    """Have the browser that asks signed in; raises NotSignedIn when the account was changed at this moment."""
    secret = web_sessions.begin(services().db, user, request.headers.get("User-Agent", ""))
    cookie.clear()  # nothing of before counts for who is signed in now
    cookie.permanent = True
    login_user(Person(secret, user))


def end_session() -> None:
    """Have the browser that asks signed out; copies of its cookie count no more."""
    if current_user.is_authenticated:
        web_sessions.end(services().db, current_user.account.name, this_session() or "")
    logout_user()
    cookie.clear()


def this_session() -> str | None:
    """What the database knows the session by that the request came with."""
    return g.get("web_session")


def _of_session(secret: str) -> Person | None:
    match = web_sessions.find(services().db, secret)
    if match is None:
        return None
    user, row = match
    g.web_session = row.id_sha256
    return Person(secret, user)


def _guard() -> Response | None:
    """Before every view, and before its body is read: nobody gets further who is not known, and no page of another
    site makes changes."""
    if request.endpoint is None:
        return None
    if request.endpoint in PUBLIC:
        _check_csrf()
        return None
    token = _bearer()
    g.account = _of_browser() if token is None and request.blueprint != BY_TOKEN else _of_token(token or "")
    if g.account is None:
        return _ask_to_sign_in()
    view = current_app.view_functions[request.endpoint]
    if hasattr(view, "takes_up_to"):
        request.max_content_length = view.takes_up_to
    if token is None:
        _check_csrf()
    g.account, elsewhere = current_project.choose(g.account)
    return elsewhere


def _check_csrf() -> None:
    current_app.extensions["csrf"].protect()


def _bearer() -> str | None:
    """The token that a request was sent with."""
    kind, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() or None if kind.lower() == "bearer" else None


def _of_token(token: str) -> Account:
    """Whose token it is, if it is for what is asked; raises NotSignedIn, NotAllowed."""
    match = tokens.find(services().db, token)
    if match is None:
        raise NotSignedIn(NO_TOKEN)
    user, row = match
    if request.blueprint in BY_HAND and request.method not in SAFE:
        raise NotAllowed(ErrorText("tokens cannot be used for this; sign in on the page"))
    scope = _requested_scope()
    if scope and scope not in row.scopes:
        raise NotAllowed(ErrorText("the token %(name)r does not have the required scope %(scope)s",
                                   name=row.name, scope=scope))
    return _account(user)


def _requested_scope() -> str | None:
    """What a token must be for; None: any will do."""
    if request.endpoint in FOR_EVERY_TOKEN:
        return None
    if request.endpoint in UPLOADING:
        return tokens.UPLOAD
    if request.endpoint in CONVERSING:
        return tokens.WRITE
    return tokens.READ if request.method in SAFE else tokens.WRITE


def _of_browser() -> Account | None:
    if current_user.is_authenticated:
        return current_user.account
    if users.has_accounts(services().db):
        return None
    if is_open_to_others() or request.remote_addr not in LOOPBACK:
        raise NotAllowed(ErrorText("there are no accounts, so requests are accepted from this machine only; create "
                                   "an account with: demotape user add NAME --role lead"))
    return Account(services().who, LEAD, alone=True, manages=True)


def _ask_to_sign_in() -> Response:
    is_web_socket = request.headers.get("Upgrade", "").lower() == "websocket"
    if request.path.startswith("/api/") or is_web_socket:
        raise NotSignedIn(ErrorText("sign in first, or send a token: Authorization: Bearer TOKEN"))
    wanted = request.full_path.removesuffix("?") if request.method == "GET" else None
    if request.headers.get("HX-Request"):
        response = make_response("", 401)
        response.headers["HX-Redirect"] = url_for("signing_in.sign_in")
        return response
    return redirect(url_for("signing_in.sign_in", next=wanted), 303)
