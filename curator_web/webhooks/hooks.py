"""The webhooks of a project, seen to by its leads: adding, switching, a new secret, what was sent, sending it again."""

import base64
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from curator_web.db import audit, sealing
from curator_web.db.database import Database
from curator_web.db.models.core import Project
from curator_web.db.models.webhook_models import GIVEN_UP, OFF, ON, WAITING, Webhook, WebhookDelivery
from curator_web.errors import ErrorText, InputError, NotFound
from curator_web.users import Account
from curator_web.users.projects import require_lead

from .addresses import require_url
from .events import EVENTS

SEALED = "webhook"
MAX_WEBHOOKS = 20  # of a project
SHOWN = 100  # deliveries, the latest
RETENTION = timedelta(days=30)
_SECRET_BYTES = 32
SWITCHED_OFF = "it was switched off"


class Webhooks:
    """Those of one database. Their secrets are sealed with a key that does not stand in the same place as they."""

    def __init__(self, db: Database, key: bytes):
        self._db = db
        self._box = sealing.box(key, SEALED)

    def add(self, account: Account, url: str, events: Sequence[str]) -> tuple[Webhook, str]:
        """Add a webhook to the account's project; returns it and its secret, which is told this once. Raises
        NotAllowed, InputError."""
        require_lead(account)
        url, events = require_url(url), _known(events)
        secret = _new_secret()
        with self._db.writing() as session:
            session.get_one(Project, account.project, with_for_update=True)
            if (session.scalar(select(func.count()).where(Webhook.project == account.project)) or 0) >= MAX_WEBHOOKS:
                raise InputError(ErrorText("this project has %(most)s webhooks; remove one first", most=MAX_WEBHOOKS))
            row = Webhook(project=account.project, url=url, events=events, secret=self._sealed(secret), state=ON,
                          made_by=account.name, made_at=datetime.now(UTC))
            session.add(row)
            session.flush()
            audit.note(session, account.name, "webhook added", project=account.project, webhook=row.id)
        return row, secret

    def all_of(self, account: Account) -> list[Webhook]:
        """Those of the account's project. Raises NotAllowed."""
        require_lead(account)
        with self._db.reading() as session:
            return list(session.scalars(select(Webhook).where(Webhook.project == account.project).order_by(Webhook.id)))

    def show(self, account: Account, webhook_id: int) -> tuple[Webhook, list[WebhookDelivery]]:
        """A webhook and its latest deliveries. Raises NotAllowed, NotFound."""
        with self._db.reading() as session:
            row = _own_webhook(session, account, webhook_id)
            return row, list(session.scalars(
                select(WebhookDelivery).where(WebhookDelivery.webhook_id == row.id)
                .order_by(WebhookDelivery.id.desc()).limit(SHOWN)))

    def renew(self, account: Account, webhook_id: int) -> str:
        """A new secret in place of the old one, told this once. Raises NotAllowed, NotFound."""
        secret = _new_secret()
        with self._db.writing() as session:
            row = _own_webhook(session, account, webhook_id)
            row.secret = self._sealed(secret)
            audit.note(session, account.name, "webhook secret renewed", project=row.project, webhook=row.id)
        return secret

    def switch(self, account: Account, webhook_id: int, on: bool) -> None:
        """Switch a webhook on or off; off, it is told of nothing. Raises NotAllowed, NotFound."""
        with self._db.writing() as session:
            row = _own_webhook(session, account, webhook_id)
            if on and row.state == OFF:
                row.state, row.busy_until, row.failing_since, row.failures = ON, None, None, 0
            elif not on:
                switch_off(session, row)
            audit.note(session, account.name, f"webhook {row.state}", project=row.project, webhook=row.id)

    def remove(self, account: Account, webhook_id: int) -> None:
        """Remove a webhook with all of its deliveries. Raises NotAllowed, NotFound."""
        with self._db.writing() as session:
            row = _own_webhook(session, account, webhook_id)
            session.execute(delete(WebhookDelivery).where(WebhookDelivery.webhook_id == row.id))
            session.delete(row)
            audit.note(session, account.name, "webhook removed", project=row.project, webhook=webhook_id)

    def send_again(self, account: Account, delivery_id: int) -> int:
        """Send a delivery again, now; returns its webhook's id. Raises NotAllowed, NotFound, InputError."""
        with self._db.writing() as session:
            delivery = session.get(WebhookDelivery, delivery_id, with_for_update=True)
            if delivery is None:
                raise NotFound(ErrorText("unknown delivery %(delivery_id)s", delivery_id=delivery_id))
            row = _own_webhook(session, account, delivery.webhook_id)
            if row.state == OFF:
                raise InputError(ErrorText("this webhook is switched off; switch it on first"))
            now = datetime.now(UTC)
            delivery.state, delivery.tries, delivery.next_at, delivery.ended_at = WAITING, 0, now, None
            return row.id

    def secret_of(self, row: Webhook) -> str | None:
        """What a webhook signs with; None where it was sealed with another key."""
        return sealing.opened(self._box, row.secret)

    def forget_old(self) -> None:
        """Take away what was sent, or given up, long ago."""
        old = WebhookDelivery.ended_at < datetime.now(UTC) - RETENTION
        with self._db.reading() as session:
            if not session.scalars(select(WebhookDelivery.id).where(old).limit(1)).first():
                return
        with self._db.writing() as session:
            session.execute(delete(WebhookDelivery).where(old))

    def _sealed(self, secret: str) -> str:
        return self._box.encrypt(secret.encode()).decode()


def reseal(session: Session, old: bytes, new: bytes) -> list[int]:
    """Seal all secrets under a new key, inside a transaction that notes it. Returns the webhooks whose secret neither
    opens."""
    lost = []
    for row in session.scalars(select(Webhook).order_by(Webhook.id).with_for_update()):
        sealed = sealing.resealed(row.secret, SEALED, old, new)
        if sealed is None:
            lost.append(row.id)
        else:
            row.secret = sealed
    return lost


def switch_off(session: Session, row: Webhook) -> None:
    """What waits is given up with it."""
    row.state = OFF
    session.execute(update(WebhookDelivery).where(
        WebhookDelivery.webhook_id == row.id, WebhookDelivery.state == WAITING)
        .values(state=GIVEN_UP, problem=SWITCHED_OFF, ended_at=datetime.now(UTC)))


def _own_webhook(session: Session, account: Account, webhook_id: int) -> Webhook:
    require_lead(account)
    row = session.get(Webhook, webhook_id, with_for_update=True)
    if row is None or row.project != account.project:
        raise NotFound(ErrorText("unknown webhook %(webhook_id)s", webhook_id=webhook_id))
    return row


def _known(events: Sequence[str]) -> list[str]:
    if unknown := [event for event in events if event not in EVENTS]:
        raise InputError(ErrorText("field events: unknown event %(unknown)r; choose from "
                                   "%(which)s", unknown=unknown[0][:40],
                                   which=", ".join(EVENTS)))
    if not events:
        raise InputError(ErrorText("field events: choose at least one"))
    return [event for event in EVENTS if event in events]


def _new_secret() -> str:
    return "whsec_" + base64.b64encode(secrets.token_bytes(_SECRET_BYTES)).decode()
