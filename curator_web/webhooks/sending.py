"""Send pending deliveries: in threads of this process, in order per webhook, so that one that hangs blocks no other.
Several processes share the work: a webhook is taken by one of them at a time.
"""

import logging
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from curator_web.db import audit
from curator_web.db.database import Database
from curator_web.db.models.webhook_models import DELIVERED, GIVEN_UP, OFF, ON, WAITING, Webhook, WebhookDelivery
from curator_web.notifications import publish
from curator_web.users import BY_COMMAND

from .addresses import Network, Unreachable
from .hooks import Webhooks, switch_off
from .posting import Message, post

POLL_INTERVAL_S = 2.0  # seconds
SENDERS = 8  # of a process at once
CLAIM_PERIOD = timedelta(minutes=1)  # after it, a process that took a webhook counts as gone
# Between the tries of a delivery: about a day in all.
PAUSES = tuple(timedelta(seconds=pause_s) for pause_s in (5, 60, 300, 1800, 7200, 18_000, 25_000, 36_000))
LONGEST_REST = 60.0  # seconds of a webhook after a failure; shorter after the first ones
SWITCH_OFF_AFTER = timedelta(days=3)  # of failures only, a webhook is switched off
HTTP_GONE = 410  # a receiver's word that it wants no more
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _ClaimedDelivery:
    webhook_id: int
    delivery_id: int
    message: Message | None  # None: its secret cannot be read


class Sender:
    """Sends the deliveries of one database. `allowed`: networks that are not public and may be reached all the same."""

    def __init__(self, db: Database, webhooks: Webhooks, allowed: Sequence[Network] = ()):
        self._db, self._webhooks, self._allowed = db, webhooks, allowed
        self._end = threading.Event()
        self._free = threading.Semaphore(SENDERS)
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Have this process send."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, daemon=True, name="webhooks")
            self._thread.start()

    def close(self) -> None:
        """End after what is being sent."""
        self._end.set()
        if self._thread:
            self._thread.join()

    def _work(self) -> None:
        with ThreadPoolExecutor(SENDERS, "webhook") as pool:
            while not self._end.is_set():
                try:
                    while not self._end.is_set() and self._send_one(pool):
                        pass
                except Exception:  # the database is away for a while
                    _log.exception("webhooks: cannot look for what waits")
                self._end.wait(POLL_INTERVAL_S)

    def _send_one(self, pool: ThreadPoolExecutor) -> bool:
        """Whether there was something to send."""
        if not self._free.acquire(timeout=POLL_INTERVAL_S):
            return False
        delivery = None
        try:
            delivery = self._claim()
            if delivery:
                pool.submit(self._send, delivery)
        finally:
            if delivery is None:
                self._free.release()
        return delivery is not None

    def _claim(self) -> _ClaimedDelivery | None:
        """Claim the delivery that is due longest, of a webhook to which nobody else is sending: no other process sends
        to that webhook for CLAIM_PERIOD. None when there is none, or another process was faster."""
        now = datetime.now(UTC)
        free = (Webhook.state == ON, or_(Webhook.busy_until.is_(None), Webhook.busy_until < now))
        due = (WebhookDelivery.state == WAITING, WebhookDelivery.next_at <= now)
        with self._db.reading() as session:  # polling must not lock the database for writing
            webhook_id = session.scalars(
                select(WebhookDelivery.webhook_id).join(Webhook, Webhook.id == WebhookDelivery.webhook_id)
                .where(*due, *free).order_by(WebhookDelivery.next_at).limit(1)).first()
        if webhook_id is None:
            return None
        with self._db.writing() as session:
            row = session.scalars(select(Webhook).where(Webhook.id == webhook_id, *free)
                                  .with_for_update(skip_locked=True)).first()
            if row is None:
                return None
            delivery = session.scalars(
                select(WebhookDelivery).where(WebhookDelivery.webhook_id == webhook_id, *due)
                .order_by(WebhookDelivery.next_at, WebhookDelivery.id).limit(1)).first()
            if delivery is None:
                return None
            row.busy_until = now + CLAIM_PERIOD
            secret = self._webhooks.secret_of(row)
            message = Message(delivery.message, row.url, secret, delivery.body) if secret else None
            return _ClaimedDelivery(row.id, delivery.id, message)

    def _send(self, delivery: _ClaimedDelivery) -> None:
        try:
            code, problem = None, None
            try:
                if delivery.message is None:
                    raise Unreachable("its secret cannot be decrypted; create a new one")
                code = post(delivery.message, self._allowed)
            except Unreachable as error:
                problem = str(error)
            with self._db.writing() as session:
                _note(session, delivery, code, problem)
        except Exception:  # it is sent again once the webhook is free
            _log.exception("webhooks: a delivery failed")
        finally:
            self._free.release()


def _note(session: Session, claimed: _ClaimedDelivery, code: int | None, problem: str | None) -> None:
    """The result of a try, unless the webhook was removed meanwhile."""
    row = session.get(Webhook, claimed.webhook_id, with_for_update=True)
    delivery = session.get(WebhookDelivery, claimed.delivery_id, with_for_update=True)
    if row is None or delivery is None:
        return
    now = datetime.now(UTC)
    delivery.tries += 1
    delivery.code, delivery.problem = code, problem
    row.busy_until = None
    if code is not None and 200 <= code < 300:
        delivery.state, delivery.ended_at = DELIVERED, now
        row.failing_since, row.failures = None, 0
        return
    if delivery.tries > len(PAUSES):
        delivery.state, delivery.ended_at = GIVEN_UP, now
    else:
        delivery.next_at = now + PAUSES[delivery.tries - 1]
    row.failing_since, row.failures = row.failing_since or now, row.failures + 1
    row.busy_until = now + timedelta(seconds=min(2.0 ** min(row.failures - 1, 10), LONGEST_REST))
    if row.state != OFF and (code == HTTP_GONE or row.failing_since <= now - SWITCH_OFF_AFTER):
        switch_off(session, row)
        publish.of_webhook_off(session, row.project)
        audit.note(session, BY_COMMAND, "webhook off", project=row.project, webhook=row.id, failures=row.failures)
