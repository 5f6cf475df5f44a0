"""Answers to requests that fail: a page, a notice inside the page, or JSON. Only our own errors' words are shown."""

import logging
from typing import Any

from flask import Flask, jsonify, make_response, render_template, request
from flask_babel import gettext as _
from flask_babel import lazy_gettext as _l
from werkzeug import Response
from werkzeug.exceptions import HTTPException

from curator_web.access.services import services
from curator_web.demonstrations.library import damage, library
from curator_web.errors import (
    Busy,
    Conflict,
    Damaged,
    DemotapeError,
    DiskFull,
    InputError,
    NotAllowed,
    NotFound,
    NotSignedIn,
    ServiceUnavailable,
    TooManyAttempts,
)
from pipeline.export import LeftOut
from schemas.files import is_disk_full

from .display_names import error_words, in_language

WORDS = {
    400: (_l("Error"), _l("The request was not understood.")),
    401: (_l("Not signed in"), _l("Sign in first.")),
    403: (_l("Not allowed"), _l("The request was refused.")),
    404: (_l("Not found"), _l("There is no page at this address.")),
    405: (_l("Not allowed"), _l("This address does not support this method.")),
    409: (_l("Not saved"), _l("This demonstration was changed by another user.")),
    413: (_l("Too large"), _l("The request is too large.")),
    429: (_l("Please wait"), _l("Too many tries.")),
    503: (_l("Not available"), _l("The server is temporarily unavailable. Try again later.")),
    507: (_l("No room"), _l("The server's disk is full.")),
    500: (_l("Something went wrong"),
          _l("Internal error; details are in the server's log. Nothing was saved.")),
}
_log = logging.getLogger(__name__)
AGAIN_AFTER = 5  # seconds, after which a page that could not be shown comes by itself
EXPIRED = _l("This page is outdated. Reload it and try again.")
CODES = ((NotFound, 404), (NotSignedIn, 401), (NotAllowed, 403), (TooManyAttempts, 429), (InputError, 400),
         (Conflict, 409), (Busy, 503), (DiskFull, 507))


def register(app: Flask) -> None:
    """Handle our own errors and Flask's."""
    app.register_error_handler(DemotapeError, _own_error)
    app.register_error_handler(HTTPException, _http_error)
    app.register_error_handler(Exception, _fault)


def _own_error(error: DemotapeError) -> Response:
    if isinstance(error, ServiceUnavailable) and not isinstance(error, DiskFull):
        _log.error("%s", error)
        return _answer(503, _sentence(in_language(error.message)))
    if isinstance(error, Damaged):
        reason = services().store.without_paths(error.reason)
        damage.note(services().db, [LeftOut(error.demonstration, reason)])
        message = _("Demonstration %(id)s is damaged and cannot be shown: %(why)s. Other demonstrations are not "
                    "affected. Import its recording again.", id=error.demonstration, why=reason)
        return _answer(409, message, title=_("Damaged"))
    code = next((code for kind, code in CODES if isinstance(error, kind)), 500)
    return _answer(code, _sentence(services().store.without_paths(error_words(error))))


def _fault(error: Exception) -> Response:
    """A fault of ours, unless the disk is full, or what was asked for is a demonstration that is damaged: then that is
    told."""
    if is_disk_full(error):
        _log.error("the disk is full (%s)", type(error).__name__)
        return _own_error(DiskFull(DiskFull.message))
    if name := (request.view_args or {}).get("demonstration_id"):
        try:
            library.current(services().db, name)
        except Damaged as why:
            return _own_error(why)
    raise error


def _http_error(error: HTTPException) -> Response:
    code = error.code or 500
    if 300 <= code < 400:
        return error.get_response()
    if error.description and code == 400 and "CSRF" in error.description:
        return _answer(400, str(EXPIRED))
    details = getattr(error, "data", None) or {}
    return _answer(code, str(WORDS.get(code, WORDS[400])[1]), details.get("messages"))


def _answer(code: int, message: str, fields: dict[str, Any] | None = None, title: str = "") -> Response:
    response = _made(code, message, fields, title)
    if code == 503:
        response.headers["Retry-After"] = str(AGAIN_AFTER)
    return response


def _made(code: int, message: str, fields: dict[str, Any] | None, title: str) -> Response:
    title = title or str(WORDS.get(code, WORDS[400])[0])
    if request.path.startswith("/api/"):
        body = {"code": code, "message": message} | ({"errors": fields} if fields else {})
        return make_response(jsonify(body), code)
    if request.headers.get("HX-Request"):
        response = make_response(render_template("shell/_notice.html", code=code, title=title, message=message), code)
        response.headers["HX-Retarget"] = "#notice"
        response.headers["HX-Reswap"] = "innerHTML"
        return response
    return make_response(render_template("shell/error.html", code=code, title=title, message=message,
                                         again_after=AGAIN_AFTER), code)


def _sentence(message: str) -> str:
    """Our errors are lower-case lines; on a page they are sentences."""
    message = message[:1].upper() + message[1:]
    return message if message.endswith((".", "!", "?")) else message + "."
