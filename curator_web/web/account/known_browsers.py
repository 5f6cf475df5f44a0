"""Signed cookies of browsers with an earlier sign-in: their attempts count separately, so that others cannot lock a
user out. The cookie opens nothing.
"""

import secrets
from datetime import timedelta

from flask import current_app, request, url_for
from itsdangerous import BadSignature, URLSafeSerializer
from werkzeug import Response

COOKIE = "demotape-known"
LASTS = timedelta(days=400)  # as long as browsers keep one


def mark_for(name: str) -> str | None:
    """The mark of the browser that asks, if the last who signed in with it has that name."""
    try:
        known, mark = _signing().loads(request.cookies.get(COOKIE, ""))
    except (BadSignature, ValueError, TypeError):
        return None
    return mark if known == name else None


def remember(response: Response, name: str) -> None:
    """Have the browser known as one in which that name has signed in."""
    mark = mark_for(name) or secrets.token_hex(16)
    response.set_cookie(COOKIE, _signing().dumps([name, mark]), max_age=LASTS, path=url_for("signing_in.sign_in"),
                        secure=current_app.config["SESSION_COOKIE_SECURE"], httponly=True, samesite="Lax")


def _signing() -> URLSafeSerializer:
    return URLSafeSerializer(current_app.config["SECRET_KEY"], salt=COOKIE)
