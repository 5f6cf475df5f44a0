"""Choices of a person in a browser, stored in a cookie."""

from datetime import timedelta

from flask import current_app
from werkzeug import Response

_LASTS = timedelta(days=400)  # as long as browsers keep one


def set_choice(response: Response, name: str, value: str) -> None:
    """Have the browser keep a choice; pages' scripts do not see it."""
    response.set_cookie(name, value, max_age=_LASTS, secure=current_app.config["SESSION_COOKIE_SECURE"],
                        httponly=True, samesite="Lax")
