"""A log for machines: one line of JSON for each request and each message, with the id of the request.

A request is told by its route, not by its address: what people search for stands in addresses. Nothing that was
captured or typed is in it, and no secret.
"""

import json
import logging
import re
import secrets
import sys
import time
from datetime import UTC, datetime
from typing import Any

from flask import Flask, Response, g, has_request_context, request

HEADER = "X-Request-ID"
_REQUEST_ID = re.compile(r"[A-Za-z0-9_-]{8,64}")
_access = logging.getLogger("demotape.access")


class _Json(logging.Formatter):
    """`extra={"fields": {…}}` are fields of the line."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {"time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
                                "level": record.levelname.lower(), "logger": record.name}
        if has_request_context() and "request_id" in g:
            line["request"] = g.request_id
        line |= getattr(record, "fields", None) or {"message": record.getMessage()}
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


def register(app: Flask) -> None:
    """Write it to stderr. Behind a proxy that is believed, the id that it gives a request is that."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Json())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO)
    logging.getLogger("alembic").setLevel(logging.WARNING)
    app.before_request_funcs.setdefault(None, []).insert(0, _begin)
    app.after_request(_log)


def _begin() -> None:
    proxied_id = request.headers.get(HEADER, "")
    is_proxied = "werkzeug.proxy_fix.orig" in request.environ
    g.request_id = proxied_id if is_proxied and _REQUEST_ID.fullmatch(proxied_id) else secrets.token_hex(8)
    g.request_began = time.perf_counter()


def _log(response: Response) -> Response:
    response.headers[HEADER] = g.request_id
    caller = g.get("account")
    fields: dict[str, Any] = {
        "message": "request", "method": request.method, "route": request.url_rule and request.url_rule.rule,
        "status": response.status_code, "ms": round((time.perf_counter() - g.request_began) * 1000, 1),
        "address": request.remote_addr, "who": caller and caller.name, "bytes": response.content_length}
    for name in ("demonstration_id", "recording_id", "job_id", "task_id"):
        if name in (request.view_args or {}):
            fields[name.removesuffix("_id")] = str((request.view_args or {})[name])[:100]
    _access.info("request", extra={"fields": fields})
    return response
