"""Events of webhooks, written as deliveries in the transaction of their cause: ids, status, user and time; never
captured or typed data.
"""

import secrets
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from curator_web.db.models.core import APPROVED, INVALID, RETURNED, SUBMITTED, VALIDATED, Comment, Demonstration
from curator_web.db.models.job_models import DONE, Job
from curator_web.db.models.webhook_models import ON, WAITING, Webhook, WebhookDelivery

COMMENT, EXPORT_DONE, IMPORT_DONE, IMPORT_FAILED = (
    "comment.added", "export.done", "import.done", "import.failed")
OF_STATUS = {status: f"demonstration.{status}" for status in (SUBMITTED, VALIDATED, APPROVED, RETURNED, INVALID)}
EVENTS = (*OF_STATUS.values(), COMMENT, EXPORT_DONE, IMPORT_DONE, IMPORT_FAILED)


def of_status(session: Session, row: Demonstration, user_name: str) -> None:
    """A demonstration has another status now; that it is a draft again is no event."""
    if event := OF_STATUS.get(row.status):
        _add_deliveries(session, row.project, event, demonstration=row.id, status=row.status, version=row.version,
                        who=user_name)


def of_comment(session: Session, row: Demonstration, comment: Comment) -> None:
    """Somebody said something."""
    _add_deliveries(session, row.project, COMMENT, demonstration=row.id, comment=comment.id, kind=comment.kind,
                    answers=comment.answers, who=comment.who)


def of_job(session: Session, job: Job) -> None:
    """A job has ended."""
    event = f"{job.kind}.{'done' if job.state == DONE else 'failed'}"
    if event in EVENTS:
        demonstration = (job.result or {}).get("demonstration")
        _add_deliveries(session, job.project, event, job=job.id, who=job.who,
                        **({"demonstration": demonstration} if demonstration else {}))


def _add_deliveries(session: Session, project: str, event: str, **data: Any) -> None:
    """Add a delivery of an event to every webhook of a project that is on and receives such events."""
    now = datetime.now(UTC)
    body = {"type": event, "timestamp": now.isoformat(), "data": {"project": project, **data}}
    for webhook in session.scalars(select(Webhook).where(Webhook.project == project, Webhook.state == ON)):
        if event in webhook.events:
            session.add(WebhookDelivery(webhook_id=webhook.id, message=f"msg_{secrets.token_hex(12)}", event=event,
                                        body=body, state=WAITING, next_at=now, made_at=now))
