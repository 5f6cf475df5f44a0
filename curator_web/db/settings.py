"""What the lead set for all, by name."""

from typing import Any

from sqlalchemy.orm import Session

from .models import Setting


def setting(session: Session, name: str) -> dict[str, Any] | None:
    """What was set, None for nothing."""
    row = session.get(Setting, name)
    return row.value if row else None


def put(session: Session, name: str, value: dict[str, Any] | None) -> None:
    """Set something, or nothing any more."""
    row = session.get(Setting, name)
    if value is None:
        if row is not None:
            session.delete(row)
    elif row is None:
        session.add(Setting(name=name, value=value))
    else:
        row.value = value
