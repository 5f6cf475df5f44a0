"""Posting one delivery: to an address that was looked at, within seconds in all, and nothing of the answer is kept but
its code."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from standardwebhooks import Webhook

from pipeline.timed_connection import FAILURES, TimedConnection

from .addresses import Network, Unreachable, port_of, resolved

SECONDS = 5.0  # for all of it, once the name is resolved


@dataclass(frozen=True)
class Message:
    """What is sent: `id` is the same at every try."""

    id: str
    url: str
    secret: str
    body: dict[str, Any]


def post(message: Message, allowed: Sequence[Network]) -> int:
    """Send a message, signed; returns the answer's code. Redirects are not followed. Raises Unreachable."""
    parts, now = urlsplit(message.url), datetime.now(UTC)
    body = json.dumps(message.body, separators=(",", ":"), ensure_ascii=True)
    headers = {"content-type": "application/json", "user-agent": "demotape", "webhook-id": message.id,
               "webhook-timestamp": str(int(now.timestamp())), "connection": "close",
               "webhook-signature": Webhook(message.secret).sign(message.id, now, body)}
    host, port = parts.hostname or "", port_of(parts)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    connection = TimedConnection(host, port, resolved(host, port, allowed), tls=parts.scheme == "https",
                                 seconds=SECONDS)
    with connection.open():
        try:
            connection.request("POST", target, body.encode(), headers)
            return connection.getresponse().status
        except FAILURES as error:
            raise Unreachable(connection.describe(error)) from None
