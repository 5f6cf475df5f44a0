"""The tables of webhooks: where a project's events are sent, and what was sent or waits."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from curator_web.db.columns import ID_LENGTH

from .core import Base

ON, OFF = ("on", "off")  # what a webhook is
WAITING, DELIVERED, GIVEN_UP = DELIVERY_STATES = ("waiting", "delivered", "given-up")
PROBLEM_LENGTH = 100


class Webhook(Base):
    """An address to which events of a project are posted. `secret` is sealed; `busy_until`: one of the server's
    processes sends to it, or it rests after a failure; `failing_since`: nothing has arrived there from then on, as
    often as `failures` tells."""

    __tablename__ = "webhooks"

    id: Mapped[int] = mapped_column(primary_key=True)
    project: Mapped[str] = mapped_column(ForeignKey("projects.id"), index=True)
    url: Mapped[str] = mapped_column(Text)
    events: Mapped[list[Any]]
    secret: Mapped[str] = mapped_column(Text)
    state: Mapped[str] = mapped_column(String(20), default=ON)
    made_by: Mapped[str] = mapped_column(String(ID_LENGTH))
    made_at: Mapped[datetime]
    busy_until: Mapped[datetime | None]
    failing_since: Mapped[datetime | None]
    failures: Mapped[int] = mapped_column(default=0)


class WebhookDelivery(Base):
    """One event for one webhook. `message` is its id for the receiver; `code` and `problem` are of the last try."""

    __tablename__ = "webhook_deliveries"
    __table_args__ = (Index("ix_webhook_deliveries_state_next_at", "state", "next_at"),
                      Index("ix_webhook_deliveries_webhook_id_id", "webhook_id", "id"),
                      Index("ix_webhook_deliveries_ended_at", "ended_at"))

    id: Mapped[int] = mapped_column(primary_key=True)
    webhook_id: Mapped[int] = mapped_column(ForeignKey("webhooks.id"))
    message: Mapped[str] = mapped_column(String(40), unique=True)
    event: Mapped[str] = mapped_column(String(40))
    body: Mapped[dict[str, Any]]
    state: Mapped[str] = mapped_column(String(20), default=WAITING)
    tries: Mapped[int] = mapped_column(default=0)
    next_at: Mapped[datetime]
    code: Mapped[int | None]
    problem: Mapped[str | None] = mapped_column(String(PROBLEM_LENGTH))
    made_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
