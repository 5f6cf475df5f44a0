"""Protection of the app: allowed hosts, security headers and CSRF."""

from datetime import timedelta

from flask import Flask, Response, abort, current_app, request
from flask.sessions import SecureCookieSessionInterface, SessionMixin
from flask_wtf import CSRFProtect

from pipeline.pages.restoring import POLICY

LOOPBACK = ("127.0.0.1", "localhost", "::1")
ANY_HOST = "*"
_PICTURES = ("blobs", "moments")  # blueprints

PAGE_POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
               "frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
SNAPSHOT_POLICY = f"sandbox allow-scripts; {POLICY}; frame-ancestors 'self'"


class _PageSessions(SecureCookieSessionInterface):
    """The session's cookie, renewed by pages and not by their pictures: these arrive later, perhaps after the next page
    has begun, and would bring an older cookie back, without the notice for that page."""

    def should_set_cookie(self, app: Flask, session: SessionMixin) -> bool:
        return request.blueprint not in _PICTURES and super().should_set_cookie(app, session)


def protect(app: Flask, secret: bytes) -> None:
    """Switch on all of it."""
    app.config.update(
        SECRET_KEY=secret,
        SESSION_COOKIE_NAME="demotape",
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        PERMANENT_SESSION_LIFETIME=timedelta(days=14),
        WTF_CSRF_TIME_LIMIT=None,  # a review page may stand open all day
        WTF_CSRF_CHECK_DEFAULT=False,  # accounts.py checks, once it is known how a request is signed in
        MAX_CONTENT_LENGTH=4 << 20,
        MAX_FORM_MEMORY_SIZE=4 << 20,
        HOSTS=LOOPBACK,
    )
    app.session_interface = _PageSessions()
    app.before_request(_check_host)
    CSRFProtect(app)
    app.after_request(_add_headers)


def is_open_to_others() -> bool:
    """Whether the app answers to other names than this machine's own."""
    return not set(current_app.config["HOSTS"]) <= set(LOOPBACK)


def _check_host() -> None:
    """A page elsewhere can point its own name at this machine (DNS rebinding): only the app's own names count."""
    if request.blueprint == "health":  # asked by what knows the machine by its address only; tells nothing
        return
    if ANY_HOST not in current_app.config["HOSTS"] and _host_name(request.host) not in current_app.config["HOSTS"]:
        abort(400, "The review app does not serve this host.")


def _host_name(host: str) -> str:
    """The name in a Host header, without port and brackets."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].lower()


def _add_headers(response: Response) -> Response:
    response.headers.setdefault("Content-Security-Policy", PAGE_POLICY)
    response.headers.setdefault("Cache-Control", "no-store")
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Referrer-Policy"] = "same-origin"
    response.headers["Cross-Origin-Opener-Policy"] = "same-origin"
    response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
    response.headers["X-DNS-Prefetch-Control"] = "off"
    response.headers["Permissions-Policy"] = "camera=(), geolocation=(), microphone=()"
    return response
