"""The audit log: append-only lines with user, action and time."""

from datetime import UTC, datetime

from sqlalchemy.orm import Session

from .models.core import AuditLine


def note(session: Session, user_name: str, action: str, demonstration_id: str | None = None, **details) -> None:
    """Add a line within the transaction of what it tells of. `details`: plain values, no secrets, no captured text."""
    session.add(AuditLine(made_at=datetime.now(UTC), who=user_name, what=action, demonstration_id=demonstration_id,
                          details=details))
